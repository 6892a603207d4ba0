"""A person corrects a summary: what they say takes the place of its statements (SPEC J-6, J-17)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from services.compactor.app.conversation_summaries import FollowUps
from services.compactor.app.document_ports import Unreadable
from services.compactor.app.documents import Documents, Served
from services.compactor.app.refreshing import Refreshing
from services.compactor.domain.documents import Draft, summary_key
from services.compactor.domain.rolling import (
    FIELDS,
    Correction,
    RollingSummary,
    from_body,
    to_body,
    version_id,
)
from services.compactor.domain.summaries import Section, Statement
from services.kit.errors import InvalidField, NotFound, StateConflict, VersionConflict
from services.kit.refreshing import summary_changed
from services.kit.times import Clock

ENGINE: Final = "correction"
"""What a version that a person wrote names as its engine."""
MOST_BYTES: Final = 32 * 1024
"""Of a correction's statements together, as of an overlay (E-7)."""
UNREADABLE: Final = "the newest version cannot be read"


class Corrections:
    """The use case."""

    def __init__(
        self, documents: Documents, refreshing: Refreshing, clock: Clock, follow_ups: FollowUps
    ) -> None:
        self._clock = clock
        self._documents = documents
        self._refreshing = refreshing
        self._follow_ups = follow_ups

    async def correct(
        self,
        tenant: str,
        agent_id: str,
        conversation_id: str,
        version: int,
        sections: Mapping[Section, Sequence[str]],
    ) -> Served:
        """The version with the correction; what came from the one before is marked stale and follows.

        Raises InvalidField, NotFound, VersionConflict unless `version` is the newest, StateConflict,
        DependencyDown.
        """
        statements = _statements(sections)
        key = summary_key(tenant, agent_id, conversation_id)
        try:
            snapshot = await self._documents.current(key)
            if snapshot is None:
                raise NotFound(key.kind, conversation_id)
            before = from_body(snapshot.document.body)
        except (Unreadable, KeyError, TypeError, ValueError) as error:
            raise StateConflict(UNREADABLE) from error
        if snapshot.document.version != version:
            raise VersionConflict(metadata={"current_version": str(snapshot.document.version)})
        summary = RollingSummary.of(_dated(statements, before.summary, self._clock().date().isoformat()))
        corrected = replace(
            before, summary=summary, correction=Correction(summary=summary, up_to=before.up_to)
        )
        draft = Draft(
            body=to_body(corrected),
            engine=ENGINE,
            source_ids=[version_id(conversation_id, version)],
            stale=snapshot.head.stale,  # it is still to be derived again, from the correction on
        )
        # Before the new version is there, so that nothing that came from the one before is ever read as
        # current beside it; their jobs come again with the new version.
        await self._refreshing.mark_dependents(tenant, agent_id, conversation_id)
        jobs = [
            *self._follow_ups(agent_id, conversation_id, version + 1, before.up_to.sequence),
            *summary_changed(agent_id, conversation_id),
        ]
        await self._documents.put(key, draft, snapshot.head, jobs)
        return await self._documents.get(key)


def _dated(statements: Sequence[Statement], before: RollingSummary, today: str) -> list[Statement]:
    """What was there before is of the day that it was of, what is new of today."""
    days = {one.text: one.day for one in before.statements()}
    return [replace(one, day=days.get(one.text, today)) for one in statements]


def _statements(sections: Mapping[Section, Sequence[str]]) -> list[Statement]:
    """Raises InvalidField for what is no statement."""
    found: list[Statement] = []
    for section in Section:
        for place, text in enumerate(sections.get(section, ())):
            field = f"sections.{FIELDS[section]}[{place}]"
            if not text.strip():
                raise InvalidField(field, "is empty")
            if len(text.splitlines()) > 1 or "\x00" in text:
                raise InvalidField(field, "is not one line of text")
            found.append(Statement(section=section, text=text.strip()))
    if not found:
        raise InvalidField("sections", "hold no statement")
    if sum(len(one.text.encode("utf-8", "surrogatepass")) for one in found) > MOST_BYTES:
        raise InvalidField("sections", f"over {MOST_BYTES} bytes together")
    return found
