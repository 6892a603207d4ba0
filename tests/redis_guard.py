"""Ends the Valkey that runs in a folder, and deletes that, once its standard input ends.

The tests hold the other end: however they come to their end, no server outlives them.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from contextlib import suppress
from pathlib import Path


def watch(folder: Path) -> None:
    """Waits for the end of standard input, then cleans up."""
    sys.stdin.buffer.read()
    with suppress(OSError, ValueError):
        # Whoever stops the server deletes this file: the number may be another's by now.
        os.kill(int((folder / "pid").read_text("utf-8")), signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    watch(Path(sys.argv[1]))
