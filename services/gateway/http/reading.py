"""A request's message, from its path, its query and its body."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import parse_qsl

from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from services.gateway.http import json_text
from services.gateway.http.limits import MAX_DEPTH, MAX_PARAMETERS
from services.gateway.http.problems import problem_of
from services.gateway.http.routes import WHOLE_BODY, Match, Route, field_at, field_named
from services.gateway.http.template import decode
from services.kit.errors import InvalidField

LEAF_MESSAGES = {
    "google.protobuf.Timestamp",
    "google.protobuf.Duration",
    "google.protobuf.FieldMask",
}
"""Messages that JSON writes as one text, so that a parameter can hold them."""
TRUTHS = {"true": True, "false": False}

UNREADABLE = (json_format.ParseError, ValueError, TypeError, AttributeError, LookupError, OverflowError)
"""What json_format raises for values of another kind."""

WELL_KNOWN = "google.protobuf"
"""The package of messages whose JSON is of its own kind; a Struct's names are the caller's."""

Object = dict[str, Any]


def read(match: Match, query: bytes, body: bytes) -> Message:
    """The message that a route's method takes. Raises InvalidField and LimitExceeded."""
    route = match.route
    data = _from_body(route, body)
    _check_spellings(data, route.method.input_type)
    places = zip(route.template.variables, match.values, strict=True)
    bound = [_bind(data, route, name, text) for name, text in places]
    _add_query(data, route, query, bound)
    message = GetMessageClass(route.method.input_type)()
    try:
        json_format.ParseDict(data, message, max_recursion_depth=MAX_DEPTH)
    except UNREADABLE as error:
        raise problem_of(error, route.method.input_type) from error
    return message


def _from_body(route: Route, body: bytes) -> Object:
    if not route.body:
        if body:
            raise InvalidField(json_text.BODY, "this call takes none")
        return {}
    value = json_text.parse(body) if body else {}
    if not isinstance(value, dict):
        raise InvalidField(json_text.BODY, "is not an object")
    return value if route.body == WHOLE_BODY else {route.body: value}


def _check_spellings(data: Any, message: Descriptor) -> None:
    """Raises InvalidField for a field that is there under both of its names.

    json_format takes the later one of the two, and `_bind` would look at the other.
    """
    level: list[tuple[Any, Descriptor]] = [(data, message)]
    while level:
        level = [
            inner
            for holder, kind in level
            if isinstance(holder, dict) and kind.file.package != WELL_KNOWN
            for inner in _inner_messages(holder, kind)
        ]


def _inner_messages(holder: Object, message: Descriptor) -> Iterator[tuple[Any, Descriptor]]:
    """The messages within an object; names that are no field's are json_format's affair."""
    known: set[str] = set()
    for name, value in holder.items():
        field = field_named(message, name)
        if field is None:
            continue
        if field.name in known:
            raise InvalidField(field.name, "is given under both of its names")
        known.add(field.name)
        inner = field.message_type
        if inner is None:
            continue
        if inner.GetOptions().map_entry:
            entry = inner.fields_by_name["value"].message_type
            if entry is not None and isinstance(value, dict):
                yield from ((each, entry) for each in value.values())
        elif isinstance(value, list):
            yield from ((each, inner) for each in value)
        else:
            yield value, inner


def _bind(data: Object, route: Route, path: str, text: str) -> tuple[str, ...]:
    """Puts what the path says into place; returns the names on its way there."""
    value = decode(path, text)
    names = tuple(path.split("."))
    holder, message = _holder(data, route.method.input_type, names)
    key = _key(holder, message, names[-1])
    if holder.get(key, value) not in (value, None) and str(holder[key]) != value:
        raise InvalidField(path, "is another one in the body than in the path")
    holder[key] = value
    return names


def _holder(data: Object, message: Descriptor, names: tuple[str, ...]) -> tuple[Object, Descriptor]:
    """The object that holds the last of `names`, made where it is missing, and what it is."""
    for position, name in enumerate(names[:-1]):
        inner = data.setdefault(_key(data, message, name), {})
        if not isinstance(inner, dict):
            raise InvalidField(".".join(names[: position + 1]), "is not an object")
        field = field_named(message, name)
        assert field is not None
        assert field.message_type is not None
        data, message = inner, field.message_type
    return data, message


def _key(holder: Object, message: Descriptor, name: str) -> str:
    """The name under which an object has a field, or will have it."""
    field = field_named(message, name)
    assert field is not None
    return field.json_name if field.json_name in holder else field.name


def _add_query(data: Object, route: Route, query: bytes, bound: Iterable[tuple[str, ...]]) -> None:
    taken = {".".join(names) for names in bound}
    for name, text in _parameters(query):
        field = field_at(route.method.input_type, name)
        path = _proto_path(route.method.input_type, name) if field else name
        inside = route.body == WHOLE_BODY or (route.body and path.split(".")[0] == route.body)
        if field is None or inside or path in taken:
            raise InvalidField(name, "is no parameter of this call")
        holder, message = _holder(data, route.method.input_type, tuple(path.split(".")))
        _put(holder, _key(holder, message, field.name), field, name, text)


def _parameters(query: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            query.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=bool(query),
            errors="strict",
            max_num_fields=MAX_PARAMETERS,
        )
    except ValueError as error:
        raise InvalidField("query", "is malformed, or has too many parameters") from error


def _proto_path(message: Descriptor, path: str) -> str:
    names: list[str] = []
    for name in path.split("."):
        field = field_named(message, name)
        assert field is not None
        names.append(field.name)
        message = field.message_type or message
    return ".".join(names)


def _put(holder: Object, key: str, field: FieldDescriptor, name: str, text: str) -> None:
    if field.message_type is not None and field.message_type.full_name not in LEAF_MESSAGES:
        raise InvalidField(name, "is an object: name its fields, with dots")
    value: Any = text
    if field.type == FieldDescriptor.TYPE_BOOL:
        if text not in TRUTHS:
            raise InvalidField(name, "must be true or false")
        value = TRUTHS[text]
    if field.is_repeated:
        holder.setdefault(key, []).append(value)
    elif key in holder:
        raise InvalidField(name, "is given more than once")
    else:
        holder[key] = value
