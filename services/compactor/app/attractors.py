"""An agent's attractor follows its summaries (SPEC J-12).

The document of the version before is all the state there is: ids, names and memberships come from it. So an
update that is lost in the middle is made again, and a version is compared with any other by themselves.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

import structlog

from services.compactor.app.attractor_ports import Embedder, Later, Points
from services.compactor.app.document_ports import Unreadable
from services.compactor.app.documents import Choice, Documents
from services.compactor.domain import payloads
from services.compactor.domain.attractor import (
    MAX_CONVERSATIONS,
    MAX_IDS_BYTES,
    Attractor,
    Earlier,
    Parameters,
    Point,
)
from services.compactor.domain.attractor_document import ENGINE, body_of, earlier_of, sources_of
from services.compactor.domain.attractor_geometry import MakeGeometry
from services.compactor.domain.attractor_reading import Reading, reading_of
from services.compactor.domain.attractor_updating import updated
from services.compactor.domain.documents import (
    Document,
    DocumentKey,
    Draft,
    Head,
    Kind,
    VersionInfo,
    attractor_key,
    canonical,
    summary_key,
)
from services.kit.errors import NotFound, StateConflict, VersionConflict
from services.kit.outbox import NewJob
from services.kit.times import Clock

UPDATE_ATTRACTOR: Final = "update_attractor"
ATTEMPTS: Final = 3
"""How often an update is made anew when somebody named a basin meanwhile."""
EMBED_STEP: Final = 32
"""Summaries that are embedded in a call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateRules:
    """How often and how much."""

    parameters: Parameters = field(default_factory=Parameters)
    embed_limit: int = 512
    """Summaries that are embedded in an update; what is left is for the next one, which follows at once."""
    coalesce: timedelta = timedelta(seconds=15)
    """Summaries that change so soon after an update are taken together in the next one."""
    bytes_per_second: int = 1000
    """So fast may the versions of an attractor grow: the larger it is, the longer they are taken together."""

    def span(self, size: int) -> timedelta:
        """How long changes are taken together after a version of so many bytes."""
        return max(self.coalesce, timedelta(seconds=size / self.bytes_per_second))


