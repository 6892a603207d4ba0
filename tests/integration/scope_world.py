"""Two tenants with two agents each that use the same names for everything, and a model of whose is what.

Every text has a word that no other text has, so that whatever an answer holds can be traced to its owner.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, TypeAlias

from google.protobuf.message import Message
from palimpsest.common.v1 import resources_pb2
from palimpsest.gateway.v1 import conversations_pb2, memories_pb2

from services.kit.identity import Role
from services.kit.times import now, to_timestamp
from tests.integration.embedded_suite import Running, said
from tests.integration.judged import judgements, verdict

COMMON = "heron"
AGENTS = ("ada", "bea")
PERSONS = ("ann", "bob", "cyd")
NOBODY = "nobody"
MARK = re.compile(r"\bq[a-z]{4}x\b")
BASE = datetime(2024, 3, 1, tzinfo=UTC)
DAY = timedelta(days=1)
TASK = resources_pb2.FACT_TYPE_TASK

FactType: TypeAlias = "resources_pb2.FactType.ValueType"
Who = str
"""One of PERSONS, or NOBODY: agent-wide."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose everything is: an agent of a tenant, numbered."""

    tenant: int
    agent: int


OWNERS = tuple(Owner(tenant, agent) for tenant in range(2) for agent in range(2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A memory as it should be; `bucket` is the person that it was written for."""

    id: str
    mark: str
    owner: Owner
    bucket: Who
    key: str
    fact_type: FactType
    pinned: bool
    source: Who | None
    begins: datetime
    ends: datetime | None = None

    @property
    def task(self) -> bool:
        return self.fact_type == TASK

    def holds(self, moment: datetime | None) -> bool:
        """At a moment; None: at present."""
        if moment is None:
            return self.ends is None
        return self.begins <= moment and (self.ends is None or moment < self.ends)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A message."""

    id: str
    mark: str
    owner: Owner
    conversation: Who


@dataclass
class World:
    """Acts on a suite by its stubs and keeps in mind what should have come of it."""

    suite: Running
    marks: Iterator[str]
    tenants: tuple[str, str]
    stubs: dict[Owner, Any] = field(default_factory=dict)
    admins: dict[Owner, Any] = field(default_factory=dict)
    contacts: dict[tuple[Owner, Who], str] = field(default_factory=dict)
    merged: dict[tuple[Owner, Who], Who] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    tokens: dict[Owner, list[resources_pb2.FreshnessToken]] = field(default_factory=dict)
    contradictions: dict[str, tuple[Row, Row]] = field(default_factory=dict)
    steps: int = 0

    def agent(self, owner: Owner) -> str:
        return AGENTS[owner.agent]

    async def begin(self) -> None:
        """Agents, people, conversations of the same names. The keys of one tenant reach one agent each."""
        for owner in OWNERS:
            name, tenant = self.agent(owner), self.tenants[owner.tenant]
            reach = frozenset({name}) if owner.tenant else None
            self.admins[owner] = await self.suite.stub(await self.suite.key(Role.ADMIN, tenant, reach))
            await self.admins[owner].CreateAgent(conversations_pb2.CreateAgentRequest(agent_id=name))
            stub = await self.suite.stub(await self.suite.key(Role.WRITER, tenant, reach))
            self.stubs[owner], self.tokens[owner] = stub, []
            for who in PERSONS:
                request = conversations_pb2.ResolveContactRequest(agent_id=name, identity=f"chat:{who}")
                self.contacts[owner, who] = (await stub.ResolveContact(request)).contact.id
            for who in (NOBODY, *PERSONS):
                await stub.CreateConversation(
                    conversations_pb2.CreateConversationRequest(
                        agent_id=name, conversation_id=who, contact_id=self.contact_id(owner, who)
                    )
                )

    def contact_id(self, owner: Owner, who: Who) -> str:
        """ "" for nobody."""
        return self.contacts.get((owner, who), "")

    def root(self, owner: Owner, who: Who) -> Who:
        while (owner, who) in self.merged:
            who = self.merged[owner, who]
        return who

    def group(self, owner: Owner, who: Who) -> set[Who]:
        """All people that are one with this one."""
        return {one for one in (NOBODY, *PERSONS) if self.root(owner, one) == self.root(owner, who)}

    async def link(self, owner: Owner, who: Who) -> None:
        """A second platform leads to the same person."""
        stub, agent, identity = self.stubs[owner], self.agent(owner), f"mailto:{who}@example.org"
        contact_id = self.contact_id(owner, who)
        await stub.LinkIdentity(
            conversations_pb2.LinkIdentityRequest(agent_id=agent, contact_id=contact_id, identity=identity)
        )
        request = conversations_pb2.ResolveContactRequest(agent_id=agent, identity=identity)
        found = await stub.ResolveContact(request)
        assert not found.created
        assert found.contact.id == self.contact_id(owner, self.root(owner, who))

    async def merge(self, owner: Owner, source: Who, target: Who) -> None:
        """Unless the source is part of another, or the two are one."""
        if (owner, source) in self.merged or self.root(owner, target) == source:
            return
        await self.admins[owner].MergeContacts(
            conversations_pb2.MergeContactsRequest(
                agent_id=self.agent(owner),
                source_contact_id=self.contact_id(owner, source),
                target_contact_id=self.contact_id(owner, target),
            )
        )
        self.merged[owner, source] = self.root(owner, target)

    async def unmerge(self, owner: Owner, who: Who) -> None:
        """If it is merged."""
        if self.merged.pop((owner, who), None) is not None:
            await self.admins[owner].UnmergeContact(
                conversations_pb2.UnmergeContactRequest(
                    agent_id=self.agent(owner), contact_id=self.contact_id(owner, who)
                )
            )

    async def say(self, owner: Owner, who: Who) -> None:
        """A message in the person's conversation; its id is taken in others as well."""
        number = sum(1 for line in self.lines if (line.owner, line.conversation) == (owner, who))
        line = Line(id=f"m{number}", mark=next(self.marks), owner=owner, conversation=who)
        recorded = await self.stubs[owner].RecordTurn(
            conversations_pb2.RecordTurnRequest(
                agent_id=self.agent(owner),
                conversation_id=who,
                messages=[said(f"{COMMON} {line.mark}", id=line.id, author=who)],
            )
        )
        self.lines.append(line)
        self.tokens[owner].append(recorded.token)

    async def remember(
        self, owner: Owner, who: Who, *, fact_type: FactType, shared: bool, pinned: bool, sourced: bool
    ) -> None:
        """Under the key that everybody uses, or one of its own; from the conversation's first message."""
        self.steps += 1
        mark, begins = next(self.marks), BASE + self.steps * DAY
        key = f"{COMMON}.shared" if shared else f"{COMMON}.k{self.steps}"
        source = next((x for x in self.lines if (x.owner, x.conversation) == (owner, who)), None)
        refs = [resources_pb2.MessageRef(conversation_id=who, message_id=source.id)] if source else []
        written = await self.stubs[owner].Remember(
            memories_pb2.RememberRequest(
                agent_id=self.agent(owner),
                contact_id=self.contact_id(owner, who),
                key=key,
                value=f"{COMMON} {mark}",
                fact_type=fact_type,
                pinned=pinned,
                provenance=refs if sourced else [],
                valid_from_time=to_timestamp(begins),
            )
        )
        replaced = [
            row
            for row in self.rows
            if (row.owner, row.key) == (owner, key)
            and row.bucket in self.group(owner, who)
            and row.ends is None
        ]
        self.rows = [replace(row, ends=begins) if row in replaced else row for row in self.rows]
        row = Row(
            id=written.memory.id,
            mark=mark,
            owner=owner,
            bucket=self.root(owner, who),
            key=key,
            fact_type=fact_type,
            pinned=written.memory.pinned,
            source=who if sourced and source else None,
            begins=begins,
        )
        assert written.created
        assert row.pinned == (pinned or any(old.pinned for old in replaced))
        assert written.memory.contact_id == self.contact_id(owner, row.bucket)
        self.rows.append(row)
        self.tokens[owner].append(written.token)

    async def contradict(self) -> None:
        """In each bucket with two memories, a judge finds that they contradict each other."""
        async with judgements(self.suite.data) as store:
            for owner in OWNERS:
                for who in (NOBODY, *PERSONS):
                    pair = [
                        row
                        for row in self.rows
                        if (row.owner, row.bucket) == (owner, who) and row.holds(None) and not row.task
                    ][:2]
                    if len(pair) == 2:
                        found = verdict(pair[0].id, pair[1].id, 0.8)
                        tenant = self.tenants[owner.tenant]
                        assert await store.record_contradiction(tenant, self.agent(owner), found, now())
                        self.contradictions["+".join(sorted(row.id for row in pair))] = (pair[0], pair[1])

    def held(self, owner: Owner, who: Who, moment: datetime | None = None) -> list[Row]:
        """The memories that are a viewer's to see."""
        return [row for row in self.written(owner, who) if row.holds(moment)]

    def written(self, owner: Owner, who: Who) -> list[Row]:
        """Those that ended, too."""
        seen = self.group(owner, who) | {NOBODY}
        return [row for row in self.rows if row.owner == owner and row.bucket in seen]

    def heard(self, owner: Owner, *conversations: Who) -> list[Line]:
        """The messages of conversations."""
        return [line for line in self.lines if line.owner == owner and line.conversation in conversations]


def marks_of(answer: Message) -> set[str]:
    """The words in an answer that tell whose the texts in it are."""
    return set(MARK.findall(str(answer)))


def all_marks() -> Iterator[str]:
    """Words that are no part of one another."""
    for number in count():
        digits = [number // 26**place % 26 for place in (3, 2, 1, 0)]
        yield "q" + "".join(chr(ord("a") + digit) for digit in digits) + "x"
