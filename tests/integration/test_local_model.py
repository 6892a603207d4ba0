"""The client against a real model on the loopback (SPEC J-16, E-11)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from services.kit.models.client import ModelClient
from services.kit.models.settings import ModelSettings, TierSettings
from services.kit.models.types import Message, Tier
from tests.local_model import MODEL, local_model, needs_local_model

pytestmark = needs_local_model
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 20}, "sure": {"type": "boolean"}},
    "required": ["city", "sure"],
    "additionalProperties": False,
}
QUESTION = [Message(role="user", text="Which city is the capital of France?")]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with local_model(tmp_path_factory.mktemp("model")) as url:
        yield url


@pytest.fixture
async def client(url: str) -> AsyncIterator[ModelClient]:
    client = ModelClient.connect(ModelSettings(fast=TierSettings(url=url, name=MODEL, partner=False)))
    yield client
    await client.close()


async def test_a_text_comes_with_the_endpoints_figures(client: ModelClient) -> None:
    """E-11."""
    made = await client.complete(Tier.FAST, QUESTION, max_tokens=16, temperature=0.0)
    assert made.text
    assert made.model == MODEL
    assert (made.usage.calls, made.usage.estimated_calls) == (1, 0)
    assert 0 < made.usage.output_tokens <= 16


async def test_json_conforms_to_its_schema(client: ModelClient) -> None:
    """J-16: the server takes the schema as a grammar."""
    made = await client.complete_json(Tier.FAST, QUESTION, SCHEMA, max_tokens=60, temperature=0.0)
    assert set(made.value) == {"city", "sure"}


async def test_a_stream_ends_with_its_figures(client: ModelClient) -> None:
    """E-11."""
    deltas = [one async for one in client.stream(Tier.FAST, QUESTION, max_tokens=16)]
    end = deltas[-1].end
    assert end is not None
    assert "".join(one.text for one in deltas)
    assert 0 < end.usage.output_tokens <= 16
    assert end.first_token_seconds > 0
