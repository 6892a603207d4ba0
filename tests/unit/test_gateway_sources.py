"""What the prompt is made of when services answer in part, late or not at all (SPEC G-1, S-11, S-16)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from palimpsest.common.v1 import recall_pb2, resources_pb2
from palimpsest.documents.v1 import documents_pb2
from palimpsest.episodic.v1 import episodic_pb2
from palimpsest.history.v1 import overlays_pb2, windows_pb2
from palimpsest.semantic.v1 import semantic_pb2
from palimpsest.working.v1 import checkpoints_pb2, context_pb2, notes_pb2, prompt_pb2

from services.gateway.adapters.sources import QUERY_BYTES, STANDING_DOWN, THEMES_DOWN, ServiceSources
from services.gateway.app.ports import Found
from services.gateway.app.prompting import Prompting
from services.gateway.domain.parts import Layer, LayerKind, Prompt, WorkingSources
from services.gateway.domain.prompt import DEFAULT_BUDGET
from services.kit.errors import (
    BudgetTooSmall,
    DependencyDown,
    NotFound,
)
from services.kit.times import to_timestamp
from tests.unit.gateway_parts import backends

START = datetime(2026, 3, 1, 9, tzinfo=UTC)


def memory(name: str, value: str) -> resources_pb2.Memory:
    return resources_pb2.Memory(
        id=name, key=name, value=value, kind=resources_pb2.MEMORY_KIND_FACT, create_time=to_timestamp(START)
    )


def message(name: str, text: str, depth: int = 1) -> resources_pb2.Message:
    made = resources_pb2.Message(
        id=name,
        conversation_id="c",
        role=resources_pb2.ROLE_USER,
        author="Ann",
        time=to_timestamp(START),
        depth=depth,
    )
    made.parts.add().text = text
    return made


class FakeEpisodic:
    """One agent "ada" with one conversation "c"."""

    def __init__(self, contact_id: str = "", known: Sequence[str] = ()) -> None:
        """`known` are the ids of the agent's contacts."""
        self.contact_id = contact_id
        self.known = known
        self.asked: list[Any] = []
        self.window = windows_pb2.GetWindowResponse(
            tail=[windows_pb2.WindowMessage(message=message("m1", "the newest message", 8))], depth=8
        )
        self.originals = {"m0": message("m0", "an old original")}
        self.inactive = {"m2": message("m2", "said on another branch")}
        self.remembered = prompt_pb2.GetWorkingMemoryResponse()

    async def GetSystemPrompt(
        self, request: prompt_pb2.GetSystemPromptRequest
    ) -> prompt_pb2.GetSystemPromptResponse:
        if request.agent_id != "ada":
            raise NotFound("agent", request.agent_id)
        return prompt_pb2.GetSystemPromptResponse(
            prompt=prompt_pb2.SystemPrompt(text="You are Ada.", revision=3)
        )

    async def ListContacts(
        self, request: episodic_pb2.ListContactsRequest
    ) -> episodic_pb2.ListContactsResponse:
        shown = self.known[: request.page_size]
        return episodic_pb2.ListContactsResponse(contacts=[resources_pb2.Contact(id=one) for one in shown])

    async def GetWorkingMemory(
        self, request: prompt_pb2.GetWorkingMemoryRequest
    ) -> prompt_pb2.GetWorkingMemoryResponse:
        return self.remembered

    async def GetConversation(
        self, request: episodic_pb2.GetConversationRequest
    ) -> episodic_pb2.GetConversationResponse:
        if request.conversation_id != "c":
            raise NotFound("conversation", request.conversation_id)
        found = resources_pb2.Conversation(id="c", contact_id=self.contact_id)
        return episodic_pb2.GetConversationResponse(conversation=found)

    async def GetContact(self, request: episodic_pb2.GetContactRequest) -> episodic_pb2.GetContactResponse:
        return episodic_pb2.GetContactResponse(
            contact=resources_pb2.Contact(id=request.contact_id, merged_ids=["other"])
        )

    async def GetWindow(self, request: windows_pb2.GetWindowRequest) -> windows_pb2.GetWindowResponse:
        self.asked.append(request)
        return self.window

    async def GetMessages(self, request: episodic_pb2.GetMessagesRequest) -> episodic_pb2.GetMessagesResponse:
        known = self.originals | self.inactive
        found = [known[r.message_id] for r in request.refs if r.message_id in known]
        return episodic_pb2.GetMessagesResponse(
            messages=[
                episodic_pb2.MessageInContext(message=one, active=one.id in self.originals) for one in found
            ]
        )


