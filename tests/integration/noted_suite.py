"""A suite with one memory and one message that anybody may see, and the same of a person nobody asks for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from palimpsest.gateway.v1 import conversations_pb2
from palimpsest.gateway.v1 import memories_pb2 as pb

from tests.integration.embedded_suite import AGENT, Running, contact, prepare, running, said

KEY = "note.plain"
"""Of the memory that may be seen."""
CONCEALED = "concealed"
"""A word of what may not be seen alone."""


@asynccontextmanager
async def noted(data: Path) -> AsyncIterator[Running]:
    """Starts it over a folder; everything is indexed."""
    async with running(data) as made:
        stub = await made.stub()
        await prepare(stub)
        hidden = await contact(stub, "chat:hidden")
        await prepare(stub, "hidden", hidden)
        tokens = []
        for conversation, contact_id, word in (("c", "", "plain"), ("hidden", hidden, CONCEALED)):
            turn = conversations_pb2.RecordTurnRequest(
                agent_id=AGENT, conversation_id=conversation, messages=[said(f"a {word} note on herons")]
            )
            tokens.append((await stub.RecordTurn(turn)).token)
            remember = pb.RememberRequest(
                agent_id=AGENT, contact_id=contact_id, key=f"note.{word}", value=f"{word}: herons nest"
            )
            tokens.append((await stub.Remember(remember)).token)
        settled = await stub.Recall(pb.RecallRequest(agent_id=AGENT, query="herons", wait_for=tokens))
        assert not settled.unindexed
        yield made
