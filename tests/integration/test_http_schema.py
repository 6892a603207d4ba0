"""The OpenAPI description, and the suite held against it (SPEC G-10)."""

from __future__ import annotations

import asyncio
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from openapi_spec_validator import OpenAPIV31SpecValidator
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from services.gateway.http.app import routes_of
from tests.integration.http_suite import HttpSuite, http_suite, prepare

DOCUMENT: dict[str, Any] = json.loads((files("palimpsest") / "openapi.json").read_bytes())
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
EXAMPLES = 2
"""Of each call: enough to try its parameters, few enough for a suite of tests."""
KNOWN = {"agent_id": "ada", "conversation_id": "c"}
"""What is there, so that more than half of the calls get further than "no such agent"."""


def operations() -> list[tuple[str, str, dict[str, Any]]]:
    return [(verb, path, found) for path, item in DOCUMENT["paths"].items() for verb, found in item.items()]


def streams(operation: dict[str, Any]) -> bool:
    return "text/event-stream" in operation["responses"]["200"]["content"]


def test_the_description_is_valid() -> None:
    OpenAPIV31SpecValidator(DOCUMENT).validate()


async def test_every_route_is_described(tmp_path: Path) -> None:
    async with http_suite(tmp_path) as suite:
        routes = routes_of(suite.names).all
    described = [operation for _, path, operation in operations() if path.startswith("/v1/")]
    assert len(described) == len(routes)
    assert {operation["operationId"].split("_")[0] for operation in described} == {
        route.method.name for route in routes
    }
    assert all(
        operation["summary"] and "Needs the role" in operation["description"] for operation in described
    )
    streaming = {route.method.name for route in routes if route.method.server_streaming}
    assert {found["operationId"].split("_")[0] for found in described if streams(found)} == streaming


def test_bounds_of_the_protos_are_in_the_description() -> None:
    paths = DOCUMENT["paths"]
    agent = paths["/v1/agents"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert agent["required"] == ["agentId"]
    assert agent["properties"]["agentId"]["pattern"] == "^[A-Za-z0-9._:-]{1,128}$"
    assert agent["properties"]["displayName"]["maxLength"] == 256
    (size,) = [found for found in paths["/v1/agents"]["get"]["parameters"] if found["name"] == "pageSize"]
    assert (size["schema"]["minimum"], size["schema"]["maximum"], size["required"]) == (0, 1000, False)
    assert DOCUMENT["security"] == [{"bearer": []}]


async def test_the_suite_answers_as_described(tmp_path: Path) -> None:
    """Generated requests, good ones and bad ones, to every call that is no stream."""
    async with http_suite(tmp_path) as suite:
        async with suite.client() as client:
            await prepare(client)
        tried = await asyncio.to_thread(_try_all, suite)
    assert tried == sum(not streams(operation) for _, _, operation in operations())


def _try_all(suite: HttpSuite) -> int:
    document = {**DOCUMENT, "paths": _without_streams(DOCUMENT["paths"])}
    found = [result.ok() for result in schemathesis.openapi.from_dict(document).get_all_operations()]
    for operation in found:
        _try(suite, operation)
    return len(found)


def _without_streams(paths: dict[str, Any]) -> dict[str, Any]:
    kept = {
        path: {verb: found for verb, found in item.items() if not streams(found)}
        for path, item in paths.items()
    }
    return {path: item for path, item in kept.items() if item}


def _try(suite: HttpSuite, operation: Any) -> None:
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def check(case: Any) -> None:
        case.path_parameters = {**(case.path_parameters or {}), **_known(case)}
        response = case.call(base_url=suite.url, headers={"authorization": f"Bearer {suite.operator}"})
        case.validate_response(response, checks=CHECKS)

    check()


def _known(case: Any) -> dict[str, str]:
    return {name: value for name, value in KNOWN.items() if name in (case.path_parameters or {})}
