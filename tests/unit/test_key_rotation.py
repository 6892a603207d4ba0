"""Another secret for a key: what works for how long, in this process and in others (SPEC G-9)."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.gateway.adapters.memory_keys import MemoryKeyStore
from services.gateway.app.keys import CACHE_SECONDS, FIRST_START, Keys
from services.gateway.domain.keys import ApiKey, ChangeKind, id_of
from services.kit.errors import CredentialInvalid, NotAllowed, NotFound, StateConflict
from services.kit.identity import Principal, Role

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
DAY, SECOND, NONE = timedelta(days=1), timedelta(seconds=1), timedelta(0)
OPERATOR = Principal(tenant="one", role=Role.OPERATOR, subject="key:operator")


class SetClock:
    """Time stands where it is put."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


class GatedStore(MemoryKeyStore):
    """Reads a key, then keeps the answer back while `gate` is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.gate.set()
        self.has_read = asyncio.Event()

    async def get(self, key_id: str) -> ApiKey | None:
        key = await super().get(key_id)
        self.has_read.set()
        await self.gate.wait()
        return key


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def store() -> GatedStore:
    return GatedStore()


@pytest.fixture
def keys(store: GatedStore, clock: SetClock) -> Keys:
    return Keys(store, clock)


async def made(keys: Keys, **fields: object) -> tuple[ApiKey, str]:
    given = {"display_name": "", "role": Role.READER, "agents": (), "lifetime": None, **fields}
    return await keys.create(OPERATOR, **given)  # type: ignore[arg-type]


async def works(keys: Keys, secret: str) -> bool:
    try:
        await keys.authenticate({"authorization": f"Bearer {secret}"})
    except CredentialInvalid:
        return False
    return True


async def test_without_an_overlap_the_old_secret_ends_at_once(keys: Keys) -> None:
    key, old = await made(keys)
    assert await works(keys, old)
    rotated, new = await keys.rotate(OPERATOR, key.id, overlap=NONE, lifetime=None)
    assert (rotated.id, id_of(new), rotated.rotated) == (key.id, key.id, NOW)
    assert new != old
    assert (await works(keys, old), await works(keys, new)) == (False, True)
    assert new not in repr(rotated)


async def test_the_old_secret_works_for_the_overlap_and_not_a_moment_longer(
    keys: Keys, store: GatedStore, clock: SetClock
) -> None:
    """Not even where it was checked, and remembered, just before the end."""
    key, old = await made(keys)
    _, new = await keys.rotate(OPERATOR, key.id, overlap=DAY, lifetime=None)
    clock.now += DAY - SECOND
    assert (await works(keys, old), await works(keys, new)) == (True, True)
    clock.now += SECOND
    for each in (keys, Keys(store, clock)):
        assert (await works(each, old), await works(each, new)) == (False, True)


async def test_rotated_again_only_the_last_two_secrets_work(keys: Keys) -> None:
    key, first = await made(keys)
    _, second = await keys.rotate(OPERATOR, key.id, overlap=DAY, lifetime=None)
    assert await works(keys, first)
    _, third = await keys.rotate(OPERATOR, key.id, overlap=DAY, lifetime=None)
    assert [await works(keys, secret) for secret in (first, second, third)] == [False, True, True]


async def test_expiry_and_revocation_hold_for_both_secrets(keys: Keys, clock: SetClock) -> None:
    key, old = await made(keys, lifetime=timedelta(hours=1))
    rotated, new = await keys.rotate(OPERATOR, key.id, overlap=DAY, lifetime=None)
    assert rotated.expires == key.expires
    clock.now += timedelta(hours=1)
    assert (await works(keys, old), await works(keys, new)) == (False, False)
    with pytest.raises(StateConflict):
        await keys.rotate(OPERATOR, key.id, overlap=DAY, lifetime=DAY)
    other, before = await made(keys)
    renewed, after = await keys.rotate(OPERATOR, other.id, overlap=DAY, lifetime=DAY)
    assert renewed.expires == clock.now + DAY
    await keys.revoke(OPERATOR, other.id)
    assert (await works(keys, before), await works(keys, after)) == (False, False)
    with pytest.raises(StateConflict):
        await keys.rotate(OPERATOR, other.id, overlap=DAY, lifetime=None)


async def test_another_process_goes_by_what_it_remembers_for_the_cache_time_at_most(
    keys: Keys, store: GatedStore, clock: SetClock
) -> None:
    replica = Keys(store, clock)
    key, old = await made(keys)
    assert await works(replica, old)
    _, new = await keys.rotate(OPERATOR, key.id, overlap=NONE, lifetime=None)
    assert await works(replica, new), "a new secret is looked up at once"
    assert await works(replica, old), "the old one is remembered"
    clock.now += timedelta(seconds=CACHE_SECONDS)
    assert (await works(replica, old), await works(replica, new)) == (False, True)


async def test_a_check_under_way_while_the_key_is_rotated_is_not_remembered(
    keys: Keys, store: GatedStore
) -> None:
    key, old = await made(keys)
    store.has_read.clear()
    store.gate.clear()
    checking = asyncio.create_task(works(keys, old))
    await store.has_read.wait()  # it holds the key as it was
    rotating = asyncio.create_task(keys.rotate(OPERATOR, key.id, overlap=NONE, lifetime=None))
    await asyncio.sleep(0)
    store.gate.set()
    await asyncio.gather(checking, rotating)
    assert not await works(keys, old)


@pytest.mark.parametrize(
    ("by", "refusal"),
    [
        (Principal(tenant="two", role=Role.OPERATOR), NotFound),
        (Principal(tenant="one", role=Role.WRITER), NotAllowed),
        (Principal(tenant="one", role=Role.ADMIN, agents=frozenset({"ada"})), NotAllowed),
    ],
)
async def test_nobody_rotates_a_key_that_they_could_not_have_made(
    keys: Keys, by: Principal, refusal: type[Exception]
) -> None:
    key, secret = await made(keys, role=Role.ADMIN)
    with pytest.raises(refusal):
        await keys.rotate(by, key.id, overlap=NONE, lifetime=None)
    assert await works(keys, secret)


async def test_who_did_what_to_which_key_is_kept(keys: Keys, tmp_path: object) -> None:
    key, _ = await made(keys)
    other = Principal(tenant="one", role=Role.OPERATOR, subject="jwt:ops")
    await keys.rotate(other, key.id, overlap=NONE, lifetime=None)
    await keys.revoke(OPERATOR, key.id)
    changes = [change for _, change in await keys.changes("one", key.id, None, 10)]
    assert [(change.kind, change.subject, change.time) for change in changes] == [
        (ChangeKind.REVOKED, "key:operator", NOW),
        (ChangeKind.ROTATED, "jwt:ops", NOW),
        (ChangeKind.CREATED, "key:operator", NOW),
    ]
    await keys.ensure_first_key(tmp_path)  # type: ignore[arg-type]
    assert [change.subject for _, change in await keys.changes("default", None, None, 10)] == [FIRST_START]


STEPS = st.one_of(
    st.tuples(st.just("rotate"), st.sampled_from([0, 3, 60, 7200])),
    st.tuples(st.just("wait"), st.sampled_from([1, 2, 4, 59, 3600])),
    st.tuples(st.just("revoke"), st.just(0)),
)


@settings(max_examples=100, deadline=None)
@given(st.lists(STEPS, max_size=12), st.sampled_from([None, 100, 5000]))
async def test_what_works_is_what_was_said_here_at_once_and_elsewhere_within_the_cache_time(
    steps: list[tuple[str, int]], lifetime: int | None
) -> None:
    """Against a list of the secrets and their ends."""
    clock, store = SetClock(), MemoryKeyStore()
    keys, replica = Keys(store, clock), Keys(store, clock)
    never = NOW + timedelta(days=999)
    key, secret = await made(keys, lifetime=timedelta(seconds=lifetime) if lifetime else None)
    ends = {secret: key.expires or never}
    changed = NOW - DAY
    for step, seconds in steps:
        length = timedelta(seconds=seconds)
        match step:
            case "wait":
                clock.now += length
            case "revoke":
                await keys.revoke(OPERATOR, key.id)
                ends, changed = dict.fromkeys(ends, clock.now), clock.now
            case "rotate":
                try:
                    _, newest = await keys.rotate(OPERATOR, key.id, overlap=length, lifetime=None)
                except StateConflict:
                    assert not any(end > clock.now for end in ends.values()), "only a key that works no more"
                    continue
                whole = max(ends.values())
                *older, last = ends
                ends.update(dict.fromkeys(older, clock.now))
                ends[last] = min(ends[last], clock.now + length)
                ends[newest], changed = whole, clock.now
        truth = {each: end > clock.now for each, end in ends.items()}
        assert {each: await works(keys, each) for each in ends} == truth
        if clock.now - changed >= timedelta(seconds=CACHE_SECONDS):
            assert {each: await works(replica, each) for each in ends} == truth
        else:
            for each in ends:
                await works(replica, each)
