"""The client of models against an endpoint that misbehaves (SPEC J-16, E-11, X-3)."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
import structlog
from pydantic import SecretStr
from structlog.testing import capture_logs
from structlog.typing import EventDict

from services.kit.models.client import ModelClient
from services.kit.models.errors import Cause, ModelUnavailable
from services.kit.models.protocol import MAX_ANSWER_BYTES
from services.kit.models.retries import RetryPolicy
from services.kit.models.settings import ModelSettings, TierSettings
from services.kit.models.types import Delta, Message, StreamEnd, Tier, Usage
from services.kit.tokens import estimate_tokens
from tests.scripted_model import (
    EVENTS_TYPE,
    MODEL,
    Reply,
    ScriptedModel,
    answer,
    completion,
    data,
    ending,
    event,
    events,
    scripted_model,
    stream,
    texts,
)

KEY = "k3y-of-the-tests"
QUESTION = "What does the heron eat?"
MESSAGES = [Message(role="system", text="Be brief."), Message(role="user", text=QUESTION)]
SCHEMA = {
    "type": "object",
    "properties": {"fact": {"type": "string"}, "share": {"type": "number"}},
    "required": ["fact"],
    "additionalProperties": False,
}
FIGURES = {"prompt_tokens": 21, "completion_tokens": 4}
GOOD = completion('{"fact": "fish"}', usage=FIGURES)
GOOD_STREAM = stream("fi", "sh", usage=FIGURES)
NOW = datetime(2031, 5, 4, 12, 0, tzinfo=UTC)
TOO_MUCH = (b" " * (MAX_ANSWER_BYTES // 2),) * 2
LIMIT_SECONDS = 0.5
AMPLE_SECONDS = 30.0
HANGING = [Reply(silent=True), Reply(hang=True), Reply(body=(b'{"choi',), hang=True)]
DRIPPING = Reply(drip=b" ")
HTML = Reply(content_type="text/html", body=(b"<html>Sign in</html>",))


@dataclass
class Bench:
    """An endpoint, a client of it, and the pauses that the client made."""

    model: ScriptedModel
    client: ModelClient
    pauses: list[float] = field(default_factory=list)

    async def json(self, schema: dict[str, Any] | None = None, **fields: Any) -> Any:
        return await self.client.complete_json(
            Tier.FAST, MESSAGES, schema or SCHEMA, max_tokens=50, temperature=0.0, **fields
        )

    async def text(self, **fields: Any) -> Any:
        return await self.client.complete(Tier.FAST, MESSAGES, max_tokens=50, **fields)

    async def streamed(self, **fields: Any) -> tuple[str, StreamEnd]:
        deltas = [d async for d in self.client.stream(Tier.FAST, MESSAGES, max_tokens=50, **fields)]
        end = deltas[-1].end
        assert end is not None
        return "".join(delta.text for delta in deltas), end


async def no_sleep(_: float) -> None:
    await asyncio.sleep(0)


@asynccontextmanager
async def bench(*, limit: float = AMPLE_SECONDS, **fields: Any) -> AsyncIterator[Bench]:
    """`limit` is the tier's timeout in seconds; pauses are noted and not made."""
    pauses: list[float] = []

    async def noted(seconds: float) -> None:
        pauses.append(seconds)
        await no_sleep(seconds)

    async with scripted_model() as model, httpx.AsyncClient(trust_env=False, timeout=None) as http:
        tier = TierSettings(
            url=model.url, name="asked-1", api_key=SecretStr(KEY), timeout_seconds=limit, **fields
        )
        client = ModelClient(
            ModelSettings(fast=tier),
            http,
            policy=RetryPolicy(first_pause_seconds=1.0),
            sleep=noted,
            chance=lambda: 1.0,
            clock=lambda: NOW,
        )
        yield Bench(model=model, client=client, pauses=pauses)


def named(replies: dict[str, Any]) -> Any:
    return pytest.mark.parametrize("reply", replies.values(), ids=replies.keys())


