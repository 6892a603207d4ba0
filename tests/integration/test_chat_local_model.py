"""Chats and answers with a real model on the loopback (SPEC G-4, G-8, E-11): plumbing, not quality."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from palimpsest.chat.v1 import chat_pb2 as pb
from palimpsest.gateway.v1 import conversations_pb2, memories_pb2

from services.gateway.chats import ChatChoices
from services.kit.models.settings import ModelSettings, TierSettings
from tests.integration.chat_suite import ScriptedTools, events_of, kinds, request, text_of
from tests.integration.embedded_suite import AGENT, prepare, running
from tests.local_model import MODEL, local_model, needs_local_model

pytestmark = needs_local_model
SECONDS = 120.0


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with local_model(tmp_path_factory.mktemp("model")) as url:
        yield url


async def test_a_real_model_is_talked_with_and_asked(tmp_path: Path, url: str) -> None:
    one = TierSettings(url=url, name=MODEL, partner=False)
    tools = ScriptedTools(made={"look_up": lambda _: "a bird"})
    choices = ChatChoices(models=ModelSettings(standard=one), tools=tools)
    async with running(tmp_path / "data", chat=choices) as suite:
        stub = await suite.stub()
        await prepare(stub)
        told = await events_of(
            stub.Chat(
                request("c", "Name a bird. One word.", no_tools=True, budget_tokens=2000), timeout=SECONDS
            )
        )
        assert kinds(told) == ["started", "delta", "finished"]
        assert text_of(told)
        end = told[-1].finished
        assert end.model == MODEL
        assert (end.usage.calls, end.usage.estimated_calls) == (1, 0)
        assert end.first_token.ToNanoseconds() > 0
        offered = await events_of(
            stub.Chat(request("c", "Look the word heron up.", budget_tokens=2000), timeout=SECONDS)
        )
        assert kinds(offered)[-1] == "finished", "a model that takes tools, whether or not it calls them"
        listed = await stub.ListMessages(
            conversations_pb2.ListMessagesRequest(agent_id=AGENT, conversation_id="c")
        )
        assert len(listed.messages) >= 4
        kept = await stub.Remember(
            memories_pb2.RememberRequest(agent_id=AGENT, key="heron.food", value="The heron eats fish.")
        )
        found = await stub.Answer(
            pb.AnswerRequest(agent_id=AGENT, query="What does the heron eat?", wait_for=[kept.token]),
            timeout=SECONDS,
        )
        assert found.evidence[0].memory.value == "The heron eats fish."
        assert (found.no_text_reason == pb.NO_TEXT_REASON_UNSPECIFIED) == bool(found.text)
        assert found.no_text_reason in (pb.NO_TEXT_REASON_UNSPECIFIED, pb.NO_TEXT_REASON_UNCITED)
