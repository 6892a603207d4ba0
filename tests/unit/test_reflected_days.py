"""Under which day things are reflected upon, whenever that is asked for (SPEC J-11)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from services.compactor.adapters.upkeep_handlers import ReflectHandler
from services.compactor.app.reflection import InsightQuery, Reflection
from services.compactor.domain.insights import Draft, Insight
from services.compactor.domain.ledger import Job, JobState
from services.compactor.domain.reflecting import Evidence

TICK = datetime(2031, 5, 4, 3, tzinfo=UTC)
TOLD = {
    "2031-05-02T23:59": "kiln",
    "2031-05-03T00:00": "rope",
    "2031-05-03T23:59": "sail",
    "2031-05-04T00:00": "moss",
    "2031-05-04T02:00": "barn",
}
"""What recurred, and when."""


@dataclass
class Recorded:
    """Days on which each theme was told of three times in a minute; and rows, which are not kept."""

    remembered: list[str] = field(default_factory=list)

    async def evidence(
        self, tenant: str, agent_id: str, since: datetime, until: datetime
    ) -> Mapping[str, Sequence[Evidence]]:
        told = {datetime.fromisoformat(f"{moment}:00+00:00"): word for moment, word in TOLD.items()}
        words = [word for moment, word in told.items() if since <= moment < until]
        return {
            word: [Evidence(source_id=f"{word}{n}", text=f"{word} {n * 'x'}") for n in range(3)]
            for word in words
        }

    async def remember(self, tenant: str, agent_id: str, reflection: Insight, key: str) -> str:
        self.remembered.append(key)
        return "m"

    async def put(self, tenant: str, agent_id: str, drafts: Sequence[Draft], now: datetime) -> list[Insight]:
        return [
            Insight(
                id=draft.slug,
                agent_id=agent_id,
                kind=draft.kind,
                contact_id=draft.contact_id,
                slug=draft.slug,
                topic=draft.topic,
                text=draft.text,
                state=draft.state,
                day=draft.day,
                provenance=draft.provenance,
                source_ids=draft.source_ids,
                memory_id="m",
                kept=False,
                revision=1,
                created=now,
                updated=now,
            )
            for draft in drafts
        ]

    async def page(self, tenant: str, agent_id: str, query: InsightQuery) -> list[Insight]:
        return []


YESTERDAY = ["reflection:2031-05-03:rope", "reflection:2031-05-03:sail"]
TODAY = ["reflection:2031-05-04:barn", "reflection:2031-05-04:moss"]


@pytest.mark.parametrize(
    ("payload", "keys"),
    [
        ({"day": TICK.isoformat()}, YESTERDAY),
        ({"day": TICK.isoformat(), "by_hand": True}, YESTERDAY + TODAY),
        ({"day": "2031-05-04"}, TODAY),
        ({"day": "2031-05-02"}, ["reflection:2031-05-02:kiln"]),
    ],
    ids=["the schedule, at 03:00", "somebody, at that moment", "a day", "an earlier day"],
)
async def test_what_is_told_on_a_day_is_reflected_upon_under_that_day(
    payload: dict[str, Any], keys: list[str]
) -> None:
    recorded = Recorded()
    reflection = Reflection(cast("Any", recorded), cast("Any", recorded), lambda: TICK)
    asked = Job(
        id="j",
        tenant="acme",
        agent_id="ada",
        type="reflect_agent",
        subject="agents/ada",
        key="k",
        payload=json.dumps(payload).encode(),
        state=JobState.RUNNING,
        max_attempts=5,
        created=TICK,
        updated=TICK,
        due=None,
        revision=1,
    )
    await ReflectHandler(reflection).run("acme", "ada", [asked])
    assert sorted(recorded.remembered) == keys
