"""Recall by a made-up answer: its policy, its time, its model (SPEC S-9, S-11, S-15, J-16)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from services.kit.errors import DataFlowRefused
from services.kit.models.client import ModelClient
from services.kit.models.errors import Cause, ModelUnavailable
from services.kit.models.patience import AWAY_SECONDS, STRIKES
from services.kit.models.settings import ModelSettings, TierSettings
from services.kit.models.types import Tier, Usage
from services.kit.policy import DataFlow, EffectiveSettings, Gate
from services.memory.semantic.adapters.hyde import (
    MAX_CHARACTERS,
    ModelHypothesis,
    open_hyde,
)
from services.memory.semantic.app.hyde import HYDE, Hyde
from services.memory.semantic.domain.fusion import (
    DEFAULT_WEIGHTS,
    REFERENCE_WEIGHTS,
    Default,
    Reference,
    Strategy,
)
from tests.unit.semantic_parts import AGENT, AGENT_WIDE, TENANT, Hashing, Parts, vector

QUERY = "what does the heron eat?"
OPEN, CLOSED = "acme", "bank"


@dataclass
class Guesses:
    """A model that says what it is told to, or fails."""

    says: str = "the heron eats fish"
    error: Exception | None = None
    asked: list[str] = field(default_factory=list)

    async def of(self, _agent_id: str, query: str) -> str:
        self.asked.append(query)
        if self.error is not None:
            raise self.error
        return self.says


@dataclass
class Policy:
    """Lets the texts of some tenants out."""

    open: Callable[[str], bool] = lambda tenant: tenant == OPEN

    async def of(self, tenant: str, agent_id: str = "") -> EffectiveSettings:
        return EffectiveSettings(
            data_flow=DataFlow.ALLOW_PARTNER if self.open(tenant) else DataFlow.LOCAL_ONLY
        )


@dataclass
class Bench:
    """A Hyde over fakes, and the refusals that were counted."""

    guesses: Guesses = field(default_factory=Guesses)
    texts: Hashing = field(default_factory=Hashing)
    refused: list[tuple[str, str]] = field(default_factory=list)

    def hyde(self, open: Callable[[str], bool] = lambda tenant: tenant == OPEN) -> Hyde:
        return Hyde(hypothesis=self.guesses, leave=self.gate(open).check)

    def gate(self, open: Callable[[str], bool] = lambda tenant: tenant == OPEN) -> Gate:
        return Gate(Policy(open), lambda tenant, kind: self.refused.append((tenant, kind)), HYDE)

    async def vector(self, hyde: Hyde, tenant: str) -> bytes:
        return await hyde.vector(tenant, AGENT, QUERY, self.texts)


async def test_the_vector_is_that_of_the_made_up_answer() -> None:
    """S-9."""
    bench = Bench()
    assert await bench.vector(bench.hyde(), OPEN) == vector("the heron eats fish")
    assert bench.guesses.asked == [QUERY]
    assert bench.refused == []


async def test_a_tenants_policy_keeps_its_text_in_and_is_counted() -> None:
    """S-15: another tenant's policy is its own."""
    bench = Bench()
    hyde = bench.hyde()
    for _ in range(2):
        with pytest.raises(DataFlowRefused):
            await bench.vector(hyde, CLOSED)
    assert bench.guesses.asked == []
    assert bench.texts.calls == []
    assert bench.refused == [(CLOSED, HYDE)] * 2
    await bench.vector(hyde, OPEN)
    assert bench.guesses.asked == [QUERY]
    assert len(bench.refused) == 2


@pytest.mark.parametrize("error", [TimeoutError(), ModelUnavailable(Cause.EMPTY)])
async def test_a_model_that_fails_fails_the_channel_and_nothing_is_embedded(error: Exception) -> None:
    """S-11, J-16: the query itself is no stand-in, it has a channel of its own."""
    bench = Bench()
    bench.guesses.error = error
    with pytest.raises(type(error)):
        await bench.vector(bench.hyde(), OPEN)
    assert bench.texts.calls == []


def test_both_fusions_know_the_channel_by_its_name() -> None:
    """S-9."""
    assert REFERENCE_WEIGHTS[HYDE] == 1
    assert HYDE in DEFAULT_WEIGHTS


# In recall


