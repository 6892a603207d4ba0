"""What a reflection reads, and where it is remembered (SPEC J-11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from palimpsest.common.v1 import resources_pb2
from palimpsest.episodic.v1 import episodic_pb2
from palimpsest.semantic.v1 import semantic_pb2, upkeep_pb2

from services.compactor.adapters.days import RecordedDays
from services.compactor.app.reflection import InsightQuery, Reflection
from services.compactor.domain.documents import SCHEMAS, Document, DocumentKey
from services.compactor.domain.documents import Kind as DocumentKind
from services.compactor.domain.insights import Draft, GoalState, Insight, Kind, derived_again
from services.compactor.domain.reflecting import Evidence, Sort
from services.compactor.domain.rolling import ConversationSummary, RollingSummary, to_body
from services.compactor.domain.summaries import Section, Statement
from services.kit.context import current_principal
from services.kit.errors import NotFound
from services.kit.identity import Role
from services.kit.times import to_timestamp

NOW = datetime(2031, 5, 4, 3, tzinfo=UTC)
DAY = timedelta(days=1)
TENANT, AGENT = "acme", "ada"
TASK, DECISION = resources_pb2.FACT_TYPE_TASK, resources_pb2.FACT_TYPE_DECISION
REFLECTED = resources_pb2.MEMORY_SOURCE_REFLECTION


def memory(id_: str, value: str, contact_id: str = "", **fields: Any) -> resources_pb2.Memory:
    made = resources_pb2.Memory(id=id_, value=value, contact_id=contact_id, **fields)
    made.provenance.add(conversation_id="c", message_id=f"of-{id_}")
    return made


@dataclass
class Services:
    """Semantic and Episodic, as far as they are asked."""

    memories: Sequence[resources_pb2.Memory] = ()
    contacts: dict[str, str] = field(default_factory=dict)
    merged: dict[str, list[str]] = field(default_factory=dict)
    written: list[semantic_pb2.RememberRequest] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    until: list[datetime] = field(default_factory=list)
    conversations: Sequence[resources_pb2.Conversation] = ()
    messages: Sequence[resources_pb2.Message] = ()

    async def ListRecentMemories(
        self, request: upkeep_pb2.ListRecentMemoriesRequest
    ) -> upkeep_pb2.ListRecentMemoriesResponse:
        caller = current_principal()
        assert (caller.tenant, caller.role, caller.agents) == (TENANT, Role.SERVICE, frozenset({AGENT}))
        assert request.since_time.ToDatetime(UTC) == NOW - DAY
        self.until.append(request.until_time.ToDatetime(UTC))
        return upkeep_pb2.ListRecentMemoriesResponse(memories=self.memories)

    async def ListConversations(
        self, request: episodic_pb2.ListConversationsRequest
    ) -> episodic_pb2.ListConversationsResponse:
        """One a page."""
        place = int(request.page_token or 0)
        return episodic_pb2.ListConversationsResponse(
            conversations=self.conversations[place : place + 1],
            next_page_token=str(place + 1) if place + 1 < len(self.conversations) else "",
        )

    async def ListMessages(
        self, request: episodic_pb2.ListMessagesRequest
    ) -> episodic_pb2.ListMessagesResponse:
        """Newest first, of people alone."""
        assert request.newest_first
        assert list(request.filter.roles) == [resources_pb2.ROLE_USER]
        found = [one for one in self.messages if one.conversation_id == request.conversation_id]
        return episodic_pb2.ListMessagesResponse(messages=found[::-1])

    async def GetConversation(
        self, request: episodic_pb2.GetConversationRequest
    ) -> episodic_pb2.GetConversationResponse:
        if request.conversation_id not in self.contacts:
            raise NotFound("conversation", request.conversation_id)
        conversation = resources_pb2.Conversation(contact_id=self.contacts[request.conversation_id])
        return episodic_pb2.GetConversationResponse(conversation=conversation)

    async def GetContact(self, request: episodic_pb2.GetContactRequest) -> episodic_pb2.GetContactResponse:
        if request.contact_id not in self.merged:
            raise NotFound("contact", request.contact_id)
        contact = resources_pb2.Contact(id=request.contact_id, merged_ids=self.merged[request.contact_id])
        return episodic_pb2.GetContactResponse(contact=contact)

    async def ForgetMemory(
        self, request: semantic_pb2.ForgetMemoryRequest
    ) -> semantic_pb2.ForgetMemoryResponse:
        self.forgotten.append(request.memory_id)
        return semantic_pb2.ForgetMemoryResponse()

    async def Remember(self, request: semantic_pb2.RememberRequest) -> semantic_pb2.RememberResponse:
        self.written.append(request)
        return semantic_pb2.RememberResponse(memory=resources_pb2.Memory(id="written"))


@dataclass
class Documents:
    """Summaries by conversation."""

    bodies: dict[str, Any]

    async def changed(self, tenant: str, agent_id: str, since: datetime) -> list[str]:
        assert since == NOW - DAY
        return sorted(self.bodies)

    async def get(self, key: DocumentKey) -> Any:
        @dataclass
        class Served:
            document: Document

        return Served(
            document=Document(
                key=key,
                version=1,
                created=NOW,
                schema=SCHEMAS[DocumentKind.SUMMARY],
                engine="x",
                source_ids=(),
                body=self.bodies[key.subject],
            )
        )


def days(services: Services, documents: Documents | None = None) -> RecordedDays:
    kept = documents or Documents(bodies={})
    stub = cast("Any", services)
    return RecordedDays(
        upkeep=stub,
        semantic=stub,
        episodic=stub,
        summaries=cast("Any", kept),
        documents=cast("Any", kept),
    )


async def test_memories_are_evidence_by_contact_and_by_what_they_are() -> None:
    services = Services(
        memories=[
            memory("1", "buy rope", "ann", fact_type=TASK, create_time=to_timestamp(NOW - DAY)),
            memory("2", "chose SQLite", fact_type=DECISION),
            memory("3", "On a day, rope came up", "ann", source=REFLECTED),
        ]
    )
    found = await days(services).evidence(TENANT, AGENT, NOW - DAY, NOW)
    assert found == {
        "ann": [
            Evidence(source_id="1", text="buy rope", sort=Sort.TASK, refs=(("c", "of-1"),), day="2031-05-03")
        ],
        "": [Evidence(source_id="2", text="chose SQLite", sort=Sort.DECISION, refs=(("c", "of-2"),))],
    }


async def test_summaries_are_evidence_of_the_days_they_tell_of() -> None:
    def said(section: Section, text: str, day: str = "2031-05-03") -> Statement:
        return Statement(section=section, text=text, day=day)

    summary = RollingSummary.of(
        [
            said(Section.OBJECTIVE, "sail to Bergen"),
            said(Section.COMPLETED, "mended the sail"),
            said(Section.DETAILS, "decided on the north route"),
            said(Section.DETAILS, "the boat is blue"),
            said(Section.DETAILS, "long ago", "2031-04-01"),
            said(Section.FILES, "route.gpx"),
        ]
    )
    body = to_body(ConversationSummary(conversation_id="c1", summary=summary))
    documents = Documents(bodies={"c1": body, "erased": body, "odd": {"n": 1}})
    services = Services(contacts={"c1": "ann", "odd": ""})
    found = await days(services, documents).evidence(TENANT, AGENT, NOW - DAY, NOW)
    assert [(one.text, one.sort) for one in found["ann"]] == [
        ("sail to Bergen", Sort.OBJECTIVE),
        ("decided on the north route", Sort.DECISION),
        ("the boat is blue", Sort.STATEMENT),
        ("mended the sail", Sort.COMPLETED),
    ]
    assert {(one.source_id, one.day) for one in found["ann"]} == {("summary/c1", "2031-05-03")}
    assert not found[""]


def conversation(id_: str, updated: datetime, contact_id: str = "") -> resources_pb2.Conversation:
    return resources_pb2.Conversation(
        id=id_, agent_id=AGENT, contact_id=contact_id, update_time=to_timestamp(updated)
    )


def message(id_: str, conversation_id: str, text: str, stored: datetime) -> resources_pb2.Message:
    made = resources_pb2.Message(id=id_, conversation_id=conversation_id, create_time=to_timestamp(stored))
    made.parts.add().text = text
    return made


async def test_messages_of_the_day_are_evidence_where_they_tell_of_a_goal() -> None:
    """J-8: nothing that is quoted or asked, nothing of another day."""
    hour = timedelta(hours=1)
    services = Services(
        conversations=[
            conversation("old", NOW - 2 * DAY),
            conversation("c", NOW - hour, "ann"),
            conversation("d", NOW - hour, "bob"),
        ],
        messages=[
            message("m1", "c", "I plan to sail around Iceland. The sea is cold.", NOW - 2 * hour),
            message("m2", "c", '> I plan to sail around Greenland.\nHe said "I plan to fly".', NOW - hour),
            message("m3", "c", "I gave up smoking.", NOW - 3 * DAY),
            message("m4", "c", "I plan to dance.", NOW + hour),
            message("m5", "d", "I finished the atlas.", NOW - hour),
            message("m6", "old", "I plan to rest.", NOW - hour),
        ],
    )
    found = await days(services).evidence(TENANT, AGENT, NOW - DAY, NOW)
    assert found["ann"] == [
        Evidence(
            source_id="c/m1",
            text="I plan to sail around Iceland",
            sort=Sort.SAID,
            refs=(("c", "m1"),),
            day="2031-05-04",
        )
    ]
    assert [one.text for one in found["bob"]] == ["I finished the atlas"]
    assert set(found) == {"ann", "bob"}


ROW = Insight(
    id="i1",
    agent_id=AGENT,
    kind=Kind.REFLECTION,
    contact_id="ann",
    slug="2031-05-03:rope",
    topic="rope",
    text="On 2031-05-03, rope came up 3 times",
    state=GoalState.NONE,
    day="2031-05-03",
    provenance=(("c", "m"),),
    source_ids=(),
    memory_id="",
    kept=False,
    revision=1,
    created=NOW,
    updated=NOW,
)


async def test_a_reflection_is_remembered_in_its_contacts_scope() -> None:
    """S-4, S-5: with the source that only services name."""
    services = Services(merged={"ann": ["ann-too"]})
    made = days(services)
    assert await made.remember(TENANT, AGENT, ROW, "reflection:2031-05-03:rope") == "written"
    await made.remember(TENANT, AGENT, replace(ROW, contact_id="unknown"), "k")
    await made.remember(TENANT, AGENT, replace(ROW, contact_id=""), "k")
    scopes = [list(request.scope.contact_ids) for request in services.written]
    assert scopes == [["ann", "ann-too"], ["unknown"], []]
    first = services.written[0]
    assert (first.key, first.value, first.source) == ("reflection:2031-05-03:rope", ROW.text, REFLECTED)
    assert [ref.message_id for ref in first.provenance] == ["m"]


class Rows:
    """Insights in a list; what is put there is new."""

    def __init__(self) -> None:
        self.rows: list[Insight] = []

    async def put(self, tenant: str, agent_id: str, drafts: Sequence[Draft], now: datetime) -> list[Insight]:
        made = [
            replace(ROW, **{name: getattr(draft, name) for name in Draft.__slots__}, id=f"i{number}")
            for number, draft in enumerate(drafts, len(self.rows))
        ]
        self.rows += made
        return made

    async def set_memory(self, tenant: str, agent_id: str, insight_id: str, memory_id: str) -> None:
        self.rows = [replace(r, memory_id=memory_id) if r.id == insight_id else r for r in self.rows]

    async def page(self, tenant: str, agent_id: str, query: InsightQuery) -> list[Insight]:
        return [r for r in self.rows if (r.kind, r.contact_id) == (query.kind, query.contact_id)]


async def test_evidence_of_two_contacts_is_never_put_together() -> None:
    """J-11: two statements of each are no theme, though together they would be."""
    values = ["rope for climbing", "rope for the boat", "rope is blue", "rope is old"]
    apart = [memory(str(n), value, ("ann", "bob")[n % 2]) for n, value in enumerate(values)]
    rows = Rows()
    reflection = Reflection(days(Services(memories=apart)), cast("Any", rows), lambda: NOW)
    assert await reflection.reflect(TENANT, AGENT, NOW) == []
    together = [memory(str(n), value, "ann") for n, value in enumerate(values)]
    reflection = Reflection(days(Services(memories=together)), cast("Any", rows), lambda: NOW)
    assert await reflection.reflect(TENANT, AGENT, NOW) == ["i0"]
    assert (rows.rows[0].topic, rows.rows[0].contact_id, rows.rows[0].memory_id) == ("rope", "ann", "written")


class StaleRows(Rows):
    """Rows of which some are stale."""

    def __init__(self, *stale: Insight) -> None:
        super().__init__()
        self.rows = list(stale)
        self.settled: list[tuple[str, str | None]] = []

    async def stale(self, tenant: str, agent_id: str, day: str) -> list[Insight]:
        return [row for row in self.rows if row.stale and row.day == day]

    async def settle(
        self, tenant: str, seen: Sequence[tuple[Insight, Draft | None]], now: datetime
    ) -> list[Insight]:
        self.settled += [(row.id, None if draft is None else draft.text) for row, draft in seen]
        left = [derived_again(row, draft, now) for row, draft in seen if draft is not None]
        gone = {row.id for row, _ in seen}
        self.rows = [row for row in self.rows if row.id not in gone] + left
        return left


def stale_row(id_: str, topic: str, kind: Kind = Kind.REFLECTION, **fields: Any) -> Insight:
    slug = f"{ROW.day}:{topic}" if kind is Kind.REFLECTION else topic
    made = replace(ROW, id=id_, kind=kind, topic=topic, slug=slug, contact_id="", asked=NOW, stale=1)
    return replace(made, **fields)


async def test_a_stale_day_is_told_anew_by_what_is_recorded_now() -> None:
    """J-17: what is told still is told by that alone; the rest goes, with the memory that told of it."""
    values = ["rope for climbing", "rope for the boat", "rope is blue"]
    services = Services(memories=[memory(str(n), value) for n, value in enumerate(values)])
    rows = StaleRows(
        stale_row("i1", "rope", memory_id="m1"),
        stale_row("i2", "kiln", memory_id="m2"),
        stale_row("i3", "other", day="2031-01-01"),
        stale_row("i4", "fresh", stale=0),
    )
    reflection = Reflection(days(services), cast("Any", rows), lambda: NOW)
    assert await reflection.reflect_again(TENANT, AGENT, NOW) == ["i1"]
    assert [id_ for id_, text in rows.settled if text is None] == ["i2"]
    assert services.forgotten == ["m2"]
    (told,) = [row for row in rows.rows if row.id == "i1"]
    assert told.source_ids == ("0", "1", "2")
    assert [request.key for request in services.written] == [f"reflection:{ROW.day}:rope"]
    assert {row.id for row in rows.rows} == {"i1", "i3", "i4"}


async def test_what_somebody_changed_keeps_its_memory() -> None:
    services = Services()
    rows = StaleRows(stale_row("i1", "kiln", memory_id="m1", kept=True))
    await Reflection(days(services), cast("Any", rows), lambda: NOW).reflect_again(TENANT, AGENT, NOW)
    assert rows.settled == [("i1", None)]
    assert services.forgotten == []


async def test_a_goal_is_looked_for_until_it_was_last_spoken_of() -> None:
    """J-11: that it was reached is told later than that it was set."""
    later = NOW + 3 * DAY
    services = Services(
        memories=[
            memory("1", "The user wants to run a marathon"),
            memory("2", "The user finished the marathon"),
        ]
    )
    slug = "marathon-run"
    rows = StaleRows(stale_row("i1", slug, Kind.GOAL, updated=later, text="Wants to run in Oslo"))
    await Reflection(days(services), cast("Any", rows), lambda: NOW).reflect_again(TENANT, AGENT, NOW)
    assert services.until == [NOW - timedelta.resolution, later - timedelta.resolution]
