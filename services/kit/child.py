"""A supervised child process that answers calls over its pipes (SPEC SV-4).

For engines whose calls would hold this process's interpreter lock. The child is a fresh interpreter (never a
fork: gRPC does not survive one); its end is `services.kit.child_link`. Calls are pipelined. When the child
dies, the calls in flight fail with ChildDied, and it is started again after a pause that grows.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import structlog

from services.kit.errors import DependencyDown, StartupError
from services.kit.frames import HEADER, BadFrame, Frame, Head, encode, parse_header, parse_payload

READ_LIMIT = 1024 * 1024
EXIT_SECONDS = 1.0  # from the end of its pipe to its exit; killing an exiting process would hide its code


class ChildDied(DependencyDown):
    """The process that does this died during the call, or is not back yet; try again."""


class ChildRefused(StartupError):
    """The child said why it cannot start; `kind` is its word for it."""

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        super().__init__(message)


class CallFailed(Exception):
    """The child answered with an error; `kind` is its word for it."""

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        super().__init__(f"{kind}: {message}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildLimits:
    """How long things may take, in seconds."""

    start: float = 60.0
    """From the start of the process to its greeting."""
    call: float = 300.0
    """A call; a child that needs longer is taken for stuck, and killed."""
    back: float = 5.0
    """How long a call waits for a child that is being started again."""
    stop: float = 20.0
    """From the wish to end to the end; then it is killed."""
    first_pause: float = 0.1
    """Before the first new start; doubled by each that fails or dies young."""
    max_pause: float = 10.0


DEFAULT_LIMITS = ChildLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the child answered."""

    head: Head
    body: bytes


def module_command(module: str, *arguments: str) -> list[str]:
    """The command that runs a module in a fresh interpreter, which imports from where this one does."""
    return [sys.executable, "-P", "-m", module, *arguments]


async def _no_remedy(_kind: str) -> None:
    """A refusal is no more than logged: the next start may go better."""


