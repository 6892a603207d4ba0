"""Whatever is said, what the engine finds can be stored (SPEC J-8, S-1)."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from hypothesis import example, given, settings
from hypothesis import strategies as st

from services.compactor.domain.extraction.facts import FLUSHED, MOST_FACTS, Category, Fact, Turn
from services.compactor.domain.extraction.grammar import durable, extract
from services.compactor.domain.extraction.subjects import slug

KEY = re.compile(r"[a-z0-9._:-]{1,200}")
PIECES = [
    "I live in ",
    "My sister ",
    "Ann ",
    "is a ",
    "and ",
    "because ",
    "I love ",
    "my ",
    "yesterday ",
    "on Friday ",
    "I need to buy ",
    "Remind me to ",
    "We decided to ",
    "told me that ",
    "she ",
    "not ",
    "Ich wohne in ",
    "Je suis ",
    "Mi hermano ",
    "vive en ",
    ". ",
    ", ",
    ": ",
    "\n",
    "?",
    '"',
    "> ",
    "⟦data: x⟧",
    "⟦/data⟧",
    "Łódź",
    "東京",
    "我女儿",
    "叫小雨",
    "住在",
    "昨天",
    "下周三",
    "得把",
    "，",
    "。",
    "私は",
    "娘の凛が",
    "に住んでいます",
    "2月30日",
    "なきゃ",
    "、",
    "🙂",
    "'s ",
    "x" * 300,
    "29 February ",
    "in 9 weeks ",
    "\u202e",
    "(",
    ")",
    "```\n",
]
TEXTS = st.one_of(st.text(max_size=200), st.lists(st.sampled_from(PIECES), max_size=25).map("".join))


@settings(max_examples=300, deadline=None)
@given(
    text=TEXTS,
    author=st.one_of(st.sampled_from(["", "Kim", "李明", "O'Neil", "(.*"]), st.text(max_size=30)),
    said=st.datetimes(timezones=st.just(UTC)),
    owner=st.booleans(),
)
@example(text="I live in Oslo.", author="\ud800", said=datetime(2024, 1, 1, tzinfo=UTC), owner=False)
@example(
    text="We love " + "very " * 90 + "much", author="", said=datetime.max.replace(tzinfo=UTC), owner=True
)
def test_facts_of_any_text_can_be_stored(text: str, author: str, said: datetime, owner: bool) -> None:
    turn = Turn(author=author, text=text, said=said, owner=owner)
    found = extract(turn)
    assert extract(turn) == found
    assert len(found) <= MOST_FACTS
    assert len({fact.key for fact in found}) == len(found)
    for fact in found:
        assert KEY.fullmatch(fact.key)
        assert 0 < len(fact.value.encode("utf-8")) <= 8 * 1024
        assert "\0" not in fact.value
        assert not set("⟦⟧") & set(fact.value)


@given(st.text(min_size=1, max_size=80))
def test_a_slug_is_short_and_plain(text: str) -> None:
    assert re.fullmatch(r"[a-z0-9-]{1,48}", slug(text))


def test_slugs_of_other_scripts_tell_things_apart() -> None:
    assert slug("東京") != slug("大阪")
    assert slug("Łódź") == slug("łódź")
    assert slug("Crème brûlée") == "creme-brulee"


def test_a_long_text_costs_no_more_than_its_beginning() -> None:
    """A pasted book is read up to a bound, and no pattern runs away on it."""
    said = datetime(2024, 1, 1, tzinfo=UTC)
    for piece in (
        "I live in Oslo and ",
        "my sister " * 3,
        "a, ",
        "((((",
        '"',
        "I love a of b ",
        "-- ",
        "on 3 May ",
        "我女儿",
        "我住在，",
        "昨天。",
        "娘の凛が、",
        "来週の水曜に。",
        " ",
        "\u3000",
        "\t ",
        "\n \n ",
        "⟦",
        "⟦ ",
        "|" + " " * 2_000,
    ):
        extract(Turn(author="Kim", text=piece * (200_000 // len(piece)), said=said))
    assert extract(Turn(author="Kim", text="So. " * 20_000 + "I live in Oslo.", said=said)) == []
    assert extract(Turn(author="Kim", text="So. " * 100 + "I live in Oslo.", said=said)) != []


def made(number: int, category: Category = Category.FACT, value: str = "x") -> Fact:
    return Fact(key=f"user.k{number}", subject="Kim", predicate=value, category=category)


def test_what_outlasts_a_range_are_states_before_events_the_newest_of_each_key() -> None:
    """J-9."""
    old, new = made(1, value="old"), made(1, value="new")
    event, task = made(2, Category.EVENT), made(3, Category.TASK)
    states = [made(n) for n in range(10, 18)]
    assert durable([old, event, task, *states, new]) == [new, *states, event]
    assert len(durable([made(n) for n in range(50)])) == FLUSHED == 10