class FakeSemantic:
    """Answers each method, or raises what `broken` holds for it."""

    def __init__(self) -> None:
        self.broken: dict[str, BaseException] = {}
        self.asked: dict[str, Any] = {}
        self.memory_failures: list[recall_pb2.ChannelFailure] = []
        self.message_failures: list[recall_pb2.ChannelFailure] = []

    def _note(self, method: str, request: Any) -> None:
        self.asked[method] = request
        if method in self.broken:
            raise self.broken[method]

    async def SelectStandingMemories(
        self, request: semantic_pb2.SelectStandingMemoriesRequest
    ) -> semantic_pb2.SelectStandingMemoriesResponse:
        self._note("SelectStandingMemories", request)
        return semantic_pb2.SelectStandingMemoriesResponse(memories=[memory("name", "the user is Ann")])

    async def RecallMemories(
        self, request: semantic_pb2.RecallMemoriesRequest
    ) -> semantic_pb2.RecallMemoriesResponse:
        self._note("RecallMemories", request)
        hits = [recall_pb2.MemoryHit(memory=memory(n, f"value of {n}")) for n in ("name", "city")]
        return semantic_pb2.RecallMemoriesResponse(hits=hits, failures=self.memory_failures)

    async def RecallMessages(
        self, request: semantic_pb2.RecallMessagesRequest
    ) -> semantic_pb2.RecallMessagesResponse:
        self._note("RecallMessages", request)
        refs = [resources_pb2.MessageRef(conversation_id="c", message_id=n) for n in ("m2", "m0", "erased")]
        matches = [recall_pb2.MessageMatch(ref=ref) for ref in refs]
        return semantic_pb2.RecallMessagesResponse(matches=matches, failures=self.message_failures)

    async def CountAccess(self, request: semantic_pb2.CountAccessRequest) -> semantic_pb2.CountAccessResponse:
        self._note("CountAccess", request)
        return semantic_pb2.CountAccessResponse()


class FakeDocuments:
    """An attractor of these basins, or none, or an error."""

    def __init__(self, *basins: documents_pb2.Basin, broken: Exception | None = None) -> None:
        self.basins = basins
        self.broken = broken

    async def ListBasins(self, request: documents_pb2.ListBasinsRequest) -> documents_pb2.ListBasinsResponse:
        if self.broken is not None:
            raise self.broken
        if not self.basins:
            raise NotFound("attractor", request.agent_id)
        return documents_pb2.ListBasinsResponse(basins=self.basins)


def prompting(
    episodic: FakeEpisodic, semantic: FakeSemantic, documents: FakeDocuments | None = None
) -> Prompting:
    ours = cast(Any, episodic)
    behind = backends(
        episodic=ours,
        history=ours,
        working=ours,
        semantic=semantic,
        documents=cast(Any, documents or FakeDocuments()),
    )
    return Prompting(ServiceSources(behind))


async def assembled(
    episodic: FakeEpisodic,
    semantic: FakeSemantic,
    text: str = "so?",
    *,
    agent: str = "ada",
    conversation: str = "c",
    budget: int = 0,
    wait_for: Sequence[Any] = (),
) -> tuple[Prompt, Found]:
    ours = prompting(episodic, semantic)
    made = await ours.assemble(agent, conversation, text, author="Ann", budget=budget, wait_for=wait_for)
    await ours.settle()
    assert made.prompt_revision == 3
    return made.prompt, made.found