async def recalled(parts: Parts, hyde: Hyde | None, tenant: str, strategy: Strategy) -> tuple[Any, Any]:
    return await parts.recalling(hyde).memories(
        tenant, AGENT_WIDE, QUERY, limit=5, kinds=frozenset(), strategy=strategy, fill=False
    )


async def one_memory() -> Parts:
    parts = Parts()
    await parts.index_memories(await parts.remember("k", "the heron eats fish"))
    return parts


@pytest.mark.parametrize("strategy", [Default(), Reference()])
async def test_recall_has_the_channel_with_a_model_and_not_without(strategy: Strategy) -> None:
    """S-9, S-11."""
    parts = await one_memory()
    (hit, *_), failures = await recalled(parts, Bench().hyde(), TENANT, strategy)
    assert failures == {}
    assert hit.hit.channels[HYDE].score == pytest.approx(1.0)
    assert hit.hit.contributions[HYDE] > 0
    (hit, *_), failures = await recalled(parts, None, TENANT, strategy)
    assert failures == {}
    assert HYDE not in hit.hit.channels


@pytest.mark.parametrize(
    ("error", "cause"), [(TimeoutError(), "timed out"), (ModelUnavailable(Cause.EMPTY), "not available")]
)
async def test_recall_names_a_model_that_failed_and_works_on(error: Exception, cause: str) -> None:
    """S-11."""
    bench = Bench(guesses=Guesses(error=error))
    hits, failures = await recalled(await one_memory(), bench.hyde(), TENANT, Default())
    assert failures == {HYDE: cause}
    assert hits


async def test_recall_says_that_the_policy_kept_the_query_in() -> None:
    """S-15."""
    bench = Bench()
    hits, failures = await recalled(await one_memory(), bench.hyde(lambda _: False), TENANT, Default())
    assert failures == {HYDE: "kept in by the data-flow policy"}
    assert hits
    assert bench.guesses.asked == []
    assert bench.refused == [(TENANT, HYDE)]


async def test_a_weight_of_nothing_asks_no_model() -> None:
    """S-9."""
    parts, bench = await one_memory(), Bench()
    hyde = bench.hyde()
    hits, failures = await recalled(parts, hyde, TENANT, Default(weights={HYDE: 0.0}))
    assert (len(hits), failures, bench.guesses.asked) == (1, {}, [])
    await recalled(parts, hyde, TENANT, Default())
    assert bench.guesses.asked == [QUERY]


# The adapter


@dataclass
class Endpoint:
    """What the model's endpoint answers, without a socket."""

    answers: list[tuple[int, Any]] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    used: list[tuple[Tier, str, Usage]] = field(default_factory=list)
    hangs: bool = False

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(json.loads(request.content))
        if self.hangs:
            await asyncio.Event().wait()
        status, value = self.answers.pop(0)
        body = httpx.ByteStream(json.dumps(value).encode())
        return httpx.Response(status, headers={"content-type": "application/json"}, stream=body)

    def note(self, agent_id: str, tier: Tier, model: str, usage: Usage) -> None:
        assert agent_id == AGENT
        self.used.append((tier, model, usage))


def saying(text: str) -> tuple[int, Any]:
    usage = {"prompt_tokens": 90, "completion_tokens": 7}
    return 200, {"model": "small-1", "choices": [{"message": {"content": text}}], "usage": usage}


@pytest.fixture
async def endpoint() -> Endpoint:
    return Endpoint()


@pytest.fixture
async def client(endpoint: Endpoint) -> AsyncIterator[ModelClient]:
    async with httpx.AsyncClient(transport=httpx.MockTransport(endpoint)) as http:

        async def no_sleep(_: float) -> None:
            return

        settings = ModelSettings(fast=TierSettings(url="http://model/v1", name="small", attempts=2))
        yield ModelClient(settings, http, sleep=no_sleep)


async def test_the_model_is_given_the_query_and_its_answer_is_bounded(
    client: ModelClient, endpoint: Endpoint
) -> None:
    """S-9; its cost is told (E-11)."""
    endpoint.answers = [saying("x" * (MAX_CHARACTERS + 1))]
    made = await ModelHypothesis(client, seconds=30, used=endpoint.note).of(AGENT, QUERY)
    assert made == "x" * MAX_CHARACTERS
    system, user = endpoint.asked[0]["messages"]
    assert (system["role"], user) == ("system", {"role": "user", "content": QUERY})
    assert QUERY not in system["content"]
    assert endpoint.asked[0]["temperature"] == 0
    assert endpoint.used == [(Tier.FAST, "small", Usage(calls=1, input_tokens=90, output_tokens=7))]


