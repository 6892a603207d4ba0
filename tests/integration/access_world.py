"""Two tenants that hold the same kinds of things, and a request for each RPC about the things of either.

Requests are made from the names of fields. An RPC whose fields are not enough gets an entry in FIELDS;
without one `request_for` fails.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import grpc
import protovalidate
from google.protobuf.descriptor import Descriptor, MethodDescriptor
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from palimpsest.chat.v1 import chat_pb2
from palimpsest.common.v1 import resources_pb2
from palimpsest.derived.v1 import derived_pb2
from palimpsest.documents.v1 import documents_pb2
from palimpsest.gateway.v1 import administration_pb2, conversations_pb2, indexes_pb2, memories_pb2
from palimpsest.graph.v1 import graph_pb2
from palimpsest.history.v1 import history_pb2, overlays_pb2, windows_pb2
from palimpsest.insight.v1 import insight_pb2
from palimpsest.settings.v1 import settings_pb2
from palimpsest.state.v1 import records_pb2, state_pb2
from palimpsest.working.v1 import checkpoints_pb2, context_pb2, notes_pb2

from services.embedded import compose
from services.kit.identity import Role
from services.kit.inprocess import InProcessServer
from services.kit.metrics import Metrics
from services.kit.serving import Service, interceptor
from tests.integration.embedded_suite import Keyed, Running, Stubs, idle, said

TENANTS = ("default", "foreign")
SECRET = b"a secret of the tests, 32 bytes or more"
MARKS = ("zqown", "zqforeign")
"""Words in the texts of each tenant."""
SCHEDULE = "consolidate"
PLAIN: dict[str, Any] = {
    "identity": "chat:somebody",
    "key": "note.plain",
    "content": "a text",
    "value": "a value",
    "query": "herons",
    "name": "plain",
    "branch": "plain",
    "label": "notes",
    "collection": "birds",
    "record_id": "heron",
    "json": "{}",
    "initial_json": "{}",
    "text": "a text",
    "summary": "a summary",
    "model": "by hand",
    "tier": "fast",
    "turn_id": "turn",
    "round": 1,
    "into": "other",
    "append": "a line",
}
"""What the fields of a name hold that don't say whose a thing is. Of a oneof the first is set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Things:
    """Of one tenant, by the names of the fields that name them."""

    ids: dict[str, str]

    def of(self, name: str) -> str | None:
        return self.ids.get(name)


ALIASES = {
    "source_contact_id": "contact_id",
    "target_contact_id": "other_contact_id",
    "leaf_id": "message_id",
    "from_message_id": "message_id",
    "to_message_id": "message_id",
    "kept_memory_id": "memory_id",
}
UNSET = frozenset({"leaf_id", "page_token", "resume_token", "request_id", "parent_id", "new_conversation_id"})
"""Names of fields whose default is meant."""


def request_for(method: MethodDescriptor, things: Things, **given: Any) -> Message:
    """A request about these things. Raises AssertionError where the names of its fields are not enough."""
    fields = {**FIELDS.get(method.name, lambda _: {})(things), **given}
    request = GetMessageClass(method.input_type)(**{**_inferred(method.input_type, things, fields), **fields})
    violations = protovalidate.collect_violations(request)
    problems = [f"{violation.proto.field}: {violation.proto.message}" for violation in violations]
    assert not problems, f"{method.name} needs an entry in FIELDS: {problems}"
    return request