def named(found: Found) -> dict[Any, str]:
    failures = cast("Sequence[recall_pb2.ChannelFailure]", found.failures)
    return {failure.channel: failure.cause for failure in failures}


def layer_of(prompt: Prompt, kind: LayerKind) -> Layer:
    (found,) = [layer for layer in prompt.layers if layer.kind is kind]
    return found


def layer_text(prompt: Prompt, kind: LayerKind) -> str:
    return layer_of(prompt, kind).text


async def test_all_layers_are_there_when_all_services_answer() -> None:
    """The positive control of the tests below."""
    semantic = FakeSemantic()
    prompt, found = await assembled(FakeEpisodic(), semantic)
    assert found.failures == ()
    assert prompt.budget == DEFAULT_BUDGET
    assert "You are Ada." in layer_text(prompt, LayerKind.SYSTEM)
    assert "the user is Ann" in layer_text(prompt, LayerKind.FACTS)
    history = layer_text(prompt, LayerKind.HISTORY)
    assert "the newest message" in history
    assert "7 messages not shown" in history
    retrieved = layer_text(prompt, LayerKind.RETRIEVED)
    assert "an old original" in retrieved
    assert "value of city" in retrieved
    assert "value of name" not in retrieved, "it is among the facts"
    assert list(semantic.asked["CountAccess"].memory_ids) == ["name", "city"]


async def test_one_failing_call_costs_its_own_part_only() -> None:
    semantic = FakeSemantic()
    semantic.broken["RecallMemories"] = DependencyDown()
    prompt, found = await assembled(FakeEpisodic(), semantic)
    assert "an old original" in layer_text(prompt, LayerKind.RETRIEVED)
    assert "the user is Ann" in layer_text(prompt, LayerKind.FACTS)
    assert named(found)

    semantic = FakeSemantic()
    semantic.broken["RecallMessages"] = DependencyDown()
    prompt, found = await assembled(FakeEpisodic(), semantic)
    assert "value of city" in layer_text(prompt, LayerKind.RETRIEVED)
    assert "an old original" not in prompt.text
    assert named(found)

    semantic = FakeSemantic()
    semantic.broken["SelectStandingMemories"] = DependencyDown()
    prompt, found = await assembled(FakeEpisodic(), semantic)
    assert layer_text(prompt, LayerKind.FACTS) == ""
    assert "value of name" in layer_text(prompt, LayerKind.RETRIEVED), "no fact, so it may be retrieved"
    assert named(found) == {recall_pb2.CHANNEL_UNSPECIFIED: STANDING_DOWN}


async def test_a_channel_that_failed_in_both_searches_is_named_once() -> None:
    semantic = FakeSemantic()
    failure = recall_pb2.ChannelFailure(channel=recall_pb2.CHANNEL_VECTOR, cause="timed out")
    semantic.memory_failures = semantic.message_failures = [failure]
    prompt, found = await assembled(FakeEpisodic(), semantic)
    assert list(found.failures) == [failure]
    assert "an old original" in prompt.text


async def test_an_access_that_cannot_be_counted_is_not_worth_the_prompt() -> None:
    semantic = FakeSemantic()
    semantic.broken["CountAccess"] = DependencyDown()
    prompt, found = await assembled(FakeEpisodic(), semantic)
    assert "the user is Ann" in prompt.text
    assert found.failures == ()


@pytest.mark.parametrize(("agent", "conversation"), [("nobody", "c"), ("ada", "nowhere")])
async def test_an_unknown_agent_or_conversation_is_not_found(agent: str, conversation: str) -> None:
    semantic = FakeSemantic()
    with pytest.raises(NotFound):
        await assembled(FakeEpisodic(), semantic, agent=agent, conversation=conversation)
    assert semantic.asked == {}, "nothing is searched for what does not exist"