BAD_BODIES = {
    "empty body": Reply(),
    "half the body": Reply(body=(b'{"choices": [{"message": {"content": "fi',)),
    "invalid UTF-8": Reply(body=(b'{"choices": [{"message": {"content": "\xff"}}]}',)),
    "not a completion": answer({"object": "list"}),
    "wrong content type": HTML,
    "right body, wrong content type": Reply(content_type="text/plain", body=GOOD.body),
    "compressed unasked": Reply(headers=("content-encoding: gzip",), body=GOOD.body),
    "an error within": answer({"error": {"message": QUESTION}}),
    "no text": completion(None),
    "blank text": completion("  \n"),
    "thoughts alone": completion("<think>a heron, hm"),
    "too large": Reply(body=(*GOOD.body, *TOO_MUCH)),
    "cut": Reply(body=(b'{"choices": [',), cut=True),
}
BAD_JSON = {
    "half JSON": completion('{"fact": "fi', finish="length"),
    "wrong schema": completion('{"facts": ["fish"]}'),
    "wrong type": completion('{"fact": 7}'),
    "one field too many": completion('{"fact": "fish", "source": "me"}'),
    "prose": completion("Fish, I suppose."),
    "two answers": completion('{"fact": "fish"} or {"fact": "frogs"}'),
}
FAULTS = {
    "429": Reply(status=429),
    "500": Reply(status=500),
    "503 with a page": Reply(status=503, content_type="text/html", body=(b"<html>",)),
    "529": Reply(status=529),
    "408": Reply(status=408),
    "no answer": Reply(silent=True, cut=True),
}
BAD_STREAMS = {
    "empty": events(()),
    "no text": events(ending()),
    "blank text": stream(" ", "\n"),
    "thoughts alone": stream("<thi", "nk>a heron", ", hm"),
    "cut before text": events((event({"role": "assistant"}),)),
    "broken before text": events((event({"role": "assistant"}),), cut=True),
    "half an event": events((b'data: {"choices": [',)),
    "half JSON": events((data('{"choices": ['),)),
    "invalid UTF-8": events((b'data: {"choices": [{"delta": {"content": "\xff"}}]}\n\n',)),
    "not of the protocol": events((data("[1, 2]"),)),
    "wrong content type": HTML,
    "JSON in place of a stream": GOOD,
    "an error within": events((data('{"error": {"message": "overloaded"}}'),)),
    "too large": events((b":", *TOO_MUCH, b"\n\n", *GOOD_STREAM.body)),
}


# Whole answers


@named(BAD_BODIES | BAD_JSON | FAULTS)
async def test_json_that_is_not_what_was_asked_for_is_asked_for_again(reply: Reply) -> None:
    """J-16."""
    async with bench() as at:
        at.model.script = [reply, GOOD]
        made = await at.json()
        assert made.value == {"fact": "fish"}
        assert len(at.model.asked) == 2
        assert at.pauses == [1.0]


@named(BAD_BODIES | BAD_JSON | FAULTS)
async def test_after_the_last_attempt_the_engine_is_to_take_over(reply: Reply) -> None:
    """J-16: no attempt beyond the limit, and never an empty answer in place of an error."""
    async with bench(attempts=2) as at:
        at.model.otherwise = reply
        with pytest.raises(ModelUnavailable):
            await at.json()
        assert len(at.model.asked) == 2


@named(BAD_BODIES | FAULTS)
async def test_text_that_is_not_usable_is_asked_for_again(reply: Reply) -> None:
    """J-16."""
    async with bench() as at:
        at.model.script = [reply, completion("Fish.")]
        made = await at.text()
        assert (made.text, made.model, made.truncated) == ("Fish.", MODEL, False)
        assert len(at.model.asked) == 2


@pytest.mark.parametrize(
    "text",
    ['{"fact": "fish"}', 'Sure!\n```json\n{"fact": "fish"}\n```', 'It is {"fact": "fish"}, I think.'],
)
async def test_prose_around_json_costs_no_second_request(text: str) -> None:
    """J-16."""
    async with bench() as at:
        at.model.script = [completion(text)]
        assert (await at.json()).value == {"fact": "fish"}
        assert len(at.model.asked) == 1


@pytest.mark.parametrize("reply", [*HANGING, DRIPPING])
async def test_an_endpoint_that_hangs_or_drips_is_left_and_asked_again(reply: Reply) -> None:
    """J-16: bytes alone don't count as progress."""
    async with bench(limit=LIMIT_SECONDS) as at:
        at.model.script = [reply, completion("Fish.")]
        assert (await at.text()).text == "Fish."
        await at.model.hung_up.wait()


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 413, 422])
async def test_a_refusal_is_not_repeated(status: int) -> None:
    """J-16: and no redirect is followed, so that no key goes to another host."""
    async with bench() as at:
        at.model.script = [Reply(status=status, headers=(f"location: {at.model.url}/elsewhere",))]
        with pytest.raises(ModelUnavailable) as caught:
            await at.text()
        assert (caught.value.cause, caught.value.status) == (Cause.REFUSED, status)
        assert len(at.model.asked) == 1


