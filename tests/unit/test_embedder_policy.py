"""Embedding by a model that is somebody else's (SPEC S-15, M-5)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from services.embedder.adapters.hashing import HashingBackend
from services.embedder.app.batcher import Batcher
from services.embedder.app.cache import VectorCache
from services.embedder.app.policy import EMBEDDING, PartnerEmbedder, agent_of
from services.embedder.config import EmbedderSettings
from services.embedder.domain.model import Purpose
from services.kit.context import act_as
from services.kit.errors import DataFlowRefused, DependencyDown
from services.kit.identity import Principal, Role
from services.kit.policy import DataFlow, EffectiveSettings, Gate


@dataclass
class Policy:
    """Lets the texts of one tenant out; notes for whom it was asked."""

    asked: list[tuple[str, str]] = field(default_factory=list)

    async def of(self, tenant: str, agent_id: str = "") -> EffectiveSettings:
        self.asked.append((tenant, agent_id))
        if tenant == "unknown":
            return EffectiveSettings(known=False)
        return EffectiveSettings(
            data_flow=DataFlow.ALLOW_PARTNER if tenant == "acme" else DataFlow.LOCAL_ONLY
        )


@dataclass
class Bench:
    backend: HashingBackend = field(default_factory=lambda: HashingBackend(dimension=16))
    policy: Policy = field(default_factory=Policy)
    refused: list[tuple[str, str]] = field(default_factory=list)

    @asynccontextmanager
    async def embedder(self) -> AsyncIterator[PartnerEmbedder]:
        batcher = Batcher(self.backend, batch_size=4, queue_limit=10)
        task = asyncio.create_task(batcher.run())
        cache = VectorCache(secret=b"s" * 32, revision="r", max_bytes=10_000)
        gate = Gate(self.policy, lambda tenant, kind: self.refused.append((tenant, kind)), EMBEDDING)
        yield PartnerEmbedder(self.backend, batcher, cache, gate=gate)
        task.cancel()


def caller(tenant: str, *agents: str) -> Principal:
    return Principal(tenant=tenant, role=Role.READER, agents=frozenset(agents) or None)


async def test_texts_of_a_tenant_that_is_local_only_are_refused_and_counted() -> None:
    """S-15: also those whose vectors are known already."""
    bench = Bench()
    async with bench.embedder() as embedder:
        with act_as(caller("acme", "ada")):
            assert await embedder.embed(["the heron"], Purpose.QUERY, None)
        with act_as(caller("bank")), pytest.raises(DataFlowRefused):
            await embedder.embed(["the heron"], Purpose.QUERY, None)
    assert bench.refused == [("bank", "embedding")]
    assert bench.policy.asked == [("acme", "ada"), ("bank", "")]


async def test_documents_wait_for_a_policy_that_is_not_known_and_queries_do_not() -> None:
    """S-15: a document that is refused is indexed for good without a vector."""
    bench = Bench()
    async with bench.embedder() as embedder:
        with act_as(caller("unknown", "ada")):
            with pytest.raises(DependencyDown):
                await embedder.embed(["the heron"], Purpose.DOCUMENT, None)
            assert bench.refused == []
            with pytest.raises(DataFlowRefused):
                await embedder.embed(["the heron"], Purpose.QUERY, None)


@pytest.mark.parametrize(("agents", "agent"), [((), ""), (("ada",), "ada"), (("ada", "bob"), "")])
def test_the_agent_is_the_one_that_the_caller_is_limited_to(agents: tuple[str, ...], agent: str) -> None:
    """S-15."""
    assert agent_of(caller("acme", *agents)) == agent


@pytest.mark.parametrize(
    ("backend", "partner", "leaves"),
    [("openai", True, True), ("openai", False, False), ("onnx", True, False), ("hashing", True, False)],
)
def test_texts_leave_to_an_endpoint_that_is_not_ones_own(backend: str, partner: bool, leaves: bool) -> None:
    """S-15: unless it is said to be."""
    settings = EmbedderSettings.model_validate({"backend": backend, "openai_partner": partner})
    assert settings.leaves is leaves
    assert EmbedderSettings().data_flow == "local-only"
