"""What a day tells, without a model (SPEC J-11, J-16). Pure, and the same for the same input.

    reflect(evidence, goals, day) -> list[Draft]

All evidence is of one contact, so that nothing about one person is told under another. What recurs is a
content word that RECURS statements have. Goals and learnings are known by what recorded them (a task, an
objective, a decision, an outcome) or by a few words in English, German, French and Spanish; in other
languages they are known by the former alone. That a goal was reached or given up is believed when a statement
says so, denies nothing, and shares half of the goal's content words.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import chain
from typing import Final

from services.compactor.domain.function_words import is_light
from services.compactor.domain.insights import MOST_REFS, Draft, GoalState, Insight, Kind, Ref
from services.compactor.domain.sentences import terms

RECURS: Final = 3
"""Statements that have a word before it counts as a theme."""
MOST_THEMES: Final = 3
"""Reflections of a day and contact."""
TOLD: Final = 3
"""Statements that a reflection repeats: the longest."""
OVERLAP: Final = 0.5
"""Of a theme's statements, how many may be another theme's."""
COMMON: Final = 0.6
"""A word that more of the statements have than this says who they are about rather than what."""
FEW: Final = 6
"""Of fewer statements none is common."""
SAME_GOAL: Final = 0.6
"""Jaccard similarity of content words from which two statements are the same goal, or learning."""
CLOSES: Final = 0.5
"""Of a goal's content words, how many a statement shares that says that it was reached, or given up."""
LONGEST_STATEMENT: Final = 240
LONGEST_TOPIC: Final = 60
SLUG_WORDS: Final = 6
DIGEST_BYTES: Final = 6
_SHORTEST_STEM: Final = 4


class Sort(Enum):
    """What a statement was recorded as."""

    STATEMENT = "statement"
    TASK = "task"
    OBJECTIVE = "objective"
    DECISION = "decision"
    OUTCOME = "outcome"
    """How something went, or how it is done."""
    COMPLETED = "completed"
    SAID = "said"
    """A sentence of a message: it may tell of a goal or of what was learned, but is counted for no theme, as
    what lasts of it is a memory too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A statement, where it stands (a memory's id, or a summary's), and the messages it came from.

    `day` is when it was told (ISO 8601), "" for the day that is reflected upon.
    """

    source_id: str
    text: str
    sort: Sort = Sort.STATEMENT
    refs: tuple[Ref, ...] = ()
    day: str = ""


def _any(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{words})\b", re.IGNORECASE)


_WANTS = _any(
    "goals?|wants? to|want to|plans? to|planning to|hopes? to|hoping to|aims? to|would like to|intends? to"
    "|is training for|is saving (?:up )?for|is working towards?|is determined to|ziel|möchte|will .{3,80}en"
    "|plant|hat vor|hofft|objectif|veut|voudrait|compte|espère|quiere|quisiera|planea|espera|objetivo|meta"
)
_AIMS = _any(
    r"my (?:\w+ )?goals?|training for|saving (?:up )?for|working towards?|(?:hope|plan|aim|intend) to"
    "|(?:planning|hoping|determined|aiming) to|mein ziel|ich (?:habe vor|plane|hoffe)|mon objectif|j'espère"
    "|je compte|mi objetivo|mi meta|espero|planeo|tengo la intención"
)
"""What tells an aim in the first person: with "I want to" people ask for things."""
_REACHED = _any(
    "finished|completed|achieved|accomplished|reached|passed|succeeded|managed to|made it|has done|is done"
    "|submitted|launched|shipped|graduated|won|erreicht|geschafft|abgeschlossen|fertig|bestanden|erledigt"
    "|réussi|terminé|atteint|achevé|logró|ha logrado|terminó|consiguió|completó|aprobó"
)
_GIVEN_UP = _any(
    "gave up|given up|giving up|no longer (?:wants?|plans?|intends?)|dropped|abandoned|cancell?ed"
    "|decided (?:not to|against)|called off|aufgegeben|verworfen|abgesagt|will nicht mehr|abandonné|renoncé"
    "|ne veut plus|abandonó|renunció|ya no quiere"
)
_DENIED = _any(
    "not|never|yet to|hasn't|haven't|didn't|isn't|wasn't|almost|nearly|nicht|nie|kein(?:e|en)?|fast|pas"
    "|jamais|presque|no|nunca|casi"
)
_LEARNED = _any(
    "learn(?:ed|t) that|turn(?:s|ed) out|reali[sz]ed that|found out|discovered that|the lesson|gelernt, dass"
    "|stellte sich heraus|herausgefunden|a appris que|s'est rendu compte|aprendió que|resultó que"
)
_CUES = (
    "user goal goals wants want wanted plans hopes hoping aims aim intends training saving working towards"
    " determined finished completed achieved accomplished reached passed succeeded managed submitted launched"
    " gave given dropped abandoned cancelled canceled decided longer finally learned learnt turns turned"
    " realised realized discovered lesson nutzer ziel möchte plant hofft objectif veut voudrait quiere planea"
    " objetivo utilisateur usuario"
)
_CUE_WORDS = frozenset(_CUES.split())
_SUFFIX = re.compile(r"(?:ing|ed|es|s|en|e)$")


