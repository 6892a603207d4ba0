"""The prompt comes although the memory service is down, and says what is missing (SPEC G-1, S-11)."""

from __future__ import annotations

from typing import Any, cast

import pytest
from palimpsest.common.v1 import recall_pb2, resources_pb2
from palimpsest.episodic.v1 import episodic_pb2
from palimpsest.history.v1 import windows_pb2
from palimpsest.semantic.v1 import semantic_pb2
from palimpsest.working.v1 import prompt_pb2

from services.gateway.adapters.sources import STANDING_DOWN, ServiceSources
from services.gateway.app.ports import Found
from services.gateway.app.prompting import Prompting
from services.gateway.domain.parts import Prompt
from services.kit.errors import DeadlineExceeded, DependencyDown, NotFound, PalimpsestError
from tests.unit.gateway_parts import NoAttractor, backends


class Episodic:
    """One agent with one conversation of one message."""

    async def GetConversation(self, request: Any) -> Any:
        return episodic_pb2.GetConversationResponse(conversation=resources_pb2.Conversation(id="c"))

    async def GetSystemPrompt(self, request: Any) -> Any:
        return prompt_pb2.GetSystemPromptResponse(prompt=prompt_pb2.SystemPrompt(text="You are Ada."))

    async def GetWorkingMemory(self, request: Any) -> Any:
        return prompt_pb2.GetWorkingMemoryResponse()

    async def GetWindow(self, request: Any) -> Any:
        message = resources_pb2.Message(id="m1", conversation_id="c", role=resources_pb2.ROLE_USER, depth=1)
        message.parts.add().text = "an earlier message"
        return windows_pb2.GetWindowResponse(tail=[windows_pb2.WindowMessage(message=message)], depth=1)


class Semantic:
    """Calls named in `down` fail with `error`."""

    def __init__(self, down: set[str], error: PalimpsestError) -> None:
        self._down = down
        self._error = error
        self.counted: list[str] = []

    def _call(self, name: str) -> None:
        if name in self._down:
            raise self._error

    async def SelectStandingMemories(self, request: Any) -> Any:
        self._call("standing")
        memory = resources_pb2.Memory(id="f1", key="name", value="the user is Ann")
        return semantic_pb2.SelectStandingMemoriesResponse(memories=[memory])

    async def RecallMemories(self, request: Any) -> Any:
        self._call("memories")
        memory = resources_pb2.Memory(id="f2", key="bird", value="likes herons")
        return semantic_pb2.RecallMemoriesResponse(hits=[recall_pb2.MemoryHit(memory=memory)])

    async def RecallMessages(self, request: Any) -> Any:
        self._call("messages")
        return semantic_pb2.RecallMessagesResponse()

    async def CountAccess(self, request: Any) -> Any:
        self._call("count")
        self.counted += request.memory_ids
        return semantic_pb2.CountAccessResponse()


async def assembled(semantic: Semantic) -> tuple[Prompt, Found]:
    episodic = Episodic()
    behind = backends(
        episodic=episodic, history=episodic, working=episodic, semantic=semantic, documents=NoAttractor()
    )
    prompting = Prompting(ServiceSources(behind))
    made = await prompting.assemble("ada", "c", "hello", author="", budget=0, wait_for=[])
    await prompting.settle()
    return made.prompt, made.found


def causes(found: Found) -> dict[int, str]:
    failures = cast("tuple[recall_pb2.ChannelFailure, ...]", found.failures)
    assert len({failure.channel for failure in failures}) == len(failures), "each channel once"
    return {failure.channel: failure.cause for failure in failures}


async def test_with_everything_up_nothing_is_missing() -> None:
    semantic = Semantic(set(), DependencyDown())
    prompt, found = await assembled(semantic)
    assert causes(found) == {}
    assert semantic.counted == ["f1", "f2"]
    for text in ("You are Ada.", "the user is Ann", "an earlier message", "likes herons", "hello"):
        assert text in prompt.text


@pytest.mark.parametrize("error", [DependencyDown(), DeadlineExceeded()])
async def test_with_the_memory_service_down_the_conversation_is_there(error: PalimpsestError) -> None:
    prompt, found = await assembled(Semantic({"standing", "memories", "messages", "count"}, error))
    assert causes(found)[recall_pb2.CHANNEL_UNSPECIFIED] == STANDING_DOWN
    assert causes(found)[recall_pb2.CHANNEL_VECTOR] == "not available"
    assert "an earlier message" in prompt.text
    assert prompt.text.endswith("hello")
    assert "the user is Ann" not in prompt.text


async def test_with_recall_down_the_standing_memories_are_there() -> None:
    prompt, found = await assembled(Semantic({"memories", "messages"}, DependencyDown()))
    assert recall_pb2.CHANNEL_UNSPECIFIED not in causes(found)
    assert recall_pb2.CHANNEL_VECTOR in causes(found)
    assert "the user is Ann" in prompt.text
    assert "likes herons" not in prompt.text


async def test_an_error_that_is_no_outage_is_not_hidden() -> None:
    with pytest.raises(NotFound):
        await assembled(Semantic({"standing"}, NotFound("agent", "ada")))
