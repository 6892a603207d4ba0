"""Which call a request is: routes compiled from the annotations of the protos."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from google.api import annotations_pb2
from google.api.http_pb2 import HttpRule
from google.protobuf.descriptor import Descriptor, FieldDescriptor, MethodDescriptor, ServiceDescriptor

from services.gateway.http.template import Template, parse

WHOLE_BODY = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One way to call a method."""

    method: MethodDescriptor
    verb: str
    """GET, POST, …"""
    template: Template
    body: str
    """The field that the body holds; WHOLE_BODY: the whole request; "": there is no body."""

    @property
    def path(self) -> str:
        """The method's path on the wire."""
        return f"/{self.method.containing_service.full_name}/{self.method.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A route with what stands in the path for its variables, not yet decoded."""

    route: Route
    values: tuple[str, ...]


class Routes:
    """All routes of some services. Raises ValueError for annotations that do not hold together."""

    def __init__(self, services: Iterable[ServiceDescriptor]) -> None:
        self.all = tuple(route for service in services for route in _of_service(service))
        by_size: dict[int, list[Route]] = defaultdict(list)
        shapes: dict[tuple[str, str], Route] = {}
        for route in self.all:
            known = shapes.setdefault((route.verb, route.template.shape), route)
            if known is not route:
                raise ValueError(
                    f"{known.method.full_name} and {route.method.full_name} share {route.template.text}"
                )
            by_size[route.template.segments].append(route)
        self._by_size = {
            size: sorted(found, key=lambda route: route.template.rank) for size, found in by_size.items()
        }

    def find(self, verb: str, path: str) -> Match | None:
        """The route of a request; of several, the one whose template says most."""
        return next((match for match in self._matches(path) if match.route.verb == verb), None)

    def verbs(self, path: str) -> list[str]:
        """The verbs that a path has, in order; none for an unknown path."""
        return sorted({match.route.verb for match in self._matches(path)})

    def _matches(self, path: str) -> Iterator[Match]:
        for size in (path.count("/"), 0):
            for route in self._by_size.get(size, ()):
                values = route.template.match(path)
                if values is not None:
                    yield Match(route=route, values=values)


def _of_service(service: ServiceDescriptor) -> Iterator[Route]:
    for method in service.methods:
        rule = rule_of(method)
        if rule is not None:
            for binding in (rule, *rule.additional_bindings):
                yield _route(method, binding)


def rule_of(method: MethodDescriptor) -> HttpRule | None:
    """The annotation of a method; None without one."""
    options = method.GetOptions()
    if not options.HasExtension(annotations_pb2.http):
        return None
    rule: HttpRule = options.Extensions[annotations_pb2.http]
    return rule


def _route(method: MethodDescriptor, rule: HttpRule) -> Route:
    if method.client_streaming:
        raise ValueError(f"{method.full_name} takes a stream, which JSON over HTTP does not have")
    verb = rule.WhichOneof("pattern")
    if verb is None or verb == "custom":
        raise ValueError(f"{method.full_name} has no verb")
    template = parse(getattr(rule, verb))
    for variable in template.variables:
        field = field_at(method.input_type, variable)
        if field is None or field.is_repeated or field.message_type is not None:
            raise ValueError(f"{method.full_name} has no field {variable} for {template.text}")
    if rule.body not in ("", WHOLE_BODY) and rule.body not in method.input_type.fields_by_name:
        raise ValueError(f"{method.full_name} has no field {rule.body} for a body")
    return Route(method=method, verb=verb.upper(), template=template, body=rule.body)


def field_at(message: Descriptor, path: str, *, into_lists: bool = False) -> FieldDescriptor | None:
    """The field that a path with dots names, by its name or its name in JSON; None without one.

    Fields of the items of a list are found only `into_lists`.
    """
    field: FieldDescriptor | None = None
    inner: Descriptor | None = message
    for name in path.split("."):
        field = None if inner is None else field_named(inner, name)
        if field is None:
            return None
        inner = None if field.is_repeated and not into_lists else field.message_type
    return field


def field_named(message: Descriptor, name: str) -> FieldDescriptor | None:
    """A field by its name or its name in JSON."""
    found: FieldDescriptor | None = message.fields_by_name.get(name)
    return found or message.fields_by_camelcase_name.get(name)
