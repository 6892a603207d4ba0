"""Standing wishes in Chinese (SPEC J-8). Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from services.compactor.domain.extraction.cjk import chinese_words as words
from services.compactor.domain.extraction.cjk.shared import fact, simplified
from services.compactor.domain.extraction.facts import Category, Fact, Subject


def wish(clauses: Sequence[str], place: int, author: Subject) -> tuple[Fact, int] | None:
    """A standing wish, with the clauses that go on with it."""
    plain = simplified(clauses[place])
    joined = words.STANDING_LEAD.match(plain) if place + 1 < len(clauses) else None
    if joined and re.match(
        r"一律|统一|都|全部|请|就|尽量|只|直接|用|给我|别|不要", simplified(clauses[place + 1])
    ):
        topic = clauses[place][max(joined.end("lead"), 0) :]
        text = f"{topic}，{clauses[place + 1]}".strip("，")
        return fact(author, text, Category.INSTRUCTION, "instruction*", text), place + 2
    match = words.STANDING.match(plain) or words.STYLE.match(plain)
    if match is None or words.ONCE.search(plain) or re.search(r"吗$|怎么(?!都)|如何", plain):
        return None
    text = clauses[place][match.start("p") : match.end("p")]
    end = place + 1
    while end < len(clauses) and words.TAIL.match(simplified(clauses[end])):
        text = f"{text}，{clauses[end]}"
        end += 1
    return fact(author, text, Category.INSTRUCTION, "instruction*", match["o"]), end