def _inferred(descriptor: Descriptor, things: Things, given: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    taken = {descriptor.fields_by_name[name].containing_oneof for name in given} - {None}
    for each in descriptor.fields:
        if each.name in given or each.name in UNSET or each.containing_oneof in taken or each.is_repeated:
            continue
        value = things.of(ALIASES.get(each.name, each.name)) or PLAIN.get(each.name)
        if value is not None and each.type == (
            each.TYPE_STRING if isinstance(value, str) else each.TYPE_INT32
        ):
            made[each.name] = value
            taken |= {each.containing_oneof} - {None}
    return made


def _mask(*paths: str) -> FieldMask:
    return FieldMask(paths=paths)


FIELDS: dict[str, Any] = {
    "CreateAgent": lambda t: {"agent_id": t.ids["new_agent_id"]},
    "UpdateAgent": lambda t: {
        "agent": resources_pb2.Agent(id=t.ids["agent_id"], display_name="Ada"),
        "update_mask": _mask("display_name"),
    },
    "ListContacts": lambda _: {},
    "LinkIdentity": lambda t: {"identity": f"mailto:{t.ids['contact_id']}"},
    "CreateConversation": lambda t: {"conversation_id": t.ids["new_conversation_id"]},
    "RecordTurn": lambda _: {"messages": [said("hello")]},
    "Ingest": lambda t: {"messages": [said("hello")], "conversation_id": t.ids["imported_id"]},
    "IngestStream": lambda t: {
        "chunk": conversations_pb2.IngestRequest(
            agent_id=t.ids["agent_id"], conversation_id=t.ids["imported_id"], messages=[said("hello")]
        )
    },
    "UpdateMemory": lambda t: {
        "memory": resources_pb2.Memory(id=t.ids["memory_id"], pinned=True),
        "update_mask": _mask("pinned"),
    },
    "ListJobs": lambda t: {"filter": administration_pb2.JobFilter(agent_id=t.ids["agent_id"])},
    "WatchJobs": lambda t: {
        "filter": administration_pb2.JobFilter(agent_id=t.ids["agent_id"]),
        "until_idle": True,
    },
    **dict.fromkeys(
        ("PutContextEntry", "GetContextEntry", "DeleteContextEntry", "ListContextEntries", "SearchContext"),
        lambda _: {"label": "books"},
    ),
    "PutContextBlock": lambda _: {"kind": context_pb2.CONTEXT_KIND_WRITABLE, "max_tokens": 500},
    **dict.fromkeys(("LoadContext", "UnloadContext"), lambda _: {"label": "skills"}),
    "UndoSupersession": lambda t: {"memory_id": t.ids["superseded_id"]},
    "ResolveContradiction": lambda t: {"contradiction_id": t.ids["contradiction_id"]},
    "AssemblePrompt": lambda _: {"message": "where do herons nest?"},
    "PutOverlay": lambda t: {"summary": t.ids["overlay_text"]},
    "GetWindow": lambda _: {"mode": windows_pb2.ModeWindow(mode=windows_pb2.WINDOW_MODE_AUTO)},
    "RecordUsage": lambda _: {"tokens": history_pb2.CallTokens(input=1)},
    "GetDerivedProgress": lambda t: {"conversation_ids": [t.ids["conversation_id"]]},
    "TriggerSchedule": lambda _: {"name": SCHEDULE},
    "UpdateSchedule": lambda _: {
        "name": SCHEDULE,
        "schedule": derived_pb2.Schedule(enabled=True),
        "update_mask": _mask("enabled"),
    },
    "SplitBranch": lambda t: {"name": "parted", "conversation_ids": [t.ids["conversation_id"]]},
    "ResolveMergeProposal": lambda _: {"proposal_id": "none"},
    "CompareAttractorVersions": lambda _: {"before_version": 1, "after_version": 2},
    **dict.fromkeys(("FreezeAttractor", "UnfreezeAttractor"), lambda _: {"version": 1}),
    "NameBasin": lambda _: {"basin_id": "none"},
    "CorrectSummary": lambda _: {
        "version": 1,
        "sections": documents_pb2.SummarySections(objective=["herons"]),
    },
    "GetInsight": lambda _: {"insight_id": "none"},
    "UpdateGoal": lambda _: {
        "goal": insight_pb2.Insight(id="none", text="a text"),
        "update_mask": _mask("text"),
    },
    "UpdateInsight": lambda _: {
        "insight": insight_pb2.Insight(id="none", text="a text"),
        "update_mask": _mask("text"),
    },
    "GetState": lambda _: {"initial_json": None},  # with one it may write, and needs a writer
    "Answer": lambda _: {"contact_id": ""},
    "Chat": lambda _: {"message": chat_pb2.UserMessage(text="hello")},
    "CallTool": lambda _: {"name": "recall"},
    "CreateApiKey": lambda _: {"role": administration_pb2.KEY_ROLE_READER},
    "UpdateSettings": lambda _: {
        "settings": settings_pb2.Settings(recall_depth=30),
        "update_mask": _mask("recall_depth"),
    },
}


@dataclass
class World:
    """The suite, keys by tenant, role and reach, and whose things are whose."""

    suite: Running
    gateway: Service
    channel: grpc.aio.Channel
    own: Things
    foreign: Things
    missing: Things
    stubs: dict[tuple[str, Role, str], Any] = field(default_factory=dict)

    async def stub(self, role: Role, tenant: str = TENANTS[0], only: str = "") -> Any:
        """Calls by a key of this role, of a tenant, for one agent only or for all."""
        known = self.stubs.get((tenant, role, only))
        if known is None:
            secret = await self.suite.key(role, tenant, frozenset({only}) if only else None)
            known = self.stubs[tenant, role, only] = self.keyed(secret)
        return known

    def keyed(self, secret: str) -> Any:
        """Calls by a key; "" for none."""
        return Keyed(Stubs(self.channel), secret)


@asynccontextmanager
async def access_world(data: Path) -> AsyncIterator[World]:
    """Both tenants, filled alike; all that is derived is done."""
    async with AsyncExitStack() as stack:
        gateway = await compose(data, SECRET, Metrics(), stack)
        server = InProcessServer()
        server.add_interceptor(interceptor(replace(gateway, collectors=()), SECRET, Metrics()))
        gateway.add_to(server)
        nothing = Things(ids={})
        world = World(
            suite=Running(data, 0, SECRET, stack),
            gateway=gateway,
            channel=server.channel(),
            own=nothing,
            foreign=nothing,
            missing=nothing,
        )
        world.own = await filled(world, TENANTS[0], "own", MARKS[0])
        world.foreign = await filled(world, TENANTS[1], "for", MARKS[1])
        world.missing = Things(ids={name: _absent(name, value) for name, value in world.foreign.ids.items()})
        yield world


def _absent(name: str, value: str) -> str:
    """An id of the same form that nobody has."""
    if value.endswith("-for"):
        return f"{value[:-4]}-nil"
    return "".join("a" if character.isalnum() else character for character in value)


async def filled(world: World, tenant: str, short: str, mark: str) -> Things:
    """An agent with one of everything, named with `short`; `mark` is in all of its texts."""
    stub = await world.stub(Role.OPERATOR, tenant)
    agent, conversation = f"agent-{short}", f"talk-{short}"
    where: dict[str, Any] = {"agent_id": agent, "conversation_id": conversation}
    await stub.CreateAgent(conversations_pb2.CreateAgentRequest(agent_id=agent, display_name=mark))
    contacts = [
        (
            await stub.ResolveContact(
                conversations_pb2.ResolveContactRequest(agent_id=agent, identity=f"chat:{who}{short}")
            )
        ).contact.id
        for who in ("ann", "bob")
    ]
    await stub.CreateConversation(
        conversations_pb2.CreateConversationRequest(contact_id=contacts[0], title=mark, **where)
    )
    imported = conversations_pb2.CreateConversationRequest(agent_id=agent, conversation_id=f"import-{short}")
    await stub.CreateConversation(imported)
    turn = conversations_pb2.RecordTurnRequest(
        messages=[said(f"{mark} herons nest", id=f"msg-{short}")], **where
    )
    await stub.RecordTurn(turn)
    remembered = [
        await stub.Remember(
            memories_pb2.RememberRequest(agent_id=agent, key="note.plain", value=f"{mark} {value}")
        )
        for value in ("old", "herons")
    ]
    await stub.PutOverlay(
        overlays_pb2.PutOverlayRequest(
            overlay_id=f"over-{short}",
            from_message_id=f"msg-{short}",
            to_message_id=f"msg-{short}",
            summary=f"{mark} birds",
            model="by hand",
            **where,
        )
    )
    await _working(stub, where, mark)
    await stub.SetState(state_pb2.SetStateRequest(name="plain", json=f'{{"mark": "{mark}"}}', **where))
    await stub.PutCollection(records_pb2.PutCollectionRequest(agent_id=agent, collection="birds"))
    await stub.PutRecord(
        records_pb2.PutRecordRequest(
            agent_id=agent, collection="birds", record_id="heron", json=f'{{"mark": "{mark}"}}'
        )
    )
    for name in ("plain", "other"):
        await stub.LinkConversation(graph_pb2.LinkConversationRequest(name=name, **where))
    await stub.UpdateSettings(
        settings_pb2.UpdateSettingsRequest(
            settings=settings_pb2.Settings(recall_depth=30), update_mask=_mask("recall_depth")
        )
    )
    run = (await stub.RunConsolidation(insight_pb2.RunConsolidationRequest(agent_id=agent))).run
    reindex = (await stub.Reindex(indexes_pb2.ReindexRequest(agent_id=agent))).run
    await idle(stub)
    filter_ = administration_pb2.JobFilter(agent_id=agent)
    jobs = (await stub.ListJobs(administration_pb2.ListJobsRequest(filter=filter_))).jobs
    key = await stub.CreateApiKey(
        administration_pb2.CreateApiKeyRequest(role=administration_pb2.KEY_ROLE_READER, display_name=mark)
    )
    return Things(
        ids={
            **where,
            "contact_id": contacts[0],
            "other_contact_id": contacts[1],
            "message_id": f"msg-{short}",
            "overlay_id": f"over-{short}",
            "memory_id": remembered[1].memory.id,
            "superseded_id": remembered[0].memory.id,
            "contradiction_id": f"{remembered[0].memory.id}+{remembered[1].memory.id}",
            "overlay_text": f"{mark} birds",
            "job_id": jobs[0].id,
            "key_id": key.key.id,
            "run_id": run.id,
            "reindex_id": reindex.id,
            "new_agent_id": f"fresh-{short}",
            "new_conversation_id": f"later-{short}",
            "imported_id": f"import-{short}",
        }
    )


async def _working(stub: Any, where: dict[str, Any], mark: str) -> None:
    await stub.SetNotes(notes_pb2.SetNotesRequest(replace=f"{mark} notes", **where))
    await stub.SetTask(notes_pb2.SetTaskRequest(text=f"{mark} task", **where))
    await stub.SaveCheckpoint(checkpoints_pb2.SaveCheckpointRequest(turn_id="turn", round=1, **where))
    for label, kind in (
        ("notes", context_pb2.CONTEXT_KIND_WRITABLE),
        ("books", context_pb2.CONTEXT_KIND_SEARCHABLE),
        ("skills", context_pb2.CONTEXT_KIND_LOADABLE),
    ):
        block = context_pb2.PutContextBlockRequest(
            label=label, kind=kind, max_tokens=500, description=mark, **where
        )
        await stub.PutContextBlock(block)
        if label != "notes":
            await stub.PutContextEntry(
                context_pb2.PutContextEntryRequest(label=label, key="note.plain", content=mark, **where)
            )


GENERATED = re.compile(
    r"\b[0-9a-z]{20,}\b|[0-9]{6,}|nanos: [0-9]+|seconds: [0-9]+|version: [0-9]+|revision: [0-9]+"
)


def without_ids(text: str, things: Things) -> str:
    """The text with the ids of these things, and whatever is made anew each time, taken out."""
    for value in sorted(things.ids.values(), key=len, reverse=True):
        text = text.replace(value, "…")
    return GENERATED.sub("…", text)
