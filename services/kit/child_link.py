"""The child's end of `services.kit.child`: frames over the pipes that it was started with.

Only what a child needs is imported here, so that it stays small: no asyncio, no grpc.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
from typing import Any

from services.kit.frames import Decoder, Frame, Head, encode

READ_BYTES = 1024 * 1024
MAX_WAITING_BYTES = 16 * 1024 * 1024  # received and not yet handed on; beyond it the parent has to wait
PR_SET_PDEATHSIG = 1
MAX_MESSAGE = 1_000  # characters of an error


class Link:
    """Requests come in, answers go out; `closed` once the parent is gone or wants no more."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self.closed = False
        self._incoming = incoming
        self._outgoing = outgoing
        self._decoder = Decoder()

    def receive(self, wait: float | None) -> list[Frame]:
        """The requests that have arrived. With none: waits `wait` seconds (None: as long as it takes)."""
        frames: list[Frame] = []
        taken = 0
        while not self.closed and taken < MAX_WAITING_BYTES:
            if not select.select([self._incoming], [], [], 0 if frames else wait)[0]:
                break
            data = os.read(self._incoming, READ_BYTES)
            taken += len(data)
            self.closed = not data
            frames.extend(self._decoder.feed(data))
        return frames

    def greet(self, head: Head) -> None:
        """Tells the parent that this child is ready."""
        self._send(Frame(id=0, head={"ready": dict(head)}))

    def refuse(self, kind: str, message: str) -> None:
        """Tells the parent why this child cannot start."""
        self._send(Frame(id=0, head={"refused": kind, "message": _one_line(message)}))

    def answer(self, call_id: int, head: Head, body: bytes = b"") -> None:
        """Answers a call."""
        self._send(Frame(id=call_id, head={"ok": dict(head)}, body=body))

    def fail(self, call_id: int, kind: str, message: str) -> None:
        """Answers a call with an error; the message is for the log and holds no content."""
        self._send(Frame(id=call_id, head={"error": kind, "message": _one_line(message)}))

    def _send(self, frame: Frame) -> None:
        data = memoryview(encode(frame))
        try:
            while data:
                data = data[os.write(self._outgoing, data) :]
        except BrokenPipeError:
            self.closed = True  # nobody waits for the answer any more


def attach() -> Link:
    """Makes this process the child of the one that started it; to be called first.

    The pipes move to descriptors of their own, so that a stray print cannot spoil a frame. The child ends
    when the parent closes its pipe or dies; on Linux the kernel also kills it, should it be deep in a long
    call (when the thread that started it ends, to be exact: the one that runs the parent's event loop).
    Signals meant for a whole group (Ctrl-C, a supervisor's TERM) are the parent's to handle: it may still
    need the child while it drains.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    if sys.platform == "linux":
        libc: Any = ctypes.CDLL(None, use_errno=True)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    return Link(incoming, outgoing)


def _one_line(message: str) -> str:
    return " ".join(message.split())[:MAX_MESSAGE]
