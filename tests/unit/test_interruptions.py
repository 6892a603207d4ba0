"""That a message broke off is a part of it (SPEC G-4, E-2, W-3)."""

from __future__ import annotations

import pytest
from palimpsest.common.v1 import resources_pb2

from palimpsest import models
from palimpsest.client import incoming, outgoing
from services.gateway.adapters.texts import shown_text
from services.memory.episodic.domain.model import Message, Role, ends_turn
from services.memory.episodic.domain.parts import (
    Interruption,
    InterruptionCause,
    Text,
    decode,
    encode,
    plain_text,
)
from services.memory.episodic.rpc.convert import new_messages


@pytest.mark.parametrize("cause", InterruptionCause)
def test_it_is_kept_as_it_came_and_counts_no_words(cause: InterruptionCause) -> None:
    proto = resources_pb2.NewMessage(
        role=resources_pb2.ROLE_ASSISTANT,
        parts=[
            resources_pb2.Part(text="The heron"),
            resources_pb2.Part(interruption=resources_pb2.Interruption(cause=int(cause))),  # type: ignore[arg-type]
        ],
    )
    (message,) = new_messages([proto])
    assert message.parts == (Text(text="The heron"), Interruption(cause=cause))
    assert decode(encode(message.parts)) == message.parts
    assert encode(message.parts) != encode(message.parts[:1]), "another content (E-2)"
    assert plain_text("", message.parts) == "The heron"


def test_an_answer_that_broke_off_ends_its_turn() -> None:
    """Also one of which nothing was said in its last round."""
    answer = Message(
        id="a",
        conversation_id="c",
        sequence=2,
        depth=2,
        parent_id="u",
        role=Role.ASSISTANT,
        author="",
        session="",
        time=0,
        create_time=0,
        token_count=0,
        content=encode([Interruption(cause=InterruptionCause.READER_LEFT)]),
    )
    assert ends_turn(answer)


@pytest.mark.parametrize("cause", [None, "reader_left", "deadline", "failed", "limit_exceeded"])
def test_the_client_gives_it_back_as_it_took_it(cause: models.InterruptionCause | None) -> None:
    part = models.Interruption(cause=cause)
    assert incoming.interruption(outgoing.part(part).interruption) == part


def test_a_prompt_says_it() -> None:
    message = resources_pb2.Message(role=resources_pb2.ROLE_ASSISTANT)
    message.parts.add().text = "The heron"
    message.parts.add().interruption.cause = resources_pb2.INTERRUPTION_CAUSE_DEADLINE
    assert shown_text(message) == ("The heron\n(broken off here)", "")