async def test_what_the_model_declines_is_not_repeated() -> None:
    async with bench() as at:
        at.model.script = [completion(None, refusal="I will not.")]
        with pytest.raises(ModelUnavailable) as caught:
            await at.text()
        assert caught.value.cause is Cause.FILTERED
        assert len(at.model.asked) == 1


@pytest.mark.parametrize(
    ("header", "pause"),
    [("retry-after: 7", 7.0), ("retry-after: Sun, 04 May 2031 12:00:09 GMT", 9.0), ("x: 7", 1.0)],
)
async def test_a_busy_endpoint_is_given_the_time_it_asks_for(header: str, pause: float) -> None:
    """J-16."""
    async with bench() as at:
        at.model.script = [Reply(status=429, headers=(header,)), completion("Fish.")]
        assert (await at.text()).text == "Fish."
        assert at.pauses == [pause]


async def test_an_endpoint_busy_beyond_the_deadline_is_given_up_at_once() -> None:
    """J-16: the caller learns how long to stay away."""
    async with bench() as at:
        at.model.otherwise = Reply(status=429, headers=("retry-after: 45",))
        deadline = asyncio.get_running_loop().time() + AMPLE_SECONDS
        with pytest.raises(ModelUnavailable) as caught:
            await at.text(deadline=deadline)
        assert (caught.value.cause, caught.value.retry_after) == (Cause.BUSY, 45.0)
        assert at.pauses == []
        assert len(at.model.asked) == 1


async def test_a_deadline_bounds_the_wait_for_an_answer() -> None:
    async with bench() as at:
        at.model.otherwise = Reply(hang=True)
        with pytest.raises(ModelUnavailable) as caught:
            await at.text(deadline=asyncio.get_running_loop().time() + LIMIT_SECONDS)
        assert caught.value.cause is Cause.TIMEOUT
        assert len(at.model.asked) == 1
        await at.model.hung_up.wait()


async def test_nobody_listening_is_an_endpoint_out_of_reach() -> None:
    async with scripted_model() as gone:
        settings = ModelSettings(fast=TierSettings(url=gone.url, name="m", attempts=2))
    async with httpx.AsyncClient(trust_env=False) as http:
        client = ModelClient(settings, http, sleep=no_sleep)
        with pytest.raises(ModelUnavailable) as caught:
            await client.complete(Tier.FAST, MESSAGES, max_tokens=5)
    assert caught.value.cause is Cause.UNREACHABLE


@pytest.mark.parametrize("tier", [Tier.STANDARD, Tier.DEEP])
async def test_a_tier_without_an_endpoint_is_an_error_for_every_kind_of_call(tier: Tier) -> None:
    """J-16: tiers don't stand in for each other."""
    async with bench() as at:
        assert not at.client.has(tier)
        assert at.client.has(Tier.FAST)
        calls: list[Awaitable[Any]] = [
            at.client.complete(tier, MESSAGES, max_tokens=5),
            at.client.complete_json(tier, MESSAGES, SCHEMA, max_tokens=5),
        ]
        for call in calls:
            with pytest.raises(ModelUnavailable) as caught:
                await call
            assert caught.value.cause is Cause.NOT_CONFIGURED
        with pytest.raises(ModelUnavailable):
            at.client.stream(tier, MESSAGES, max_tokens=5)
        assert at.model.asked == []


@pytest.mark.parametrize("partner", [True, False])
async def test_a_tier_says_whether_texts_sent_to_it_leave(partner: bool) -> None:
    """S-15."""
    async with bench(partner=partner) as at:
        assert at.client.leaves(Tier.FAST) is partner


async def test_requests_of_a_tier_wait_for_their_turn() -> None:
    """J-16: and all of them are answered."""
    async with bench(concurrency=2) as at:
        at.model.otherwise = Reply(body=(b" ",) * 20 + completion("Fish.").body)
        made = await asyncio.gather(*(at.text() for _ in range(8)))
        assert [m.text for m in made] == ["Fish."] * 8
        assert at.model.most_busy == 2


