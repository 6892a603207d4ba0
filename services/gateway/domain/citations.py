"""Evidence, numbered and fenced for a model, and the citations in what it answers (SPEC G-8, G-3). Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from services.gateway.domain.turns import shortened
from services.kit.fences import RULE, fenced
from services.kit.tokens import TokenCounter, estimate_tokens

EVIDENCE_CHARACTERS = 1500
"""G-8: of one piece of evidence, for the model."""
EVIDENCE_TOKENS = 8000
"""G-8: of all of them; what doesn't fit can't be cited."""
CITATION = re.compile(r"\s?\[\s*(\d{1,4}(?:\s*[,;]\s*\d{1,4})*)\s*\]")
NUMBER = re.compile(r"\d+")
FUSION_K = 60
"""Of reciprocal rank fusion: Cormack, Clarke, Buettcher, SIGIR 2009."""

INSTRUCTION = (
    "Answer the question out of the numbered evidence below, and of nothing else. After each statement name"
    " the evidence that it rests on, as [1] or [2][5]. Where pieces contradict each other, the newer one"
    " holds: say so. If the evidence doesn't answer the question, say that in one sentence. Be brief, and use"
    f" the language of the question. {RULE}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """A text whose citations all refer to evidence, and their numbers in order of first mention."""

    text: str
    numbers: tuple[int, ...]


def interleaved(lengths: Sequence[int]) -> list[tuple[int, int]]:
    """The places (list, index) of several ranked lists as one, by reciprocal rank; earlier lists win ties."""
    places = [(which, index) for which, length in enumerate(lengths) for index in range(length)]
    return sorted(places, key=lambda place: (-1 / (FUSION_K + place[1] + 1), place[0]))


def shown_evidence(
    pieces: Sequence[tuple[str, str]], *, count: TokenCounter = estimate_tokens
) -> tuple[str, int]:
    """Pieces (who and when, what) as numbered fences, and how many of them fit, from the first on."""
    written: list[str] = []
    spent = 0
    for number, (head, text) in enumerate(pieces, 1):
        block = fenced(f"evidence [{number}] {head}", shortened(text, EVIDENCE_CHARACTERS))
        spent += count(block)
        if spent > EVIDENCE_TOKENS and written:
            break
        written.append(block)
    return "\n".join(written), len(written)


def checked(text: str, count: int) -> Cited:
    """The text without citations of what is not among the first `count` pieces of evidence."""
    numbers: dict[int, None] = {}

    def kept(match: re.Match[str]) -> str:
        own = [n for n in map(int, NUMBER.findall(match[1])) if 1 <= n <= count]
        numbers.update(dict.fromkeys(own))
        space = " " if own and match[0][0].isspace() else ""
        return space + "".join(f"[{n}]" for n in own)

    while True:  # what is taken out may leave a new one behind, as in [[9]1]
        numbers.clear()
        rest = CITATION.sub(kept, text)
        if rest == text:
            return Cited(text=text.strip(), numbers=tuple(numbers))
        text = rest
