"""Parts of the client of models (SPEC J-16, E-11, O-1)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from jsonschema import SchemaError
from prometheus_client import CollectorRegistry
from pydantic import ValidationError

from services.kit.errors import Reason
from services.kit.models.errors import BAD_OUTPUT, RETRIED, Cause, ModelUnavailable
from services.kit.models.extraction import MAX_STARTS, extract
from services.kit.models.metrics import ModelMetrics
from services.kit.models.protocol import Opening, Request, read_completion, read_event, spoken, usage_of
from services.kit.models.retries import Attempts, RetryPolicy, retry_after
from services.kit.models.schemas import acceptor
from services.kit.models.settings import ModelSettings, TierSettings
from services.kit.models.sse import EventParser
from services.kit.models.texts import MAX_DEPTH, REPLACEMENT, Joiner, clean, storable, strict_decoder
from services.kit.models.types import Message, Tier, Usage
from services.kit.tokens import estimate_tokens

NOW = datetime(2031, 5, 4, 12, 0, tzinfo=UTC)
ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=40)  # surrogates too
WORDS = st.text(max_size=6).filter(lambda text: "\0" not in text)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)
POLICY = RetryPolicy(first_pause_seconds=1.0, max_pause_seconds=4.0, max_retry_after_seconds=60.0)


def is_fact(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("fact"), str)


def cause_of(text: str) -> Cause:
    with pytest.raises(ModelUnavailable) as caught:
        extract(text, is_fact)
    return caught.value.cause


# Texts


@given(ANY_TEXT)
def test_a_clean_text_can_be_stored_and_stays_as_it_is(text: str) -> None:
    """J-16: a model's answer never holds what a store refuses."""
    cleaned = clean(text)
    assert cleaned.encode() is not None
    assert "\0" not in cleaned
    assert clean(cleaned) == cleaned


@given(st.lists(st.text(max_size=6), max_size=6), st.data())
def test_pieces_join_to_the_whole_wherever_a_surrogate_pair_was_parted(
    pieces: list[str], data: st.DataObject
) -> None:
    whole = "".join(pieces).replace("\0", "") + "🙂"
    units = whole.encode("utf-16-le")
    cut = 2 * data.draw(st.integers(0, len(units) // 2))
    parts = [half.decode("utf-16-le", "surrogatepass") for half in (units[:cut], units[cut:])]
    joiner = Joiner()
    assert "".join([*map(joiner.add, parts), joiner.end()]) == whole


def test_half_a_pair_at_the_end_is_replaced_not_kept() -> None:
    joiner = Joiner()
    assert joiner.add("a\ud83d") == "a"
    assert joiner.end() == REPLACEMENT


def test_values_that_no_store_takes_are_not_storable() -> None:
    assert storable({"a": ["b", 1, None]})
    assert not storable({"a\0": 1})
    assert not storable(["\ud800"])
    deep: Any = "x"
    for _ in range(MAX_DEPTH - 1):
        deep = [deep]
    assert storable(deep)
    assert not storable([deep])


@pytest.mark.parametrize("sign", ["", "-"])
def test_a_number_that_no_float_holds_is_no_json_whether_it_has_a_point_or_not(sign: str) -> None:
    """J-16: arguments and answers are kept as Structs, whose numbers are floats."""
    assert strict_decoder().decode(sign + "1" + 300 * "0") == int(sign + "1" + 300 * "0")
    for digits in ("1" + 400 * "0", "1e400"):
        with pytest.raises(ValueError, match="out of range"):
            strict_decoder().decode(sign + digits)


# JSON in prose


@pytest.mark.parametrize(
    "text",
    [
        '{"fact": "x"}',
        ' \n{"fact": "x"}\n',
        'Here it is:\n```json\n{"fact": "x"}\n```\nAnything else?',
        '```\n{"fact": "x"}```',
        '```{"fact": "x"}```',
        'The user {as far as I see} said [sic]: {"fact": "x"} - as of [1].',
        'First {"fact": "x"}, and again {"fact": "x"}.',
        'Not {"other": 1} but {"fact": "x"}',
        '```python\nprint("{}")\n``` gives {"fact": "x"}',
    ],
)
def test_json_is_found_in_what_models_write_around_it(text: str) -> None:
    """J-16."""
    assert extract(text, is_fact) == {"fact": "x"}


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("", Cause.NOT_JSON),
        ("I have found nothing.", Cause.NOT_JSON),
        ('{"fact": "x', Cause.NOT_JSON),
        ('{"fact": "x"', Cause.NOT_JSON),
        ('{"facts": [{"fact": "x"}, {"fact": "y"', Cause.NOT_JSON),
        ('```json\n{"facts": [{"fact": "x"}', Cause.NOT_JSON),
        ('[{"fact": "x"},', Cause.NOT_JSON),
        ('{"fact": "x"} or rather {"fact": "y"}', Cause.NOT_JSON),
        ('{"fact": NaN}', Cause.NOT_JSON),
        ('{"fact": "x", "share": 1e999}', Cause.NOT_JSON),
        ('{"fact": "\\ud800"}', Cause.NOT_JSON),
        ('{"fact": "\\u0000"}', Cause.NOT_JSON),
        ("[" * 100_000, Cause.NOT_JSON),
        ("[ " * MAX_STARTS + '{"fact": "x"}', Cause.NOT_JSON),
        ('{"fact": 1}', Cause.WRONG_SCHEMA),
        ('{"answer": {"fact": "x"}}', Cause.WRONG_SCHEMA),
        ('[{"fact": "x"}]', Cause.WRONG_SCHEMA),
        ("42", Cause.WRONG_SCHEMA),
        ("null", Cause.WRONG_SCHEMA),
    ],
)
def test_no_part_of_a_broken_answer_passes_for_the_answer(text: str, cause: Cause) -> None:
    """J-16: malformed output never counts as an answer."""
    assert cause_of(text) is cause