def reflect(evidence: Sequence[Evidence], goals: Sequence[Insight], day: str, contact_id: str) -> list[Draft]:
    """What the evidence of a day and contact tells; `goals` are those that are known of the contact. Of what
    was said several times, it is the last time."""
    ordered = sorted((one for one in evidence if one.text.strip()), key=lambda one: one.day or day)
    distinct = list({" ".join(one.text.split()).casefold(): one for one in ordered}.values())
    reader = _Reader(day=day, contact_id=contact_id)
    return [*reader.themes(distinct), *reader.goals(distinct, goals), *reader.learnings(distinct)]


def tells(sentence: str) -> bool:
    """Whether a sentence that somebody said may be evidence of a goal, or of what was learned."""
    return any(cue.search(sentence) for cue in (_AIMS, _REACHED, _GIVEN_UP, _LEARNED))


def content(text: str) -> dict[str, str]:
    """The content words of a text: stem and the word as it stands, in order."""
    found: dict[str, str] = {}
    wanted = terms(text) - _CUE_WORDS
    words = sorted(wanted, key=lambda word: (text.casefold().find(word), word))
    for word in words:
        if not is_light(word) and not word.isdigit():
            found.setdefault(stem(word), word)
    return found


def stem(word: str) -> str:
    """A word without what it is inflected by, roughly."""
    cut = _SUFFIX.sub("", word)
    return cut if len(cut) >= _SHORTEST_STEM else word


def slug_of(words: Iterable[str]) -> str:
    """At most 64 of [a-z0-9-]; a digest where that leaves too little, as of other scripts."""
    joined = "-".join(words)
    folded = unicodedata.normalize("NFKD", joined).encode("ascii", "ignore").decode("ascii").casefold()
    plain = re.sub(r"[^a-z0-9]+", "-", folded).strip("-")[:64].strip("-")
    letters = sum(map(str.isalnum, joined))
    if plain and 2 * len(plain.replace("-", "")) >= letters:
        return plain
    return "t-" + hashlib.blake2b(joined.encode("utf-8", "ignore"), digest_size=DIGEST_BYTES).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """Reads the evidence of one day and contact."""

    day: str
    contact_id: str

    def themes(self, evidence: Sequence[Evidence]) -> list[Draft]:
        """The words that recur, each with the statements that have it."""
        evidence = [one for one in evidence if one.sort is not Sort.SAID]
        having: dict[str, list[Evidence]] = defaultdict(list)
        words: dict[str, str] = {}
        for one in evidence:
            for stem_, word in content(one.text).items():
                having[stem_].append(one)
                words.setdefault(stem_, word)
        most = COMMON * len(evidence) if len(evidence) >= FEW else len(evidence)
        recurring = [stem_ for stem_, found in having.items() if RECURS <= len(found) <= most]
        recurring.sort(key=lambda stem_: (-len(having[stem_]), -len(stem_), stem_))
        drafts: list[Draft] = []
        used: set[str] = set()
        for stem_ in recurring:
            found = having[stem_]
            if sum(one.source_id in used for one in found) > OVERLAP * len(found):
                continue
            used.update(one.source_id for one in found)
            drafts.append(self._theme(words[stem_], found))
            if len(drafts) == MOST_THEMES:
                break
        return drafts

    def _theme(self, word: str, found: Sequence[Evidence]) -> Draft:
        told = sorted(found, key=lambda one: -len(one.text))[:TOLD]
        said = " ".join(_sentence(one.text) for one in found if one in told)
        return self._draft(
            Kind.REFLECTION,
            slug=f"{self.day}:{slug_of([word])}",
            topic=word,
            text=f"On {self.day}, {word} came up {len(found)} times: {said}",
            found=found,
        )

    def goals(self, evidence: Sequence[Evidence], known: Sequence[Insight]) -> list[Draft]:
        """New goals, and known ones that were spoken of again, reached or given up."""
        drafts: dict[str, Draft] = {}
        texts = {row.slug: (row.topic, row.text) for row in known}
        states = {row.slug: row.state for row in known}
        ordered = sorted(evidence, key=lambda one: (one.day or self.day, _closing(one) is not None))
        for one in ordered:
            closing = _closing(one)
            slugs = _closed(one, texts, states) if closing else _opened(one, texts)
            for slug in slugs:
                topic, text = texts.setdefault(slug, (_topic(one.text), _cut(one.text)))
                states[slug] = closing or GoalState.OPEN
                before = drafts.get(slug)
                drafts[slug] = self._draft(
                    Kind.GOAL,
                    slug=slug,
                    topic=topic,
                    text=text,
                    found=[one],
                    state=states[slug],
                    state_day=one.day,
                    before=before,
                )
        return list(drafts.values())

    def learnings(self, evidence: Sequence[Evidence]) -> list[Draft]:
        """What was found out, or decided."""
        drafts: dict[str, Draft] = {}
        for one in evidence:
            recorded = one.sort in (Sort.OUTCOME, Sort.DECISION)
            if (recorded or _LEARNED.search(one.text)) and content(one.text):
                slug = _slug(one.text)
                drafts[slug] = self._draft(
                    Kind.LEARNING,
                    slug=slug,
                    topic=_topic(one.text),
                    text=_cut(one.text),
                    found=[one],
                    before=drafts.get(slug),
                )
        return list(drafts.values())

    def _draft(
        self,
        kind: Kind,
        *,
        slug: str,
        topic: str,
        text: str,
        found: Sequence[Evidence],
        state: GoalState = GoalState.NONE,
        state_day: str = "",
        before: Draft | None = None,
    ) -> Draft:
        refs = [*(before.provenance if before else ()), *chain.from_iterable(one.refs for one in found)]
        sources = [*(before.source_ids if before else ()), *(one.source_id for one in found)]
        return Draft(
            kind=kind,
            contact_id=self.contact_id,
            slug=slug,
            topic=topic,
            text=text,
            day=self.day,
            state=state,
            state_day=state_day,
            provenance=tuple(dict.fromkeys(refs))[:MOST_REFS],
            source_ids=tuple(dict.fromkeys(sources))[:MOST_REFS],
        )


