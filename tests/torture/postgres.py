"""PostgreSQL that can be stopped as by a crash and started again, in the care of a process of its own.

It is started from there because gRPC's threads don't bear that the process they live in forks.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.postgres_server import LocalServer, NoPostgres

STOP, START, DONE, NONE = "stop", "start", "done", "none"


class CrashingServer:
    """Sends orders to the keeper; `url` names the database."""

    def __init__(self, keeper: subprocess.Popen[str], url: str) -> None:
        self._keeper = keeper
        self.url = url

    def stop(self) -> None:
        """At once, in PostgreSQL's immediate mode."""
        self._order(STOP)

    def start(self) -> None:
        """Returns once it takes connections."""
        self._order(START)

    def _order(self, order: str) -> None:
        assert self._keeper.stdin is not None
        assert self._keeper.stdout is not None
        print(order, file=self._keeper.stdin, flush=True)
        assert self._keeper.stdout.readline().strip() == DONE, "the keeper of PostgreSQL failed"


@contextmanager
def crashing_server() -> Iterator[CrashingServer]:
    """A server, which ends when this is left. Raises NoPostgres."""
    keeper = subprocess.Popen(
        [sys.executable, "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert keeper.stdin is not None
    assert keeper.stdout is not None
    try:
        kind, _, rest = keeper.stdout.readline().strip().partition(" ")
        if kind == NONE:
            raise NoPostgres(rest)
        yield CrashingServer(keeper, rest)
    finally:
        keeper.stdin.close()
        keeper.wait()
        keeper.stdout.close()


def keep() -> None:
    """Carries out the orders on standard input until it ends."""
    try:
        server = LocalServer()
    except NoPostgres as error:
        print(NONE, error, flush=True)
        return
    try:
        print(DONE, server.url(), flush=True)
        for order in sys.stdin:
            if order.strip() == STOP:
                server.stop(signal.SIGQUIT)
            else:
                server.start()
            print(DONE, flush=True)
    finally:
        server.close()


if __name__ == "__main__":
    keep()
