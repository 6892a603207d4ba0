"""Jobs that read facts from messages, with an Episodic and a Semantic that do as told (SPEC J-8, J-9)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from palimpsest.common.v1 import resources_pb2
from palimpsest.episodic.v1 import episodic_pb2
from palimpsest.history.v1 import overlays_pb2
from palimpsest.semantic.v1 import semantic_pb2

from services.compactor.adapters.cover_handler import CoverHandler
from services.compactor.adapters.extract_handler import BAD_PAYLOAD, ExtractHandler, stretch_of
from services.compactor.adapters.fact_writer import FactWriter, turn_of
from services.compactor.app.engines import About
from services.compactor.app.extracting import Grammar
from services.compactor.app.ports import Done, Failed
from services.compactor.app.summarising import Summary
from services.compactor.domain.covering import Lengths
from services.compactor.domain.extraction.grammar import NAME
from services.compactor.domain.ledger import Job, JobState
from services.compactor.domain.summaries import Utterance
from services.kit.context import current_principal
from services.kit.errors import (
    DependencyDown,
    Exists,
    Internal,
    LimitExceeded,
    NotFound,
    Overloaded,
    PalimpsestError,
)
from services.kit.identity import Principal, Role
from services.kit.times import to_timestamp

SAID = datetime(2026, 1, 1, 12, tzinfo=UTC)
USER, ASSISTANT, TOOL = resources_pb2.ROLE_USER, resources_pb2.ROLE_ASSISTANT, resources_pb2.ROLE_TOOL
TURN, FLUSH = resources_pb2.MEMORY_SOURCE_TURN, resources_pb2.MEMORY_SOURCE_PRE_COMPACTION


def message(
    number: int, text: str, *, role: Any = USER, author: str = "", said: datetime = SAID
) -> resources_pb2.Message:
    stamp = to_timestamp(said)
    made = resources_pb2.Message(
        id=f"m{number}", sequence=number, role=role, author=author, time=stamp, create_time=stamp
    )
    made.parts.add().text = text
    return made


class Episodic:
    """One conversation of agent a."""

    def __init__(self, *messages: resources_pb2.Message, contact: str = "") -> None:
        self.messages = messages
        self.conversation = resources_pb2.Conversation(id="c", agent_id="a", contact_id=contact)
        self.contact = resources_pb2.Contact(id="ann", display_name="Ann Berg", merged_ids=["ann-too"])
        self.callers: set[Principal] = set()
        self.error: PalimpsestError | None = None
        self.most = 1000

    async def GetMessageRange(
        self, request: episodic_pb2.GetMessageRangeRequest
    ) -> episodic_pb2.GetMessageRangeResponse:
        self.callers.add(current_principal())
        if self.error is not None:
            raise self.error
        found = [m for m in self.messages if m.sequence in request.sequences]
        if len(found) > self.most:
            raise LimitExceeded
        return episodic_pb2.GetMessageRangeResponse(messages=found, conversation=self.conversation)

    async def GetConversation(
        self, request: episodic_pb2.GetConversationRequest
    ) -> episodic_pb2.GetConversationResponse:
        if self.error is not None:
            raise self.error
        return episodic_pb2.GetConversationResponse(conversation=self.conversation)

    async def GetContact(self, request: episodic_pb2.GetContactRequest) -> episodic_pb2.GetContactResponse:
        assert request.contact_id == self.conversation.contact_id
        return episodic_pb2.GetContactResponse(contact=self.contact)


class Semantic:
    """Keeps what it is asked to remember; raises the next error, if any."""

    def __init__(self, *errors: PalimpsestError | None) -> None:
        self.asked: list[semantic_pb2.RememberRequest] = []
        self._errors = list(errors)

    async def Remember(self, request: semantic_pb2.RememberRequest) -> semantic_pb2.RememberResponse:
        self.asked.append(request)
        error = self._errors.pop(0) if self._errors else None
        if error is not None:
            raise error
        return semantic_pb2.RememberResponse(memory=resources_pb2.Memory(id=f"memory {request.key}"))

    @property
    def values(self) -> list[str]:
        return [request.value for request in self.asked]


def writer(episodic: Episodic, semantic: Semantic, now: datetime = SAID) -> FactWriter:
    made: Any = FactWriter
    return made(episodic, semantic, Grammar(), lambda: now)  # type: ignore[no-any-return]


def job(first: int = 1, last: int = 9, payload: bytes | None = None) -> Job:
    named = b'{"conversation_id":"c","from_sequence":%d,"to_sequence":%d}' % (first, last)
    return Job(
        id=f"job-{first}",
        tenant="acme",
        agent_id="a",
        type="extract_messages",
        subject="",
        key=f"{first}-{last}",
        payload=named if payload is None else payload,
        state=JobState.RUNNING,
        max_attempts=5,
        created=SAID,
        updated=SAID,
        due=None,
        revision=1,
    )


async def run(
    episodic: Episodic, semantic: Semantic, *jobs: Job, now: datetime = SAID
) -> list[Done | Failed]:
    made: Any = ExtractHandler
    handler: ExtractHandler = made(episodic, writer(episodic, semantic, now))
    return list(await handler.run("acme", "a", jobs or [job()]))


async def test_what_a_person_states_is_remembered_with_its_message() -> None:
    """J-8: key, type, provenance, and from when it holds."""
    semantic = Semantic()
    outcomes = await run(Episodic(message(3, "I live in Oslo.")), semantic)
    assert outcomes == [Done(result_ids=("memory user.home",), engine=NAME)]
    (asked,) = semantic.asked
    assert (asked.key, asked.value, asked.source) == ("user.home", "The user lives in Oslo", TURN)
    assert asked.fact_type == resources_pb2.FACT_TYPE_FACT
    assert [(ref.conversation_id, ref.message_id) for ref in asked.provenance] == [("c", "m3")]
    assert asked.valid_from_time == to_timestamp(SAID)
    assert list(asked.scope.contact_ids) == []


async def test_it_acts_as_the_jobs_agent_in_its_tenant_and_nowhere_else() -> None:
    episodic = Episodic()
    await run(episodic, Semantic())
    (caller,) = episodic.callers
    assert (caller.tenant, caller.agents, caller.role) == ("acme", frozenset({"a"}), Role.SERVICE)


async def test_only_what_people_say_is_read() -> None:
    """Not answers, not outputs, not attachments; the positive control is among them."""
    spoken = message(4, "I live in Oslo.")
    spoken.parts.add().attachment.MergeFrom(resources_pb2.Attachment(uri="s3://b", caption="I love rain."))
    spoken.parts.add().tool_result.content = "I love snow."
    semantic = Semantic()
    await run(
        Episodic(
            message(1, "I love tea.", role=ASSISTANT),
            message(2, "I love coffee.", role=TOOL),
            message(3, "I love cocoa.", role=resources_pb2.ROLE_SYSTEM),
            spoken,
        ),
        semantic,
    )
    assert semantic.values == ["The user lives in Oslo"]


async def test_only_the_named_messages_are_read() -> None:
    semantic = Semantic()
    await run(Episodic(*(message(n, f"I like tea {n}.") for n in range(1, 6))), semantic, job(2, 3))
    assert semantic.values == ["The user likes tea 2", "The user likes tea 3"]


async def test_what_is_too_large_for_an_answer_is_read_in_parts() -> None:
    """X-2: an append may store more than Episodic gives in one answer."""
    semantic = Semantic()
    episodic = Episodic(*(message(n, f"I like tea {n}.") for n in range(1, 6)))
    episodic.most = 1
    (outcome,) = await run(episodic, semantic, job(1, 5))
    assert semantic.values == [f"The user likes tea {n}" for n in range(1, 6)]
    assert isinstance(outcome, Done)
    assert len(outcome.result_ids) == 5
    episodic.most = 0
    (failed,) = await run(episodic, semantic, job(1, 5))
    assert isinstance(failed, Failed), "one message alone is not to be cut further"


async def test_a_contacts_conversation_is_remembered_in_its_bucket_under_its_name() -> None:
    """S-5; the contact's own name and no name are "user", others are told apart."""
    semantic = Semantic()
    episodic = Episodic(
        message(1, "I live in Oslo."),
        message(2, "I live in Rome.", author=" ann  berg"),
        message(3, "I live in Kyiv.", author="Bob"),
        message(4, "I live in Bern.", author="User"),
        contact="ann",
    )
    await run(episodic, semantic)
    assert [tuple(request.scope.contact_ids) for request in semantic.asked] == [("ann", "ann-too")] * 4
    assert [(request.key, request.value) for request in semantic.asked] == [
        ("user.home", "Ann Berg lives in Oslo"),
        ("user.home", "ann berg lives in Rome"),
        ("person.bob.home", "Bob lives in Kyiv"),
        ("user.home", "Ann Berg lives in Bern"),
    ]


