"""Summaries made of the messages' own sentences (SPEC E-7, J-6, J-16)."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.compactor.app.engines import About
from services.compactor.app.summarising import Extractive
from services.compactor.domain.extractive import NAME, merge, summarise
from services.compactor.domain.sentences import LONGEST, files, sentences, specifics
from services.compactor.domain.summaries import (
    STATES,
    WORK_STATE,
    Section,
    Statement,
    Utterance,
    parse,
    render,
)
from services.kit.tokens import estimate_tokens

ROOT = Path(__file__).parents[2]


def ann(text: str, **changes: str) -> Utterance:
    return Utterance(author="Ann", text=text, asks=True, **changes)


def model(text: str, output: str = "") -> Utterance:
    return Utterance(author="assistant", text=text, output=output)


WORK = [
    ann("I want to move the billing service to PostgreSQL 16 before 3 May 2026."),
    model("Which tables are the largest? The plan depends on their size."),
    ann(
        "The largest is invoice_lines with 48,200,113 rows. See services/billing/schema.sql for the columns."
    ),
    ann("ok"),
    model(
        "We decided to use dual writes behind the flag BILLING_DUAL_WRITE, because Debezium costs too much."
    ),
    ann("thanks!!"),
    model("I fixed the overflow in services/billing/store.py, and all 214 tests pass."),
    ann("The export is blocked by ticket OPS-4411 at https://tickets.example.org/OPS-4411."),
    model("Next step: rehearse the cut-over on staging on Tuesday at 06:30."),
    ann("Who tells the support team?"),
]

words = st.sampled_from(
    [
        *(
            "the",
            "plan",
            "Ann",
            "a/b.py",
            "42%",
            "done",
            "next step",
            "?",
            ".",
            "。",
            "計画",
            "を立てる",
            "🎉",
        ),
        *("Objective:", "- ", "```", "https://example.org/x", "snake_case", "2026-05-03 x", "مرحبا"),
        *("x" * 300, "\n", "\x85"),
    ]
)
stored = st.characters(exclude_characters="\x00", exclude_categories=("Cs",))  # no other is taken
texts = st.lists(words, max_size=40).map(" ".join) | st.text(stored, max_size=80)
utterances = st.builds(
    Utterance,
    author=st.sampled_from(["Ann", "assistant", "小明", "tool"]),
    text=texts,
    output=texts,
    asks=st.booleans(),
    day=st.sampled_from(["", "2026-05-03", "2026-05-04"]),
)


def under(summary: str, section: Section) -> list[str]:
    return [statement.text for statement in parse(summary) if statement.section is section]


def test_headings_stand_where_there_is_something_to_say() -> None:
    """J-6: what is wanted, decided, done, blocked, next; and the files."""
    summary = summarise(WORK, "", 220)
    assert under(summary, Section.OBJECTIVE) == [f"Ann: {WORK[0].text}"]
    assert any("BILLING_DUAL_WRITE" in line for line in under(summary, Section.DETAILS))
    assert under(summary, Section.COMPLETED) == [f"assistant: {WORK[6].text}"]
    assert under(summary, Section.BLOCKED) == [f"Ann: {WORK[7].text}"]
    assert f"assistant: {WORK[8].text}" in under(summary, Section.NEXT)
    assert set(under(summary, Section.FILES)) == {"services/billing/schema.sql", "services/billing/store.py"}
    assert not under(summary, Section.ACTIVE)
    assert "Active:" not in summary
    assert "thanks" not in summary

    plain = summarise(
        [ann("The flat has a red door."), model("Good to know: red it is, and a number 12.")], "", 60
    )
    assert under(plain, Section.DETAILS)
    assert WORK_STATE not in plain


def test_a_question_without_an_answer_is_open() -> None:
    """It is what comes next, while one that was answered is not."""
    open_question = "Who signs the lease of the flat?"
    asked = [ann("We saw the flat on Monday."), model("The rent is 900 euros."), ann(open_question)]
    assert under(summarise(asked, "", 80), Section.NEXT) == [f"Ann: {open_question}"]
    answered = [*asked, model("Bob signs the lease on Friday.")]
    assert not under(summarise(answered, "", 80), Section.NEXT)


def test_what_must_be_exact_is_kept_to_the_letter() -> None:
    kept = summarise(WORK, "", 220)
    for exact in ("3 May 2026", "48,200,113", "invoice_lines", "OPS-4411", "06:30", "214"):
        assert exact in kept
    assert "https://tickets.example.org/OPS-4411." in kept


def test_statements_tell_who_spoke_and_when() -> None:
    """The day is told once for neighbouring lines of it."""
    said = [
        ann("The boiler was repaired by Mr. Okafor for 240 pounds.", day="2026-05-03"),
        ann("The landlord Petersen pays two thirds of it.", day="2026-05-03"),
        Utterance(author="Bob", text="The cellar key hangs behind the fuse box.", day="2026-05-04"),
    ]
    lines = summarise(said, "", 120).splitlines()
    assert lines == [
        "Important Details:",
        "- 2026-05-03 Ann: The boiler was repaired by Mr. Okafor for 240 pounds.",
        "- Ann: The landlord Petersen pays two thirds of it.",
        "- 2026-05-04 Bob: The cellar key hangs behind the fuse box.",
    ]


def test_tools_output_and_code_give_way_to_what_was_said() -> None:
    noise = "\n".join(f"row {n}: id={n * 7919} status=OK host=node{n}.example.org" for n in range(400))
    said = [
        ann("Find out why the import of the March ledger stops."),
        Utterance(author="tool", text="", output=noise),
        model(f"```\n{noise}\n```\nThe import stops because the ledger has two rows of account 7731."),
    ]
    summary = summarise(said, "", 60)
    assert "account 7731" in summary
    assert "node3" not in summary
    assert summarise(said[1:2], "", 60).startswith(
        "Important Details:\n- tool: row 0"
    )  # but better than nothing


def test_what_the_summary_before_says_is_not_said_again() -> None:
    """Where there is room for one, it is the other one."""
    messages = [ann("The rent of the flat is 900 euros."), ann("The deposit of the flat is 1800 euros.")]
    (first,) = under(summarise(messages, "", 22), Section.DETAILS)
    (second,) = under(summarise(messages, f"Important Details:\n- {first}", 22), Section.DETAILS)
    assert {first, second} == {f"Ann: {message.text}" for message in messages}


def test_text_without_spaces_is_understood() -> None:
    """CJK: sentences end without a space, terms are not divided by any."""
    said = [
        Utterance(author="小明", text="我想在五月三日之前迁移账单服务。数据库是PostgreSQL。", asks=True),
        Utterance(author="助手", text="最大的表是哪一个？计划取决于它。"),
        Utterance(author="小明", text="我们决定使用双写方案！下一步是周二在测试环境演练。", asks=True),
    ]
    summary = summarise(said, "", 90)
    assert under(summary, Section.OBJECTIVE) == ["小明: 我想在五月三日之前迁移账单服务。"]
    assert under(summary, Section.NEXT) == ["小明: 下一步是周二在测试环境演练。"]
    assert "小明: 我们决定使用双写方案！" in under(summary, Section.DETAILS)
    assert estimate_tokens(summary) <= 90


@settings(max_examples=150, deadline=None)
@given(st.lists(utterances, max_size=12), texts, st.integers(1, 200))
def test_any_summary_fits_is_not_empty_and_has_one_level_of_headings(
    messages: list[Utterance], previous: str, most: int
) -> None:
    summary = summarise(messages, previous, most)
    assert estimate_tokens(summary) <= most
    assert bool(summary.strip()) == bool(messages)
    assert summarise(messages, previous, most) == summary
    assert _headings(summary) == sorted(set(_headings(summary)), key=list(Section).index)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.lists(utterances, max_size=8), max_size=5), st.lists(texts, max_size=2), st.integers(1, 200)
)
def test_any_merge_fits_is_not_empty_and_nests_nothing(
    ranges: list[list[Utterance]], foreign: list[str], most: int
) -> None:
    """Of summaries made here, and of texts that something else wrote."""
    summaries = [summarise(messages, "", 120) for messages in ranges] + foreign
    merged = merge(summaries, most)
    assert estimate_tokens(merged) <= most
    assert bool(merged.strip()) == any(parse(summary) for summary in summaries)
    assert merge(summaries, most) == merged
    assert _headings(merged) == sorted(set(_headings(merged)), key=list(Section).index)


def _headings(summary: str) -> list[Section]:
    return [
        Section(line[:-1]) for line in summary.splitlines() if line[:-1] in set(Section) and line[-1] == ":"
    ]


def test_the_same_input_gives_the_same_text_in_every_process() -> None:
    """Whatever order sets have there."""
    program = (
        "from tests.unit.test_extractive import WORK\n"
        "from services.compactor.domain.extractive import summarise\n"
        "print(summarise(WORK, '', 90))"
    )
    for seed in ("1", "2"):
        told = subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": f"{ROOT}:{ROOT / 'gen' / 'python'}"},
            capture_output=True,
            text=True,
            check=True,
        )
        assert told.stdout.strip() == summarise(WORK, "", 90)


def test_merging_keeps_what_each_summary_knew() -> None:
    first, second = summarise(WORK[:5], "", 120), summarise(WORK[5:], "", 120)
    merged = merge([first, second], 300)
    assert {one.text for one in parse(first) + parse(second)} == {one.text for one in parse(merged)}
    assert merged.count("Important Details:") == merged.count("Relevant Files:") == 1

    short = merge([first, second], 100)
    kept = {one.text for one in parse(short) if one.section is not Section.FILES}
    assert kept & {one.text for one in parse(first)}
    assert kept & {one.text for one in parse(second)}


def test_old_plans_are_past_once_a_newer_summary_is_merged() -> None:
    """Only the newest summary's Next Move is one still."""
    plan = "Next Move:\n- Ann: Next step: call the notary Weber."
    newer = "Next Move:\n- Ann: Next step: sign the contract on 9 June."
    merged = merge([plan, newer], 100)
    assert under(merged, Section.NEXT) == ["Ann: Next step: sign the contract on 9 June."]
    assert under(merged, Section.DETAILS) == ["Ann: Next step: call the notary Weber."]