def _no_look(_hello: Head) -> None:
    """Nobody minds what a child says that was started again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """What is done when a child that died is started again."""

    remedy: Callable[[str], Awaitable[None]] = _no_remedy
    """Awaited, with its word for it, when the child refused; then it is started once more.

    What it raises is logged: the child is started again all the same, and may refuse again.
    """
    greeted: Callable[[Head], None] = _no_look
    """Told its new greeting, before any call is sent."""


NOTHING_MORE = Again()


class Child:
    """One child process, started again whenever it dies. Made by `start`, ended by `close`."""

    def __init__(
        self, command: Sequence[str], name: str, limits: ChildLimits, again: Again = NOTHING_MORE
    ) -> None:
        self.name = name
        self.hello: Head = {}
        """The latest greeting."""
        self.restarts = 0
        self._command = list(command)
        self._limits = limits
        self._again = again
        self._ids = count(1)
        self._waiting: dict[int, asyncio.Future[Frame]] = {}
        self._up = asyncio.Event()
        self._closing = False
        self._process: Process | None = None
        self._supervisor: asyncio.Task[None] | None = None
        self._log = structlog.get_logger("child").bind(child=name)

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        *,
        name: str,
        limits: ChildLimits = DEFAULT_LIMITS,
        again: Again = NOTHING_MORE,
    ) -> Child:
        """Starts the process and waits for its greeting.

        Raises ChildRefused with what the child said, or StartupError when it says nothing in time or ends.
        """
        child = cls(command, name, limits, again)
        process = await child._spawn()
        child._supervisor = asyncio.create_task(child._supervise(process))
        return child

    @property
    def pid(self) -> int | None:
        """Of the running process; None between two."""
        return self._process.pid if self._process is not None and self._up.is_set() else None

    async def call(self, method: str, head: Mapping[str, Any], body: bytes = b"") -> Reply:
        """Sends a call and waits for its answer. Calls overlap; the child may answer in any order.

        Raises ChildDied when the child dies first (it may or may not have done its work), CallFailed when it
        answers with an error, BadFrame when the call is too large. A cancelled call is still carried out.
        """
        process = await self._running()
        call_id = next(self._ids)
        data = encode(Frame(id=call_id, head={**head, "method": method}, body=body))
        answer: asyncio.Future[Frame] = asyncio.get_running_loop().create_future()
        self._waiting[call_id] = answer
        try:
            async with asyncio.timeout(self._limits.call):
                frame = await self._exchange(process, data, answer)
        except TimeoutError:
            self._log.error("child_stuck", method=method)
            _kill(process)
            raise ChildDied from None
        finally:
            self._waiting.pop(call_id, None)
        if "ok" not in frame.head:
            raise CallFailed(str(frame.head.get("error")), str(frame.head.get("message")))
        return Reply(head=frame.head["ok"], body=frame.body)

    async def close(self) -> None:
        """Lets the child finish what it was asked and end; kills it when that takes too long."""
        self._closing = True
        supervisor, process = self._supervisor, self._process
        if supervisor is None or supervisor.done():
            return
        if process is not None and self._up.is_set():
            _stdin(process).close()
            await asyncio.wait([supervisor], timeout=self._limits.stop)
            if not supervisor.done():
                self._log.error("child_killed_at_stop")
        supervisor.cancel()
        with suppress(asyncio.CancelledError):
            await supervisor

    async def _exchange(self, process: Process, data: bytes, answer: asyncio.Future[Frame]) -> Frame:
        writer = _stdin(process)
        with suppress(ConnectionError):  # the supervisor notices too, and fails the answer
            writer.write(data)
            await writer.drain()
        return await answer

    async def _running(self) -> Process:
        try:
            async with asyncio.timeout(self._limits.back):
                while not self._up.is_set() and not self._closing:
                    await self._up.wait()
        except TimeoutError:
            raise ChildDied from None
        if self._closing or self._process is None:
            raise DependencyDown
        return self._process

    async def _spawn(self) -> Process:
        process = await asyncio.create_subprocess_exec(
            *self._command, stdin=PIPE, stdout=PIPE, stderr=_stderr(), limit=READ_LIMIT, env=_environment()
        )
        try:
            async with asyncio.timeout(self._limits.start):
                frame = await _read_frame(process)
        except (TimeoutError, BadFrame, asyncio.IncompleteReadError) as error:
            await _end(process, 0 if isinstance(error, TimeoutError) else EXIT_SECONDS)
            raise StartupError(f"the process {self.name} did not start") from error
        except BaseException:
            await _end(process)
            raise
        if "ready" not in frame.head:
            await _end(process, EXIT_SECONDS)
            raise ChildRefused(str(frame.head.get("refused")), str(frame.head.get("message")))
        if self.hello:
            self._again.greeted(frame.head["ready"])
        self.hello = frame.head["ready"]
        self._process = process
        self._up.set()
        return process

    async def _supervise(self, process: Process) -> None:
        """Reads answers; whenever the child is gone, fails what it owed and starts another."""
        pause = self._limits.first_pause
        try:
            while True:
                began = time.monotonic()
                await self._read_answers(process)
                self._up.clear()
                await _end(process, EXIT_SECONDS)
                self._lose_calls()
                if self._closing:
                    return
                self._log.error("child_died", code=process.returncode)
                if time.monotonic() - began > self._limits.max_pause:
                    pause = self._limits.first_pause
                process, pause = await self._start_again(pause)
        finally:
            self._up.clear()
            self._lose_calls()
            await _end(process)

    async def _start_again(self, pause: float) -> tuple[Process, float]:
        """A new process, and how long to wait before the one after it."""
        while True:
            await asyncio.sleep(pause)
            pause = min(pause * 2, self._limits.max_pause)
            try:
                process = await self._spawn()
            except (StartupError, OSError) as error:
                kind = error.kind if isinstance(error, ChildRefused) else type(error).__name__
                self._log.error("child_not_started", kind=kind, pause=pause)
                if isinstance(error, ChildRefused):
                    await self._remedy(error.kind)
                continue
            self.restarts += 1
            self._log.warning("child_started_again", restarts=self.restarts)
            return process, pause

    async def _remedy(self, kind: str) -> None:
        try:
            await self._again.remedy(kind)
        except Exception as error:  # noqa: BLE001 - or else nobody would start the child any more
            self._log.error("child_not_remedied", kind=kind, error=type(error).__name__)

    async def _read_answers(self, process: Process) -> None:
        """Hands answers to their callers until the pipe ends or carries nonsense."""
        while True:
            try:
                frame = await _read_frame(process)
            except (asyncio.IncompleteReadError, ConnectionError):
                return
            except BadFrame:
                self._log.error("child_talks_nonsense")
                return
            answer = self._waiting.get(frame.id)
            if answer is not None and not answer.done():
                answer.set_result(frame)

    def _lose_calls(self) -> None:
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(ChildDied())


async def _read_frame(process: Process) -> Frame:
    reader = process.stdout
    assert reader is not None
    length, head_length, call_id = parse_header(await reader.readexactly(HEADER.size))
    return parse_payload(await reader.readexactly(length), head_length, call_id)


def _stdin(process: Process) -> asyncio.StreamWriter:
    assert process.stdin is not None
    return process.stdin


def _stderr() -> int | None:
    """The child logs where this process does; a process without standard error has nowhere."""
    return None if sys.stderr is not None else DEVNULL


def _kill(process: Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()


async def _end(process: Process, patience: float = 0) -> None:
    """Waits for a process whose pipe has ended; kills it after `patience` seconds."""
    _stdin(process).close()
    with suppress(TimeoutError):
        async with asyncio.timeout(patience):
            await process.wait()
    if process.returncode is None:
        _kill(process)
    await process.wait()


def _environment() -> dict[str, str]:
    """This process's, with its import path; panics of a Rust engine stay one line in the log."""
    paths = [str(Path(entry or ".").resolve()) for entry in sys.path]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "RUST_BACKTRACE": "0"}
