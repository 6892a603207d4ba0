"""The kit's client of language models (SPEC J-16).

Callers give a task to a tier and have a deterministic engine of their own: they catch ModelUnavailable, let
the engine take over and say so. Neither prompts nor answers nor keys are ever logged (X-3).
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from services.kit.models.endpoint import Endpoint, Surroundings
from services.kit.models.errors import Cause, ModelUnavailable
from services.kit.models.extraction import extract
from services.kit.models.protocol import Request
from services.kit.models.retries import RetryPolicy
from services.kit.models.schemas import acceptor
from services.kit.models.settings import ModelSettings
from services.kit.models.types import Completion, Delta, Message, Tier, Tool, Usage
from services.kit.times import Clock, now

CONNECT_SECONDS = 5.0
SCHEMA_NAME = "answer"
INSTRUCTION = (
    "Answer with one JSON value and nothing else: no explanation, no code fence."
    " It must conform to this JSON Schema:\n"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonCompletion:
    """A model's answer as a value that conforms to the schema asked for; see Completion."""

    value: Any
    usage: Usage
    model: str


class ModelClient:
    """Asks models by tier.

    A `deadline` is a time of the running loop (`asyncio.get_running_loop().time()`), within which all
    attempts lie; without one, the tier's timeout bounds each attempt. Every call raises ModelUnavailable,
    with NOT_CONFIGURED when the tier has no endpoint.
    """

    def __init__(
        self,
        settings: ModelSettings,
        http: httpx.AsyncClient,
        *,
        policy: RetryPolicy | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
        stopwatch: Callable[[], float] = time.monotonic,
        clock: Clock = now,
    ) -> None:
        around = Surroundings(
            policy=policy or RetryPolicy(), sleep=sleep, chance=chance, stopwatch=stopwatch, clock=clock
        )
        self._http = http
        self._endpoints = {
            tier: Endpoint(tier, chosen, http, around) for tier, chosen in settings.tiers().items()
        }

    @classmethod
    def connect(cls, settings: ModelSettings) -> ModelClient:
        """A client with connections of its own, which `close` closes; the first call makes them."""
        # Time limits are the endpoints'; connections are as many as their turns allow.
        timeout = httpx.Timeout(None, connect=CONNECT_SECONDS)
        return cls(settings, httpx.AsyncClient(timeout=timeout, limits=httpx.Limits(max_connections=None)))

    def has(self, tier: Tier) -> bool:
        """Whether the tier has an endpoint."""
        return tier in self._endpoints

    def leaves(self, tier: Tier) -> bool:
        """Whether what is sent to the tier leaves the operator's machines, so that a data-flow policy governs
        it (S-15)."""
        return self._endpoint(tier).partner

    def name(self, tier: Tier) -> str:
        """What the settings call the tier's model."""
        return self._endpoint(tier).name

    async def complete(
        self,
        tier: Tier,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        temperature: float | None = None,
        deadline: float | None = None,
        tools: Sequence[Tool] = (),
    ) -> Completion:
        """The model's answer as text, or the tools that it calls."""
        request = Request(messages=messages, max_tokens=max_tokens, temperature=temperature, tools=tools)
        completion, _ = await self._endpoint(tier).complete(request, lambda text: text, deadline)
        return completion

    async def complete_json(
        self,
        tier: Tier,
        messages: Sequence[Message],
        schema: Mapping[str, Any],
        *,
        max_tokens: int,
        temperature: float | None = None,
        deadline: float | None = None,
    ) -> JsonCompletion:
        """The model's answer as a value that conforms to `schema`, a constant of the caller.

        The schema goes along as `response_format`, unless the endpoint refuses that, and as an instruction;
        what comes back is checked either way. Raises jsonschema.SchemaError for a schema that is none.
        """
        endpoint = self._endpoint(tier)
        accepts = acceptor(schema)
        form = {"name": SCHEMA_NAME, "schema": dict(schema), "strict": True}
        request = Request(
            messages=_instructed(messages, schema),
            max_tokens=max_tokens,
            temperature=temperature,
            extras={"response_format": {"type": "json_schema", "json_schema": form}},
        )
        completion, value = await endpoint.complete(request, lambda text: extract(text, accepts), deadline)
        return JsonCompletion(value=value, usage=completion.usage, model=completion.model)

    def stream(
        self,
        tier: Tier,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        temperature: float | None = None,
        deadline: float | None = None,
        tools: Sequence[Tool] = (),
    ) -> AsyncGenerator[Delta, None]:
        """The model's answer piece by piece, then its end, which has the tools that it calls.

        An answer that breaks off raises after the pieces that came; attempts are repeated only before the
        first. It takes a turn of its tier and a connection until it ends: who may leave it early puts it into
        `contextlib.aclosing`, which closes the connection, as cancelling the reader does.
        """
        request = Request(
            messages=messages,
            max_tokens=max_tokens,
            temperature=temperature,
            extras={"stream_options": {"include_usage": True}},
            tools=tools,
        )
        return self._endpoint(tier).stream(request, deadline)

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    def _endpoint(self, tier: Tier) -> Endpoint:
        endpoint = self._endpoints.get(tier)
        if endpoint is None:
            raise ModelUnavailable(Cause.NOT_CONFIGURED)
        return endpoint


def _instructed(messages: Sequence[Message], schema: Mapping[str, Any]) -> list[Message]:
    """The messages, their one system message ending with what form the answer must have.

    Many chat templates take a single system message, and only in front.
    """
    instruction = INSTRUCTION + json.dumps(schema, ensure_ascii=False)
    if messages and messages[0].role == "system":
        first = Message(role="system", text=f"{messages[0].text}\n\n{instruction}")
        return [first, *messages[1:]]
    return [Message(role="system", text=instruction), *messages]
