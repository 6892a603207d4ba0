"""A supervised child process, alone and with the vector engine in it (SPEC SV-4, SV-2)."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from services.kit.child import Again, CallFailed, Child, ChildDied, ChildLimits, ChildRefused
from services.kit.errors import DependencyDown, StartupError
from services.kit.frames import MAX_FRAME_BYTES, BadFrame, Decoder, Frame, encode
from services.memory.semantic.adapters.vectors_edge import EdgeVectorIndex
from services.memory.semantic.domain.vectors import Bucket, ContentClass, VectorModel, VectorPoint, pack

ECHO = """
import os, sys, time
from services.kit.child_link import attach
link = attach()
print("a stray print")
if sys.argv[1:] == ["refuse"]:
    link.refuse("moody", "not today"); sys.exit(1)
if sys.argv[1:] == ["silent"]:
    time.sleep(60)
if sys.argv[1:] == ["die"]:
    sys.exit(3)
link.greet({"pid": os.getpid()})
while not link.closed:
    for frame in link.receive(None):
        match frame.head["method"]:
            case "echo": link.answer(frame.id, {"said": frame.head["say"]}, frame.body)
            case "fail": link.fail(frame.id, "nope", "it failed")
            case "exit": os._exit(7)
            case "sleep": time.sleep(frame.head["seconds"]); link.answer(frame.id, {})
            case "hold": pass
            case "babble": os.write(link._outgoing, b"x" * 64); time.sleep(600)
"""
PARENT = """
import asyncio, sys
from services.kit.child import Child
async def main():
    child = await Child.start(sys.argv[1:], name="echo")
    print(child.pid, flush=True)
    await asyncio.sleep(600)