async def test_a_wait_for_a_turn_ends_with_the_deadline_and_cancelling_gives_the_turn_back() -> None:
    async with bench(concurrency=1) as at:
        at.model.script = [Reply(hang=True)]
        holder = asyncio.ensure_future(at.text())
        await at.model.received.wait()
        with pytest.raises(ModelUnavailable) as caught:
            await at.text(deadline=asyncio.get_running_loop().time() + 0.02)
        assert caught.value.cause is Cause.TIMEOUT
        assert len(at.model.asked) == 1
        holder.cancel()
        await at.model.hung_up.wait()
        assert (await at.text()).text == "fine"


async def test_the_request_is_as_the_protocol_has_it() -> None:
    async with bench() as at:
        await at.text(temperature=0.25)
        asked = at.model.asked[0]
        assert asked.path == "/v1/chat/completions"
        assert asked.headers["authorization"] == f"Bearer {KEY}"
        assert asked.body == {
            "model": "asked-1",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": QUESTION},
            ],
            "max_tokens": 50,
            "temperature": 0.25,
        }


async def test_the_schema_goes_along_in_both_ways() -> None:
    """J-16."""
    async with bench() as at:
        at.model.otherwise = GOOD
        await at.json()
        body = at.model.asked[0].body
        assert body["response_format"]["type"] == "json_schema"
        assert body["response_format"]["json_schema"]["schema"] == SCHEMA
        first, *rest = body["messages"]
        assert first["content"].startswith("Be brief.")
        assert json.dumps(SCHEMA) in first["content"]
        assert rest == [{"role": "user", "content": QUESTION}]


@pytest.mark.parametrize("status", [400, 422, 501])
async def test_an_endpoint_that_takes_no_schema_gets_the_instruction_alone_from_then_on(status: int) -> None:
    """J-16."""
    async with bench() as at:
        at.model.otherwise = GOOD
        at.model.script = [Reply(status=status)]
        assert (await at.json()).value == {"fact": "fish"}
        assert (await at.json()).value == {"fact": "fish"}
        assert ["response_format" in asked.body for asked in at.model.asked] == [True, False, False]
        assert at.pauses == []
        await at.json({"type": "object"})
        assert "response_format" in at.model.asked[-1].body, "another schema may be one it takes"


async def test_a_refusal_of_the_request_itself_is_not_held_against_the_schema() -> None:
    async with bench() as at:
        at.model.otherwise = GOOD
        at.model.script = [Reply(status=400), Reply(status=400)]
        with pytest.raises(ModelUnavailable) as caught:
            await at.json()
        assert caught.value.cause is Cause.REFUSED
        await at.json()
        assert "response_format" in at.model.asked[-1].body


async def test_an_answer_that_reached_its_limit_says_so() -> None:
    async with bench() as at:
        at.model.script = [completion("Fish and", finish="length")]
        assert (await at.text()).truncated


async def test_usage_counts_the_answers_that_were_thrown_away() -> None:
    """E-11: with a flag where figures are estimates."""
    async with bench() as at:
        at.model.script = [completion("Fish.", usage=FIGURES), Reply(status=500), GOOD]
        made = await at.json()
        assert made.usage == Usage(calls=2, input_tokens=42, output_tokens=8)
        assert not made.usage.estimated
        text = await at.text()
        expected = sum(estimate_tokens(message.text) for message in MESSAGES)
        assert (text.usage.input_tokens, text.usage.output_tokens) == (expected, estimate_tokens("fine"))
        assert text.usage.estimated


async def test_what_useless_answers_cost_is_in_the_error() -> None:
    """E-11."""
    async with bench(attempts=3) as at:
        at.model.script = [completion("Fish.", usage=FIGURES), completion("", usage=FIGURES), HTML]
        with pytest.raises(ModelUnavailable) as caught:
            await at.json()
        usage = caught.value.usage
        assert (usage.calls, usage.estimated_calls, usage.output_tokens) == (3, 1, 8)
        assert usage.input_tokens > 42


# Streams


@named(BAD_STREAMS | FAULTS)
async def test_a_stream_that_fails_before_its_first_text_is_asked_for_again(reply: Reply) -> None:
    """J-16."""
    async with bench() as at:
        at.model.script = [reply, GOOD_STREAM]
        text, end = await at.streamed()
        assert (text, end.model) == ("fish", MODEL)
        assert len(at.model.asked) == 2