async def test_a_model_without_an_answer_is_a_failure_and_its_cost_is_told(
    client: ModelClient, endpoint: Endpoint
) -> None:
    """J-16, E-11."""
    endpoint.answers = [saying(" "), saying("")]
    with pytest.raises(ModelUnavailable) as caught:
        await ModelHypothesis(client, seconds=30, used=endpoint.note).of(AGENT, QUERY)
    assert caught.value.cause is Cause.EMPTY
    assert endpoint.used == [(Tier.FAST, "small", Usage(calls=2, input_tokens=180, output_tokens=14))]


async def test_a_model_that_takes_too_long_is_a_channel_that_timed_out(
    client: ModelClient, endpoint: Endpoint
) -> None:
    """S-11: by its own limit."""
    endpoint.hangs = True
    with pytest.raises(TimeoutError):
        await ModelHypothesis(client, seconds=0.02, used=endpoint.note).of(AGENT, QUERY)
    assert len(endpoint.asked) == 1
    assert endpoint.used == []


async def test_an_endpoint_that_refuses_costs_nothing(client: ModelClient, endpoint: Endpoint) -> None:
    endpoint.answers = [(401, {})]
    with pytest.raises(ModelUnavailable):
        await ModelHypothesis(client, seconds=30, used=endpoint.note).of(AGENT, QUERY)
    assert endpoint.used == []


# Choosing it


def fast(**fields: Any) -> ModelSettings:
    # Nobody listens on the reserved port 1; what leaves is refused there at once.
    return ModelSettings(fast=TierSettings(url="http://127.0.0.1:1/v1", name="small", attempts=1, **fields))


async def test_without_a_fast_model_there_is_no_channel() -> None:
    """S-9, J-16: a model of another tier is none."""
    other = ModelSettings(standard=TierSettings(url="http://127.0.0.1:1/v1", name="large"))
    async with AsyncExitStack() as stack:
        for models, found in ((ModelSettings(), False), (other, False), (fast(), True)):
            hyde = open_hyde(models, stack, channel_seconds=2.0, gate=Bench().gate(), used=lambda *_: None)
            assert (hyde is not None) is found


@pytest.mark.parametrize(
    ("partner", "tenant", "error"),
    [(True, CLOSED, DataFlowRefused), (True, OPEN, ModelUnavailable), (False, CLOSED, ModelUnavailable)],
)
async def test_the_policy_governs_what_leaves_and_nothing_else(
    partner: bool, tenant: str, error: type[Exception]
) -> None:
    """S-15: an endpoint of one's own is no partner; that it was asked shows in its being out of reach."""
    async with AsyncExitStack() as stack:
        hyde = open_hyde(
            fast(partner=partner),
            stack,
            channel_seconds=20.0,
            gate=Bench().gate(),
            used=lambda *_: None,
        )
        assert hyde is not None
        with pytest.raises(error):
            await hyde.vector(tenant, AGENT, QUERY, Hashing())


async def test_a_model_that_is_away_is_left_alone_for_a_while(
    client: ModelClient, endpoint: Endpoint
) -> None:
    """J-16, S-11: a channel that would fail in any case holds up no recall."""
    now = 100.0
    hypothesis = ModelHypothesis(client, seconds=0.02, used=endpoint.note, monotonic=lambda: now)
    endpoint.hangs = True
    for _ in range(STRIKES):
        with pytest.raises(TimeoutError):
            await hypothesis.of(AGENT, QUERY)
    asked = len(endpoint.asked)
    with pytest.raises(ModelUnavailable):
        await hypothesis.of(AGENT, QUERY)
    assert len(endpoint.asked) == asked
    now += AWAY_SECONDS
    endpoint.hangs = True
    with pytest.raises(TimeoutError):
        await hypothesis.of(AGENT, QUERY)
    assert len(endpoint.asked) > asked, "it is asked again"
