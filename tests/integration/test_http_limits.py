"""Budgets over HTTP (SPEC G-5, G-10)."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.integration.http_suite import AGENT, HttpSuite, http_suite, ok, prepare, reason

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def suite(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[HttpSuite]:
    async with http_suite(tmp_path_factory.mktemp("http")) as started:
        async with started.client() as client:
            await prepare(client)
        yield started


def refusals(suite: HttpSuite) -> dict[str, float]:
    """As Prometheus is told."""
    return {
        sample.labels["limit"]: sample.value
        for collector in suite.service.collectors
        for metric in collector.collect()
        for sample in metric.samples
        if sample.name == "palimpsest_gateway_limited_total"
    }


async def test_both_faces_share_a_budget_and_say_when_to_come_back(suite: HttpSuite) -> None:
    """G-5: a call is counted once, whichever way it comes; readiness is nobody's."""
    async with suite.client() as client:
        budgets = {"budgets": {"requestsPerMinute": "1", "requestBurst": "6", "concurrentStreams": "1"}}
        mask = "budgets.requestsPerMinute,budgets.requestBurst,budgets.concurrentStreams"
        await ok(client.patch("/v1/settings", params={"updateMask": mask}, json=budgets))
        found = await ok(client.get("/v1/limits"))
        assert [(one["name"], one["left"]) for one in found["limits"]] == [
            ("requests_per_minute", "5"),
            ("concurrent_streams", "1"),
        ]
        async with client.stream("GET", f"/v1/agents/{AGENT}/conversations/c:watch") as stream:
            assert stream.status_code == 200
            refused = await client.get(f"/v1/agents/{AGENT}/conversations/c:watch")
            assert (refused.status_code, reason(refused)) == (429, "RATE_LIMITED")
            assert refused.headers["retry-after"] == "1"
        for _ in range(3):
            await ok(client.get("/v1/modelSpend", params={"days": "1"}))
        over = await client.get("/v1/modelSpend")
        assert (over.status_code, reason(over)) == (429, "RATE_LIMITED")
        assert 1 <= int(over.headers["retry-after"]) <= 60
        assert over.json()["details"][0]["metadata"] == {"limit": "requests_per_minute"}
        assert (await client.get("/readyz")).status_code == 200
    assert refusals(suite) == {"concurrent_streams": 1, "requests_per_minute": 1}
