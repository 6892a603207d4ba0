"""Attractors over real stores, with an embedder that knows themes by their words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from services.compactor.adapters.attractor_handler import AttractorHandler, JobsLater
from services.compactor.adapters.numpy_geometry import NumpyGeometry
from services.compactor.adapters.sql.attractor_points import SqlAttractorPoints
from services.compactor.adapters.sql.ledger import SqlLedger
from services.compactor.app.attractors import Attractors, UpdateRules, follow_up
from services.compactor.app.basins import Basins
from services.compactor.app.jobs import Jobs
from services.compactor.app.ports import Done, Outcome, Query, Reach
from services.compactor.app.wake import LocalWake
from services.compactor.domain.documents import Document, Draft, Snapshot, attractor_key, summary_key
from services.compactor.domain.ledger import Job, JobState
from services.kit.errors import DataFlowRefused, DependencyDown
from services.kit.outbox import OutboxRow, SqlOutbox
from tests.integration.document_world import AGENT, TENANT, World
from tests.unit.attractor_parts import START, theme, vector

WORDS = ("garden", "database", "running", "language")


@dataclass
class ThemeEmbedder:
    """A text's vector is near that of the first of WORDS in it; another model has other vectors."""

    revision: str = "model-1"
    down: bool = False
    refused: bool = False
    without: str = "\0"
    """A text with this word has no vector."""
    embedded: list[str] = field(default_factory=list)

    async def model(self) -> str:
        if self.down:
            raise DependencyDown
        return self.revision

    async def embed(self, texts: Sequence[str], model: str) -> list[bytes]:
        assert model == self.revision
        if self.refused:
            raise DataFlowRefused
        self.embedded += texts
        shift = int(self.revision.rpartition("-")[2]) - 1
        found = [next((place for place, word in enumerate(WORDS) if word in text), 9) for text in texts]
        return [
            b""
            if self.without in text
            else vector(theme(number + 10 * shift), len(text) + sum(map(ord, text)))
            for number, text in zip(found, texts, strict=True)
        ]


class AttractorWorld:
    """An agent's summaries and what follows them. The clock stands until a test moves it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.now = START + timedelta(days=100)
        self.embedder = ThemeEmbedder()
        self.documents = world.documents
        self.points = SqlAttractorPoints(world.database)
        self.jobs = Jobs(
            SqlLedger(world.database, tenant_slots=8), LocalWake(), lambda: self.now, max_attempts=5
        )
        self.handler = self.worker()
        self.basins = Basins(self.documents)
        self.outbox = SqlOutbox(world.database)

    def worker(self, rules: UpdateRules | None = None) -> AttractorHandler:
        """One that does the jobs."""
        later = JobsLater(self.jobs)
        attractors = Attractors(
            self.documents, self.points, self.embedder, NumpyGeometry, later, lambda: self.now, rules
        )
        return AttractorHandler(attractors)

    async def summarise(self, conversation: str, text: str, day: int = 0, **fields: Any) -> int:
        """The next version of a conversation's summary, and what follows it in the outbox."""
        key = summary_key(TENANT, AGENT, conversation)
        head = await self.documents.head(key)
        time = (START + timedelta(days=day)).isoformat()
        body = {
            "title": f"About {text}",
            "text": text,
            "concepts": [{"name": text, "weight": 0.5, "count": 1}],
            "up_to": {"time": time},
            **fields,
        }
        draft = Draft(body=body, engine="test", source_ids=(f"{conversation}/m1",))
        jobs = follow_up(AGENT, conversation, head.version + 1)
        return (await self.documents.put(key, draft, head, jobs)).version

    async def tell(self, *texts: str, prefix: str = "c", first_day: int = 0) -> None:
        """A conversation a day."""
        for place, text in enumerate(texts):
            await self.summarise(f"{prefix}{place}", text, first_day + place)

    async def relayed(self) -> list[OutboxRow]:
        """What waits in the outbox, taken."""
        rows = await self.outbox.claim(500)
        await self.outbox.settle(rows)
        return rows

    async def run(self, *payloads: bytes) -> list[Outcome]:
        """What became of jobs with these payloads."""
        return list(await self.handler.run(TENANT, AGENT, [self.job(payload) for payload in payloads]))

    async def said(self, *payloads: bytes) -> str:
        """The one result that all of them have."""
        outcomes = await self.run(*payloads)
        assert len(outcomes) == len(payloads)
        (result,) = {outcome.result_ids for outcome in outcomes if isinstance(outcome, Done)}
        return " ".join(result)

    async def queued(self) -> list[Job]:
        """The jobs in the ledger that wait."""
        query = Query(reach=Reach(tenant=TENANT), states=frozenset({JobState.QUEUED}))
        return list((await self.jobs.page(query, 100, "")).jobs)

    async def newest(self) -> Document:
        """The newest version by SQL."""
        snapshot = await self.documents.current(attractor_key(TENANT, AGENT))
        assert isinstance(snapshot, Snapshot)
        return snapshot.document

    def job(self, payload: bytes) -> Job:
        """A running job."""
        made: datetime = self.now
        return Job(
            id="j",
            tenant=TENANT,
            agent_id=AGENT,
            type="update_attractor",
            subject="s",
            key="k",
            payload=payload,
            state=JobState.RUNNING,
            max_attempts=5,
            created=made,
            updated=made,
            due=None,
            revision=1,
        )
