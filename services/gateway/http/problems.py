"""What is wrong with a request that is JSON, but not a message of its type."""

from __future__ import annotations

import re

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from services.gateway.http.routes import field_at
from services.kit.errors import InvalidField

_UNKNOWN = re.compile(r'has no field named "([\w$-]{1,100})" at "\w+([\w.\[\]]{0,300})"')
_TWICE = re.compile(r'should not have multiple "(\w{1,100})" (?:oneof )?fields at "\w+([\w.\[\]]{0,300})"')
_AT = re.compile(r" at (\w+)((?:\.\w+|\[\d+\])+)")
_FIELD = re.compile(r"Failed to parse (\w+) field: ")
_INDEX = re.compile(r"\[\d+\]")

F = FieldDescriptor
KINDS = {
    F.TYPE_STRING: "a text",
    F.TYPE_BYTES: "base64",
    F.TYPE_BOOL: "true or false",
    F.TYPE_FLOAT: "a number",
    F.TYPE_DOUBLE: "a number",
    F.TYPE_MESSAGE: "an object",
}
TEXTS = {
    "google.protobuf.Timestamp": "a time such as 2026-01-31T12:00:00Z",
    "google.protobuf.Duration": "a duration in seconds such as 2.5s",
    "google.protobuf.FieldMask": "a text of names in camelCase, parted by commas",
}


def problem_of(error: Exception, message: Descriptor) -> InvalidField:
    """Names the field; never what was in it."""
    text = str(error)
    if found := _UNKNOWN.search(text):
        return InvalidField(_join(found[2], found[1]), "no such field")
    if found := _TWICE.search(text):
        return InvalidField(_join(found[2], found[1].removeprefix("_")), "is given more than once")
    return _wrong_kind(_place(text, message), message)


def _place(text: str, message: Descriptor) -> str:
    places: list[tuple[str, str]] = _AT.findall(text)
    for type_name, path in places:
        if type_name == message.name and _field(path.lstrip("."), message):
            return path.lstrip(".")
    return ".".join(_FIELD.findall(text))


def _wrong_kind(place: str, message: Descriptor) -> InvalidField:
    field = _field(place, message)
    if field is None:
        return InvalidField(place or "body", "cannot be read")
    return InvalidField(place, f"must be {kind_of(field, item=place.endswith(']'))}")


def kind_of(field: FieldDescriptor, *, item: bool = False) -> str:
    """What JSON has for a field, or for an item of it."""
    if field.is_repeated and not item:
        return "a list, each item " + kind_of(field, item=True)
    if field.message_type is not None and field.message_type.full_name in TEXTS:
        return TEXTS[field.message_type.full_name]
    if field.enum_type is not None:
        return f"one of the names of {field.enum_type.name}"
    return KINDS.get(field.type, "a whole number in range")


def _field(path: str, message: Descriptor) -> FieldDescriptor | None:
    return field_at(message, _INDEX.sub("", path), into_lists=True) if path else None


def _join(path: str, name: str) -> str:
    return f"{path.lstrip('.')}.{name}".lstrip(".")
