"""mem0's own environment, made once in the working folder `.data`, and a process in it to talk to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.result import Result

MEM0 = "2.2.1"
FAISS = "1.15.1"
ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".data" / f"bench-mem0-{MEM0}"
SHARED = ("numpy", "onnxruntime", "tokenizers")  # what the embedder needs, in the versions used here
INSTALL_SECONDS = 900
QUIET_SECONDS = 20  # how long pip waits for an index that doesn't answer


class Unavailable(Exception):
    """mem0 can't be had here; the message says why, in a line."""


class Mem0:
    """A process that has mem0 over a store."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, op: str, **arguments: Any) -> dict[str, Any]:
        """The answer of an operation of `bench.mem0.peer`."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"op": op, **arguments}) + "\n")
        self._process.stdin.flush()
        return self.read()

    def read(self) -> dict[str, Any]:
        """The next line."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"mem0's process ended (exit code {self._process.wait()})")
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextmanager
def mem0(store: str, folder: Path) -> Iterator[Mem0]:
    """mem0 over "qdrant" or "faiss" in a folder. Raises Unavailable."""
    python = _environment()
    folder.mkdir(parents=True)
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(
            [str(python), "-m", "bench.mem0.peer", store, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            cwd=ROOT,
            env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        ) as process,
    ):
        try:
            peer = Mem0(process)
            peer.read()
            yield peer
        finally:
            process.kill()


def skipped(scenario: str, unit: str, budget: float, why: Unavailable) -> Result:
    """In place of a result that can't be had: no verdict."""
    return Result(
        id=scenario,
        unit=unit,
        value=0.0,
        budget=budget,
        ok=None,
        correct=True,
        yardstick=f"mem0 {MEM0}",
        load=f"skipped: {why}",
    )


def _environment() -> Path:
    """Its interpreter; installs what is missing. Raises Unavailable."""
    python, done = FOLDER / "bin" / "python", FOLDER / "installed"
    wanted = [f"mem0ai=={MEM0}", f"faiss-cpu=={FAISS}", *(f"{name}=={version(name)}" for name in SHARED)]
    if done.is_file() and done.read_text("utf-8").split() == wanted:
        return python
    commands = (
        [sys.executable, "-m", "venv", "--clear", str(FOLDER)],
        [
            *(str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
            *("--retries", "1", "--timeout", str(QUIET_SECONDS), *wanted),
        ],
    )
    for command in commands:
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=INSTALL_SECONDS)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired, OSError) as error:
            raise Unavailable(f"mem0 {MEM0} can't be installed ({type(error).__name__})") from error
    done.write_text("\n".join(wanted), "utf-8")
    return python
