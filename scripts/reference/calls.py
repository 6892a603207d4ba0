"""What both documents say of a call."""

from __future__ import annotations

import re
from dataclasses import dataclass

import grpc
from google.protobuf.descriptor import FieldDescriptor, MethodDescriptor, ServiceDescriptor

from scripts.reference.comments import Protos
from services.gateway.http.answering import HTTP_OF_CODE
from services.gateway.http.routes import WHOLE_BODY, Route, Routes, field_at
from services.kit.errors import Reason
from services.kit.serving import roles_of
from services.kit.status import CODE_OF_REASON

EVERYWHERE = (
    *(Reason.CREDENTIAL_INVALID, Reason.NOT_ALLOWED, Reason.INVALID_FIELD, Reason.LIMIT_EXCEEDED),
    *(Reason.RATE_LIMITED, Reason.OVERLOADED, Reason.DEPENDENCY_DOWN, Reason.DEADLINE, Reason.INTERNAL),
)
"""Reasons that any call may fail for."""
_ERRORS = re.compile(r"\s*Errors: .*$", re.DOTALL)
_AS = re.compile(r"\b[Aa]s (?:in )?([A-Z][A-Za-z]+)")
_VARIABLE = re.compile(r"\{([a-z0-9_.]+)(?:=[^}]*)?\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A field in the path or the query."""

    name: str
    place: str
    """"path" or "query"."""
    field: FieldDescriptor


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A method with its routes."""

    method: MethodDescriptor
    comment: str
    role: str
    routes: tuple[Route, ...]
    reasons: tuple[Reason, ...]
    """Those of its own, besides EVERYWHERE."""

    @property
    def summary(self) -> str:
        """What it does, in a sentence."""
        return re.split(r"(?<=[.;:])\s", self.text, maxsplit=1)[0].rstrip(".;:")

    @property
    def text(self) -> str:
        """What it does, without its errors."""
        return _ERRORS.sub("", self.comment)

    @property
    def errors(self) -> str:
        """What its comment says of its errors."""
        found = _ERRORS.search(self.comment)
        return found[0].strip().removeprefix("Errors: ") if found else ""

    @property
    def statuses(self) -> list[int]:
        """The HTTP statuses of its errors."""
        codes = {CODE_OF_REASON[reason].value[0] for reason in (*EVERYWHERE, *self.reasons)}
        return sorted({HTTP_OF_CODE[code] for code in codes})


def calls_of(protos: Protos, service: ServiceDescriptor, routes: Routes) -> list[Call]:
    """Every method of a service; one without a route has none over HTTP."""
    roles = roles_of(service)
    return [
        Call(
            method=method,
            comment=protos.comments.get(method.full_name, ""),
            role=roles[method.name].name.lower(),
            routes=tuple(route for route in routes.all if route.method is method),
            reasons=_reasons(protos, method, set()),
        )
        for method in service.methods
    ]


def _reasons(protos: Protos, method: MethodDescriptor, seen: set[str]) -> tuple[Reason, ...]:
    """The reasons that a method's comment names, and those of a method that it refers to."""
    comment = protos.comments.get(method.full_name, "")
    found = _ERRORS.search(comment)
    said = found[0] if found else ""
    named = [reason for reason in Reason if re.search(rf"\b{reason}\b", said)]
    seen.add(method.name)
    for name in _AS.findall(said):
        other = method.containing_service.methods_by_name.get(name)
        if other is not None and name not in seen:
            named += _reasons(protos, other, seen)
    return tuple(dict.fromkeys(reason for reason in named if reason not in EVERYWHERE))


def path_of(route: Route) -> str:
    """The path with the names of its variables alone; tools read a dot in one as something else."""
    return _VARIABLE.sub(lambda found: "{" + found[1].replace(".", "_") + "}", route.template.text)


def parameters(route: Route) -> list[Parameter]:
    """What is in the path, then what may be in the query."""
    message = route.method.input_type
    found = []
    for name in route.template.variables:
        field = field_at(message, name)
        assert field is not None
        found.append(Parameter(name=name, place="path", field=field))
    if route.body != WHOLE_BODY:
        for field in message.fields:
            if field.name not in (route.body, *(name.split(".")[0] for name in route.template.variables)):
                found += _in_query(field, "", depth=0)
    return found


def _in_query(field: FieldDescriptor, prefix: str, *, depth: int) -> list[Parameter]:
    name = prefix + field.json_name
    inner = field.message_type
    if inner is None or inner.full_name.startswith("google.protobuf."):
        return [Parameter(name=name, place="query", field=field)]
    if field.is_repeated or depth > 2:
        return []
    return [found for member in inner.fields for found in _in_query(member, f"{name}.", depth=depth + 1)]


def body_fields(route: Route) -> list[FieldDescriptor]:
    """The fields that the body may hold, of the request or of the field that it is."""
    message = route.method.input_type
    if not route.body:
        return []
    if route.body != WHOLE_BODY:
        inner = message.fields_by_name[route.body].message_type
        bound = {name.partition(".")[2] for name in route.template.variables}
        assert inner is not None
        return [field for field in inner.fields if field.name not in bound]
    return [field for field in message.fields if field.name not in route.template.variables]


def code_name(reason: Reason) -> str:
    """The gRPC code of a reason."""
    code: grpc.StatusCode = CODE_OF_REASON[reason]
    return code.name