async def test_a_budget_that_cannot_hold_the_message_names_both_parts_before_anything_is_searched() -> None:
    semantic = FakeSemantic()
    with pytest.raises(BudgetTooSmall, match=r"system prompt takes \d+ tokens and the message 1\d\d\d"):
        await assembled(FakeEpisodic(), semantic, "word " * 1000, budget=200)
    assert semantic.asked == {}


async def test_a_person_is_recalled_under_every_id_they_had_and_in_all_their_conversations() -> None:
    """S-5, S-12."""
    semantic = FakeSemantic()
    await assembled(FakeEpisodic(contact_id="ann"), semantic)
    for request in (semantic.asked["RecallMemories"], semantic.asked["SelectStandingMemories"]):
        assert list(request.scope.contact_ids) == ["ann", "other"]
    assert list(semantic.asked["RecallMessages"].scope.contact_ids) == ["ann", "other"]
    assert semantic.asked["RecallMessages"].conversation_id == ""


async def test_with_nobody_the_search_stays_in_the_conversation() -> None:
    """S-12."""
    semantic = FakeSemantic()
    await assembled(FakeEpisodic(), semantic)
    assert list(semantic.asked["RecallMessages"].scope.contact_ids) == []
    assert semantic.asked["RecallMessages"].conversation_id == "c"


async def test_both_searches_wait_for_the_tokens() -> None:
    """S-16."""
    semantic = FakeSemantic()
    token = resources_pb2.FreshnessToken(agent_id="ada")
    await assembled(FakeEpisodic(), semantic, wait_for=[token])
    for method in ("RecallMemories", "RecallMessages"):
        assert list(semantic.asked[method].wait_for) == [token]


@pytest.mark.parametrize("character", ["x", "ü", "茶", "🫖"])
async def test_a_long_message_is_searched_by_its_beginning_within_the_querys_limit(character: str) -> None:
    """X-2: at most 1,024 bytes, and no broken character at the end."""
    semantic = FakeSemantic()
    await assembled(FakeEpisodic(), semantic, "a" + character * 2000)
    query = semantic.asked["RecallMemories"].query
    assert query == "a" + character * (len(query) - 1)
    assert QUERY_BYTES - len(character.encode()) < len(query.encode()) <= QUERY_BYTES


async def test_history_is_asked_for_within_what_is_left() -> None:
    episodic = FakeEpisodic()
    prompt, _ = await assembled(episodic, FakeSemantic(), budget=1000)
    (request,) = episodic.asked
    whole = [layer.tokens for layer in prompt.layers if layer.kind in (LayerKind.SYSTEM, LayerKind.MESSAGE)]
    assert 500 < request.budget.tokens <= 1000 - sum(whole)


async def test_messages_on_no_active_path_are_not_retrieved() -> None:
    """G-2, E-12: the branch that was left is found by the search and not shown."""
    prompt, _ = await assembled(FakeEpisodic(), FakeSemantic())
    retrieved = layer_of(prompt, LayerKind.RETRIEVED)
    assert [turn.message_id for turn in retrieved.turns] == ["m0"]
    assert "another branch" not in prompt.text


async def test_overlays_show_between_head_and_tail_and_are_named() -> None:
    """E-5, G-1."""
    episodic = FakeEpisodic()
    episodic.window.head.add(message=message("m-1", "the first message", 1))
    shown_overlay = overlays_pb2.Overlay(id="o1", from_depth=2, to_depth=6, summary="They spoke of herons.")
    episodic.window.overlays.add(overlay=shown_overlay, from_depth=2, to_depth=6)
    prompt, _ = await assembled(episodic, FakeSemantic())
    shown = layer_of(prompt, LayerKind.HISTORY)
    assert (shown.overlay_ids, shown.omitted) == (("o1",), 1)
    places = [shown.text.index(text) for text in ("the first", "of herons", "1 message not", "the newest")]
    assert places == sorted(places)