async def test_a_repeated_job_asks_for_the_same_again() -> None:
    """At least once: Semantic knows each by its request id."""
    first, again = Semantic(), Semantic()
    for semantic in (first, again):
        await run(Episodic(message(1, "I live in Oslo and I love rain.")), semantic)
    assert first.asked == again.asked
    assert len({request.request_id for request in first.asked}) == 2
    assert all(0 < len(request.request_id) <= 128 for request in first.asked)


async def test_what_was_told_before_and_is_gone_stays_gone() -> None:
    semantic = Semantic(Exists())
    outcomes = await run(Episodic(message(1, "I live in Oslo. I love rain.")), semantic)
    assert outcomes == [Done(result_ids=("memory user.taste.rain",), engine=NAME)]
    assert len(semantic.asked) == 2


async def test_a_task_of_long_ago_is_over() -> None:
    """S-3: an imported transcript does not fill today's list; its other facts are kept."""
    episodic = Episodic(message(1, "I live in Oslo. I need to buy stamps."))
    for days, expected in ((6, 2), (8, 1)):
        semantic = Semantic()
        await run(episodic, semantic, now=SAID + timedelta(days=days))
        assert len(semantic.asked) == expected


async def test_a_time_ahead_of_the_stores_counts_as_the_stores() -> None:
    ahead = message(1, "I was promoted yesterday.")
    ahead.time.FromDatetime(SAID + timedelta(days=900))
    assert turn_of(ahead, "").said == SAID