asyncio.run(main())
"""
QUICK = ChildLimits(start=20, call=20, back=10, stop=10, first_pause=0.01, max_pause=0.1)
PATIENCE = 20.0  # seconds until a test gives up on something that should happen at once

MODEL = VectorModel(revision="test-1", dimension=8)
BUCKET = Bucket(tenant="acme", agent="anna", content=ContentClass.MESSAGE)

Command = Callable[..., list[str]]


@pytest.fixture
def command(tmp_path: Path) -> Command:
    script = tmp_path / "echo.py"
    script.write_text(ECHO)
    return lambda *arguments: [sys.executable, str(script), *arguments]


@pytest.fixture
async def child(command: Command) -> AsyncIterator[Child]:
    started = await Child.start(command(), name="echo", limits=QUICK)
    yield started
    await started.close()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 - it is about another process
            await asyncio.sleep(0.01)


def gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def kill(child: Child) -> int:
    pid = child.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    return pid


def test_frames_survive_any_cut() -> None:
    frames = [Frame(id=n, head={"n": n, "s": "ä" * n}, body=bytes(n * 7)) for n in range(20)]
    stream = b"".join(map(encode, frames))
    rng = random.Random(1)
    decoder, decoded = Decoder(), []
    while stream:
        cut = rng.randrange(1, 40)
        decoded += decoder.feed(stream[:cut])
        stream = stream[cut:]
    assert decoded == frames


@pytest.mark.parametrize(
    "data",
    [b"\xff" * 32, (4).to_bytes(4, "big") + (9).to_bytes(4, "big") + bytes(20), b"HTTP/1.1 200 OK\r\n\r\n"],
)
def test_nonsense_is_no_frame(data: bytes) -> None:
    with pytest.raises(BadFrame):
        list(Decoder().feed(data))


async def test_pipelined_calls_get_their_own_answers(child: Child) -> None:
    async def one(n: int) -> bool:
        reply = await child.call("echo", {"say": n}, bytes([n % 256]) * n * 50)
        return reply.head == {"said": n} and reply.body == bytes([n % 256]) * n * 50

    assert all(await asyncio.gather(*(one(n) for n in range(300))))


async def test_a_large_call_passes_and_a_larger_one_is_refused(child: Child) -> None:
    body = os.urandom(20 * 1024 * 1024)
    assert (await child.call("echo", {"say": ""}, body)).body == body
    with pytest.raises(BadFrame):
        await child.call("echo", {"say": ""}, bytes(MAX_FRAME_BYTES + 1))
    assert (await child.call("echo", {"say": "still there"})).head == {"said": "still there"}


async def test_an_error_fails_its_call_alone(child: Child) -> None:
    with pytest.raises(CallFailed) as failure:
        await child.call("fail", {})
    assert failure.value.kind == "nope"
    assert (await child.call("echo", {"say": 1})).head == {"said": 1}
    assert child.restarts == 0


async def test_a_cancelled_call_leaves_the_others_alone(child: Child) -> None:
    held = asyncio.ensure_future(child.call("hold", {}))
    await child.call("echo", {"say": 1})
    held.cancel()
    with pytest.raises(asyncio.CancelledError):
        await held
    assert (await child.call("echo", {"say": 2})).head == {"said": 2}


async def test_calls_in_flight_at_its_death_fail_and_later_ones_succeed(child: Child) -> None:
    """SV-4: the caller learns that it may try again, and can at once."""
    held = [asyncio.ensure_future(child.call("hold", {})) for _ in range(20)]
    await child.call("echo", {"say": "arrived"})
    old = kill(child)
    results = await asyncio.gather(*held, return_exceptions=True)
    assert [type(result) for result in results] == [ChildDied] * 20
    reply = await child.call("echo", {"say": "back"})
    assert reply.head == {"said": "back"}
    assert child.restarts == 1
    assert child.pid == child.hello["pid"] != old


async def test_it_comes_back_however_often_it_dies(child: Child) -> None:
    for round_ in range(1, 4):
        with pytest.raises(ChildDied):
            await child.call("exit", {})
        assert (await child.call("echo", {"say": round_})).head == {"said": round_}
        assert child.restarts == round_


async def test_a_child_that_sends_nonsense_is_replaced(child: Child) -> None:
    with pytest.raises(ChildDied):
        await child.call("babble", {})
    assert (await child.call("echo", {"say": 1})).head == {"said": 1}


async def test_a_stuck_child_is_killed_and_replaced(command: Command) -> None:
    child = await Child.start(
        command(), name="echo", limits=ChildLimits(call=0.5, first_pause=0.01, max_pause=0.1)
    )
    try:
        old = child.pid
        with pytest.raises(ChildDied):
            await child.call("sleep", {"seconds": 600})
        await until(lambda: child.pid not in (None, old))
        assert (await child.call("echo", {"say": 1})).head == {"said": 1}
    finally:
        await child.close()


async def test_while_it_cannot_start_calls_fail_and_close_returns(tmp_path: Path, command: Command) -> None:
    child = await Child.start(
        command(), name="echo", limits=ChildLimits(back=0.2, first_pause=0.01, max_pause=0.05)
    )
    (tmp_path / "echo.py").write_text("raise SystemExit(1)")
    kill(child)
    await until(lambda: child.pid is None)
    with pytest.raises(ChildDied):
        await child.call("echo", {"say": 1})
    (tmp_path / "echo.py").write_text(ECHO)
    await until(lambda: child.pid is not None)
    assert (await child.call("echo", {"say": 2})).head == {"said": 2}
    (tmp_path / "echo.py").write_text("raise SystemExit(1)")
    kill(child)
    await until(lambda: child.pid is None)
    await child.close()


async def test_a_child_that_refuses_says_why(command: Command) -> None:
    with pytest.raises(ChildRefused, match="not today") as refusal:
        await Child.start(command("refuse"), name="echo", limits=QUICK)
    assert refusal.value.kind == "moody"


@pytest.mark.parametrize("way", ["silent", "die"])
async def test_a_child_that_says_nothing_is_a_failed_start(command: Command, way: str) -> None:
    with pytest.raises(StartupError, match="echo"):
        await Child.start(command(way), name="echo", limits=ChildLimits(start=1.0))


async def test_close_answers_what_was_asked_and_ends_the_process(command: Command) -> None:
    child = await Child.start(command(), name="echo", limits=QUICK)
    pid = child.pid
    assert pid is not None
    asked = [asyncio.ensure_future(child.call("echo", {"say": n})) for n in range(50)]
    await asyncio.sleep(0)
    await child.close()
    assert [(await call).head["said"] for call in asked] == list(range(50))
    assert gone(pid)
    with pytest.raises(DependencyDown):
        await child.call("echo", {"say": 1})


async def test_close_kills_a_child_that_does_not_listen(command: Command) -> None:
    child = await Child.start(command(), name="echo", limits=ChildLimits(stop=0.3))
    pid = child.pid
    assert pid is not None
    asked = asyncio.ensure_future(child.call("sleep", {"seconds": 600}))
    await asyncio.sleep(0)
    await child.close()
    assert gone(pid)
    with pytest.raises(ChildDied):
        await asked


async def test_signals_to_the_group_leave_it_to_the_parent(child: Child) -> None:
    """O-3: the parent still drains while a supervisor has signalled everything."""
    assert child.pid is not None
    os.kill(child.pid, signal.SIGTERM)
    os.kill(child.pid, signal.SIGINT)
    assert (await child.call("echo", {"say": 1})).head == {"said": 1}
    assert child.restarts == 0


@pytest.mark.parametrize("with_signal", [signal.SIGKILL, signal.SIGTERM])
async def test_it_ends_with_its_parent(tmp_path: Path, command: Command, with_signal: signal.Signals) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    parent = await asyncio.create_subprocess_exec(
        sys.executable, str(script), *command(), stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    pid = int(await asyncio.wait_for(parent.stdout.readline(), PATIENCE))
    assert not gone(pid)
    parent.send_signal(with_signal)
    await parent.wait()
    await until(lambda: gone(pid))


def points(*numbers: int) -> list[VectorPoint]:
    return [
        VectorPoint(bucket=BUCKET, item_id=str(n), vector=pack([1.0, n, 0, 0, 0, 0, 0, 0])) for n in numbers
    ]


async def test_acknowledged_vectors_survive_a_killed_engine(tmp_path: Path) -> None:
    """SV-4, SV-2: callers see no failure, nothing acknowledged is lost, and a new start knows of the kill."""
    index = await EdgeVectorIndex.open(tmp_path / "vectors", MODEL, limits=QUICK)
    await index.upsert(points(*range(100)))
    kill(index.child)
    await asyncio.gather(*(index.upsert(points(n)) for n in range(100, 200)))
    assert index.child.restarts == 1
    kill(index.child)
    hits = await index.search(BUCKET, pack([1.0, 0, 0, 0, 0, 0, 0, 0]), limit=1000)
    assert sorted(int(hit.item_id) for hit in hits) == list(range(200))
    kill(index.child)
    await index.close()

    again = await EdgeVectorIndex.open(tmp_path / "vectors", MODEL, limits=QUICK)
    assert not again.opened_clean
    assert await again.count() == 200
    await again.close()
    clean = await EdgeVectorIndex.open(tmp_path / "vectors", MODEL, limits=QUICK)
    assert clean.opened_clean
    await clean.close()


async def test_searches_are_answered_while_writes_queue(tmp_path: Path) -> None:
    """SV-4: a search goes before the writes that wait; nobody starves."""
    index = await EdgeVectorIndex.open(tmp_path / "vectors", MODEL, limits=QUICK)
    await index.upsert(points(0))
    order: list[str] = []

    async def write(n: int) -> None:
        await index.upsert(points(*range(n * 200, n * 200 + 200)))
        order.append("write")

    async def read() -> None:
        await index.search(BUCKET, pack([1.0] * 8), limit=3)
        order.append("read")

    await asyncio.gather(*(write(n) for n in range(40)), *(read() for _ in range(5)))
    assert order.index("read") < 20
    assert order[-1] == "write"
    assert await index.count(BUCKET) == 8_000
    await index.close()


def test_the_child_imports_no_more_than_it_needs() -> None:
    """P-9: no gRPC, no asyncio, no numpy in the engine's process."""

    code = (
        "import sys, services.memory.semantic.adapters.vectors_edge_child as child;"
        "print(*(m for m in ('qdrant_edge', 'grpc', 'asyncio', 'numpy', 'structlog') if m in sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["qdrant_edge"]


async def test_what_a_child_says_when_it_is_started_again_is_told(command: Command) -> None:
    """And before any call reaches it; the first greeting is its starter's to read."""
    told: list[Any] = []
    child = await Child.start(command(), name="echo", limits=QUICK, again=Again(greeted=told.append))
    assert told == []
    kill(child)
    await until(lambda: child.restarts == 1)
    assert told == [child.hello]
    await child.close()


def moody(tmp_path: Path) -> tuple[list[str], Path]:
    """The command of a child that refuses while a file is there, and the file."""
    script, flag = tmp_path / "moody.py", tmp_path / "refuse"
    script.write_text(
        "import sys, pathlib\n"
        "from services.kit.child_link import attach\n"
        "link = attach()\n"
        f"if pathlib.Path({str(flag)!r}).exists():\n"
        "    link.refuse('moody', 'not now')\n"
        "    sys.exit(1)\n"
        "link.greet({'fine': True})\n"
        "while not link.closed:\n"
        "    link.receive(None)\n"
    )
    return [sys.executable, str(script)], flag


async def test_a_refusal_to_start_again_can_be_remedied(tmp_path: Path) -> None:
    told, flag = moody(tmp_path)
    remedied: list[str] = []

    async def remedy(kind: str) -> None:
        remedied.append(kind)
        flag.unlink()

    child = await Child.start(told, name="moody", limits=QUICK, again=Again(remedy=remedy))
    flag.touch()
    kill(child)
    await until(lambda: child.restarts == 1)
    assert remedied == ["moody"]
    await child.close()


async def test_a_remedy_that_fails_does_not_end_the_attempts(tmp_path: Path) -> None:
    told, flag = moody(tmp_path)
    tried: list[str] = []

    async def remedy(kind: str) -> None:
        tried.append(kind)
        if len(tried) == 1:
            raise OSError
        flag.unlink()

    child = await Child.start(told, name="moody", limits=QUICK, again=Again(remedy=remedy))
    flag.touch()
    kill(child)
    await until(lambda: child.restarts == 1)
    assert tried == ["moody"] * 2
    await child.close()
