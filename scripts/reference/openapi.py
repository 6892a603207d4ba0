"""OpenAPI 3.1 of JSON over HTTP (https://spec.openapis.org/oas/v3.1.0)."""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import Any

from google.protobuf.descriptor import ServiceDescriptor
from google.rpc.status_pb2 import Status

from scripts.reference.calls import Call, Parameter, body_fields, calls_of, parameters, path_of
from scripts.reference.comments import Protos
from scripts.reference.schemas import Schema, Schemas, is_required
from services.gateway.http.routes import WHOLE_BODY, Route, Routes

ABOUT = (
    "JSON over HTTP for the calls of the gateway, by the JSON mapping of Protocol Buffers: names in "
    "lowerCamelCase (requests may use snake_case), 64-bit numbers as texts, times as RFC 3339, bytes as "
    "base64; fields that hold nothing are left out of answers. A credential goes with every call: "
    "`Authorization: Bearer <API key>`. `X-Request-Id` is taken and given back. `X-Request-Timeout` "
    "(seconds) or `Grpc-Timeout` bounds a call. A value in a path that ends in a colon and a word must have "
    "its colon written as %3A."
)
ERROR_SCHEMA: Schema = {
    "type": "object",
    "description": "google.rpc.Status: why a call failed.",
    "properties": {
        "code": {"type": "integer", "description": "google.rpc.Code."},
        "message": {"type": "string", "description": "For a developer."},
        "details": {
            "type": "array",
            "description": "google.rpc.ErrorInfo with the reason; BadRequest, RetryInfo where they apply.",
            "items": {"type": "object", "properties": {"@type": {"type": "string"}}, "required": ["@type"]},
        },
    },
    "required": ["code", "message", "details"],
}
ERROR = Status.DESCRIPTOR.name
MEANINGS = {
    400: ("Invalid", "The request, or the state of what it names, does not allow the call."),
    401: ("Unauthenticated", "The credential is missing or not valid."),
    403: ("Forbidden", "The credential does not allow the call."),
    404: ("NotFound", "What the request names does not exist."),
    409: ("Conflict", "It exists already, or was changed meanwhile."),
    429: ("Limited", "A limit was reached; see Retry-After."),
    499: ("Left", "The caller left."),
    500: ("Failed", "The server failed."),
    501: ("Unknown", "There is no such call."),
    503: ("Unavailable", "Something that the call needs is not available; try again."),
    504: ("TimedOut", "The deadline passed."),
}


def document(protos: Protos) -> str:
    """The whole description, as text."""
    routes = Routes(protos.services)
    schemas = Schemas(protos)
    paths: dict[str, dict[str, Any]] = {}
    shown: dict[str, str] = {}
    for service in protos.services:
        for call in calls_of(protos, service, routes):
            for number, route in enumerate(call.routes):
                path = shown.setdefault(route.template.shape, path_of(route))
                operation = _operation(schemas, call, route, number, path)
                paths.setdefault(path, {})[route.verb.lower()] = operation
    whole = {
        "openapi": "3.1.0",
        "info": {
            "title": "Palimpsest",
            "description": ABOUT,
            "version": version("palimpsest"),
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}],
        "tags": [_tag(protos, service) for service in protos.services],
        "paths": {**_health(), **dict(sorted(paths.items()))},
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "responses": {
                "Error": _error_response("Why the call failed."),
                **{name: _error_response(meaning) for name, meaning in MEANINGS.values()},
            },
            "schemas": {**schemas.components(), ERROR: ERROR_SCHEMA},
        },
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _tag(protos: Protos, service: ServiceDescriptor) -> Schema:
    return {"name": service.name, "description": protos.comments.get(service.full_name, "")}


def _operation(schemas: Schemas, call: Call, route: Route, number: int, path: str) -> Schema:
    found: Schema = {
        "operationId": call.method.name + (f"_{number + 1}" if number else ""),
        "tags": [call.method.containing_service.name],
        "summary": call.summary,
        "description": f"{call.comment}\n\nNeeds the role {call.role}.",
        "parameters": _parameters(schemas, route, path),
        "responses": {
            "200": _success(schemas, call),
            **{str(s): {"$ref": f"#/components/responses/{MEANINGS[s][0]}"} for s in call.statuses},
            "default": {"$ref": "#/components/responses/Error"},
        },
    }
    if route.body:
        found["requestBody"] = _body(schemas, route)
    return found


def _parameters(schemas: Schemas, route: Route, path: str) -> list[Schema]:
    """In the path under the names that `path` has for them: two routes may share it."""
    names = iter(part.split("}")[0] for part in path.split("{")[1:])
    return [_parameter(schemas, found, names) for found in parameters(route)]


def _parameter(schemas: Schemas, found: Parameter, names: Any) -> Schema:
    in_path = found.place == "path"
    schema = schemas.of_field(found.field)
    description = schema.pop("description")
    if in_path and schema.get("type") == "string":
        schema.setdefault("minLength", 1)
    return {
        "name": next(names) if in_path else found.name,
        "in": found.place,
        "required": in_path or ("." not in found.name and is_required(found.field)),
        "description": description,
        "schema": schema,
    }


def _body(schemas: Schemas, route: Route) -> Schema:
    message = route.method.input_type
    inner = message if route.body == WHOLE_BODY else message.fields_by_name[route.body].message_type
    assert inner is not None
    fields = body_fields(route)
    schema = schemas.object(fields, schemas.comment(inner.full_name))
    schema["additionalProperties"] = False
    required = [field.json_name for field in fields if is_required(field)] if inner is message else []
    if required:
        schema["required"] = required
    return {"required": bool(required), "content": {"application/json": {"schema": schema}}}


def _success(schemas: Schemas, call: Call) -> Schema:
    schema = schemas.of_message(call.method.output_type)
    if not call.method.server_streaming:
        return {"description": "What was asked for.", "content": {"application/json": {"schema": schema}}}
    about = (
        "Events, each with one JSON message of the schema in x-event-schema as its data; `error` with a "
        "Status and `end` are the last."
    )
    content = {"text/event-stream": {"schema": {"type": "string"}, "x-event-schema": schema}}
    return {"description": about, "content": content}


def _error_response(description: str) -> Schema:
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{ERROR}"}}}
    return {"description": description, "content": content}


def _health() -> dict[str, Schema]:
    status = {"type": "object", "properties": {"status": {"type": "string"}}, "required": ["status"]}
    content = {"application/json": {"schema": status}}
    alive = {"200": {"description": "The process answers.", "content": content}}
    ready = {
        "200": {"description": "The stores answer.", "content": content},
        "503": {"description": "A store does not answer.", "content": content},
    }
    return {
        path: {"get": {"operationId": name, "summary": summary, "security": [], "responses": responses}}
        for path, name, summary, responses in (
            ("/healthz", "Liveness", "Tells whether the process answers", alive),
            ("/readyz", "Readiness", "Tells whether the stores answer", ready),
        )
    }