@pytest.mark.parametrize(
    ("tail", "cause"),
    [
        (events(texts(["fi"])), Cause.CUT),
        (events(texts(["fi"]), cut=True), Cause.CUT),
        (events((*texts(["fi"]), b'data: {"cho')), Cause.CUT),
        (events((*texts(["fi"]), data("{half"))), Cause.MALFORMED),
        (events((*texts(["fi"]), b"data: \xff\n\n")), Cause.MALFORMED),
        (events((*texts(["fi"]), data('{"error": {"code": 500}}'))), Cause.FAILED),
        (events((*texts(["fi"]), event({}, finish="content_filter"))), Cause.FILTERED),
        (events((*texts(["fi"]), b":", *TOO_MUCH, b"\n\n", *ending())), Cause.TOO_LARGE),
        (events(texts(["fi"]), hang=True), Cause.TIMEOUT),
        (events(texts(["fi"]), drip=b": still here\n\n"), Cause.TIMEOUT),
        (events(texts(["fi"]), drip=event({"content": ""})), Cause.TIMEOUT),
    ],
)
async def test_a_stream_that_fails_later_gives_what_came_and_then_the_error(
    tail: Reply, cause: Cause
) -> None:
    """J-16: what was shown is not said again; an end that was not announced is no end."""
    async with bench(limit=LIMIT_SECONDS if cause is Cause.TIMEOUT else AMPLE_SECONDS) as at:
        at.model.script = [tail]
        seen: list[Delta] = []
        with pytest.raises(ModelUnavailable) as caught:
            async for delta in at.client.stream(Tier.FAST, MESSAGES, max_tokens=5):
                seen.append(delta)
        assert [delta.text for delta in seen] == ["fi"]
        assert caught.value.cause is cause
        assert caught.value.usage.calls == 1
        assert caught.value.usage.estimated
        assert len(at.model.asked) == 1


@pytest.mark.parametrize("reply", [Reply(silent=True), events((), hang=True), events((), drip=b": hm\n\n")])
async def test_a_stream_without_a_first_text_is_left_and_asked_for_again(reply: Reply) -> None:
    """J-16: a sign of life is no text."""
    async with bench(limit=LIMIT_SECONDS) as at:
        at.model.script = [reply, GOOD_STREAM]
        assert (await at.streamed())[0] == "fish"
        await at.model.hung_up.wait()


async def test_a_deadline_ends_a_stream_that_would_go_on() -> None:
    async with bench() as at:
        at.model.script = [events(texts(["fi"]), drip=event({"content": "sh"}))]
        with pytest.raises(ModelUnavailable) as caught:
            await at.streamed(deadline=asyncio.get_running_loop().time() + LIMIT_SECONDS)
        assert caught.value.cause is Cause.TIMEOUT
        await at.model.hung_up.wait()


async def test_a_slow_reader_does_not_use_up_the_models_time() -> None:
    async with bench(limit=LIMIT_SECONDS) as at:
        at.model.script = [stream("a", "b", "c")]
        seen = []
        async for delta in at.client.stream(Tier.FAST, MESSAGES, max_tokens=5):
            if delta.text == "a":
                await asyncio.sleep(LIMIT_SECONDS * 1.2)
            seen.append(delta.text)
        assert seen == ["a", "b", "c", ""]


@pytest.mark.parametrize("way", ["closed", "cancelled"])
async def test_a_reader_that_leaves_closes_the_connection_and_gives_the_turn_back(way: str) -> None:
    """G-4: nobody pays for words that nobody reads."""
    async with bench(concurrency=1) as at:
        at.model.script = [events(texts(["fi"]), drip=b": hm\n\n")]
        arrived = asyncio.Event()

        async def read() -> None:
            async with aclosing(at.client.stream(Tier.FAST, MESSAGES, max_tokens=5)) as deltas:
                async for _ in deltas:
                    arrived.set()
                    if way == "closed":
                        return

        reader = asyncio.ensure_future(read())
        await arrived.wait()
        if way == "cancelled":
            reader.cancel()
        await asyncio.wait([reader])
        await at.model.hung_up.wait()
        assert (await at.text()).text == "fine"


