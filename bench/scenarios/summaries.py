"""How much of what questions ask for a summary still says (J-6, J-16), against first and last sentences.

Each conversation of a labelled set is cut into segments of 30 messages. A question's evidence is, of each
of its gold messages, the sentence nearest to the question; kept is the share of that sentence's content
terms that the summary of its segment has. The yardstick takes sentences from the segment's beginning and
end by turns, up to the same number of tokens. Beside that, how near the evidence is to the nearest line of
the summary, by vectors: that a thing is told in other words counts there. The rolling summary is measured
likewise, over the whole conversation. Only figures leave this module, never a text.
"""

from __future__ import annotations

import asyncio
import json
import math
import statistics
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from services.compactor.domain import extractive
from services.compactor.domain.carrying import refreshed
from services.compactor.domain.covering import Lengths
from services.compactor.domain.function_words import is_light
from services.compactor.domain.nearness import NO_VECTORS, Vector, Vectors, likeness
from services.compactor.domain.rolling import RollingSummary
from services.compactor.domain.sentences import sentences, terms
from services.compactor.domain.summaries import Utterance, parse
from services.embedder.adapters.onnx_folder import OnnxFolder
from services.embedder.bootstrap import default_model_dir
from services.kit.tokens import estimate_tokens

ID = "summaries"
SEGMENT = 30  # messages
AT_ONCE = 32  # sentences that are embedded together
FLOORS = (2, 4, 6, 8)  # messages
TOKEN_FLOORS = (100, 200, 400, 800)

Summarise = Callable[[Sequence[Utterance], int], str]
Embed = Callable[[Sequence[str]], Vectors]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question and the places of its gold messages."""

    text: str
    evidence: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """A conversation; `sessions` are the lengths of its parts."""

    messages: tuple[Utterance, ...]
    questions: tuple[Question, ...]
    sessions: tuple[int, ...]


def run(data: Path) -> dict[str, Any]:
    """The result document for one data set."""
    talks = list(_talks(json.loads(data.read_text("utf-8"))))
    model = OnnxFolder.load(default_model_dir())
    try:
        return measure(talks, _embedding(model), data.name)
    finally:
        asyncio.run(model.close())


def measure(talks: Sequence[Talk], embed: Embed, load: str) -> dict[str, Any]:
    """The result document."""
    segments = {
        "words": _kept_in_segments(talks, embed, lambda said, most: extractive.summarise(said, "", most)),
        "vectors": _kept_in_segments(
            talks,
            embed,
            lambda said, most: extractive.summarise(said, "", most, embed(extractive.shortlist(said))),
        ),
        "first and last": _kept_in_segments(talks, embed, ends),
    }
    whole = {
        "words": _kept_in_whole(talks, lambda said, most: rolling(said, most, lambda _: NO_VECTORS)),
        "vectors": _kept_in_whole(talks, lambda said, most: rolling(said, most, embed)),
        "first and last": _kept_in_whole(talks, ends),
    }
    yardstick = "first and last"
    ahead = all(
        figures[engine]["kept"] > figures[yardstick]["kept"]
        for figures in (segments, whole)
        for engine in ("words", "vectors")
    )
    return {
        "id": ID,
        "value": {"segments": segments, "rolling": whole},
        "budget": {"kept": "more than the yardstick"},
        "ok": ahead,
        "correct": bool(talks),
        "yardstick": "first and last sentences by turns, as many tokens",
        "load": load,
        "questions": sum(len(talk.questions) for talk in talks),
        "floors": floors(talks),
    }


def ends(said: Sequence[Utterance], most: int) -> str:
    """The first and the last sentences by turns, as many as fit."""
    lines = [f"{one.author}: {sentence}" for one in said for sentence, _ in sentences(one.text)]
    first: list[str] = []
    last: list[str] = []
    while lines:
        side = first if len(first) <= len(last) else last
        side.append(lines.pop(0 if side is first else -1))
        if estimate_tokens("\n".join([*first, *last])) > most:
            side.pop()
            break
    return "\n".join([*first, *reversed(last)])


def rolling(said: Sequence[Utterance], most: int, embed: Embed) -> str:
    """The rolling summary after each segment in turn, within what `Lengths` allows for all of it."""
    summary = RollingSummary()
    for begin in range(0, len(said), SEGMENT):
        chunk = said[begin : begin + SEGMENT]
        summary = refreshed(summary, chunk, most, embed(extractive.shortlist(chunk, summary.statements())))
    return summary.markdown()


def floors(talks: Sequence[Talk]) -> dict[str, Any]:
    """How long the summary of the beginning of a session is, in parts of what it sums up: the median."""
    lengths = Lengths()
    by_messages: dict[str, float] = {}
    parts: dict[int, list[float]] = {floor: [] for floor in TOKEN_FLOORS}
    beginnings = [talk.messages[begin:end] for talk in talks for begin, end in _bounds(talk.sessions)]
    for floor in FLOORS:
        ratios = []
        for beginning in beginnings:
            said = beginning[:floor]
            tokens = sum(estimate_tokens(one.text) for one in said)
            summary = refreshed(RollingSummary(), said, lengths.of_rolling(tokens)).markdown()
            ratio = estimate_tokens(summary) / tokens if tokens else 1.0
            ratios.append(ratio)
            for least in TOKEN_FLOORS:
                if least <= tokens < least * 2:
                    parts[least].append(ratio)
        by_messages[f"{floor} messages"] = round(statistics.median(ratios), 2)
    by_tokens = {
        f"{least} to {least * 2} tokens": round(statistics.median(ratios), 2) if ratios else None
        for least, ratios in parts.items()
    }
    return {"sessions": len(beginnings), "summary_over_messages": {**by_messages, **by_tokens}}


def _kept_in_segments(talks: Sequence[Talk], embed: Embed, summarise: Summarise) -> dict[str, float]:
    lengths, kept, near, tokens = Lengths(), list[float](), list[float](), list[int]()
    for talk in talks:
        made: dict[int, frozenset[str]] = {}
        lines: dict[int, Sequence[Vector]] = {}
        for question in talk.questions:
            for segment in {place // SEGMENT for place in question.evidence} - set(made):
                said = talk.messages[segment * SEGMENT : (segment + 1) * SEGMENT]
                most = lengths.of_messages(sum(estimate_tokens(one.text) for one in said))
                text = summarise(said, most)
                tokens.append(estimate_tokens(text))
                made[segment] = content(text)
                lines[segment] = list(embed([one.text.split(": ", 1)[-1] for one in parse(text)]).values())
            near += _near(question, talk, lambda place: lines[place // SEGMENT], embed)  # noqa: B023 - likewise
            kept += _kept(question, talk, lambda place: made[place // SEGMENT])  # noqa: B023 - used at once
    return {**_figures(kept, tokens), "nearest_line": round(statistics.fmean(near), 4) if near else 0.0}


def _kept_in_whole(talks: Sequence[Talk], summarise: Summarise) -> dict[str, float]:
    lengths, kept, tokens = Lengths(), list[float](), list[int]()
    for talk in talks:
        most = lengths.of_rolling(sum(estimate_tokens(one.text) for one in talk.messages))
        text = summarise(talk.messages, most)
        tokens.append(estimate_tokens(text))
        said = content(text)
        for question in talk.questions:
            kept += _kept(question, talk, lambda _: said)  # noqa: B023 - used at once
    return _figures(kept, tokens)


def _kept(question: Question, talk: Talk, summary: Callable[[int], frozenset[str]]) -> list[float]:
    """The mean over the question's evidence, as the only value; none where it has no content terms."""
    parts = []
    for place in question.evidence:
        wanted = content(nearest(talk.messages[place].text, question.text))
        if wanted:
            parts.append(len(wanted & summary(place)) / len(wanted))
    return [statistics.fmean(parts)] if parts else []


