"""Episodic killed under load, its store stopped, its disk filled (SPEC E-1, E-2, X-1); see tests/torture."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from palimpsest.episodic.v1 import episodic_pb2

from services.kit.context import act_as
from services.kit.errors import DependencyDown
from tests.postgres_server import NoPostgres
from tests.torture.callers import AGENT, Stubs, make_agent, new_message
from tests.torture.checks import messages_of
from tests.torture.episodic import Episodic
from tests.torture.postgres import crashing_server
from tests.torture.run import TENANT, Torture

SEED = 4
BLOWS = 4
DISK = "16m"
BALLAST_BYTES = 10_000_000  # a file and its log may hold the same pages: room for both is needed
IN_SMALL_DISK = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c")
MOUNT = f'mount -t tmpfs -o size={DISK} tmpfs "$0" && exec "$@"'


async def test_killed_again_and_again_on_a_file_nothing_acknowledged_is_lost_or_doubled(
    tmp_path: Path,
) -> None:
    torture = Torture(Episodic(tmp_path), SEED)
    try:
        report = await torture.run(1, BLOWS)
        assert report.kills == BLOWS
        assert report.outcomes["DEPENDENCY_DOWN"] > 0
        assert report.messages > 0
        # The check would see it: a message less is found.
        torture.stop()
        with sqlite3.connect(tmp_path / "episodic.db") as connection:
            connection.execute("DELETE FROM messages WHERE place = (SELECT max(place) FROM messages)")
        connection.close()
        with pytest.raises(AssertionError):
            await torture.check_again()
    finally:
        torture.stop()


async def test_killed_and_its_server_stopped_on_postgresql_it_keeps_all_and_recovers(tmp_path: Path) -> None:
    try:
        with crashing_server() as server:
            torture = Torture(Episodic(tmp_path, server.url), SEED, server)
            try:
                report = await torture.run(1, BLOWS + 1)
            finally:
                torture.stop()
    except NoPostgres as error:
        pytest.skip(str(error))
    assert report.kills
    assert report.outages
    assert set(report.outcomes_in_outages) <= {"OK", "DEPENDENCY_DOWN", "DEADLINE"}


def _mounts(place: Path) -> bool:
    if shutil.which("unshare") is None:
        return False
    tried = subprocess.run([*IN_SMALL_DISK, MOUNT, place, "true"], capture_output=True, check=False)
    return tried.returncode == 0


@pytest.fixture
async def small_disk(tmp_path: Path) -> AsyncIterator[tuple[Episodic, Path]]:
    """Episodic whose file lies on a small disk of its own, and the way there for this process."""
    store = tmp_path / "store"
    store.mkdir()
    if not _mounts(store):
        pytest.skip("this machine lets no user mount a small disk")
    served = Episodic(tmp_path, settings={"DATA_DIR": str(store)})
    served.start(*IN_SMALL_DISK, MOUNT, str(store))
    try:
        await served.until_ready()
        yield served, Path(f"/proc/{served.pid}/root{store}")
    finally:
        served.stop()


async def test_with_a_full_disk_writes_fail_clearly_reads_go_on_and_room_is_used_again(
    small_disk: tuple[Episodic, Path],
) -> None:
    served, disk = small_disk
    ballast = disk / "ballast"
    ballast.write_bytes(bytes(BALLAST_BYTES))
    acknowledged: list[str] = []

    def request(number: int) -> episodic_pb2.AppendMessagesRequest:
        message = new_message(f"{number} " + "x" * 30_000)
        return episodic_pb2.AppendMessagesRequest(
            agent_id=AGENT, conversation_id="c", messages=[message], request_id=f"r{number}"
        )

    async def append(stubs: Stubs) -> None:
        answer = await stubs.episodic.AppendMessages(request(len(acknowledged)))
        acknowledged.append(answer.results[0].message_id)

    with act_as(TENANT):
        async with served.channel() as channel:
            stubs = Stubs(channel)
            await make_agent(stubs)
            await stubs.episodic.CreateConversation(
                episodic_pb2.CreateConversationRequest(agent_id=AGENT, conversation_id="c")
            )
            with pytest.raises(DependencyDown, match="the store is full; nothing was written"):
                while len(acknowledged) < 1000:
                    await append(stubs)
            assert acknowledged
            with pytest.raises(DependencyDown, match="full"):
                await append(stubs)
            assert [m.id for m in await messages_of(stubs, "c")] == acknowledged
            ballast.unlink()
            for _ in range(5):
                await append(stubs)
            stored = await messages_of(stubs, "c")
            assert [m.id for m in stored] == acknowledged
            assert [m.sequence for m in stored] == list(range(1, len(acknowledged) + 1))
    _check_file(disk, served.data, len(acknowledged))


def _check_file(disk: Path, place: Path, messages: int) -> None:
    """Looks into a copy: SQLite does not open a file behind /proc."""
    for name in ("episodic.db", "episodic.db-wal"):
        shutil.copy(disk / name, place / name)
    connection = sqlite3.connect(place / "episodic.db")
    try:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        jobs = connection.execute("SELECT count(*) FROM outbox WHERE type = 'index_message'").fetchone()
        assert jobs == (messages,)
    finally:
        connection.close()
