"""Requests held against the rules of their protos, and against the caller's agents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

import protovalidate
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message

from services.kit.errors import FieldProblem, InvalidRequest, NotAllowed
from services.kit.identity import Principal

MAX_PROBLEMS = 20
# Where a request may name an agent: directly, in a scope or filter, as the resource, or in a chunk.
TOKENS_FIELD = "wait_for"  # freshness tokens name agents too
AGENT_PATHS = (
    ("agent_id",),
    ("scope", "agent_id"),
    ("filter", "agent_id"),
    ("agent", "id"),
    ("chunk", "agent_id"),
)


def check_request(request: Message, principal: Principal) -> None:
    """Raises InvalidRequest naming the fields, or NotAllowed for an agent out of reach."""
    violations = protovalidate.collect_violations(request)
    if violations:
        problems = [
            FieldProblem(field=_path(violation.proto.field), description=violation.proto.message)
            for violation in violations[:MAX_PROBLEMS]
        ]
        raise InvalidRequest(f"{problems[0].field}: {problems[0].description}", fields=problems)
    if principal.agents is not None:
        for agent_id in agents_named(request):
            if not principal.may_use(agent_id):
                raise NotAllowed("the credential does not reach this agent")


def agents_named(request: Message) -> Iterator[str]:
    """The agents that a request names: itself, and in the freshness tokens that it waits for."""
    for get in _getters(request.DESCRIPTOR):
        agent_id = get(request)
        if agent_id:
            yield agent_id
    if TOKENS_FIELD in request.DESCRIPTOR.fields_by_name:
        for token in getattr(request, TOKENS_FIELD):
            yield token.agent_id


@lru_cache(maxsize=1024)
def _getters(descriptor: Descriptor) -> tuple[Callable[[Message], str], ...]:
    return tuple(_getter(path) for path in AGENT_PATHS if _has(descriptor, path))


def _has(descriptor: Descriptor | None, path: tuple[str, ...]) -> bool:
    for name in path:
        if descriptor is None or name not in descriptor.fields_by_name:
            return False
        descriptor = descriptor.fields_by_name[name].message_type
    return True


def _getter(path: tuple[str, ...]) -> Callable[[Message], str]:
    def get(message: Message) -> str:
        value: object = message
        for name in path:
            value = getattr(value, name)
        return str(value)

    return get


def _path(field: object) -> str:
    """A violation's path as text: `messages[3].parts[0].text`."""
    text = ""
    for element in getattr(field, "elements", ()):
        text += ("." if text else "") + element.field_name
        subscript = getattr(element, "subscript", None)
        if subscript is not None:
            text += f"[{subscript.value}]"
    return text