async def test_working_memory_shows_what_there_is_and_names_it() -> None:
    """W-1 to W-4, G-1. A pending call has no result to be used again."""
    episodic = FakeEpisodic()
    call = resources_pb2.ToolCall(call_id="k", name="look")
    call.arguments.update({"where": "北"})
    done = checkpoints_pb2.CheckpointedCall(
        call=call, result=checkpoints_pb2.ResultPreview(content="a heron", is_error=True)
    )
    pending = checkpoints_pb2.CheckpointedCall(call=resources_pb2.ToolCall(call_id="p", name="wait"))
    episodic.remembered = prompt_pb2.GetWorkingMemoryResponse(
        notes=notes_pb2.Notes(text="likes herons", version=7),
        task=notes_pb2.Task(text="find the nest"),
        stale_turn=checkpoints_pb2.Checkpoint(
            turn_id="t",
            calls=[done, pending],
            handles=[checkpoints_pb2.SessionHandle(name="shell", handle="s-1")],
        ),
        loaded=[context_pb2.ContextEntry(label="docs", key="birds", title="Birds", content="Herons wade.")],
    )
    prompt, _ = await assembled(episodic, FakeSemantic())
    shown = layer_of(prompt, LayerKind.WORKING)
    assert shown.working == WorkingSources(
        notes_version=7, task=True, turn_id="t", result_count=1, entries=("docs/birds",)
    )
    for text in (
        "likes herons",
        "find the nest",
        'look {"where": "北"}:\n  error: a heron',
        "open session shell: s-1",
        "⟦data: context docs/birds, Birds⟧\nHerons wade.",
    ):
        assert text in shown.text
    assert "wait" not in shown.text
    assert [layer.kind for layer in prompt.layers][1:4] == [
        LayerKind.FACTS,
        LayerKind.WORKING,
        LayerKind.HISTORY,
    ]
    empty, _ = await assembled(FakeEpisodic(), FakeSemantic())
    assert layer_of(empty, LayerKind.WORKING).text == ""


@pytest.mark.parametrize(
    ("contact_id", "known", "shown"),
    [
        ("", [], True),
        ("ann", ["ann"], True),
        ("ann", ["ann", "bob"], False),
        ("ann", ["bob", "ann"], False),
        ("", ["bob"], False),
    ],
)
async def test_a_theme_that_nobody_named_is_called_by_words_that_no_other_person_may_have_said(
    contact_id: str, known: Sequence[str], shown: bool
) -> None:
    """S-5, J-12: a label is made of what was said in all conversations; a name is a person's choice."""
    basins = (
        documents_pb2.Basin(id="b1", label="dog rufus, surgery", weight=0.6),
        documents_pb2.Basin(id="b2", name="Garden", label="tomatoes", weight=0.4),
    )
    made = prompting(FakeEpisodic(contact_id, known), FakeSemantic(), FakeDocuments(*basins))
    found = await made.assemble("ada", "c", "so?", author="Ann", budget=0, wait_for=())
    assert ("rufus" in found.prompt.text) is shown
    assert "- Garden" in found.prompt.text


async def test_the_attractor_stands_before_the_memories_and_its_absence_is_no_failure() -> None:
    """SPEC G-1, J-12."""
    basins = (
        documents_pb2.Basin(id="b2", name="Garden", label="tomatoes", weight=0.7),
        documents_pb2.Basin(id="b1", label="PostgreSQL", weight=0.3),
    )
    made = prompting(FakeEpisodic(), FakeSemantic(), FakeDocuments(*basins))
    found = await made.assemble("ada", "c", "so?", author="Ann", budget=0, wait_for=())
    (facts,) = (layer for layer in found.prompt.layers if layer.kind is LayerKind.FACTS)
    assert facts.text.index("- PostgreSQL\n- Garden") < facts.text.index("the user is Ann")
    assert found.found.failures == ()
    away = prompting(FakeEpisodic(), FakeSemantic(), FakeDocuments(broken=DependencyDown()))
    without = await away.assemble("ada", "c", "so?", author="Ann", budget=0, wait_for=())
    assert "the user is Ann" in without.prompt.text
    assert list(named(without.found).values()) == [THEMES_DOWN]