@given(JSON, st.data())
def test_an_answer_that_breaks_off_is_never_taken_for_another(value: Any, data: st.DataObject) -> None:
    """J-16: whatever the schema accepts, half an answer is none."""
    text = json.dumps({"fact": value})
    cut = data.draw(st.integers(0, len(text) - 1))
    with pytest.raises(ModelUnavailable):
        extract(text[:cut], lambda _: True)
    assert extract(text, lambda _: True) == {"fact": value}


# Schemas


def test_values_are_held_to_a_schema_with_its_references() -> None:
    schema = {
        "$defs": {"fact": {"type": "string", "minLength": 2}},
        "type": "object",
        "properties": {"facts": {"type": "array", "items": {"$ref": "#/$defs/fact"}, "maxItems": 2}},
        "required": ["facts"],
    }
    accepts = acceptor(schema)
    assert accepts({"facts": ["fish", "frogs"]})
    for value in ({"facts": ["x"]}, {"facts": ["fish"] * 3}, {"facts": "fish"}, {}, [], None):
        assert not accepts(value)


def test_a_schema_that_is_none_is_a_mistake_in_the_program() -> None:
    with pytest.raises(SchemaError):
        acceptor({"type": "objekt"})


# Events


@given(
    st.lists(st.binary(max_size=12).filter(lambda b: not set(b) & {10, 13}), min_size=1, max_size=5),
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
    st.integers(1, 7),
)
def test_events_are_the_same_however_their_bytes_arrive(
    contents: list[bytes], line_end: bytes, size: int
) -> None:
    body = b"\xef\xbb\xbf: a comment" + line_end * 2
    body += b"".join(b"event: e" + line_end + b"data: " + c + line_end * 2 for c in contents)
    parser = EventParser()
    found = [e for at in range(0, len(body), size) for e in parser.feed(body[at : at + size])]
    found += parser.feed(b"\n")  # a lone CR at the end may yet become CRLF
    assert found == contents


def test_lines_of_one_event_are_joined_and_an_event_cut_off_is_none() -> None:
    parser = EventParser()
    assert parser.feed(b"data:a\ndata: b\nid: 4\n\nid: 5\n\ndata: half") == [b"a\nb"]


# Bodies


def body_of(**message: Any) -> bytes:
    choice = {"message": message, "finish_reason": message.pop("finish", "stop")}
    return json.dumps({"model": "m", "choices": [choice]}).encode()


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        (b"", Cause.MALFORMED),
        (b"\xff{}", Cause.MALFORMED),
        (b"[" * 100_000, Cause.MALFORMED),
        (b"[]", Cause.MALFORMED),
        (b"{}", Cause.MALFORMED),
        (b'{"choices": []}', Cause.MALFORMED),
        (b'{"choices": [7]}', Cause.MALFORMED),
        (b'{"choices": [{"message": {"content": 7}}]}', Cause.MALFORMED),
        (b'{"choices": [{"message": null}]}', Cause.MALFORMED),
        (b'{"error": {"message": "no"}}', Cause.FAILED),
        (body_of(content="x", finish="content_filter"), Cause.FILTERED),
        (body_of(content=None, refusal="I will not."), Cause.FILTERED),
    ],
)
def test_a_body_that_is_no_completion_says_what_is_wrong(body: bytes, cause: Cause) -> None:
    with pytest.raises(ModelUnavailable) as caught:
        read_completion(body)
    assert caught.value.cause is cause


def test_an_event_without_choices_may_carry_the_figures() -> None:
    piece = read_event(b'{"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}')
    assert (piece.text, piece.tokens) == ("", (7, 3))


