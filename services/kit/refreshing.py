"""That a source changed, as the job that has what was derived from it follow (SPEC J-17).

Whoever changes a source puts these jobs into its outbox, in the transaction of the change (SV-5). The
Compactor finds what came from the source by its provenance (SV-7).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from services.kit.ids import new_id
from services.kit.outbox import NewJob

REFRESH_DERIVED: Final = "refresh_derived"
MOST_IDS: Final = 500
"""Ids of one job: with the longest ones it stays below J-1's 256 KiB."""


class Source(StrEnum):
    """What changed."""

    MESSAGES = "messages"
    """Messages of a conversation were erased, or count for something else than before."""
    PATH = "path"
    """Another path of a conversation became the active one."""
    MEMORIES = "memories"
    """Memories were superseded, forgotten, or brought back."""
    SUMMARY = "summary"
    """A conversation's summary was corrected, derived anew from sources that had changed, or erased."""


def messages_changed(
    agent_id: str, conversation_id: str, message_ids: Sequence[str], *, erased: bool
) -> list[NewJob]:
    """With `erased`, nothing that was derived from them may be read any more (D-2)."""
    return [
        _job(agent_id, Source.MESSAGES, conversation_id, ids=ids, erased=erased)
        for ids in _parts(message_ids)
    ]


def path_changed(agent_id: str, conversation_id: str) -> list[NewJob]:
    """What was derived from the path before may be out of date."""
    return [_job(agent_id, Source.PATH, conversation_id)]


def memories_changed(agent_id: str, memory_ids: Sequence[str]) -> list[NewJob]:
    """They were wrong, are gone, or hold again."""
    return [_job(agent_id, Source.MEMORIES, "", ids=ids) for ids in _parts(memory_ids)]


def memories_replaced(agent_id: str, memory_ids: Sequence[str]) -> list[NewJob]:
    """They held for a while, and do not any more."""
    return [_job(agent_id, Source.MEMORIES, "", replaced=ids) for ids in _parts(memory_ids)]


def merges_outdated(agent_id: str, memory_ids: Sequence[str]) -> list[NewJob]:
    """They stand in the place of others, one of which was taken out, or is gone: to be taken apart."""
    return [_job(agent_id, Source.MEMORIES, "", merged=ids) for ids in _parts(memory_ids)]


def summary_changed(agent_id: str, conversation_id: str) -> list[NewJob]:
    """What was derived from the versions before is out of date."""
    return [_job(agent_id, Source.SUMMARY, conversation_id)]


def _parts(ids: Sequence[str]) -> list[list[str]]:
    return [list(ids[begin : begin + MOST_IDS]) for begin in range(0, len(ids), MOST_IDS)]


def _job(agent_id: str, source: Source, conversation_id: str, **said: object) -> NewJob:
    """The key is made once, in the transaction of the change: relaying the row again makes no second job."""
    payload: dict[str, object] = {"source": source.value, **said}
    if conversation_id:
        payload["conversation_id"] = conversation_id
    return NewJob(
        type=REFRESH_DERIVED,
        agent_id=agent_id,
        subject=f"conversations/{conversation_id}" if conversation_id else f"agents/{agent_id}",
        key=f"{REFRESH_DERIVED}/{agent_id}/{source}/{new_id()}",
        payload=payload,
    )
