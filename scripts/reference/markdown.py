"""docs/api.md: every call and every message, for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor, ServiceDescriptor
from palimpsest.common.v1 import errors_pb2

from scripts.reference.calls import EVERYWHERE, Call, calls_of, code_name, parameters
from scripts.reference.comments import Protos
from scripts.reference.schemas import KNOWN, is_required
from services.gateway.http.answering import HTTP_OF_CODE
from services.gateway.http.routes import WHOLE_BODY, Routes
from services.kit.errors import Reason
from services.kit.status import CODE_OF_REASON, REASON_PREFIX

HEAD = Path(__file__).with_name("api_head.md")
"""What stands before the first service."""
ERRORS_HEAD = f"""
## Errors

Any call may fail for the first {len(EVERYWHERE)} reasons; each call below names those of its own.

| reason | gRPC | HTTP | meaning |
|---|---|---|---|"""


def document(protos: Protos) -> str:
    """The whole page."""
    routes = Routes(protos.services)
    lines = [HEAD.read_text("utf-8"), *_contents(protos.services), ERRORS_HEAD.strip("\n"), *_errors(protos)]
    shared: dict[str, Descriptor | EnumDescriptor] = {}
    for service in protos.services:
        lines += ["", f"## {service.name}", "", f"`{service.full_name}`", ""]
        lines.append(_text(protos, service.full_name))
        for call in calls_of(protos, service, routes):
            lines += _call(protos, call)
            _collect(call.method.input_type, shared, top=True)
            _collect(call.method.output_type, shared, top=True)
    lines += ["", "## Messages"]
    for _name, element in sorted(shared.items(), key=lambda item: (item[1].name, item[0])):
        lines += ["", f"### {element.name}", "", _text(protos, element.full_name), ""]
        lines += _values(protos, element) if isinstance(element, EnumDescriptor) else _fields(protos, element)
    return "\n".join(lines) + "\n"


def _contents(services: Iterable[ServiceDescriptor]) -> list[str]:
    links = [f"[{service.name}](#{service.name.lower()})" for service in services]
    return ["Services: " + ", ".join(links) + ". [Errors](#errors). [Messages](#messages).", ""]


def _errors(protos: Protos) -> Iterator[str]:
    enum = errors_pb2.ErrorReason.DESCRIPTOR
    for reason in (*EVERYWHERE, *(reason for reason in Reason if reason not in EVERYWHERE)):
        comment = _text(protos, f"{enum.full_name}.{REASON_PREFIX}{reason}")
        meaning = comment.removeprefix(f"{code_name(reason)}: ")
        code = CODE_OF_REASON[reason]
        yield f"| {reason} | {code_name(reason)} | {HTTP_OF_CODE[code.value[0]]} | {_cell(meaning)} |"


def _call(protos: Protos, call: Call) -> list[str]:
    name = call.method.name
    lines = ["", f"### {name}", ""]
    lines += [f"`{route.verb} {route.template.text}`  " for route in call.routes]
    if not call.routes:
        lines.append("Over gRPC only.  ")
    lines += [f"Role: {call.role}.", "", call.text, ""]
    if call.method.server_streaming:
        lines += ["Answers with a stream.", ""]
    if call.method.input_type.fields:
        lines += ["Request:", "", *_fields(protos, call.method.input_type, call), ""]
    if call.method.output_type.fields:
        lines += ["Response:", "", *_fields(protos, call.method.output_type), ""]
    if call.errors:
        lines.append(f"Errors: {call.errors}")
    return lines


def _fields(protos: Protos, message: Descriptor, call: Call | None = None) -> list[str]:
    places = _places(call) if call is not None and call.routes else None
    where = "| in " if places is not None else ""
    rule = "|---" if places is not None else ""
    lines = [f"| field | type {where}| meaning |", f"|---|---{rule}|---|"]
    for field in message.fields:
        place = f"| {places[field.name]} " if places is not None else ""
        must = "Required. " if call is not None and is_required(field) else ""
        oneof = field.containing_oneof
        choice = ""
        if oneof is not None and len(oneof.fields) > 1:
            choice = f"One of `{oneof.name}`. "
        meaning = _cell(must + choice + _text(protos, field.full_name))
        lines.append(f"| `{field.json_name}` | {_type(field)} {place}| {meaning} |")
    return lines if message.fields else ["No fields."]


def _places(call: Call) -> dict[str, str]:
    """Where the first route has each field of the request."""
    route = call.routes[0]
    in_path = {found.name.split(".")[0] for found in parameters(route) if found.place == "path"}
    rest = "body" if route.body == WHOLE_BODY else "query"
    places = {
        field.name: "path" if field.name in in_path else rest for field in route.method.input_type.fields
    }
    if route.body not in ("", WHOLE_BODY):
        places[route.body] = "body"
    return places


def _values(protos: Protos, enum: EnumDescriptor) -> list[str]:
    lines = ["| name | meaning |", "|---|---|"]
    for value in enum.values:
        lines.append(f"| `{value.name}` | {_cell(_text(protos, f'{enum.full_name}.{value.name}'))} |")
    return lines


def _type(field: FieldDescriptor) -> str:
    inner = field.message_type or field.enum_type
    if inner is None:
        name = KINDS.get(field.type, "integer")
    elif inner.full_name in KNOWN:
        name = inner.name.lower()
    elif field.message_type is not None and field.message_type.GetOptions().map_entry:
        return f"map of {_type(field.message_type.fields_by_name['value'])}"
    else:
        name = f"[{inner.name}](#{inner.name.lower()})"
    return f"list of {name}" if field.is_repeated else name


KINDS = {
    FieldDescriptor.TYPE_STRING: "text",
    FieldDescriptor.TYPE_BYTES: "bytes",
    FieldDescriptor.TYPE_BOOL: "boolean",
    FieldDescriptor.TYPE_FLOAT: "number",
    FieldDescriptor.TYPE_DOUBLE: "number",
}


def _collect(message: Descriptor, shared: dict[str, Descriptor | EnumDescriptor], *, top: bool) -> None:
    """Messages and enums that fields of `message` hold, and theirs."""
    if not top:
        if message.full_name in shared or message.full_name in KNOWN:
            return
        if not message.GetOptions().map_entry:
            shared[message.full_name] = message
    for field in message.fields:
        if field.enum_type is not None:
            shared[field.enum_type.full_name] = field.enum_type
        elif field.message_type is not None:
            _collect(field.message_type, shared, top=False)


def _text(protos: Protos, name: str) -> str:
    return protos.comments.get(name, "")


def _cell(text: str) -> str:
    return text.replace("\n", " ").replace("|", "\\|")
