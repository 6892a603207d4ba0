"""The rolling summary in the prompt: in the place of overlays, or named as missing (SPEC E-5, G-1, S-11)."""

from __future__ import annotations

from typing import Any, cast

import pytest
from google.protobuf.struct_pb2 import Struct
from palimpsest.common.v1 import recall_pb2, resources_pb2
from palimpsest.documents.v1 import documents_pb2
from palimpsest.history.v1 import windows_pb2

from services.gateway.adapters.sources import (
    SUMMARY_BYTES,
    SUMMARY_DOWN,
    ServiceSources,
    rolling_of,
    summary_of_path,
)
from services.gateway.app.ports import Rolling
from services.gateway.app.prompting import LEAST_SUMMARISED, Assembled, Prompting
from services.gateway.domain.parts import LayerKind, Overlay
from services.kit.errors import DeadlineExceeded, DependencyDown, NotFound, PalimpsestError
from tests.unit.gateway_parts import NoAttractor, backends
from tests.unit.test_prompt_sources import Episodic, Semantic

TEXT = "## Objective\n- Ann: sell the river barge"


class Talk(Episodic):
    """A path of 30 messages of which the last is shown; `covered` of them lie under overlays."""

    def __init__(self, *, covered: int = 0, depth: int = 30) -> None:
        self.covered, self.depth = covered, depth
        self.given = ""

    async def GetConversation(self, request: Any) -> Any:
        made = await super().GetConversation(request)
        made.conversation.depth, made.conversation.covered_count = self.depth, self.covered
        return made

    async def GetWindow(self, request: windows_pb2.GetWindowRequest) -> Any:
        made = await super().GetWindow(request)
        made.tail[0].message.depth, made.tail[0].message.id = self.depth, f"m{self.depth}"
        self.given = request.budget.rolling_summary
        made.rolling_summary, made.depth = self.given, self.depth
        return made


class Documents(NoAttractor):
    """One summary, or an error."""

    def __init__(self, error: PalimpsestError | None = None) -> None:
        self.error = error
        self.asked = 0

    async def GetSummary(self, request: Any) -> documents_pb2.GetSummaryResponse:
        self.asked += 1
        if self.error:
            raise self.error
        return documents_pb2.GetSummaryResponse(summary=documents_pb2.Document(body=body()))


def body(text: str = TEXT, depth: int = 20) -> Struct:
    made = Struct()
    made.update({"text": text, "up_to": {"message_id": f"m{depth}", "depth": depth}})
    return made


async def assembled(talk: Talk, documents: Documents) -> Assembled:
    behind = backends(
        episodic=talk,
        history=talk,
        working=talk,
        semantic=Semantic(set(), DependencyDown()),
        documents=documents,
    )
    return await Prompting(ServiceSources(behind)).assemble(
        "ada", "c", "hello", author="", budget=0, wait_for=[]
    )


def causes(made: Assembled) -> list[str]:
    return [failure.cause for failure in cast("tuple[recall_pb2.ChannelFailure, ...]", made.found.failures)]


async def test_it_stands_for_the_messages_that_are_not_shown() -> None:
    talk = Talk()
    made = await assembled(talk, Documents())
    assert talk.given == TEXT
    assert "summary of messages 1 to 20" in made.prompt.text
    assert "sell the river barge" in made.prompt.text
    (history,) = [layer for layer in made.prompt.layers if layer.kind is LayerKind.HISTORY]
    assert history.omitted == 9, "messages 21 to 29 are neither shown nor summed up"
    assert not history.overlay_ids
    assert causes(made) == []


async def test_with_overlays_or_little_said_it_is_not_asked_for() -> None:
    for talk in (Talk(covered=25), Talk(depth=LEAST_SUMMARISED - 1)):
        documents = Documents()
        await assembled(talk, documents)
        assert (documents.asked, talk.given) == (0, "")
    documents = Documents()
    await assembled(Talk(depth=LEAST_SUMMARISED), documents)
    assert documents.asked == 1


@pytest.mark.parametrize("error", [DependencyDown(), DeadlineExceeded()])
async def test_where_it_cannot_be_had_the_prompt_says_so(error: PalimpsestError) -> None:
    made = await assembled(Talk(), Documents(error))
    assert causes(made) == [SUMMARY_DOWN]
    assert "an earlier message" in made.prompt.text


async def test_that_there_is_none_yet_is_no_failure() -> None:
    made = await assembled(Talk(), Documents(NotFound("summary", "c")))
    assert causes(made) == []
    assert "summary of" not in made.prompt.text


def test_a_document_of_another_form_is_none() -> None:
    assert rolling_of(body()) == Rolling(text=TEXT, message_id="m20", depth=20)
    assert rolling_of(Struct()) == Rolling()
    assert rolling_of(body(text="x" * (SUMMARY_BYTES + 1))) == Rolling()


def test_a_summary_of_another_branch_is_not_shown() -> None:
    """E-3: as far as the window tells."""
    shown = [windows_pb2.WindowMessage(message=resources_pb2.Message(id=f"m{n}", depth=n)) for n in (20, 21)]
    window = windows_pb2.GetWindowResponse(tail=shown, depth=21, rolling_summary=TEXT)
    right = Rolling(text=TEXT, message_id="m20", depth=20)
    assert summary_of_path(window, right) == (Overlay(id="", from_depth=1, to_depth=20, summary=TEXT),)
    assert summary_of_path(window, Rolling(text=TEXT, message_id="b20", depth=20)) == ()
    assert summary_of_path(window, Rolling(text=TEXT, message_id="m30", depth=30)) == ()
    window.rolling_summary = ""
    assert summary_of_path(window, right) == ()
