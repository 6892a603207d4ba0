"""Writes the next version of a document and kills itself at a step of that: a process for a test.

Arguments: folder of the database, URL of Redis, prefix of keys, number of the step.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from tests.integration.document_world import ATTRACTOR, draft, world


class KillProcess:
    """SIGKILL at the n-th step, from 0."""

    def __init__(self, place: int) -> None:
        self._left = place

    async def __call__(self, _: str) -> None:
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self._left -= 1


async def write(folder: Path, url: str, prefix: str, step: int) -> None:
    """Ends by the signal."""
    async with world(folder, url, prefix) as made:
        made.kv.step = made.store.step = KillProcess(step)
        head = await made.documents.head(ATTRACTOR)
        await made.documents.put(ATTRACTOR, draft(head.version + 1), head)


if __name__ == "__main__":
    asyncio.run(write(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])))
