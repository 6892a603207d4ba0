"""A model's endpoint on a real socket of the loopback that misbehaves as a test scripts it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

MODEL = "scripted-1"
JSON_TYPE, EVENTS_TYPE = "application/json", "text/event-stream; charset=utf-8"
DRIP_SECONDS = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer: its status and headers, what is sent, and how it ends."""

    status: int = 200
    content_type: str = JSON_TYPE
    headers: tuple[str, ...] = ()
    body: tuple[bytes, ...] = ()
    """Sent one after the other."""
    after: float = 0.0
    """Seconds until anything comes."""
    drip: bytes = b""
    """Sent again and again after the body, until the client leaves."""
    hang: bool = False
    """Nothing more comes after the body, until the client leaves."""
    silent: bool = False
    """Not even a status comes."""
    cut: bool = False
    """The connection ends after the body, though more was announced."""


def completion(text: str | None, *, usage: Json | None = None, finish: str = "stop", **fields: Any) -> Reply:
    """A whole answer as it should be."""
    message = {"role": "assistant", "content": text, **fields}
    return answer(
        {"model": MODEL, "choices": [{"index": 0, "message": message, "finish_reason": finish}]}
        | ({"usage": usage} if usage is not None else {})
    )


def answer(value: Any, **fields: Any) -> Reply:
    """Any JSON."""
    return Reply(body=(json.dumps(value).encode(),), **fields)


def event(delta: Json, *, finish: str | None = None) -> bytes:
    """One event of a stream."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return data(json.dumps({"model": MODEL, "choices": [choice]}))


def data(text: str) -> bytes:
    """An event with any data."""
    return f"data: {text}\n\n".encode()


def texts(pieces: Iterable[str]) -> tuple[bytes, ...]:
    """Events with text, and no end."""
    return tuple(event({"content": piece}) for piece in pieces)


def ending(usage: Json | None = None, finish: str = "stop") -> tuple[bytes, ...]:
    """The events at the end of a stream."""
    counted = (data(json.dumps({"choices": [], "usage": usage})),) if usage is not None else ()
    return (event({}, finish=finish), *counted, data("[DONE]"))


def events(body: Iterable[bytes], **fields: Any) -> Reply:
    """A stream of the events given."""
    return Reply(content_type=EVENTS_TYPE, body=tuple(body), **fields)


def stream(*pieces: str, usage: Json | None = None, finish: str = "stop") -> Reply:
    """A stream as it should be."""
    return events((event({"role": "assistant"}), *texts(pieces), *ending(usage, finish)))


def called(index: int, name: str, arguments: str, *, call_id: str = "") -> Json:
    """One call of a tool, as a delta has it."""
    return {
        "index": index,
        "id": call_id or f"call-{index}",
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def calls(*made: Json, text: str = "", usage: Json | None = None, pieces: int = 3) -> Reply:
    """A stream that calls tools; the arguments of each come in so many pieces."""
    body = [event({"role": "assistant"}), *texts([text] if text else [])]
    for one in made:
        function = one["function"]
        body.append(event({"tool_calls": [one | {"function": function | {"arguments": ""}}]}))
        for piece in _cut(function["arguments"], pieces):
            part = {"index": one["index"], "function": {"arguments": piece}}
            body.append(event({"tool_calls": [part]}))
    return events((*body, *ending(usage, "tool_calls")))


def _cut(text: str, pieces: int) -> list[str]:
    size = max(1, -(-len(text) // pieces))
    return [text[start : start + size] for start in range(0, len(text), size)]


@dataclass(slots=True, kw_only=True)
class Asked:
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: Json


@dataclass
class ScriptedModel:
    """Gives the replies of `script` in turn, then `otherwise`, which may go by what is asked."""

    script: list[Reply] = field(default_factory=list)
    otherwise: Reply | Callable[[Asked], Reply] = field(default_factory=lambda: completion("fine"))
    asked: list[Asked] = field(default_factory=list)
    url: str = ""
    busy: int = 0
    most_busy: int = 0
    """Most requests that were open at a time."""
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a client has left before its answer was complete."""
    received: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a request has come."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                asked = await _request(head, reader)
                self.asked.append(asked)
                self.received.set()
                self.busy += 1
                self.most_busy = max(self.most_busy, self.busy)
                try:
                    reply = self.script.pop(0) if self.script else self._choose(asked)
                    if not await self._give(reply, reader, writer):
                        break
                finally:
                    self.busy -= 1
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def _choose(self, asked: Asked) -> Reply:
        return self.otherwise if isinstance(self.otherwise, Reply) else self.otherwise(asked)

    async def _give(self, reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Sends a reply; whether the connection goes on."""
        await asyncio.sleep(reply.after)
        if not reply.silent:
            await _send_head(reply, writer)
            for part in reply.body:
                await _send_chunk(part, writer)
                await asyncio.sleep(0)
        if reply.cut:
            return False
        if reply.drip or reply.hang or reply.silent:
            await self._until_left(reply.drip, reader, writer)
            return False
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    async def _until_left(
        self, drip: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        left = asyncio.ensure_future(reader.read(1))
        try:
            while not left.done():
                if drip:
                    await _send_chunk(drip, writer)
                await asyncio.wait([left], timeout=DRIP_SECONDS)
        except ConnectionError:
            pass
        finally:
            left.cancel()
            self.hung_up.set()


async def _request(head: bytes, reader: asyncio.StreamReader) -> Asked:
    first, *lines = head.decode("latin-1").strip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers["content-length"]))
    return Asked(path=first.split(" ")[1], headers=headers, body=json.loads(body))


async def _send_head(reply: Reply, writer: asyncio.StreamWriter) -> None:
    lines = [
        f"HTTP/1.1 {reply.status} Scripted",
        f"content-type: {reply.content_type}",
        "transfer-encoding: chunked",
        *reply.headers,
    ]
    writer.write("\r\n".join([*lines, "", ""]).encode())
    await writer.drain()


async def _send_chunk(part: bytes, writer: asyncio.StreamWriter) -> None:
    if part:  # an empty chunk would be the end
        writer.write(b"%x\r\n%b\r\n" % (len(part), part))
        await writer.drain()


@asynccontextmanager
async def scripted_model() -> AsyncIterator[ScriptedModel]:
    """An endpoint that listens until it is left; connections still open are closed then."""
    model = ScriptedModel()
    tasks: set[asyncio.Task[None]] = set()

    def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(model.serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    model.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield model
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
