"""HistoryService and EpisodicService on a socket, for tests of histories on both engines."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from palimpsest.common.v1 import resources_pb2
from palimpsest.episodic.v1 import episodic_pb2 as epb
from palimpsest.episodic.v1 import episodic_pb2_grpc
from palimpsest.history.v1 import history_pb2_grpc, overlays_pb2
from pydantic import SecretStr

from services.kit.context import act_as
from services.kit.errors import PalimpsestError
from services.memory.episodic.adapters.sql import migrations
from services.memory.episodic.config import EpisodicSettings
from tests.integration.episodic_server import OTHER, WRITER, Ledger, serve_episodic
from tests.postgres_server import shared_server

TOKENIZER = Path("services/embedder/model/tokenizer.json")
EXACT_MODEL = "exact"
FORK_MESSAGES = 50
POLL_SECONDS = 0.05

Episodic: TypeAlias = "episodic_pb2_grpc.EpisodicServiceAsyncStub"
History: TypeAlias = "history_pb2_grpc.HistoryServiceAsyncStub"
Key = dict[str, Any]
C: Key = {"agent_id": "a", "conversation_id": "c"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Replica:
    """The stubs of one process, with helpers for the conversation c of agent a."""

    episodic: Episodic
    history: History
    ledger: Ledger
    channel: Any
    """To further services of the same process."""

    async def say(self, *texts: str, ids: str = "", **fields: Any) -> list[str]:
        """Appends messages; `ids` are words, by default the texts are their own ids."""
        messages = [
            resources_pb2.NewMessage(
                id=id_, role=resources_pb2.ROLE_USER, parts=[resources_pb2.Part(text=text)]
            )
            for id_, text in zip(ids.split() if ids else texts, texts, strict=True)
        ]
        answer = await self.episodic.AppendMessages(
            epb.AppendMessagesRequest(messages=messages, **{**C, **fields})
        )
        return [result.message_id for result in answer.results]

    async def overlay(
        self, first: str, last: str, summary: str = "In short.", **fields: Any
    ) -> overlays_pb2.Overlay:
        """Stores an overlay, named by its ends unless `overlay_id` is given."""
        named = {"overlay_id": f"{first}-{last}", "model": "test", **C, **fields}
        request = overlays_pb2.PutOverlayRequest(
            from_message_id=first, to_message_id=last, summary=summary, **named
        )
        return (await self.history.PutOverlay(request)).overlay

    async def conversation(self) -> resources_pb2.Conversation:
        """The conversation c."""
        answer = await self.episodic.GetConversation(epb.GetConversationRequest(**C))
        return answer.conversation


def numbered(count: int, *, start: int = 1, prefix: str = "m") -> list[str]:
    """Texts that are ids: m1, m2, …"""
    return [f"{prefix}{n}" for n in range(start, start + count)]


async def failure(call: Awaitable[Any]) -> PalimpsestError:
    """What a call raises."""
    with pytest.raises(PalimpsestError) as caught:
        await call
    return caught.value


def _made(channel: Any, ledger: Ledger) -> Replica:
    return Replica(
        episodic=episodic_pb2_grpc.EpisodicServiceStub(channel),
        history=history_pb2_grpc.HistoryServiceStub(channel),
        ledger=ledger,
        channel=channel,
    )


@asynccontextmanager
async def replicas(
    engine: str, folder: Path, config: pytest.Config, *, count: int = 1, **settings: Any
) -> AsyncIterator[list[Replica]]:
    """Processes over one database: tenants acme and other, agents a and b, conversations c and d of each.

    A SQLite file has one owner, so there all of them are the same. Calls are those of a writer of acme.
    """
    async with AsyncExitStack() as stack:
        fields = {
            "data_dir": folder,
            "fork_messages": FORK_MESSAGES,
            "watch_poll_seconds": POLL_SECONDS,
            "tokenizers": {EXACT_MODEL: TOKENIZER},
            **settings,
        }
        if engine == "postgres":
            url = await stack.enter_async_context(shared_server(config).database(migrations("postgres")))
            fields["database_url"] = SecretStr(url)
        made = []
        for _ in range(count if engine == "postgres" else 1):
            ledger = Ledger()
            channel = await serve_episodic(stack, EpisodicSettings(**fields), ledger)
            made.append(_made(channel, ledger))
        made += made[:1] * (count - len(made))
        for principal in (OTHER, WRITER):
            with act_as(principal):
                await _populate(made[0].episodic)
        with act_as(WRITER):
            yield made


async def _populate(episodic: Episodic) -> None:
    for agent in "ab":
        await episodic.CreateAgent(epb.CreateAgentRequest(agent_id=agent))
        for name in "cd":
            await episodic.CreateConversation(
                epb.CreateConversationRequest(agent_id=agent, conversation_id=name)
            )


Pages = Callable[[str], Awaitable[Any]]


async def pages(call: Pages) -> list[Any]:
    """The answers of a listing, from the first page to the last."""
    answers = [await call("")]
    while answers[-1].next_page_token:
        answers.append(await call(answers[-1].next_page_token))
    return answers
