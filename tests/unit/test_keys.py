"""API keys: what opens, what doesn't, and what a key may make or revoke (SPEC G-9)."""

from __future__ import annotations

import asyncio
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from services.gateway.adapters.memory_keys import MemoryKeyStore
from services.gateway.app.keys import CACHE_SECONDS, FIRST_KEY_FILE, Keys
from services.gateway.domain.keys import ApiKey, id_of, new_secret
from services.kit.errors import CredentialInvalid, NotAllowed, NotFound, StartupError
from services.kit.identity import Principal, Role

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
OPERATOR = Principal(tenant="one", role=Role.OPERATOR)


class SetClock:
    """Time stands where it is put."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


class SlowStore(MemoryKeyStore):
    """Reads a key, then keeps the first answer back while `gate` is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.gate.set()
        self.reads = 0
        self.has_read = asyncio.Event()

    async def get(self, key_id: str) -> ApiKey | None:
        self.reads += 1
        key = await super().get(key_id)
        if not self.has_read.is_set():
            self.has_read.set()
            await self.gate.wait()
        return key


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def store() -> SlowStore:
    return SlowStore()


@pytest.fixture
def keys(store: SlowStore, clock: SetClock) -> Keys:
    return Keys(store, clock)


def bearer(secret: str) -> dict[str, str]:
    return {"authorization": f"Bearer {secret}"}


async def made(
    keys: Keys,
    maker: Principal = OPERATOR,
    *,
    role: Role = Role.READER,
    agents: tuple[str, ...] = (),
    lifetime: timedelta | None = None,
) -> tuple[ApiKey, str]:
    return await keys.create(maker, display_name="", role=role, agents=agents, lifetime=lifetime)


async def refusal(keys: Keys, secret: str) -> tuple[str, str]:
    with pytest.raises(CredentialInvalid) as caught:
        await keys.authenticate(bearer(secret))
    return caught.value.reason, str(caught.value)


async def test_a_key_opens_as_what_it_was_made(keys: Keys) -> None:
    key, secret = await made(keys, role=Role.WRITER, agents=("ada",))
    assert await keys.authenticate(bearer(secret)) == Principal(
        tenant="one", role=Role.WRITER, agents=frozenset({"ada"}), subject=f"key:{key.id}"
    )
    assert secret not in repr(key)


async def test_unknown_malformed_expired_and_revoked_keys_are_told_apart_by_nobody(
    keys: Keys, clock: SetClock
) -> None:
    _, good = await made(keys)
    _, expired = await made(keys, lifetime=timedelta(minutes=1))
    key, revoked = await made(keys)
    await keys.revoke(OPERATOR, key.id)
    clock.now += timedelta(minutes=1)
    wrong = good[:-1] + ("A" if good[-1] != "A" else "B")
    refusals = {
        await refusal(keys, secret)
        for secret in (
            new_secret()[1],
            "nonsense",
            f"{good} ",
            f"{good}\n",
            good.upper(),
            "pk_" + "é" * 60,
            wrong,
            expired,
            revoked,
        )
    }
    assert len(refusals) == 1
    assert (await keys.authenticate(bearer(good))).tenant == "one"


@pytest.mark.parametrize("metadata", [{}, {"authorization": "Bearer "}, {"authorization": "Basic x"}])
async def test_without_a_credential_nothing_opens(keys: Keys, metadata: dict[str, str]) -> None:
    with pytest.raises(CredentialInvalid):
        await keys.authenticate(metadata)


async def test_a_checked_key_is_remembered_for_a_while_but_not_beyond_its_time(
    keys: Keys, store: SlowStore, clock: SetClock
) -> None:
    _, secret = await made(keys, lifetime=timedelta(seconds=2))
    await keys.authenticate(bearer(secret))
    await keys.authenticate(bearer(secret))
    assert store.reads == 1
    clock.now += timedelta(seconds=2)
    await refusal(keys, secret)
    _, lasting = await made(keys)
    await keys.authenticate(bearer(lasting))
    before = store.reads
    clock.now += timedelta(seconds=CACHE_SECONDS)
    await keys.authenticate(bearer(lasting))
    assert store.reads == before + 1


async def test_a_revoked_key_is_refused_at_once(keys: Keys) -> None:
    key, secret = await made(keys)
    await keys.authenticate(bearer(secret))
    await keys.revoke(OPERATOR, key.id)
    await refusal(keys, secret)


async def test_a_check_under_way_while_the_key_is_revoked_is_not_remembered(
    keys: Keys, store: SlowStore
) -> None:
    key, secret = await made(keys)
    store.gate.clear()
    store.has_read.clear()
    checking = asyncio.create_task(keys.authenticate(bearer(secret)))
    await store.has_read.wait()  # it holds the key as it was
    await keys.revoke(OPERATOR, key.id)
    store.gate.set()
    await asyncio.gather(checking, return_exceptions=True)
    await refusal(keys, secret)


@pytest.mark.parametrize("maker", [Role.ADMIN, Role.OPERATOR])
@pytest.mark.parametrize("role", [Role.READER, Role.WRITER, Role.ADMIN, Role.OPERATOR, Role.SERVICE])
async def test_no_key_has_a_higher_role_than_its_maker(keys: Keys, maker: Role, role: Role) -> None:
    principal = Principal(tenant="one", role=maker)
    if role > maker:
        with pytest.raises(NotAllowed):
            await made(keys, principal, role=role)
    else:
        key, _ = await made(keys, principal, role=role)
        assert (key.role, key.tenant) == (role, "one")


