"""One tier's endpoint over HTTP: turns, time limits, attempts."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

import httpx
import structlog

from services.kit.models.errors import Cause, ModelUnavailable
from services.kit.models.protocol import (
    DONE,
    MAX_ANSWER_BYTES,
    Opening,
    Piece,
    Request,
    read_completion,
    read_event,
    spoken,
    usage_of,
)
from services.kit.models.retries import Attempts, RetryPolicy, retry_after
from services.kit.models.settings import TierSettings
from services.kit.models.sse import EventParser
from services.kit.models.texts import Joiner
from services.kit.models.tool_calls import Calls
from services.kit.models.types import Completion, Delta, StreamEnd, Tier, ToolCall, Usage
from services.kit.times import Clock

T = TypeVar("T")

JSON_TYPES = ("application/json", "application/problem+json")
EVENTS_TYPE = "text/event-stream"
EXTRAS_REFUSED = frozenset({400, 422, 501})
"""Statuses of a request that may have held a field the endpoint doesn't know."""
PASSING_STATUSES = frozenset({408, 409, 425})


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a test replaces: chance, time and sleep."""

    policy: RetryPolicy
    sleep: Callable[[float], Awaitable[None]]
    chance: Callable[[], float]
    stopwatch: Callable[[], float]
    """Seconds that only go up, for the time to the first token."""
    clock: Clock
    """For a Retry-After that is a date."""


class Endpoint:
    """Asks one model. Every method raises ModelUnavailable; a deadline is a time of the running loop."""

    def __init__(
        self, tier: Tier, settings: TierSettings, http: httpx.AsyncClient, around: Surroundings
    ) -> None:
        self.partner = settings.partner
        self.name = settings.name
        self._tier = tier
        self._settings = settings
        self._http = http
        self._around = around
        self._turns = asyncio.Semaphore(settings.concurrency)
        self._refused: set[str] = set()  # extras, which are few constants, that the endpoint doesn't take
        self._log = structlog.get_logger("models")
        key = settings.api_key.get_secret_value()
        self._headers = {
            "content-type": "application/json",
            "accept-encoding": "identity",  # a compressed answer has no bound
            **({"authorization": f"Bearer {key}"} if key else {}),
        }

    async def complete(
        self, request: Request, accept: Callable[[str], T], deadline: float | None
    ) -> tuple[Completion, T]:
        """An answer that `accept` takes; `accept` raises ModelUnavailable for one to be thrown away."""
        attempts = self._attempts()
        while True:
            try:
                piece = await self._answer(request, deadline)
                calls = Calls()
                calls.add(piece.calls)
                usage = usage_of(request, piece.tokens, piece.text + calls.text)
                text, value, called = _judged(piece, calls, usage, accept)
            except ModelUnavailable as error:
                await self._pause(attempts, error, deadline)
                continue
            completion = Completion(
                text=text,
                usage=attempts.spent + usage,
                model=piece.model or self._settings.name,
                truncated=piece.truncated,
                calls=called,
            )
            return completion, value

    async def stream(self, request: Request, deadline: float | None) -> AsyncGenerator[Delta, None]:
        """Pieces of an answer, then its end. Nothing is tried again once a piece was given out."""
        attempts = self._attempts()
        while True:
            started = False
            try:
                async with aclosing(self._one_stream(request, deadline, attempts.spent)) as deltas:
                    async for delta in deltas:
                        started = True
                        yield delta
                return
            except ModelUnavailable as error:
                if started:
                    error.usage += attempts.spent
                    self._note(error, attempts.made + 1)
                    raise
                await self._pause(attempts, error, deadline)

    def _attempts(self) -> Attempts:
        return Attempts(self._around.policy, self._settings.attempts)

    async def _pause(self, attempts: Attempts, error: ModelUnavailable, deadline: float | None) -> None:
        self._note(error, attempts.made + 1)
        left = math.inf if deadline is None else deadline - asyncio.get_running_loop().time()
        await self._around.sleep(attempts.after(error, self._around.chance(), left))

    def _note(self, error: ModelUnavailable, attempt: int) -> None:
        error.model = self._settings.name
        self._log.warning(
            "model_attempt_failed",
            tier=self._tier.value,
            cause=error.cause.value,
            status=error.status,
            attempt=attempt,
        )

    async def _answer(self, request: Request, deadline: float | None) -> Piece:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._turn(deadline))
            async with _in_time(self._limit(deadline)):
                response = await self._open(stack, request, stream=False)
                try:
                    _check_type(response, JSON_TYPES)
                    return read_completion(b"".join([chunk async for chunk in _bounded(response)]))
                except ModelUnavailable as error:
                    raise _charged(error, request, Piece()) from None

    async def _one_stream(
        self, request: Request, deadline: float | None, spent: Usage
    ) -> AsyncGenerator[Delta, None]:
        so_far = _SoFar()
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._turn(deadline))
            begun, limit = self._around.stopwatch(), self._limit(deadline)
            async with _in_time(limit):
                response = await self._open(stack, request, stream=True)
            try:
                _check_type(response, (EVENTS_TYPE,))
                pieces = await stack.enter_async_context(aclosing(_pieces(response)))
                while not so_far.complete:
                    async with _in_time(limit):
                        piece = await anext(pieces, None)
                    text = so_far.add(piece)
                    if not text and not (piece and piece.calls):
                        continue
                    if so_far.first_token_seconds is None:
                        so_far.first_token_seconds = self._around.stopwatch() - begun
                    if text:
                        yield Delta(text=text)
                    limit = self._limit(deadline)
                if so_far.first_token_seconds is None:
                    raise ModelUnavailable(Cause.EMPTY)
                called = so_far.calls.end()
            except ModelUnavailable as error:
                raise _charged(error, request, so_far.last, so_far.text) from None
        end = StreamEnd(
            usage=spent + usage_of(request, so_far.last.tokens, so_far.text),
            model=so_far.last.model or self._settings.name,
            truncated=so_far.last.truncated,
            first_token_seconds=so_far.first_token_seconds,
            calls=called,
        )
        yield Delta(end=end)

    def _limit(self, deadline: float | None) -> float:
        own = asyncio.get_running_loop().time() + self._settings.timeout_seconds
        return own if deadline is None else min(own, deadline)

    @asynccontextmanager
    async def _turn(self, deadline: float | None) -> AsyncIterator[None]:
        async with _in_time(deadline):
            await self._turns.acquire()
        try:
            yield
        finally:
            self._turns.release()

    async def _open(self, stack: AsyncExitStack, request: Request, *, stream: bool) -> httpx.Response:
        """An answer whose status is good; a refusal of the request's extras leads to one without them."""
        extras = json.dumps(request.extras, sort_keys=True)
        wanted = bool(request.extras) and extras not in self._refused
        try:
            return await stack.enter_async_context(self._sent(request, wanted, stream))
        except ModelUnavailable as error:
            if not wanted or error.status not in EXTRAS_REFUSED:
                raise
        response = await stack.enter_async_context(self._sent(request, False, stream))
        self._refused.add(extras)
        return response

    @asynccontextmanager
    async def _sent(self, request: Request, extras: bool, stream: bool) -> AsyncIterator[httpx.Response]:
        body = request.body(self._settings, extras=extras, stream=stream)
        try:
            async with self._http.stream(
                "POST", f"{self._settings.url}/chat/completions", content=body, headers=self._headers
            ) as response:
                self._check_status(response)
                yield response
        except httpx.RequestError as error:
            self._log.info("model_connection_failed", tier=self._tier.value, error=type(error).__name__)
            raise ModelUnavailable(Cause.UNREACHABLE) from None

    def _check_status(self, response: httpx.Response) -> None:
        status = response.status_code
        if status == httpx.codes.OK:
            return
        wait = retry_after(response.headers, self._around.clock)
        if status == httpx.codes.TOO_MANY_REQUESTS:
            raise ModelUnavailable(Cause.BUSY, status=status, retry_after=wait)
        if status in PASSING_STATUSES or status >= httpx.codes.INTERNAL_SERVER_ERROR:
            raise ModelUnavailable(Cause.FAILED, status=status, retry_after=wait)
        raise ModelUnavailable(Cause.REFUSED, status=status)


