"""The reader by score: what it asks of the embedder, and what it makes of the answer (SPEC J-8)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from palimpsest.embedder.v1 import embedder_pb2 as pb

from services.compactor.adapters.reader import TURNS_AT_ONCE, Reader
from services.compactor.app.engines import About
from services.compactor.app.extracting import Extracted
from services.compactor.domain.extraction.facts import Turn
from services.compactor.domain.extraction.reading.passages import LEAST, NAME, heard
from services.compactor.domain.extraction.reading.spans import Form
from services.kit.errors import DependencyDown
from tests.unit.extracting_parts import SAID


@dataclass
class Scoring:
    """Stands for the embedder: says how likely a stretch states a lasting fact."""

    likely: Callable[[str], float]
    asked: list[Any] = field(default_factory=list)
    down: bool = False

    async def ScoreSpans(self, request: Any) -> Any:
        if self.down:
            raise DependencyDown
        self.asked.append(request)
        return pb.ScoreSpansResponse(texts=[self._scores(text) for text in request.texts])

    def stretches(self) -> list[str]:
        """What was to be scored."""
        return [
            text.text[one.start : one.end]
            for asked in self.asked
            for text in asked.texts
            for one in text.spans
        ]

    def _scores(self, text: Any) -> Any:
        told = [self.likely(text.text[one.start : one.end]) for one in text.spans]
        return pb.SpanScores(
            scores=[pb.SpanScore(kinds=(one, 0, 0, 0), categories=(0,) * 8 + (1,)) for one in told]
        )


def turns(*texts: str) -> list[Turn]:
    return [Turn(author="Kim", text=text, said=SAID) for text in texts]


async def read(stub: Scoring, *texts: str) -> Extracted:
    about = About(tenant="t", agent_id="a", conversation_id="c")
    return await Reader(stub).extract(about, turns(*texts))  # type: ignore[arg-type]


def values(told: Extracted) -> list[list[str]]:
    return [[fact.value for fact in facts] for facts in told.facts]


def only(*stretches: str) -> Scoring:
    """Of which these are facts."""
    return Scoring(lambda stretch: 0.99 if stretch in stretches else 0.01)


async def test_the_facts_are_those_of_each_turn_in_their_order() -> None:
    stub = only("I zyx in Oslo", "My sister qwvs", "I qwv a cat")
    told = await read(
        stub, "I qwv a cat.", "Hm.", "I zyx in Oslo and I think so.", "My sister qwvs. I qwv a cat."
    )
    assert values(told) == [
        ["Kim qwv a cat"],
        [],
        ["Kim zyx in Oslo"],
        ["Kim's sister qwvs", "Kim qwv a cat"],
    ]
    assert told.engine == NAME


async def test_what_is_not_likely_enough_is_no_fact() -> None:
    """And it is said who read it all the same."""
    told = await read(Scoring(lambda _: LEAST - 0.01), "I live in Oslo.", "I love tea.")
    assert (values(told), told.engine) == ([[], []], NAME)
    assert values(await read(Scoring(lambda _: LEAST), "I live in Oslo.", "I love tea.")) != [[], []]


async def test_without_turns_nobody_reads() -> None:
    stub = only()
    told = await read(stub)
    assert (list(told.facts), told.engine, stub.asked) == ([], "", [])


async def test_what_states_nothing_is_not_sent() -> None:
    stub = only("I live in Oslo")
    told = await read(stub, "\0", "> I live in Oslo")
    assert (values(told), told.engine, stub.asked) == ([[], []], NAME, [])
    await read(stub, "I live in Oslo")
    assert len(stub.asked) == 1


LONG = "🙂 Ok! " + "".join(f"I met Ann{n} in Oslo on Monday. Could my sister, 40, sing? " for n in range(60))


async def test_a_stretch_is_sent_as_it_stands_in_its_part_of_the_text() -> None:
    """Offsets are those within the part, in code points."""
    stub = only("I met Ann59 in Oslo")
    told = await read(stub, LONG)
    [turn] = turns(LONG)
    found = heard(turn).passages
    assert [LONG[one.start : one.end] for one in found] == stub.stretches()
    sent = [one for asked in stub.asked for text in asked.texts for one in text.spans]
    assert [(one.form, one.support, one.asked) for one in sent] == [
        (one.form, one.support, one.asked) for one in found
    ]
    assert {True, False} == {one.asked for one in sent}
    assert {Form.SPEAKER, Form.GRAMMAR, Form.AGED} <= {one.form for one in sent}
    assert values(told) == [["Kim met Ann59 in Oslo"]]


async def test_a_few_parts_are_sent_at_once() -> None:
    stub = only(*(f"I qwv Ann{n}" for n in range(40)))
    told = await read(stub, *(f"I qwv Ann{n}" for n in range(40)))
    assert [len(asked.texts) for asked in stub.asked] == [TURNS_AT_ONCE] * 5
    assert values(told) == [[f"Kim qwv Ann{n}"] for n in range(40)]


async def test_while_the_embedder_is_down_nothing_is_read() -> None:
    """J-16: it never counts as nothing found."""
    stub = only("I live in Oslo")
    stub.down = True
    with pytest.raises(DependencyDown):
        await read(stub, "I live in Oslo.")
    stub.down = False
    assert values(await read(stub, "I live in Oslo.")) == [["Kim lives in Oslo"]]


async def test_what_the_grammar_found_is_kept_where_the_network_reads_nothing() -> None:
    """J-16: nothing found is never said for want of a score."""
    told = await read(Scoring(lambda _: 0.0), "I live in Oslo.")
    assert values(told) == [["Kim lives in Oslo"]]
