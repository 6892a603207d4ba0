"""Prompts in a model's own tokens, or in estimated ones: never over budget (SPEC G-1, E-10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from palimpsest.documents.v1 import documents_pb2

from services.embedder.bootstrap import default_model_dir
from services.gateway.adapters.sources import ServiceSources
from services.gateway.app.prompting import Prompting
from services.gateway.domain.parts import ORDER, Ingredients, LayerKind, Passage, Working, WorkingSources
from services.gateway.domain.prompt import MESSAGE_STEPS, assemble, message_text, shares, system_text
from services.gateway.domain.working import working_layer
from services.kit.errors import BudgetTooSmall, NotFound
from services.kit.fences import plain
from services.kit.tokenizers_counter import load_counter
from services.kit.tokens import TokenCounter, estimate_tokens
from tests.unit.gateway_parts import backends
from tests.unit.prompt_parts import EMPTY, history, known, layer, said
from tests.unit.test_gateway_sources import FakeEpisodic, FakeSemantic
from tests.unit.test_prompt import ingredients

passages = st.builds(
    Passage,
    kind=st.sampled_from(["summary", "page", "branch", "theme"]),
    document_id=st.sampled_from(["d1", "d2", "d3", "d4"]),
    version=st.integers(0, 9),
    title=st.text(max_size=30),
    text=st.text(max_size=300) | st.integers(1, 200).map(lambda n: "茶" * n),
)
WORD_PIECES = load_counter(default_model_dir() / "tokenizer.json")
COUNTERS: Mapping[str, TokenCounter] = {
    "estimate": estimate_tokens,
    "word pieces": WORD_PIECES,
    "bytes": lambda text: len(text.encode("utf-8", "surrogatepass")),
    # One that nobody makes: longer texts may take fewer tokens, and some take none.
    "erratic": lambda text: (len(text) * 7 % 23) * len(text) // 60,
}


@pytest.mark.parametrize("name", COUNTERS)
@settings(max_examples=60, deadline=None)
@given(parts=ingredients(), documents=st.lists(passages, max_size=4), budget=st.integers(100, 6000))
def test_it_is_never_over_budget_by_any_count(
    name: str, parts: Ingredients, documents: list[Passage], budget: int
) -> None:
    count = COUNTERS[name]
    parts = replace(parts, documents=tuple(documents))
    try:
        prompt = assemble(parts, budget, count=count)
    except BudgetTooSmall:
        system, new = system_text(parts.system_prompt), message_text(parts.author, parts.message)
        assert max(count(system) + count(new) + 5, count(f"{system}\n\n{new}")) > budget or name == "erratic"
        return
    assert prompt.tokens == count(prompt.text) <= budget
    assert [one.kind for one in prompt.layers] == list(ORDER)
    for one in prompt.layers:
        assert one.tokens == count(one.text) <= one.budget
    assert plain(parts.message) in prompt.text
    assert parts.system_prompt in prompt.text
    shown = layer(prompt, LayerKind.RETRIEVED)
    assert len(shown.documents) <= 3
    assert len({one.document_id for one in shown.documents}) <= len(documents)
    assert prompt == assemble(parts, budget, count=count)


@pytest.mark.parametrize("name", ["estimate", "word pieces", "bytes"])
def test_what_other_layers_leave_flows_to_history_by_any_count(name: str) -> None:
    count = COUNTERS[name]
    turns = [said(n, f"turn {n} says that the heron nests behind the old mill") for n in range(300)]
    budget = {"estimate": 3000, "word pieces": 3000, "bytes": 12_000}[name]
    turn = count("⟦user, 2026-03-01 09:00⟧\n" + turns[-1].text) + 8
    prompt = assemble(replace(EMPTY, history=history(turns)), budget, count=count)
    unused = 2 * turn + budget // MESSAGE_STEPS
    assert budget - unused < prompt.tokens <= budget
    facts = tuple(known(n, "word " * 30) for n in range(9))
    full = assemble(
        replace(EMPTY, history=history(turns), facts=facts, working=Working(notes="note " * 900)),
        budget,
        count=count,
    )
    assert budget - unused < full.tokens <= budget
    assert len(layer(full, LayerKind.HISTORY).turns) < len(layer(prompt, LayerKind.HISTORY).turns)


def test_what_must_be_whole_is_refused_by_the_tokenizers_count() -> None:
    """The estimate would let it pass: word pieces of this text are many."""
    message = "qzx " * 60
    budget = estimate_tokens(system_text("")) + estimate_tokens(message_text("", message)) + 40
    assert assemble(replace(EMPTY, message=message), budget)
    with pytest.raises(BudgetTooSmall, match="system prompt"):
        assemble(replace(EMPTY, message=message), budget, count=WORD_PIECES)


def test_the_choice_of_facts_is_the_same_for_all_messages_that_are_not_unusually_long() -> None:
    """G-1: the beginning of the prompt stays, so that a provider has it cached."""
    facts = tuple(known(n, f"{n} " + "word " * (n % 7 * 9)) for n in range(40))
    window = history([said(n, "word " * 20) for n in range(300)])
    prompts = [
        assemble(replace(EMPTY, facts=facts, history=window, message="word " * n), 4000)
        for n in (1, 40, 200, 300)
    ]
    assert len({prompt.openai[0].content for prompt in prompts}) == 1
    assert 0 < len(layer(prompts[0], LayerKind.FACTS).memory_ids) < 40
    asked = {shares("", "", "word " * n, 4000).history(0, 0, retrieves=False) for n in (1, 10, 30)}
    assert len(asked) == 1, "so the same window is asked for"


def test_what_stands_before_messages_of_like_length_is_the_same_whatever_is_found_for_them() -> None:
    """G-1: also in a conversation that is longer than its share."""
    window = history([said(n, "word " * 20) for n in range(300)])
    found = [tuple(known(900 + n, "word " * 30) for n in range(many)) for many in (1, 4, 9)]
    prompts = [
        assemble(replace(EMPTY, history=window, memories=memories, message="word " * n), 4000)
        for n, memories in zip((1, 12, 30), found, strict=True)
    ]
    before = {tuple(one.content for one in prompt.openai[:-1]) for prompt in prompts}
    assert len(before) == 1
    assert len({layer(prompt, LayerKind.RETRIEVED).tokens for prompt in prompts}) == 3, (
        "other things are found"
    )


class Attractor:
    """Version 7 is the pinned one; 3 is there too."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    async def ListBasins(self, request: Any) -> documents_pb2.ListBasinsResponse:
        self.asked.append(request.version)
        if request.version not in (0, 3):
            raise NotFound("attractor version", str(request.version))
        basin = documents_pb2.Basin(id="b1", name=f"Garden of {request.version or 7}", weight=1.0)
        return documents_pb2.ListBasinsResponse(basins=[basin], version=request.version or 7)

    async def GetSummary(self, request: Any) -> Any:
        raise NotFound("summary", request.conversation_id)


