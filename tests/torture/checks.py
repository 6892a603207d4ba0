"""What the service holds against what callers were told (SPEC E-1, E-2, E-3, E-7, W-1, W-3, W-7, SV-5)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from palimpsest.episodic.v1 import episodic_pb2
from palimpsest.history.v1 import history_pb2, overlays_pb2
from palimpsest.state.v1 import state_pb2
from palimpsest.working.v1 import checkpoints_pb2, notes_pb2

from services.kit.errors import NotFound
from tests.torture.callers import AGENT, Crowd, Stubs
from tests.torture.episodic import Episodic
from tests.torture.journal import Journal

PAGE = 500


async def check(stubs: Stubs, served: Episodic, journals: Sequence[Journal], crowds: Sequence[Crowd]) -> None:
    """Raises AssertionError where something acknowledged is missing, changed or there twice.

    To be called while nobody writes.
    """
    for journal in journals:
        await _check_messages(stubs, journal)
        await _check_overlays(stubs, journal)
        await _check_working(stubs, journal)
    for crowd in crowds:
        await _check_crowd(stubs, crowd)
    await _check_overlay_rows(served, journals)
    await _check_marks(served)
    await _check_jobs(served)


async def _check_messages(stubs: Stubs, journal: Journal) -> None:
    stored = await messages_of(stubs, journal.conversation)
    found = [(m.sequence, m.id, m.parent_id, m.parts[0].text) for m in stored]
    assert found == [(m.sequence, m.id, m.parent, m.text) for m in journal.messages]
    assert [m.sequence for m in stored] == list(range(1, len(stored) + 1))
    sequences = {m.id: m.sequence for m in stored}
    assert len(sequences) == len(stored)
    # A parent comes before its child, so it exists and there are no cycles.
    assert all(sequences.get(m.parent_id, 0) < m.sequence for m in stored)
    assert all(m.parent_id in sequences for m in stored if m.parent_id)
    conversation = await _conversation(stubs, journal.conversation)
    path = journal.path()
    assert (conversation.leaf_id, conversation.depth) == (journal.leaf, len(path))
    assert conversation.stored_count == len(stored)
    assert await _path(stubs, journal.conversation) == path


async def _check_overlays(stubs: Stubs, journal: Journal) -> None:
    request = overlays_pb2.ListOverlaysRequest(
        agent_id=AGENT, conversation_id=journal.conversation, page_size=1000
    )
    live = sorted((await stubs.history.ListOverlays(request)).overlays, key=lambda one: one.from_depth)
    assert all(one.to_depth < after.from_depth for one, after in pairwise(live))
    conversation = await _conversation(stubs, journal.conversation)
    assert conversation.covered_count == sum(one.to_depth - one.from_depth + 1 for one in live)


async def _check_working(stubs: Stubs, journal: Journal) -> None:
    place = {"agent_id": AGENT, "conversation_id": journal.conversation}
    try:
        saved = (await stubs.working.GetCheckpoint(checkpoints_pb2.GetCheckpointRequest(**place))).checkpoint
        found = saved.turn_id, [one.call.call_id for one in saved.calls]
    except NotFound:
        found = "", []
    assert found == (journal.turn, journal.calls)
    notes = (await stubs.working.GetNotes(notes_pb2.GetNotesRequest(**place))).notes
    assert notes.text == journal.notes
    if journal.state_version:
        document = (await stubs.state.GetState(state_pb2.GetStateRequest(**place))).document
        assert document.version == journal.state_version
        assert json.loads(document.json) == json.loads(journal.state)


async def _check_crowd(stubs: Stubs, crowd: Crowd) -> None:
    stored = await messages_of(stubs, crowd.conversation)
    assert {m.parts[0].text: (m.id, m.sequence) for m in stored} == crowd.told
    assert [m.sequence for m in stored] == list(range(1, len(crowd.told) + 1))
    assert [m.parent_id for m in stored] == ["", *(m.id for m in stored[:-1])]


async def _check_overlay_rows(served: Episodic, journals: Sequence[Journal]) -> None:
    rows = await served.rows(
        "SELECT c.id AS conversation, o.id, o.summary FROM overlays o"
        " JOIN conversations c ON c.tenant = o.tenant AND c.number = o.conversation"
    )
    found = {(row["conversation"], row["id"]): row["summary"] for row in rows}
    assert len(found) == len(rows)
    assert found == {
        (journal.conversation, id_): summary
        for journal in journals
        for id_, summary in journal.overlays.items()
    }


async def _check_marks(served: Episodic) -> None:
    """A conversation is marked exactly where there is a checkpoint, and calls belong to one."""
    marked = await served.rows("SELECT number FROM conversations WHERE has_checkpoint = TRUE")
    kept = await served.rows("SELECT conversation AS number FROM checkpoints")
    calls = await served.rows("SELECT DISTINCT conversation AS number FROM checkpoint_calls")
    assert {row["number"] for row in marked} == {row["number"] for row in kept}
    assert {row["number"] for row in calls} <= {row["number"] for row in kept}


async def _check_jobs(served: Episodic) -> None:
    """Each message has one job that makes it searchable; nothing else has."""
    stored = await served.rows(
        "SELECT c.id AS conversation, m.place & 4294967295 AS sequence FROM messages m"
        " JOIN conversations c ON c.tenant = m.tenant AND c.number = m.conversation"
    )
    asked = await served.rows("SELECT payload FROM outbox WHERE type = 'index_message'")
    jobs = Counter((p["conversation_id"], p["sequence"]) for p in (json.loads(r["payload"]) for r in asked))
    assert jobs == Counter((row["conversation"], row["sequence"]) for row in stored)


async def messages_of(stubs: Stubs, conversation: str) -> list[Any]:
    """All of them, by sequence number."""
    messages: list[Any] = []
    token = ""
    while True:
        request = episodic_pb2.ListMessagesRequest(
            agent_id=AGENT, conversation_id=conversation, page_size=PAGE, page_token=token
        )
        page = await stubs.episodic.ListMessages(request)
        messages += page.messages
        token = page.next_page_token
        if not token:
            return messages


async def _path(stubs: Stubs, conversation: str) -> list[str]:
    ids: list[str] = []
    token = ""
    while True:
        request = history_pb2.ListPathRequest(
            agent_id=AGENT, conversation_id=conversation, page_size=PAGE, page_token=token
        )
        page = await stubs.history.ListPath(request)
        ids += [message.id for message in page.messages]
        token = page.next_page_token
        if not token:
            return ids


async def _conversation(stubs: Stubs, conversation: str) -> Any:
    request = episodic_pb2.GetConversationRequest(agent_id=AGENT, conversation_id=conversation)
    return (await stubs.episodic.GetConversation(request)).conversation
