"""What every store of settings does (SPEC G-12, S-15)."""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import pytest

from services.gateway.adapters.memory_settings import MemorySettings
from services.gateway.adapters.sql.settings import SqlSettings
from services.gateway.app.settings_ports import SettingsStore
from services.gateway.domain.budgets import Budgets
from services.gateway.domain.settings import REFUSALS_KEPT, TENANT, Change, RefusedTexts, Settings, Stored
from services.kit.errors import InvalidField, NotAllowed, VersionConflict
from services.kit.policy import DataFlow, FusionChoice, FusionKind, Provider
from services.kit.sql import SqlDatabase

NOW = datetime(2026, 3, 1, 9, 0, 0, 123456, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY = date(2026, 3, 1)
WHOLE = Settings(
    data_flow=DataFlow.ALLOW_PARTNER,
    provider=Provider.REMOTE,
    verify=False,
    fusion=FusionChoice(kind=FusionKind.REFERENCE, k=12.5, weights={"vector": 2.0, "hyde": 0.0}),
    recall_depth=40,
    budgets=Budgets(requests_per_minute=600, tokens_per_minute=0, spend_per_day_micros=10**15),
)
ALL = ["data_flow", "provider", "verify", "fusion", "recall_depth", "budgets"]


@pytest.fixture
def stores(gateway_sql_pair: tuple[SqlDatabase, SqlDatabase] | None) -> list[SettingsStore]:
    """Two replicas' stores of the same settings."""
    if gateway_sql_pair is None:
        one = MemorySettings()
        return [one, one]
    return [SqlSettings(sql) for sql in gateway_sql_pair]


async def put(
    store: SettingsStore,
    settings: Settings,
    paths: list[str],
    *,
    tenant: str = "one",
    agent: str = "ada",
    now: datetime = NOW,
    subject: str = "key:1",
    revision: int | None = None,
) -> Stored:
    return await store.update(
        tenant, agent, settings, paths, subject=subject, now=now, expected_revision=revision
    )


async def test_settings_are_read_as_they_were_set(stores: list[SettingsStore]) -> None:
    """G-12: also what is false, zero or without parameters."""
    first, second = stores
    assert await first.get("one", ["ada", TENANT]) == {}
    made = await put(first, WHOLE, ALL)
    assert made == Stored(settings=WHOLE, revision=1, updated=NOW)
    assert await second.get("one", ["ada", TENANT]) == {"ada": made}
    adaptive = Settings(fusion=FusionChoice(kind=FusionKind.ADAPTIVE))
    await put(first, adaptive, ALL)
    assert (await second.get("one", ["ada"]))["ada"].settings == adaptive


async def test_only_named_fields_change_and_a_named_unset_one_is_cleared(stores: list[SettingsStore]) -> None:
    """G-12."""
    store = stores[0]
    await put(store, WHOLE, ALL)
    changed = await put(store, Settings(verify=True), ["verify", "provider"])
    assert changed.settings.verify is True
    assert changed.settings.provider is None
    assert changed.settings.fusion == WHOLE.fusion
    assert changed.revision == 2


@pytest.mark.parametrize("paths", [[], ["unknown"], ["verify", "settings.verify"]])
async def test_a_mask_names_settings_and_a_refused_change_leaves_no_trace(
    stores: list[SettingsStore], paths: list[str]
) -> None:
    """G-12."""
    with pytest.raises(InvalidField):
        await put(stores[0], WHOLE, paths)
    assert await stores[0].changes("one", "ada", None, 10) == []
    assert (await stores[0].get("one", ["ada"])).get("ada", Stored()).revision == 0
    await put(stores[0], WHOLE, ["verify"])
    assert len(await stores[0].changes("one", "ada", None, 10)) == 1


async def test_a_change_that_may_not_be_leaves_no_trace(stores: list[SettingsStore]) -> None:
    """G-5: it is looked at with what was there before, in its transaction."""
    store = stores[0]
    await put(store, Settings(budgets=Budgets(tokens_per_minute=7)), ["budgets"], agent=TENANT)
    seen: list[tuple[int | None, int | None]] = []

    def may_not(old: Settings, made: Settings) -> None:
        seen.append((old.budgets.tokens_per_minute, made.budgets.tokens_per_minute))
        raise NotAllowed

    raised = Settings(budgets=Budgets(tokens_per_minute=8))
    with pytest.raises(NotAllowed):
        await store.update("one", TENANT, raised, ["budgets"], subject="key:2", now=NOW, may=may_not)
    assert seen == [(7, 8)]
    assert (await store.get("one", [TENANT]))[TENANT].settings.budgets.tokens_per_minute == 7
    assert len(await store.changes("one", TENANT, None, 10)) == 1


async def test_tenants_and_agents_have_their_own(stores: list[SettingsStore]) -> None:
    """G-12, X-4."""
    store = stores[0]
    await put(store, Settings(verify=True), ["verify"], agent=TENANT)
    await put(store, Settings(verify=False), ["verify"])
    await put(store, WHOLE, ALL, tenant="two")
    found = await store.get("one", [TENANT, "ada", "bob"])
    assert {agent: one.settings.verify for agent, one in found.items()} == {TENANT: True, "ada": False}
    assert (await store.get("two", ["ada"]))["ada"].settings == WHOLE
    assert [change.agent_id for change in await store.changes("one", TENANT, None, 10)] == [TENANT]


async def test_who_changed_what_is_kept_and_read_in_pages(stores: list[SettingsStore]) -> None:
    """G-12: newest first."""
    store = stores[0]
    for number in range(5):
        settings = Settings(recall_depth=20 + number)
        await put(store, settings, ["recall_depth"], subject=f"key:{number}", now=NOW + number * HOUR)
    page = await store.changes("one", "ada", None, 3)
    assert [change.revision for change in page] == [5, 4, 3]
    assert page[0] == Change(
        agent_id="ada",
        revision=5,
        subject="key:4",
        time=NOW + 4 * HOUR,
        paths=("recall_depth",),
        before=Settings(recall_depth=23),
        after=Settings(recall_depth=24),
    )
    rest = await store.changes("one", "ada", page[-1].revision, 3)
    assert [change.revision for change in rest] == [2, 1]
    assert rest[-1].before == Settings()
    assert await store.changes("two", "ada", None, 3) == []


async def test_a_revision_that_is_given_must_be_the_current_one(stores: list[SettingsStore]) -> None:
    """G-12."""
    first, second = stores
    with pytest.raises(VersionConflict):
        await put(first, WHOLE, ALL, revision=1)
    await put(first, WHOLE, ALL)
    await put(second, Settings(), ["verify"], revision=1)
    with pytest.raises(VersionConflict):
        await put(first, Settings(verify=True), ["verify"], revision=1)
    assert (await first.get("one", ["ada"]))["ada"].settings.verify is None


async def test_of_writers_that_race_each_makes_a_revision(stores: list[SettingsStore]) -> None:
    """G-12: no change is lost, and with a revision given one alone wins."""
    await asyncio.gather(
        *(put(stores[n % 2], Settings(recall_depth=20 + n), ["recall_depth"]) for n in range(10))
    )
    changes = await stores[0].changes("one", "ada", None, 20)
    assert [change.revision for change in changes] == list(range(10, 0, -1))
    for later, earlier in pairwise(changes):
        assert later.before == earlier.after
    raced = await asyncio.gather(
        *(put(stores[n % 2], Settings(verify=True), ["verify"], revision=10) for n in range(6)),
        return_exceptions=True,
    )
    assert sum(isinstance(one, Stored) for one in raced) == 1
    assert sum(isinstance(one, VersionConflict) for one in raced) == 5


def refused(kind: str, count: int, day: date = DAY) -> RefusedTexts:
    return RefusedTexts(day=day, kind=kind, count=count)


async def test_refusals_are_summed_over_processes_and_a_report_twice_counts_once(
    stores: list[SettingsStore],
) -> None:
    """S-15."""
    first, second = stores
    before = DAY - timedelta(days=1)
    await first.report_refusals("one", "p1", [refused("hyde", 3), refused("embedding", 2, before)])
    await first.report_refusals("one", "p1", [refused("hyde", 3)])
    await second.report_refusals("one", "p2", [refused("hyde", 4)])
    await second.report_refusals("one", "p1", [refused("hyde", 5)])
    await second.report_refusals("one", "p1", [refused("hyde", 1)])  # late
    await first.report_refusals("two", "p1", [refused("remote_memory", 1)])
    assert await first.refusals("one", before) == [refused("hyde", 9), refused("embedding", 2, before)]
    assert await first.refusals("one", DAY) == [refused("hyde", 9)]
    assert await second.refusals("two", before) == [refused("remote_memory", 1)]


async def test_refusals_of_long_ago_go_with_a_later_report(stores: list[SettingsStore]) -> None:
    """S-15: of that tenant alone."""
    first, second = stores
    old, kept = DAY - REFUSALS_KEPT - timedelta(days=1), DAY - REFUSALS_KEPT
    for tenant in ("one", "two"):
        await first.report_refusals(tenant, "p", [refused("hyde", 1, old), refused("hyde", 2, kept)])
    assert len(await first.refusals("one", old)) == 2, "they are counted from the newest day on"
    await second.report_refusals("one", "p", [refused("hyde", 3)])
    await second.report_refusals("one", "p", [])
    assert await first.refusals("one", old) == [refused("hyde", 3), refused("hyde", 2, kept)]
    assert len(await first.refusals("two", old)) == 2