def _near(
    question: Question, talk: Talk, lines: Callable[[int], Sequence[Vector]], embed: Embed
) -> list[float]:
    """The mean likeness of the question's evidence to the nearest line of its summary, as the only value."""
    parts = []
    for place in question.evidence:
        wanted = nearest(talk.messages[place].text, question.text)
        if content(wanted):
            vector = embed([wanted])[wanted]
            parts.append(max((likeness(vector, line) for line in lines(place)), default=0.0))
    return [statistics.fmean(parts)] if parts else []


def _figures(kept: Sequence[float], tokens: Sequence[int]) -> dict[str, float]:
    return {
        "kept": round(statistics.fmean(kept), 4) if kept else 0.0,
        "half_or_more": round(sum(one >= 0.5 for one in kept) / len(kept), 4) if kept else 0.0,
        "questions": len(kept),
        "mean_tokens": round(statistics.fmean(tokens), 1) if tokens else 0.0,
    }


def nearest(text: str, question: str) -> str:
    """The sentence that shares most content terms with a question, for its length."""
    asked = content(question)
    found = [sentence for sentence, _ in sentences(text)] or [text]
    return max(
        found,
        key=lambda one: (len(content(one) & asked) / math.sqrt(1 + len(content(one))), len(one)),
    )


def content(text: str) -> frozenset[str]:
    """The terms of a text that say something."""
    return frozenset(term for term in terms(text) if not is_light(term))


def _talks(dataset: Mapping[str, Any]) -> Iterable[Talk]:
    for conversation in dataset["conversations"]:
        messages = conversation["messages"]
        places = {message["id"]: place for place, message in enumerate(messages)}
        sessions: dict[Any, int] = {}
        for message in messages:
            name = message.get("session", "")
            sessions[name] = sessions.get(name, 0) + 1
        yield Talk(
            messages=tuple(_utterance(message) for message in messages),
            questions=tuple(
                Question(
                    text=question["text"],
                    evidence=tuple(places[one] for one in question["evidence"] if one in places),
                )
                for question in conversation["questions"]
            ),
            sessions=tuple(sessions.values()),
        )


def _utterance(message: Mapping[str, Any]) -> Utterance:
    return Utterance(
        author=message["author"] or message["role"],
        text=message["text"],
        asks=message["role"] == "user",
        day=message["time"][:10],
    )


def _bounds(lengths: Sequence[int]) -> Iterable[tuple[int, int]]:
    begin = 0
    for length in lengths:
        yield begin, begin + length
        begin += length


def _embedding(model: OnnxFolder) -> Embed:
    """Vectors by the bundled model; each sentence is embedded once."""
    known: dict[str, Vector] = {}

    def embed(texts: Sequence[str]) -> Vectors:
        fresh = sorted({text for text in texts if text not in known}, key=len)
        for begin in range(0, len(fresh), AT_ONCE):
            chunk = fresh[begin : begin + AT_ONCE]
            for text, vector in zip(chunk, model.embed_now(model.prepare_now(chunk)), strict=True):
                known[text] = struct.unpack(f"<{len(vector) // 4}f", vector)
        return {text: known[text] for text in texts}

    return embed
