"""Ends the PostgreSQL that runs in a folder, and deletes that, once its standard input ends.

The tests hold the other end: however they come to their end, no server outlives them.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

STOP_SECONDS = 20


def watch(folder: Path) -> None:
    """Waits for the end of standard input, then cleans up."""
    sys.stdin.buffer.read()
    pid_file = folder / "data" / "postmaster.pid"
    with suppress(OSError, ValueError, IndexError):
        os.kill(int(pid_file.read_text("utf-8").splitlines()[0]), signal.SIGQUIT)
        deadline = time.monotonic() + STOP_SECONDS
        while time.monotonic() < deadline and pid_file.exists():
            time.sleep(0.05)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    watch(Path(sys.argv[1]))