@pytest.mark.parametrize(
    ("maker", "asked", "given"),
    [
        (None, (), None),
        (None, ("ada",), {"ada"}),
        ({"ada", "bob"}, (), {"ada", "bob"}),
        ({"ada", "bob"}, ("bob",), {"bob"}),
        ({"ada"}, ("bob",), "refused"),
        ({"ada"}, ("ada", "bob"), "refused"),
        (set(), (), "refused"),  # its list would be empty, which is shown as all agents
    ],
)
async def test_no_key_reaches_agents_that_its_maker_does_not(
    keys: Keys, maker: set[str] | None, asked: tuple[str, ...], given: object
) -> None:
    principal = Principal(tenant="one", role=Role.ADMIN, agents=None if maker is None else frozenset(maker))
    if given == "refused":
        with pytest.raises(NotAllowed):
            await made(keys, principal, agents=asked)
    else:
        assert (await made(keys, principal, agents=asked))[0].agents == given


@pytest.mark.parametrize(
    ("role", "agents", "by_role", "by_agents", "allowed"),
    [
        (Role.ADMIN, (), Role.ADMIN, None, True),
        (Role.OPERATOR, (), Role.ADMIN, None, False),
        (Role.READER, ("ada",), Role.ADMIN, frozenset({"ada"}), True),
        (Role.READER, ("bob",), Role.ADMIN, frozenset({"ada"}), False),
        (Role.READER, (), Role.ADMIN, frozenset({"ada"}), False),
    ],
)
async def test_a_key_revokes_only_what_it_could_have_made(
    keys: Keys,
    role: Role,
    agents: tuple[str, ...],
    by_role: Role,
    by_agents: frozenset[str] | None,
    allowed: bool,
) -> None:
    key, secret = await made(keys, role=role, agents=agents)
    by = Principal(tenant="one", role=by_role, agents=by_agents)
    if allowed:
        assert (await keys.revoke(by, key.id)).revoked == NOW
        await refusal(keys, secret)
    else:
        with pytest.raises(NotAllowed):
            await keys.revoke(by, key.id)
        assert await keys.authenticate(bearer(secret))


async def test_another_tenants_key_is_not_found_and_stays(keys: Keys) -> None:
    key, secret = await made(keys)
    for key_id in (key.id, "unknown"):
        with pytest.raises(NotFound):
            await keys.revoke(Principal(tenant="two", role=Role.OPERATOR), key_id)
    assert await keys.authenticate(bearer(secret))


def content(folder: Path) -> str:
    return (folder / FIRST_KEY_FILE).read_text().strip()


async def test_the_first_key_is_an_operators_and_readable_by_its_owner_only(
    keys: Keys, store: SlowStore, tmp_path: Path
) -> None:
    await keys.ensure_first_key(tmp_path)
    principal = await keys.authenticate(bearer(content(tmp_path)))
    assert (principal.tenant, principal.role, principal.agents) == ("default", Role.OPERATOR, None)
    assert stat.S_IMODE((tmp_path / FIRST_KEY_FILE).stat().st_mode) == 0o600


async def test_a_second_start_finds_the_first_key(
    keys: Keys, store: SlowStore, clock: SetClock, tmp_path: Path
) -> None:
    await keys.ensure_first_key(tmp_path)
    first = content(tmp_path)
    await Keys(store, clock).ensure_first_key(tmp_path)
    assert content(tmp_path) == first
    assert len(await store.page("default", 0, 10)) == 1


@pytest.mark.parametrize("loss", ["removed", "emptied", "garbage", "revoked"])
async def test_a_first_key_that_is_lost_or_no_longer_works_is_replaced(
    store: SlowStore, clock: SetClock, tmp_path: Path, loss: str
) -> None:
    keys = Keys(store, clock)
    await keys.ensure_first_key(tmp_path)
    path = tmp_path / FIRST_KEY_FILE
    first = content(tmp_path)
    if loss == "removed":
        path.unlink()
    elif loss == "revoked":
        await made(keys, Principal(tenant="default", role=Role.OPERATOR), role=Role.OPERATOR)
        key_id = id_of(first)
        assert key_id is not None
        await keys.revoke(Principal(tenant="default", role=Role.OPERATOR), key_id)
    else:
        path.write_bytes(b"" if loss == "emptied" else b"\xff\xfe no key \x00")
        path.chmod(0o644)
    again = Keys(store, clock)
    await again.ensure_first_key(tmp_path)
    assert content(tmp_path) != first
    assert (await again.authenticate(bearer(content(tmp_path)))).role is Role.OPERATOR
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    if loss == "revoked":
        await refusal(again, first)
    else:
        assert await again.authenticate(bearer(first)), "a copy kept elsewhere works until it is revoked"


async def test_a_key_file_that_cannot_be_read_or_written_stops_the_start(keys: Keys, tmp_path: Path) -> None:
    (tmp_path / FIRST_KEY_FILE).mkdir()
    with pytest.raises(StartupError, match="cannot read"):
        await keys.ensure_first_key(tmp_path)
    with pytest.raises(StartupError, match="cannot write"):
        await keys.ensure_first_key(tmp_path / "missing")