async def test_what_was_erased_needs_no_extraction() -> None:
    episodic = Episodic(message(1, "I live in Oslo."))
    episodic.error = NotFound("conversation", "c")
    assert await run(episodic, Semantic()) == [Done()]


async def test_one_bad_job_costs_one_job() -> None:
    """J-3."""
    jobs = [job(), job(payload=b"[1]"), job(payload=b"{"), job(2, 1), job(1, 5000), job()]
    semantic = Semantic(Internal())
    outcomes = await run(Episodic(message(1, "I live in Oslo.")), semantic, *jobs)
    bad = Failed(error=BAD_PAYLOAD, hopeless=True)
    assert outcomes[1:] == [bad, bad, bad, bad, Done(result_ids=("memory user.home",), engine=NAME)]
    assert isinstance(outcomes[0], Failed)
    assert outcomes[0].error.startswith("INTERNAL: ")


@pytest.mark.parametrize("error", [DependencyDown(), Overloaded()])
async def test_a_dependency_that_is_down_is_nobodys_fault(error: PalimpsestError) -> None:
    with pytest.raises(type(error)):
        await run(Episodic(message(1, "I live in Oslo.")), Semantic(error))


@pytest.mark.parametrize(
    "payload",
    [b"", b"7", b'{"conversation_id":"","from_sequence":1,"to_sequence":1}', b'{"conversation_id":"c"}'],
)
def test_a_payload_that_names_nothing(payload: bytes) -> None:
    assert stretch_of(payload) is None


class History:
    """Has messages to be covered."""

    def __init__(self, messages: Sequence[resources_pb2.Message]) -> None:
        self._coverage = overlays_pb2.GetCoverageResponse(uncovered=messages)
        self.puts = 0

    async def GetCoverage(self, _: overlays_pb2.GetCoverageRequest) -> overlays_pb2.GetCoverageResponse:
        return self._coverage

    async def PutOverlay(self, request: overlays_pb2.PutOverlayRequest) -> overlays_pb2.PutOverlayResponse:
        self.puts += 1
        return overlays_pb2.PutOverlayResponse(overlay=overlays_pb2.Overlay(id=request.overlay_id))


class Summariser:
    """Says nothing much."""

    async def summarise(
        self, _about: About, messages: Sequence[Utterance], previous: str, max_tokens: int
    ) -> Summary:
        return Summary(text="talk", model="none")

    async def merge(self, _about: About, summaries: Sequence[str], max_tokens: int) -> Summary:
        raise AssertionError("nothing is folded")


async def cover(history: History, episodic: Episodic, semantic: Semantic) -> list[Done | Failed]:
    made: Any = CoverHandler
    handler: CoverHandler = made(history, Summariser(), Lengths(), writer(episodic, semantic).flush)
    return list(await handler.run("acme", "a", [job(payload=b'{"conversation_id":"c"}')]))


async def test_before_a_range_is_covered_its_lasting_facts_are_kept() -> None:
    """J-9: at most ten, states before events, beside the summary."""
    talk = [message(1, "I bought a boat yesterday."), *(message(n, f"I like tea {n}.") for n in range(2, 15))]
    semantic, history = Semantic(), History(talk)
    outcomes = await cover(history, Episodic(), semantic)
    assert outcomes == [Done(result_ids=("cover-1-14",), engine=f"none; {NAME}")]
    assert history.puts == 1
    assert {request.source for request in semantic.asked} == {FLUSH}
    assert semantic.values == [f"The user likes tea {n}" for n in range(2, 12)]


async def test_a_range_is_covered_though_its_facts_cannot_be_kept() -> None:
    history = History([message(1, "I live in Oslo.")])
    assert await cover(history, Episodic(), Semantic(Internal())) == [
        Done(result_ids=("cover-1-1",), engine="none")
    ]
    erased = Episodic()
    erased.error = NotFound("conversation", "c")
    assert await cover(history, erased, Semantic()) == [Done(result_ids=("cover-1-1",), engine="none")]
    assert history.puts == 2


async def test_while_semantic_is_down_covering_waits_for_it() -> None:
    history = History([message(1, "I live in Oslo.")])
    with pytest.raises(DependencyDown):
        await cover(history, Episodic(), Semantic(DependencyDown()))
    assert history.puts == 0
