"""A person corrects a summary, and later versions go on from what they said (SPEC J-6, J-17)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from services.compactor.app.correcting import ENGINE, MOST_BYTES, Corrections
from services.compactor.app.documents import Documents, Place, Served
from services.compactor.app.refreshing import Refreshing
from services.compactor.domain.documents import DocumentKey, Draft, marked_stale
from services.compactor.domain.rolling import from_body, to_body
from services.compactor.domain.summaries import Section
from services.kit.errors import InvalidField, NotFound, StateConflict, VersionConflict
from tests.unit.test_conversation_summaries import Store, World, follow_ups

NOW = datetime(2031, 5, 4, tzinfo=UTC)
FIXED = "Billing moves to the new ledger on Friday"


class ReadStore(Store):
    """Documents that are read as well."""

    async def get(self, key: DocumentKey) -> Served:
        return Served(document=self._document(key), head=self.state, place=Place.STORE)


class Corrected(World):
    """A conversation's summary, and what corrects it."""

    def __init__(self, said: int = 6) -> None:
        super().__init__(said)
        self.store.__class__ = ReadStore
        self.marked: list[tuple[str, int]] = []
        self.corrections = Corrections(
            cast("Documents", self.store), cast("Refreshing", self), lambda: NOW, follow_ups
        )

    async def mark_dependents(self, tenant: str, agent_id: str, conversation_id: str) -> None:
        self.marked.append((conversation_id, len(self.store.versions)))

    async def correct(self, *, of: int = 1, **sections: Sequence[str]) -> Any:
        said = {Section[name.upper()]: texts for name, texts in sections.items()}
        return await self.corrections.correct("acme", "a", "c", of, said)

    def texts(self) -> list[str]:
        return [one.text for one in self.newest.summary.statements()]


@pytest.fixture
async def world() -> Corrected:
    made = Corrected()
    await made.refresh()
    made.store.jobs.clear()
    return made


async def test_what_a_person_says_is_the_next_version(world: Corrected) -> None:
    before = world.newest
    served = await world.correct(details=[FIXED], next=["Tell Ann"])
    assert (served.document.version, served.document.engine) == (2, ENGINE)
    assert world.texts() == [FIXED, "Tell Ann"]
    assert [one.day for one in world.newest.summary.statements()] == ["2031-05-04"] * 2
    assert (world.newest.up_to, world.newest.concepts) == (before.up_to, before.concepts)
    assert list(world.store.versions[-1].source_ids) == ["c@1"]


async def test_what_stays_keeps_the_day_that_it_is_of(world: Corrected) -> None:
    known = next(one for one in world.newest.summary.statements() if one.section is Section.DETAILS)
    await world.correct(details=[known.text, FIXED])
    assert [one.day for one in world.newest.summary.statements()] == [known.day, "2031-05-04"]


async def test_what_came_from_it_is_marked_first_and_follows(world: Corrected) -> None:
    """J-17: so nothing old is read as current beside it."""
    await world.correct(details=[FIXED])
    assert world.marked == [("c", 1)]
    assert [job.type for job in world.store.jobs] == ["follow", "refresh_derived"]


async def test_the_next_version_goes_on_from_it(world: Corrected) -> None:
    await world.correct(details=[FIXED])
    world.path.said = 8
    assert await world.refresh() == 3
    assert FIXED in world.texts()
    assert world.newest.message_count == 8
    assert world.newest.correction is not None


async def test_derived_anew_it_begins_with_it(world: Corrected) -> None:
    """What was said before the correction is counted, and not read into the statements again."""
    known = world.texts()[0]
    await world.correct(details=[FIXED])
    world.store.state = marked_stale(world.store.state)
    world.path.said = 8
    assert await world.refresh() == 3
    assert world.newest.message_count == 8
    assert FIXED in world.texts()
    assert known not in world.texts()
    assert world.store.jobs[-1].type == "refresh_derived", "what came from the stale one follows"


async def test_on_a_path_without_its_message_it_says_nothing_and_is_kept(world: Corrected) -> None:
    """E-3: until that path is the active one again."""
    await world.correct(details=[FIXED])
    world.path.follows, world.path.said = False, 2
    await world.refresh()
    assert FIXED not in world.texts()
    world.path.said = 6
    await world.refresh()
    assert FIXED in world.texts()


async def test_of_a_stale_summary_it_is_stale_too(world: Corrected) -> None:
    world.store.state = marked_stale(world.store.state)
    await world.correct(details=[FIXED])
    assert world.store.versions[-1].stale


async def test_it_is_of_the_newest_version_or_none(world: Corrected) -> None:
    with pytest.raises(VersionConflict) as refused:
        await world.correct(of=2, details=[FIXED])
    assert refused.value.metadata == {"current_version": "1"}
    assert len(world.store.versions) == 1
    assert world.marked == []
    with pytest.raises(NotFound):
        await Corrected().correct(details=[FIXED])
    world.store.broken = True
    with pytest.raises(StateConflict):
        await world.correct(details=[FIXED])


@pytest.mark.parametrize(
    "sections",
    [
        {},
        {"details": []},
        {"details": [" "]},
        {"details": ["one\ntwo"]},
        {"files": ["a\x00"]},
        {"details": ["x" * 2000] * (MOST_BYTES // 2000 + 1)},
    ],
)
async def test_what_is_no_statement_is_refused(world: Corrected, sections: dict[str, list[str]]) -> None:
    with pytest.raises(InvalidField):
        await world.correct(of=1, **sections)
    assert len(world.store.versions) == 1


async def test_a_correction_is_read_back_as_it_was_written(world: Corrected) -> None:
    await world.correct(details=[FIXED], files=["a/b.py"], objective=["Move billing"])
    assert from_body(to_body(world.newest)) == world.newest
    plain = replace(world.newest, correction=None)
    assert "correction" not in to_body(plain)
    assert Draft(body=to_body(plain), engine="x").stale is False