@pytest.mark.parametrize(
    ("model", "name"),
    [("m" * 200, "m" * 200), ("m" * 201, ""), (7, ""), (None, ""), ("m\0", f"m{REPLACEMENT}")],
)
def test_a_models_name_is_one_that_can_be_recorded(model: Any, name: str) -> None:
    """E-11."""
    body = {"model": model, "choices": [{"message": {"content": "x"}}]}
    assert read_completion(json.dumps(body).encode()).model == name


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (" plain ", "plain"),
        ("<think>hm {</think>\n\nso", "so"),
        ("<think>hm", ""),
        ("why <think> stays", "why <think> stays"),
    ],
)
def test_thoughts_before_an_answer_are_no_part_of_it(text: str, said: str) -> None:
    assert spoken(text) == said


@given(st.data())
def test_a_stream_gives_the_same_answer_as_the_whole_would(data: st.DataObject) -> None:
    parts = st.sampled_from(["<think>", "</think>", "<", " ", "\n", "a", "fish", "think>", "/"])
    pieces = data.draw(st.lists(parts, max_size=8))
    opening = Opening()
    streamed = "".join([*map(opening.add, pieces), opening.end()])
    whole = "".join(pieces)
    assume(whole.strip().count("<think>") < 2)  # thoughts after thoughts are dropped only while streaming
    assert streamed.rstrip() == spoken(whole)


REQUEST = Request(
    messages=[Message(role="user", text="a question of some length")], max_tokens=9, temperature=0.5
)


@pytest.mark.parametrize(
    ("figures", "expected", "estimated"),
    [
        ({"prompt_tokens": 11, "completion_tokens": 5}, (11, 5), False),
        ({"prompt_tokens": 0, "completion_tokens": 0}, (0, 0), False),
        ({"prompt_tokens": 11}, (11, None), True),
        ({"prompt_tokens": -1, "completion_tokens": 5}, (None, 5), True),
        ({"prompt_tokens": True, "completion_tokens": "5"}, (None, None), True),
        ({"prompt_tokens": 10**12, "completion_tokens": 5.5}, (None, None), True),
        (None, (None, None), True),
        ([], (None, None), True),
    ],
)
def test_figures_of_the_provider_count_and_others_are_estimated(
    figures: Any, expected: tuple[int | None, int | None], estimated: bool
) -> None:
    """E-11."""
    body = {"choices": [{"message": {"content": "an answer"}}], "usage": figures}
    piece = read_completion(json.dumps(body).encode())
    usage = usage_of(REQUEST, piece.tokens, piece.text)
    given_in, given_out = expected
    assert usage.input_tokens == (estimate_tokens(REQUEST.messages[0].text) if given_in is None else given_in)
    assert usage.output_tokens == (estimate_tokens("an answer") if given_out is None else given_out)
    assert usage.calls == 1
    assert usage.estimated is estimated


def test_a_request_says_what_its_tier_takes() -> None:
    plain = TierSettings(url="http://h/v1", name="m")
    other = TierSettings(
        url="http://h/v1", name="m", max_tokens_field="max_completion_tokens", temperature=False
    )
    body = json.loads(REQUEST.body(plain, extras=True, stream=False))
    assert (body["model"], body["max_tokens"], body["temperature"]) == ("m", 9, 0.5)
    assert "stream" not in body
    body = json.loads(REQUEST.body(other, extras=True, stream=True))
    assert body["max_completion_tokens"] == 9
    assert body["stream"] is True
    assert not {"max_tokens", "temperature"} & set(body)


# Attempts


def failed(cause: Cause, wait: float | None = None) -> ModelUnavailable:
    return ModelUnavailable(cause, retry_after=wait, usage=Usage(calls=1, input_tokens=5))


@given(st.floats(0, 1), st.integers(1, 9))
def test_pauses_double_to_a_bound_and_chance_takes_off_up_to_half(chance: float, count: int) -> None:
    attempts = Attempts(POLICY, 10)
    pauses = [attempts.after(failed(Cause.FAILED), chance, 1000.0) for _ in range(count)]
    for number, pause in enumerate(pauses):
        longest = min(4.0, 2.0**number)
        assert longest / 2 <= pause <= longest


@pytest.mark.parametrize(
    ("wait", "left", "pause"),
    [(7.0, 100.0, 7.0), (0.0, 100.0, 1.0), (7.0, 7.0, None), (61.0, 1000.0, None), (None, 0.9, None)],
)
def test_a_retry_after_is_kept_unless_it_is_too_long(
    wait: float | None, left: float, pause: float | None
) -> None:
    """J-16: no pause goes beyond the deadline; the caller learns how long to stay away."""
    attempts = Attempts(POLICY, 3)
    if pause is not None:
        assert attempts.after(failed(Cause.BUSY, wait), 1.0, left) == pause
        return
    with pytest.raises(ModelUnavailable) as caught:
        attempts.after(failed(Cause.BUSY, wait), 1.0, left)
    assert caught.value.retry_after == wait