def _judged(
    piece: Piece, calls: Calls, usage: Usage, accept: Callable[[str], T]
) -> tuple[str, T, tuple[ToolCall, ...]]:
    """The answer's text, what `accept` made of it, and the calls; an error carries the usage."""
    text = spoken(piece.text)
    try:
        called = calls.end()
        if not text and not called:
            raise ModelUnavailable(Cause.EMPTY)
        return text, accept(text), called
    except ModelUnavailable as error:
        error.usage = usage
        raise


def _charged(error: ModelUnavailable, request: Request, known: Piece, said: str = "") -> ModelUnavailable:
    """The error of an answer that had begun, with what it costs as far as that is known."""
    error.usage = usage_of(request, known.tokens, said)
    return error


class _SoFar:
    """What is known of a stream."""

    def __init__(self) -> None:
        self.last = Piece()
        self.complete = False
        self.first_token_seconds: float | None = None
        self.calls = Calls()
        self._heard: list[str] = []
        self._opening = Opening()

    @property
    def text(self) -> str:
        """All that came, thoughts and calls too: it is paid for."""
        return "".join(self._heard) + self.calls.text

    def add(self, piece: Piece | None) -> str:
        """What to give out after the next piece; None is the end."""
        if piece is None:
            self.complete = True
            return self._opening.end()
        self._heard.append(piece.text)
        self.calls.add(piece.calls)
        given_in, given_out = piece.tokens
        known_in, known_out = self.last.tokens
        self.last = Piece(
            model=piece.model or self.last.model,
            finish=piece.finish or self.last.finish,
            tokens=(
                known_in if given_in is None else given_in,
                known_out if given_out is None else given_out,
            ),
        )
        return self._opening.add(piece.text)


