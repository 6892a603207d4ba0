"""Callers that call as fast as they are answered, and the bare server that their rate is held against."""

from __future__ import annotations

import asyncio
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from bench.fixtures import word

ECHO = """
import asyncio
import grpc

async def echo(request, context):
    return request

async def main():
    server = grpc.aio.server(options=(("grpc.so_reuseport", 0),))
    handler = grpc.unary_unary_rpc_method_handler(echo)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("bench.Echo", {"Echo": handler}),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(port, flush=True)
    await server.wait_for_termination()

asyncio.run(main())
"""
ECHO_METHOD = "/bench.Echo/Echo"


@contextmanager
def echo_server() -> Iterator[str]:
    """A bare grpc.aio server in a process of its own, which answers each request with itself; its target."""
    process = subprocess.Popen([sys.executable, "-c", ECHO], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


async def rate(call: Callable[[int], Awaitable[int]], callers: int, seconds: float) -> float:
    """Units done a second by `callers`, each of which calls again as soon as it is answered.

    `call` gets the caller's number and returns how many units it did. What begins within `seconds` counts,
    and so does the time until its end.
    """
    began = time.monotonic()
    done = 0

    async def keep_calling(number: int) -> None:
        nonlocal done
        while time.monotonic() - began < seconds:
            units = await call(number)
            done += units  # not in one statement, which would read `done` before it waits

    await asyncio.gather(*(keep_calling(number) for number in range(callers)))
    return done / (time.monotonic() - began)


async def interleaved(
    subjects: Mapping[str, Callable[[float], Awaitable[float]]],
    *,
    rounds: int,
    seconds: float,
    warm_up: float,
) -> dict[str, list[float]]:
    """The rates of each subject in rounds, one after the other within a round, after a warm-up of each."""
    for measure in subjects.values():
        await measure(warm_up)
    found: dict[str, list[float]] = {name: [] for name in subjects}
    for _ in range(rounds):
        for name, measure in subjects.items():
            found[name].append(await measure(seconds))
    return found


def medians(rates: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """By subject."""
    return {name: statistics.median(values) for name, values in rates.items()}


def rounded(rates: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    """For a result's details."""
    return {name: [round(value, 1) for value in values] for name, values in rates.items()}


def text(dice: random.Random, size: int) -> str:
    """Made-up words, `size` bytes."""
    words = []
    length = 0
    while length < size:
        words.append(word(dice))
        length += len(words[-1]) + 1
    return " ".join(words)[:size].ljust(size, ".")