def _closing(one: Evidence) -> GoalState | None:
    """What a statement says became of a goal, if it says so."""
    if _GIVEN_UP.search(one.text):
        return GoalState.DROPPED
    reached = one.sort is Sort.COMPLETED or _REACHED.search(one.text)
    return GoalState.ACHIEVED if reached and not _DENIED.search(one.text) else None


def _opened(one: Evidence, known: dict[str, tuple[str, str]]) -> list[str]:
    """The slug of the goal that a statement speaks of; none if it speaks of none."""
    words = content(one.text)
    cue = _AIMS if one.sort is Sort.SAID else _WANTS
    wanted = one.sort in (Sort.TASK, Sort.OBJECTIVE) or cue.search(one.text)
    if not (wanted and words) or _DENIED.search(one.text):
        return []
    for slug, (_, text) in known.items():
        other = content(text)
        if len(words.keys() & other.keys()) >= SAME_GOAL * len(words.keys() | other.keys()):
            return [slug]
    return [_slug(one.text)]


def _closed(one: Evidence, known: dict[str, tuple[str, str]], states: dict[str, GoalState]) -> list[str]:
    """The slugs of the open goals that a statement may be about."""
    words = content(one.text).keys()
    found = []
    for slug, (_, text) in known.items():
        goal = content(text).keys()
        if goal and states[slug] is GoalState.OPEN and len(goal & words) >= CLOSES * len(goal):
            found.append(slug)
    return found


def _slug(text: str) -> str:
    return slug_of(list(content(text).values())[:SLUG_WORDS])


def _topic(text: str) -> str:
    topic = ""
    for word in content(text).values():
        if len(topic) + 1 + len(word) > LONGEST_TOPIC:
            break
        topic = f"{topic} {word}".strip()
    return topic or _cut(text)[:LONGEST_TOPIC]


def _cut(text: str) -> str:
    """A statement on one line, cut between words where it is too long."""
    line = " ".join(text.split())
    if len(line) <= LONGEST_STATEMENT:
        return line
    return line[:LONGEST_STATEMENT].rsplit(" ", 1)[0] + "…"


def _sentence(text: str) -> str:
    line = _cut(text)
    return line if line.endswith((".", "!", "?", "…", "。", "！", "？")) else f"{line}."