def prompting(episodic: FakeEpisodic, attractor: Attractor) -> Prompting:
    behind = backends(
        episodic=episodic, history=episodic, working=episodic, semantic=FakeSemantic(), documents=attractor
    )
    return Prompting(ServiceSources(behind), counters={"mini": WORD_PIECES})


async def test_a_model_whose_tokenizer_is_there_is_counted_exactly_in_every_layer() -> None:
    episodic = FakeEpisodic()
    ours = prompting(episodic, Attractor())

    async def made(model: str) -> Any:
        return await ours.assemble("ada", "c", "so?", author="Ann", budget=0, wait_for=(), model=model)

    exact, other = await made("mini"), await made("another")
    assert (exact.exact, other.exact) == (True, False)
    assert exact.prompt.tokens == WORD_PIECES(exact.prompt.text)
    assert other.prompt.tokens == estimate_tokens(other.prompt.text)
    assert all(one.tokens == WORD_PIECES(one.text) for one in exact.prompt.layers)
    assert [request.budget.model for request in episodic.asked] == ["mini", "another"]
    await ours.settle()


async def test_the_layer_of_facts_says_which_version_of_the_attractor_it_shows() -> None:
    """K-3: the pinned or newest one, or the one that the request names."""
    attractor = Attractor()
    ours = prompting(FakeEpisodic(), attractor)

    async def facts(version: int) -> Any:
        made = await ours.assemble(
            "ada", "c", "so?", author="", budget=0, wait_for=(), attractor_version=version
        )
        return layer(made.prompt, LayerKind.FACTS)

    pinned, named = await facts(0), await facts(3)
    assert (pinned.attractor_version, named.attractor_version) == (7, 3)
    assert "Garden of 7" in pinned.text
    assert "Garden of 3" in named.text
    with pytest.raises(NotFound):
        await facts(4)
    assert attractor.asked == [0, 3, 4]
    await ours.settle()


def test_documents_stand_in_a_fence_with_type_title_and_version_and_are_named() -> None:
    """S-13, G-1. A first part that begins with the title doesn't tell it twice."""
    found = (
        Passage(
            kind="summary",
            document_id="c2",
            version=4,
            title="The barge",
            text="The barge\nAnn sells it.\nSoon.",
        ),
        Passage(kind="branch", document_id="b", version=0, title="boats", text="boats"),
    )
    shown = layer(assemble(replace(EMPTY, documents=found), 4000), LayerKind.RETRIEVED)
    assert shown.documents == found
    assert shown.text.endswith(
        "⟦data: documents⟧\n- summary, version 4: The barge\n  Ann sells it.\n  Soon.\n- branch: boats\n"
        "⟦/data⟧"
    )


def test_memories_messages_and_documents_each_get_room() -> None:
    """However much there is of the others."""
    memories = tuple(known(n, "word " * 30) for n in range(40))
    older = tuple(said(500 + n, "word " * 20) for n in range(9))
    found = tuple(
        Passage(kind="page", document_id=f"d{n}", version=1, title="t", text="word " * 30) for n in range(5)
    )
    shown = layer(
        assemble(replace(EMPTY, memories=memories, older=older, documents=found), 4000), LayerKind.RETRIEVED
    )
    assert len(shown.memory_ids) >= 5
    assert len(shown.turns) == 3
    assert 1 <= len(shown.documents) <= 3


def test_a_layer_that_no_part_of_fits_is_empty() -> None:
    """G-1: by a count that gives no room even to one part."""
    found = working_layer(Working(task="Paint the wall", notes="Red"), 1, count=lambda text: 9 * bool(text))
    assert (found.text, found.tokens, found.working) == ("", 0, WorkingSources())
