"""P-16: a large import, derived to its end, with memory that stays flat.

Conversations of a person and an assistant are ingested by streams. The scenario ends when no job is left and
derived progress of each conversation is the number of its messages. All the while the anonymous memory (what
no file holds) of the suite's processes is sampled. Its median in the second half of the time, less that in
the first quarter, is held to a bound. What may grow by design is the table of ids in the vector engine, half
a kilobyte a point (M-1M in docs/scale.md): 40 MB for 100,000 messages and the memories taken from them. The
rest of the bound is for the allocators' play. Caches have their size within the first quarter of 100,000
messages: vectors of 17,000 texts (32 MiB), pages of SQLite (12 MiB a file), stems of 32,768 words.

`python -m bench.scenarios.import_derived [--count N] [--json OUT]`; not in `bench all`, as it takes an hour.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from palimpsest.common.v1 import resources_pb2
from palimpsest.derived.v1 import derived_pb2, derived_pb2_grpc
from palimpsest.gateway.v1 import administration_pb2, conversations_pb2, memories_pb2

from bench import fixtures
from bench.result import Result, write
from bench.suite import Metadata, Running, embedded, gateway, gateway_channel

ID = "P-16"
MESSAGES = 100_000
CONVERSATIONS = 200
BUDGET_MB = 64.0
STREAMS = 4
CHUNK = 50
AHEAD = 4  # chunks of a stream that are not answered yet
ASKED_AT_ONCE = 100
SAMPLE_SECONDS = 1.0
POLL_SECONDS = 5.0
GIVE_UP_SECONDS = 4 * 3600.0
SEED = 16
UNCOVERED_MOST = 25  # messages of a path (E-8)
FACT_SHARE = 0.1  # of a person's messages state one
MEGABYTE = 1e6
OPENINGS = (
    "Let us look at the {} once more.",
    "We decided to keep the {} for now.",
    "The {} is done, and the {} comes next.",
    "Why does the {} not work with the {}?",
    "I will send the {} to {} on Friday.",
    "The problem with the {} is that nobody owns the {}.",
)


def run() -> Result:
    """With the full number of messages."""
    return measure(MESSAGES)


def measure(count: int) -> Result:
    """Growth of the anonymous memory between the first quarter and the second half, in MB of 10^6 bytes."""
    with embedded() as running:
        found = asyncio.run(_measure(running, count))
    growth = found.growth()
    return Result(
        id=ID,
        unit="MB",
        value=growth,
        budget=BUDGET_MB,
        ok=growth <= BUDGET_MB if count >= MESSAGES else None,  # with fewer, caches fill until the end
        correct=all(found.checks.values()),
        yardstick="none: an absolute bound",
        load=(
            f"{count} messages of 8 to 80 words in {CONVERSATIONS} conversations, {STREAMS} calls of"
            f" IngestStream, chunks of {CHUNK}; until no job is left and all of it is derived"
        ),
        details={
            "ingested_per_second": round(count / found.ingested, 1),
            "derived_per_second": round(count / found.ended, 1),
            "seconds": {"ingested": round(found.ingested, 1), "derived": round(found.ended, 1)},
            "seconds_by_kind": {kind: round(seconds, 1) for kind, seconds in sorted(found.kinds.items())},
            "jobs": found.jobs,
            "memories": found.memories,
            "anonymous_mb": {part: found.quarters(part) for part in ("suite", "vectors")},
            "checks": found.checks,
        },
    )


@dataclass(slots=True, kw_only=True)
class Found:
    """Seconds count from the first chunk. `samples`: seconds, and MB of suite and vector engine."""

    ingested: float = 0.0
    ended: float = 0.0
    kinds: dict[str, float] = field(default_factory=dict)
    samples: list[tuple[float, dict[str, float]]] = field(default_factory=list)
    jobs: dict[str, int] = field(default_factory=dict)
    memories: int = 0
    checks: dict[str, bool] = field(default_factory=dict)

    def quarters(self, part: str) -> list[float]:
        """The median in each quarter of the time."""
        quarter = self.ended / 4
        return [round(self._median(n * quarter, (n + 1) * quarter, part), 1) for n in range(4)]

    def growth(self) -> float:
        """See the module."""
        return self._median(self.ended / 2, self.ended) - self._median(0.0, self.ended / 4)

    def _median(self, begin: float, end: float, part: str = "") -> float:
        """Of one part, or of all together."""
        within = (mb for seconds, mb in self.samples if begin <= seconds <= end)
        return statistics.median(mb[part] if part else sum(mb.values()) for mb in within)


async def _measure(running: Running, count: int) -> Found:
    found = Found()
    each = [count // CONVERSATIONS + (n < count % CONVERSATIONS) for n in range(CONVERSATIONS)]
    sizes = {f"c{number}": size for number, size in enumerate(each) if size}
    async with gateway(running) as (stub, metadata), gateway_channel(running) as channel:
        create = conversations_pb2.CreateAgentRequest(agent_id=fixtures.AGENT)
        await stub.CreateAgent(create, metadata=metadata)
        for name in sizes:
            await stub.CreateConversation(
                conversations_pb2.CreateConversationRequest(agent_id=fixtures.AGENT, conversation_id=name),
                metadata=metadata,
            )
        began = time.monotonic()
        sampling = asyncio.create_task(_sample(running, found, began))
        watch = Watch(derived_pb2_grpc.DerivedWorkServiceStub(channel), stub, metadata, sizes, found)
        watching = asyncio.create_task(watch.until_derived(began))
        try:
            await _ingest(stub, metadata, sizes)
            found.ingested = time.monotonic() - began
            watch.complete = True
            await watching
        finally:
            watching.cancel()
            sampling.cancel()
        found.ended = time.monotonic() - began
        await _check(stub, metadata, sizes, found)
    return found


async def _sample(running: Running, found: Found, began: float) -> None:
    while True:
        found.samples.append((time.monotonic() - began, await asyncio.to_thread(_anonymous, running)))
        await asyncio.sleep(SAMPLE_SECONDS)


def _anonymous(running: Running) -> dict[str, float]:
    """MB of the process, and of its children, that no file holds."""
    suite = psutil.Process(running.process.pid)
    children = [_anonymous_of(child.pid) for child in suite.children(recursive=True)]
    return {"suite": _anonymous_of(suite.pid), "vectors": sum(children)}


def _anonymous_of(pid: int) -> float:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Anonymous:"):
            return int(line.split()[1]) * 1024 / MEGABYTE
    return 0.0


async def _ingest(stub: Any, metadata: Metadata, sizes: dict[str, int]) -> None:
    names = list(sizes)
    await asyncio.gather(
        *(
            _stream(stub, metadata, {name: sizes[name] for name in names[place::STREAMS]}, place)
            for place in range(STREAMS)
        )
    )


async def _stream(stub: Any, metadata: Metadata, sizes: dict[str, int], place: int) -> None:
    """Chunks of its conversations by turns, so that all grow together."""
    dice = random.Random(SEED * STREAMS + place)
    room = asyncio.Semaphore(AHEAD)

    async def chunks() -> AsyncIterator[conversations_pb2.IngestStreamRequest]:
        for begin in range(0, max(sizes.values(), default=0), CHUNK):
            for name, size in sizes.items():
                if begin < size:
                    await room.acquire()
                    chunk = conversations_pb2.IngestRequest(
                        agent_id=fixtures.AGENT,
                        conversation_id=name,
                        messages=[
                            _message(dice, number) for number in range(begin, min(begin + CHUNK, size))
                        ],
                    )
                    yield conversations_pb2.IngestStreamRequest(chunk=chunk)

    async for _ in stub.IngestStream(chunks(), metadata=metadata):
        room.release()


def _message(dice: random.Random, number: int) -> resources_pb2.NewMessage:
    role = fixtures.ASSISTANT if number % 2 else fixtures.USER
    words = [fixtures.word(dice) for _ in range(dice.randint(4, 40 if role == fixtures.USER else 70))]
    opening = dice.choice(OPENINGS)
    text = f"{opening.format(*(fixtures.word(dice) for _ in range(2)))} {' '.join(words)}."
    if role == fixtures.USER and dice.random() < FACT_SHARE:
        text = f"I like {fixtures.word(dice)} {fixtures.word(dice)}. {text}"
    return fixtures.message(text, role)


class Watch:
    """Asks how far the conversations are, and notes when each kind of work was done."""

    def __init__(
        self, derived: Any, stub: Any, metadata: Metadata, sizes: dict[str, int], found: Found
    ) -> None:
        self._derived = derived
        self._stub = stub
        self._metadata = metadata
        self._sizes = sizes
        self._found = found
        self.complete = False

    async def until_derived(self, began: float) -> None:
        """Returns when all that was ingested is derived."""
        while time.monotonic() - began < GIVE_UP_SECONDS:
            await asyncio.sleep(POLL_SECONDS)
            if self.complete and await self._done(began):
                return
        raise RuntimeError("not all of the import was derived")

    async def _done(self, began: float) -> bool:
        counts = (
            await self._stub.GetStatus(administration_pb2.GetStatusRequest(), metadata=self._metadata)
        ).jobs
        self._found.jobs = {name: getattr(counts, name) for name in ("succeeded", "dead", "cancelled")}
        waiting = await self._waiting()
        now = time.monotonic() - began
        for kind, left in waiting.items():
            if left:
                self._found.kinds.pop(kind, None)
            else:
                self._found.kinds.setdefault(kind, now)
        return not any(waiting.values()) and not counts.queued + counts.running + counts.failed

    async def _waiting(self) -> dict[str, int]:
        """By kind, in how many conversations it is not done: jobs wait, or messages are not reached."""
        waiting = {"index": 0, "extract": 0}
        for one in await self.progress():
            size = self._sizes[one.conversation_id]
            # The last message may be the assistant's, of which nothing is extracted.
            least = {"index": size, "extract": size - 1}.get(one.kind, 0)
            short = one.up_to_sequence < least
            waiting[one.kind] = waiting.get(one.kind, 0) + bool(one.waiting_count or short)
        return waiting

    async def progress(self) -> list[derived_pb2.DerivedProgress]:
        """Of all conversations."""
        names = list(self._sizes)
        found: list[derived_pb2.DerivedProgress] = []
        for begin in range(0, len(names), ASKED_AT_ONCE):
            request = derived_pb2.GetDerivedProgressRequest(
                agent_id=fixtures.AGENT, conversation_ids=names[begin : begin + ASKED_AT_ONCE]
            )
            found += (await self._derived.GetDerivedProgress(request, metadata=self._metadata)).progress
        return found


async def _check(stub: Any, metadata: Metadata, sizes: dict[str, int], found: Found) -> None:
    request = conversations_pb2.ListConversationsRequest(agent_id=fixtures.AGENT, page_size=1000)
    listed = (await stub.ListConversations(request, metadata=metadata)).conversations
    stored = {one.id: (one.stored_count, one.indexed_count) for one in listed}
    found.checks["stored_and_indexed"] = stored == {name: (size, size) for name, size in sizes.items()}
    found.checks["covered"] = all(
        one.covered_count > 0 for one in listed if one.stored_count > UNCOVERED_MOST
    )
    found.checks["no_job_failed"] = not found.jobs["dead"]
    memories, token = 0, ""
    while True:
        asked = memories_pb2.ListMemoriesRequest(agent_id=fixtures.AGENT, page_size=1000, page_token=token)
        page = await stub.ListMemories(asked, metadata=metadata)
        memories, token = memories + len(page.memories), page.next_page_token
        if not token:
            break
    found.memories = memories
    found.checks["facts_kept"] = memories > 0


def main(arguments: Sequence[str] | None = None) -> None:
    """With another number of messages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=MESSAGES)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    document = measure(options.count).document()
    if options.json is not None:
        write(document, options.json)
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    main()