class Result(StrEnum):
    """What an update did."""

    WRITTEN = "written"
    UNCHANGED = "unchanged"
    """The newest version was made of just these summaries."""
    NO_SUMMARIES = "no_summaries"
    POSTPONED = "postponed"
    """An update not long ago: one is asked for that takes all changes until then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Updated:
    """`version` is the newest after it, 0 for none; `job_id` that of a postponed update; `left` says that
    summaries are left for the next one."""

    result: Result
    version: int = 0
    job_id: str = ""
    left: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Summary:
    conversation_id: str
    version: int
    reading: Reading


def follow_up(agent_id: str, conversation_id: str, version: int, to_sequence: int = 0) -> list[NewJob]:
    """What the writer of a summary's version, which reaches up to a message, puts into the outbox with it. No
    two have the same key, so no change is missed; updates are few because a call takes many of them and
    postpones (see UpdateRules)."""
    return [
        NewJob(
            type=UPDATE_ATTRACTOR,
            agent_id=agent_id,
            subject=conversation_id,
            key=f"{UPDATE_ATTRACTOR}/{agent_id}/{conversation_id}/{version}",
            payload=payloads.of_conversation(conversation_id, to_sequence),
        )
    ]


class Attractors:
    """The use case of workers."""

    def __init__(
        self,
        documents: Documents,
        points: Points,
        embedder: Embedder,
        make_geometry: MakeGeometry,
        later: Later,
        clock: Clock,
        rules: UpdateRules | None = None,
    ) -> None:
        self._documents = documents
        self._points = points
        self._embedder = embedder
        self._make_geometry = make_geometry
        self._later = later
        self._clock = clock
        self._rules = rules or UpdateRules()
        self._log = structlog.get_logger("attractors")

    async def follow(self, tenant: str, agent_id: str) -> Updated:
        """After summaries changed: an update, or where the last one is not long ago, one later.

        Raises what `update` does.
        """
        key = attractor_key(tenant, agent_id)
        newest = await self._newest(key)
        now = self._clock()
        span = timedelta() if newest is None else self._rules.span(newest.size)
        if newest is None or not timedelta() <= now - newest.created < span:
            return await self.update(tenant, agent_id)
        due, key_of_due = _next_span(agent_id, newest.version, now, span)
        job_id = await self._later(tenant, agent_id, key_of_due, due)
        return Updated(result=Result.POSTPONED, job_id=job_id)

    async def update(self, tenant: str, agent_id: str) -> Updated:
        """Makes the newest version say what the summaries say. Done twice it writes once.

        Raises StateConflict (others write all the time), DependencyDown and Overloaded.
        """
        key = attractor_key(tenant, agent_id)
        for _ in range(ATTEMPTS):
            head = await self._documents.head(key)
            stale = await self._documents.stale(tenant, agent_id, Kind.SUMMARY)
            model = await self._embedder.model()
            more = await self._read_summaries(tenant, agent_id, model)
            points, count = await self._points.newest(tenant, agent_id, model, MAX_CONVERSATIONS)
            points = within_bytes(points)
            if not points and not head.present:
                return Updated(result=Result.NO_SUMMARIES)
            fingerprint = fingerprint_of(model, points)
            earlier, known = await self._earlier(key, head)
            # What stale summaries say is said already: their next versions ask for an update.
            waits = not stale.isdisjoint(point.conversation_id for point in points)
            if known == fingerprint and (waits or not head.stale) and not more:
                return Updated(result=Result.UNCHANGED, version=head.current)
            omitted = count - len(points)
            made = await asyncio.to_thread(
                updated, earlier, points, model, self._make_geometry, self._rules.parameters, omitted
            )
            jobs = [_more(agent_id, head.version + 1)] if more else []
            try:
                document = await self._put(key, made, fingerprint, head, jobs, stale=waits)
            except VersionConflict:
                continue
            return Updated(result=Result.WRITTEN, version=document.version, left=more)
        raise StateConflict("others write this attractor all the time")

    async def _put(
        self,
        key: DocumentKey,
        made: Attractor,
        fingerprint: str,
        head: Head,
        jobs: Sequence[NewJob],
        *,
        stale: bool,
    ) -> Document:
        body = await asyncio.to_thread(body_of, made, fingerprint)
        draft = Draft(body=body, engine=ENGINE, source_ids=sources_of(made), stale=stale)
        return await self._documents.put(key, draft, head, jobs)

    async def _newest(self, key: DocumentKey) -> VersionInfo | None:
        """The newest version; None where there is none."""
        try:
            _, infos = await self._documents.versions(key, None, 1)
        except NotFound:
            return None
        return infos[0] if infos else None

    async def _read_summaries(self, tenant: str, agent_id: str, model: str) -> bool:
        """Reads and embeds summaries that changed; whether some are left to be."""
        await self._points.prune(tenant, agent_id)
        changed = await self._points.changed(tenant, agent_id, model, self._rules.embed_limit + 1)
        now = changed[: self._rules.embed_limit]
        for begin in range(0, len(now), EMBED_STEP):
            step = now[begin : begin + EMBED_STEP]
            found = [await self._summary(summary_key(tenant, agent_id, one)) for one in step]
            await self._embed(tenant, agent_id, model, [one for one in found if one is not None])
        return len(changed) > self._rules.embed_limit

    async def _summary(self, key: DocumentKey) -> _Summary | None:
        """The newest version; None where it is gone."""
        try:
            snapshot = await self._documents.current(key)
        except Unreadable:
            self._log.error("summary_unreadable")
            head = await self._documents.head(key)
            # Empty under its version, so that it is not read again until it is written again.
            return _Summary(
                conversation_id=key.subject, version=head.version, reading=reading_of({}, self._clock())
            )
        if snapshot is None:
            return None
        document = snapshot.document
        reading = reading_of(document.body, document.created)
        return _Summary(conversation_id=key.subject, version=document.version, reading=reading)

    async def _embed(self, tenant: str, agent_id: str, model: str, summaries: Sequence[_Summary]) -> None:
        texts = [one.reading.text for one in summaries if one.reading.text]
        vectors = iter(await self._embedder.embed(texts, model) if texts else ())
        points = [
            Point(
                conversation_id=one.conversation_id,
                version=one.version,
                time=one.reading.time,
                title=one.reading.title,
                concepts=one.reading.concepts,
                vector=next(vectors) if one.reading.text else b"",
            )
            for one in summaries
        ]
        await self._points.put(tenant, agent_id, model, points)

    async def _earlier(self, key: DocumentKey, head: Head) -> tuple[Earlier, str]:
        """What the newest readable version hands on, and its fingerprint."""
        if not head.present:
            return Earlier(), ""
        try:
            snapshot = await self._documents.current(key)
        except Unreadable:
            self._log.error("attractor_unreadable")
            try:
                document = (await self._documents.get(key, Choice(newest=True))).document
            except NotFound:
                return Earlier(), ""  # none of its versions can be read
            return self._handed_on(document)[0], ""  # to be written again, whatever it was made of
        return self._handed_on(snapshot.document) if snapshot is not None else (Earlier(), "")

    def _handed_on(self, document: Document) -> tuple[Earlier, str]:
        try:
            earlier = earlier_of(document.body, document.source_ids)
        except ValueError:
            self._log.error("attractor_unreadable")
            return Earlier(), ""
        return earlier, str(document.body.get("fingerprint", ""))


def within_bytes(points: Sequence[Point]) -> list[Point]:
    """The newest of them, given by time, the newest first, whose ids fit into a document together."""
    kept: list[Point] = []
    size = 0
    for point in points:
        size += len(canonical(point.conversation_id).encode("utf-8")) + 1
        if size > MAX_IDS_BYTES:
            break
        kept.append(point)
    return kept


def fingerprint_of(model: str, points: Sequence[Point]) -> str:
    """The same for the same versions of the same summaries, embedded by the same model."""
    digest = hashlib.sha256(canonical(model).encode("utf-8"))
    for point in sorted(points, key=lambda point: point.conversation_id):
        digest.update(canonical([point.conversation_id, point.version]).encode("utf-8"))
    return digest.hexdigest()


def _more(agent_id: str, version: int) -> NewJob:
    """Goes on at once with the summaries that an update left."""
    return NewJob(
        type=UPDATE_ATTRACTOR,
        agent_id=agent_id,
        subject=agent_id,
        key=f"{UPDATE_ATTRACTOR}/{agent_id}/after/{version}",
        payload={"due": True},
    )


def _next_span(agent_id: str, version: int, now: datetime, span: timedelta) -> tuple[datetime, str]:
    """The end of the span that `now` lies in, and the key of the update there.

    The key names the newest version too: an update that wrote it, done early by a worker whose clock is
    ahead, must not stand for one that takes what changed after it.
    """
    seconds = span.total_seconds()
    end = (now.timestamp() // seconds + 1) * seconds
    key = f"{UPDATE_ATTRACTOR}/{agent_id}/after/{version}/at/{round(end * 1_000_000)}"
    return datetime.fromtimestamp(end, tz=now.tzinfo), key