def test_a_merged_statement_keeps_its_day() -> None:
    """Also when the line that told the day is left out."""
    told = summarise([replace(one, day=f"2026-05-0{n // 5 + 1}") for n, one in enumerate(WORK)], "", 200)
    days = {one.text: one.day for one in parse(told)}
    merged = parse(merge([told], 90))
    said = [one for one in merged if one.section is not Section.FILES]
    assert 0 < len(said) < len(days)
    assert all(one.day == days[one.text] for one in said)


def test_files_of_all_summaries_are_named_the_most_named_first() -> None:
    """Also those that have no path."""
    said = "Important Details:\n- Ann: The build of the ledger takes four minutes.\nRelevant Files:\n- "
    merged = merge([f"{said}a/one.py\n- b/two.py", f"{said}b/two.py: the parser", f"{said}Makefile"], 200)
    assert under(merged, Section.FILES) == ["b/two.py", "Makefile", "a/one.py"]


def test_prose_of_another_engine_is_merged_by_sentences() -> None:
    prose = " ".join(f"Customer {n} pays {n * 31} euros for the plan named tier{n}." for n in range(1, 30))
    merged = merge([prose, "Important Details:\n- Ann: The bakery opens at six."], 80)
    lines = under(merged, Section.DETAILS)
    assert len(lines) > 1
    assert all(line in prose or "bakery" in line for line in lines)