async def test_the_end_of_a_stream_has_the_figures_and_the_time_to_the_first_text() -> None:
    """E-11; the stopwatch is read when the answered request is sent, and at the first text."""
    readings = iter([10.0, 15.0, 20.0, 20.75])
    async with bench() as at, httpx.AsyncClient(trust_env=False) as http:
        settings = ModelSettings(fast=TierSettings(url=at.model.url, name="m"))
        client = ModelClient(settings, http, sleep=no_sleep, stopwatch=lambda: next(readings))
        at.model.script = [
            Reply(status=500),
            events(ending(FIGURES)),
            stream("fi", "sh", usage=FIGURES, finish="length"),
        ]
        deltas = [delta async for delta in client.stream(Tier.FAST, MESSAGES, max_tokens=5)]
        assert deltas[-1].end == StreamEnd(
            usage=Usage(calls=2, input_tokens=42, output_tokens=8),
            model=MODEL,
            truncated=True,
            first_token_seconds=0.75,
        )
        assert at.model.asked[-1].body["stream_options"] == {"include_usage": True}


async def test_a_stream_without_figures_has_estimates() -> None:
    """E-11."""
    async with bench() as at:
        at.model.script = [stream("fi", "sh")]
        _, end = await at.streamed()
        assert end.usage.output_tokens == estimate_tokens("fish")
        assert end.usage.estimated


async def test_an_endpoint_that_knows_no_stream_options_is_not_sent_them_again() -> None:
    async with bench() as at:
        at.model.script = [Reply(status=400), GOOD_STREAM, GOOD_STREAM]
        assert (await at.streamed())[0] == "fish"
        assert (await at.streamed())[0] == "fish"
        assert ["stream_options" in asked.body for asked in at.model.asked] == [True, False, False]


@pytest.mark.parametrize(
    "body",
    [
        (*texts(["fi", "sh"]), event({}, finish="stop")),
        (*texts(["fi", "sh"]), data("[DONE]")),
        (event({"content": "fi"}), event({"content": "sh"}, finish="stop"), data("[DONE]")),
        (data('{"choices": []}'), *texts(["fish"]), *ending()),
        (b"".join((*texts(["fi", "sh"]), *ending())).replace(b"\n", b"\r\n"),),
        tuple(bytes([byte]) for byte in b"".join((*texts(["fi", "sh"]), *ending()))),
    ],
)
async def test_dialects_of_a_stream_are_understood(body: tuple[bytes, ...]) -> None:
    async with bench() as at:
        at.model.script = [events(body)]
        assert (await at.streamed())[0] == "fish"
        assert len(at.model.asked) == 1


async def test_a_connection_that_breaks_after_the_end_was_announced_spoils_nothing() -> None:
    async with bench() as at:
        at.model.script = [events((*texts(["fish"]), event({}, finish="stop")), cut=True)]
        assert (await at.streamed())[0] == "fish"


async def test_a_sign_parted_between_two_events_is_whole() -> None:
    async with bench() as at:
        at.model.script = [stream("a \ud83d", "\udc1f b\0")]
        assert (await at.streamed())[0] == "a 🐟 b�"


# What is logged


@pytest.fixture
def logged() -> Iterator[list[EventDict]]:
    structlog.reset_defaults()
    with capture_logs() as entries:
        yield entries


async def test_failures_are_logged_without_what_was_asked_or_answered_or_the_key(
    logged: list[EventDict], caplog: pytest.LogCaptureFixture
) -> None:
    """X-3: in our log, in the libraries' logs, and in the errors."""
    caplog.set_level(logging.INFO)
    secrets = (KEY, QUESTION, "Be brief", "herons")
    replies = [
        completion('{"answer": "herons"}'),
        Reply(status=500, body=(b"herons",)),
        Reply(silent=True, cut=True),
        answer({"error": {"message": "herons"}}),
        Reply(body=(b'{"herons',)),
        Reply(status=401, body=(f"not your key: {KEY}".encode(),)),
    ]
    async with bench(attempts=len(replies)) as at:
        at.model.script = list(replies)
        with pytest.raises(ModelUnavailable) as caught:
            await at.json()
        assert [asked.headers["authorization"] for asked in at.model.asked] == [f"Bearer {KEY}"] * 6
    error = caught.value
    everything = f"{logged} {caplog.text} {error!r} {error.message} {error.__cause__!r} {at.client!r}"
    assert not any(secret in everything for secret in secrets)
    failures = [entry for entry in logged if entry["event"] == "model_attempt_failed"]
    assert [entry["cause"] for entry in failures] == [
        Cause.WRONG_SCHEMA,
        Cause.FAILED,
        Cause.UNREACHABLE,
        Cause.FAILED,
        Cause.MALFORMED,
        Cause.REFUSED,
    ]
    assert EVENTS_TYPE not in everything
