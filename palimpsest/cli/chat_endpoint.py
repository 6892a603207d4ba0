"""Who answers in `palimpsest chat --url`: an endpoint, asked here around the suite's memory."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Literal, cast

from pydantic import SecretStr, ValidationError

from palimpsest.client import AsyncClient
from palimpsest.errors import PalimpsestError, UnavailableError
from palimpsest.models import (
    CallTokens,
    ChatEvent,
    Interruption,
    MessageToken,
    ModelUsage,
    NewMessage,
    Part,
    Prompt,
    RecordedTurn,
    TextDelta,
    TextPart,
    TurnFinished,
    TurnStarted,
)

if TYPE_CHECKING:
    from services.kit.models.client import ModelClient
    from services.kit.models.types import Message, StreamEnd

MAX_TOKENS = 2048
"""Of one answer."""
NOTHING = ModelUsage(calls=0, estimated_calls=0, input_tokens=0, output_tokens=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where the model is, up to and with "/v1", and what it is called; an empty key is none."""

    url: str
    model: str
    key: str = ""


class EndpointTalk:
    """Assembles the prompt, stores the message, asks the endpoint, stores the answer."""

    def __init__(self, client: AsyncClient, conversation_id: str, author: str, endpoint: Endpoint) -> None:
        """Raises ValueError for an endpoint that can't be."""
        self._client = client
        self._conversation_id = conversation_id
        self._author = author
        self._models = _models(endpoint)

    async def close(self) -> None:
        """Closes the connections."""
        await self._models.close()

    async def turn(self, text: str) -> AsyncGenerator[ChatEvent, None]:
        """See Talk."""
        from services.kit.models.errors import ModelUnavailable

        prompt = await self._client.assemble_prompt(self._conversation_id, text, author=self._author)
        user = await self._record(NewMessage("user", text, author=self._author))
        yield _started(prompt, user)
        said: list[str] = []
        end: StreamEnd | None = None
        interruption: Interruption | None = Interruption(cause="reader_left")
        failure: ModelUnavailable | None = None
        try:
            async with aclosing(self._deltas(prompt)) as deltas:
                async for piece, last in deltas:
                    end = last or end
                    if piece:
                        said.append(piece)
                        yield TextDelta(piece)
            interruption = None
        except ModelUnavailable as error:
            failure, interruption = error, Interruption(cause="failed")
        finally:
            # Also where the reader left: what it heard is kept.
            stored = await self._keep("".join(said), interruption) if said else None
        if stored is None:
            raise UnavailableError(str(failure or "the model said nothing"))
        if end is not None:
            await self._count(end)
        yield _finished(stored, end, interruption)

    async def _deltas(self, prompt: Prompt) -> AsyncGenerator[tuple[str, StreamEnd | None], None]:
        from services.kit.models.types import Tier

        stream = self._models.stream(Tier.STANDARD, _messages(prompt), max_tokens=MAX_TOKENS)
        async with aclosing(stream) as deltas:
            async for delta in deltas:
                yield delta.text, delta.end

    async def _keep(self, text: str, interruption: Interruption | None) -> RecordedTurn:
        parts: list[Part] = [TextPart(text)]
        if interruption is not None:
            parts.append(interruption)
        return await self._record(NewMessage("assistant", parts))

    async def _record(self, message: NewMessage) -> RecordedTurn:
        return await self._client.record_turn(self._conversation_id, [message])

    async def _count(self, end: StreamEnd) -> None:
        """What it cost (E-11); a count that can't be kept is not worth the answer."""
        spent = CallTokens(input=end.usage.input_tokens, output=end.usage.output_tokens)
        try:
            await self._client.record_usage(
                end.model, spent, tier="standard", conversation_id=self._conversation_id
            )
        except PalimpsestError:
            return


def _models(endpoint: Endpoint) -> ModelClient:
    # Imported here: the suite's own chat does without an HTTP client.
    import structlog

    from services.kit.models.client import ModelClient
    from services.kit.models.settings import ModelSettings, TierSettings

    # What it would log of attempts that failed is told by the error that comes of them.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    try:
        tier = TierSettings(url=endpoint.url, name=endpoint.model, api_key=SecretStr(endpoint.key))
    except ValidationError as error:
        problem = error.errors(include_input=False, include_url=False)[0]
        raise ValueError(f"the endpoint's {problem['loc'][0]}: {problem['msg']}") from None
    return ModelClient.connect(ModelSettings(standard=tier))


def _messages(prompt: Prompt) -> list[Message]:
    from services.kit.models.types import Message

    return [
        Message(role=cast("Literal['system', 'user', 'assistant']", one.role), text=one.content)
        for one in prompt.openai_messages
    ]


def _started(prompt: Prompt, user: RecordedTurn) -> TurnStarted:
    retrieved = next((layer for layer in prompt.layers if layer.kind == "retrieved"), None)
    ids = [memory_id for layer in prompt.layers for memory_id in layer.memory_ids]
    return TurnStarted(
        user_message_id=user.messages[0].message_id,
        system_prompt_revision=prompt.system_prompt_revision,
        unindexed=prompt.unindexed,
        failures=prompt.failures,
        memory_ids=tuple(dict.fromkeys(ids)),
        messages=retrieved.messages if retrieved else (),
        replayed=False,
    )


def _finished(stored: RecordedTurn, end: StreamEnd | None, interruption: Interruption | None) -> TurnFinished:
    usage = end.usage if end else None
    return TurnFinished(
        assistant_message_id=stored.messages[0].message_id,
        token=stored.token if isinstance(stored.token, MessageToken) else None,
        usage=NOTHING
        if usage is None
        else ModelUsage(
            calls=usage.calls,
            estimated_calls=usage.estimated_calls,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
        ),
        model=end.model if end else "",
        truncated=end is not None and end.truncated,
        interruption=interruption,
        first_token=timedelta(seconds=end.first_token_seconds) if end else None,
        rounds=0,
    )