@settings(deadline=None)
@given(
    st.lists(
        st.builds(Statement, section=st.sampled_from(Section), text=st.sampled_from(["a b", "Done: x", "c"]))
    )
)
def test_a_rendered_summary_reads_back(statements: list[Statement]) -> None:
    by_section = sorted(statements, key=lambda one: list(Section).index(one.section))
    assert parse(render(statements)) == by_section
    assert render(statements).count(f"{WORK_STATE}:") == any(one.section in STATES for one in statements)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        (
            "J. R. Smith paid 3.50 euros, i.e. too much. He left.",
            ["J. R. Smith paid 3.50 euros, i.e. too much.", "He left."],
        ),
        ("是的。「好。」我来！", ["是的。", "「好。」", "我来！"]),
        ("- first\n2. second\n\n> third", ["first", "second", "third"]),
        ("!!! \n 🎉", []),
    ],
)
def test_sentences_end_where_readers_see_it(text: str, expected: list[str]) -> None:
    assert [sentence for sentence, _ in sentences(text)] == expected


def test_long_lines_are_divided_between_words_and_words_are_not() -> None:
    address = "https://example.org/" + "a" * 600
    text = " ".join(["word"] * 200) + " " + address
    pieces = [sentence for sentence, _ in sentences(text)]
    assert " ".join(pieces) == text
    assert all(len(piece) <= LONGEST or address in piece for piece in pieces)
    assert all(len(piece) <= LONGEST for piece, _ in sentences("語" * 1000))


def test_code_is_known_as_such() -> None:
    text = "Try this:\n```python\nx = 1\n```\nIt works."
    assert list(sentences(text)) == [("Try this:", False), ("x = 1", True), ("It works.", False)]


def test_files_and_specifics_are_found() -> None:
    text = "See src/app/main.py, ./run.sh and /etc/hosts/conf; Node.js at https://a.example/x.md, e.g. v1.2."
    assert files(text) == ["src/app/main.py", "./run.sh", "/etc/hosts/conf"]
    found = specifics(
        "On 2026-05-03 Ann paid Bob €41.50 for `make all`, see userId and mail bob@example.org."
    )
    assert {"2026-05-03", "€41.50", "`make all`", "userId", "bob@example.org", "Bob"} <= found
    assert "paid" not in found


async def test_the_engine_stands_behind_the_port() -> None:
    about = About(tenant="t", agent_id="a", conversation_id="c")
    summary = await Extractive().summarise(about, WORK, "", 90)
    assert (summary.text, summary.model) == (summarise(WORK, "", 90), NAME)
    merged = await Extractive().merge(about, [summary.text], 90)
    assert (merged.text, merged.model) == (merge([summary.text], 90), NAME)


async def test_of_nothing_there_is_no_summary() -> None:
    assert summarise([], "", 90) == merge([], 90) == merge(["", " \n"], 90) == ""
    assert summarise([ann(""), model(" \n")], "", 90) == "Ann, assistant"