def test_attempts_end_and_the_error_has_what_all_of_them_cost() -> None:
    """E-11."""
    attempts = Attempts(POLICY, 3)
    for _ in range(2):
        attempts.after(failed(Cause.EMPTY), 0.0, 1000.0)
    with pytest.raises(ModelUnavailable) as caught:
        attempts.after(failed(Cause.WRONG_SCHEMA), 0.0, 1000.0)
    assert caught.value.usage == Usage(calls=3, input_tokens=15)
    assert caught.value.cause is Cause.WRONG_SCHEMA


@pytest.mark.parametrize("cause", sorted(Cause))
def test_only_what_another_attempt_may_mend_is_tried_again(cause: Cause) -> None:
    """J-16: and every failure is one that a deterministic engine can answer for."""
    attempts, error = Attempts(POLICY, 3), failed(cause)
    if cause in RETRIED:
        assert attempts.after(error, 0.0, 1000.0) > 0
    else:
        with pytest.raises(ModelUnavailable):
            attempts.after(error, 0.0, 1000.0)
    assert error.bad_output is (cause in BAD_OUTPUT)
    assert error.reason is Reason.DEPENDENCY_DOWN
    assert error.message


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        ("", None),
        ("7", 7.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("nan", None),
        ("inf", None),
        ("soon", None),
        ("Sun, 04 May 2031 12:00:30 GMT", 30.0),
        ("Sun, 04 May 2031 11:00:00 GMT", 0.0),
        ("Sun, 04 May 2031 12:00:30 -0000", 30.0),
    ],
)
def test_retry_after_is_a_number_or_a_date(given: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": given}, lambda: NOW) == seconds


def test_usage_is_counted_by_tier() -> None:
    """E-11."""
    metrics, registry = ModelMetrics("here"), CollectorRegistry()
    for collector in metrics.collectors:
        registry.register(collector)
    metrics.used(Tier.FAST, Usage(calls=3, estimated_calls=1, input_tokens=20, output_tokens=5))
    metrics.used(Tier.FAST, Usage(calls=1, input_tokens=1, output_tokens=1))
    metrics.used(Tier.DEEP, Usage(calls=1))

    def value(name: str, **labels: str) -> float | None:
        return registry.get_sample_value(f"palimpsest_here_model_{name}_total", labels)

    assert value("calls", tier="fast", figures="given") == 3
    assert value("calls", tier="fast", figures="estimated") == 1
    assert value("tokens", tier="fast", direction="input") == 21
    assert value("tokens", tier="fast", direction="output") == 6
    assert value("tokens", tier="deep", direction="output") == 0


# Settings


def test_settings_come_from_the_environment_by_tier(monkeypatch: pytest.MonkeyPatch) -> None:
    """O-1: a tier without a URL has no endpoint."""
    for name, value in {
        "FAST_URL": "http://127.0.0.1:8080/v1/",
        "FAST_NAME": "small",
        "FAST_API_KEY": "k3y",
        "FAST_TIMEOUT_SECONDS": "4",
        "STANDARD_CONCURRENCY": "9",
        "DEEP_URL": "https://h/v1",
        "DEEP_NAME": "large",
    }.items():
        monkeypatch.setenv(f"PALIMPSEST_MODEL_{name}", value)
    settings = ModelSettings()
    assert set(settings.tiers()) == {Tier.FAST, Tier.DEEP}
    fast = settings.tiers()[Tier.FAST]
    assert (fast.url, fast.name, fast.timeout_seconds) == ("http://127.0.0.1:8080/v1", "small", 4.0)
    assert fast.api_key.get_secret_value() == "k3y"
    assert "k3y" not in repr(settings)


@pytest.mark.parametrize(
    "fields",
    [
        {"url": "http://h/v1"},
        {"url": "ftp://h/secret", "name": "m"},
        {"url": "http://user:secret@h/v1", "name": "m"},
        {"url": "http://h/v1?key=secret", "name": "m"},
        {"url": "http://h/v1#secret", "name": "m"},
        {"url": "http:///secret", "name": "m"},
        {"url": "http://h:x/secret", "name": "m"},
        {"url": "http://h/se cret", "name": "m"},
        {"api_key": "secret\r\nx: y"},
        {"api_key": "sécret"},
        {"timeout_seconds": 0},
        {"concurrency": 0},
        {"attempts": 0},
        {"max_tokens_field": "secret"},
        {"typo": "secret"},
    ],
)
def test_settings_that_cannot_work_are_refused_without_their_values(fields: dict[str, Any]) -> None:
    """O-1, X-3."""
    with pytest.raises(ValidationError) as caught:
        TierSettings(**fields)
    assert "cret" not in str(caught.value)