def _check_type(response: httpx.Response, types: tuple[str, ...]) -> None:
    given = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given not in types or response.headers.get("content-encoding", "identity").lower() != "identity":
        raise ModelUnavailable(Cause.MALFORMED)


async def _bounded(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    size = 0
    try:
        async for chunk in response.aiter_raw():
            size += len(chunk)
            if size > MAX_ANSWER_BYTES:
                raise ModelUnavailable(Cause.TOO_LARGE)
            yield chunk
    except httpx.RequestError:
        raise ModelUnavailable(Cause.CUT) from None


async def _pieces(response: httpx.Response) -> AsyncGenerator[Piece, None]:
    """The events of a stream, their texts cleaned. Raises ModelUnavailable(CUT) if the end is missing."""
    parser, joiner, finished = EventParser(), Joiner(), False
    async with aclosing(_bounded(response)) as chunks:
        try:
            async for chunk in chunks:
                for data in parser.feed(chunk):
                    if data.strip() == DONE:
                        yield Piece(text=joiner.end())
                        return
                    piece = read_event(data)
                    finished = finished or bool(piece.finish)
                    yield Piece(
                        text=joiner.add(piece.text),
                        model=piece.model,
                        finish=piece.finish,
                        tokens=piece.tokens,
                        calls=piece.calls,
                    )
        except ModelUnavailable as error:
            if not finished or error.cause is not Cause.CUT:
                raise
    if not finished:
        raise ModelUnavailable(Cause.CUT)
    yield Piece(text=joiner.end())


@asynccontextmanager
async def _in_time(limit: float | None) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout_at(limit):
            yield
    except TimeoutError:
        raise ModelUnavailable(Cause.TIMEOUT) from None
