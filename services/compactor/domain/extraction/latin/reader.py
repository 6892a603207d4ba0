"""German, French and Spanish sentences (SPEC J-8). Pure.

A language cuts a sentence into clauses and says of each whom it is about, what its verb means and what
follows it. What a clause tells is then read from frames that are the same for all three
(`extraction/latin/frames.py`), filled with the language's words. A statement repeats the clause in the third
person.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import partial

from services.compactor.domain.extraction import dates
from services.compactor.domain.extraction.facts import Category, Fact, Subject, Tense
from services.compactor.domain.extraction.latin.language import Clause, Cuts, Frame, Language, Wish
from services.compactor.domain.extraction.subjects import slug

MOST_WORDS = 24
"""Words of a statement: what is longer was not understood."""
_FIRST_WORD = re.compile(r"([^\W\d_][\w-]+) ")
_SYMBOLS = re.compile(r"\s*[\u2190-\u2BFF\uFE0F\U0001F000-\U0001FAFF]+\s*")
_PASSING = frozenset({Category.TASK, Category.EVENT})


def read(language: Language, sentences: Sequence[str], author: Subject, said: date) -> Iterator[Fact]:
    """What sentences tell in one language."""
    if any(language.unreal.search(one) for one in sentences):
        return
    reading = _Reading(language=language, author=author, said=said)
    for sentence in sentences:
        yield from reading.of_sentence(sentence)


@dataclass(slots=True)
class _Reading:
    """One message: whom its clauses spoke of last, as whose relative, and whom they named."""

    language: Language
    author: Subject
    said: date
    last: Subject | None = None
    relation: str = ""
    people: dict[str, Subject] = field(default_factory=dict)

    def of_sentence(self, sentence: str) -> Iterator[Fact]:
        """The facts of a sentence."""
        text = _SYMBOLS.sub(" ", sentence)
        for pattern, form in self.language.typed:
            text = pattern.sub(form, text)
        text = self.language.lead.sub("", text, count=1).strip(" ,.!:")
        text = self.language.small.sub(lambda one: f"{one['a']}{one['name'].title()} ", text)
        yield from self._named(text)
        if profile := self._profile(text):
            yield from profile
            return
        if self.language.standing.search(text) and (wanted := list(self._wanted(text))):
            yield from wanted
            return
        if self.language.unsure.match(text):
            return
        for clause in self._clauses(text):
            own = self.language.lead.sub("", clause, count=1).strip(" ,")
            if own and not self.language.unsure.search(own):
                yield from self._of_clause(own)

    def _clauses(self, text: str) -> Iterator[str]:
        """The clauses of a sentence; what announces a decision or a task stays with it."""
        for wish in self.language.wishes:
            if wish.whole and (match := wish.pattern.match(text)):
                at = match.start("o")
                first, *others = [*_clauses(self.language.cuts, text[at:]), ""]
                yield f"{text[:at]}{first}"
                yield from others
                return
        yield from _clauses(self.language.cuts, text)

    def _profile(self, text: str) -> list[Fact]:
        """From "hi, ich bin die Anna, 19, Tischlerin aus Kiel": only where the name is the author's."""
        match = self.language.profile.match(text)
        name = match.groupdict().get("name") if match else None
        if match is None or (name and slug(name) != slug(self.author.name.split(" ")[0])):
            return []
        called, being, aged = self.language.intro
        clauses = [f"{called} {self.author.name.split(' ')[0]}"] if name else []
        for part in map(str.strip, self.language.listed.split(match["list"] or "")):
            if self.language.years.fullmatch(part):
                clauses.append(f"{aged} {part}")
            elif part:
                own = self.language.cuts.comma.match(part) or self.language.parse(part)
                clauses.append(part if own else f"{being} {part}")
        return [fact for clause in clauses for fact in self._of_clause(clause)]

    def _named(self, text: str) -> Iterator[Fact]:
        for match in self.language.named.finditer(text):
            _, told = self._relative(" ".join(match["relation"].split()), match["name"])
            yield from told

    def _relative(self, relation: str, name: str) -> tuple[Subject, list[Fact]]:
        owned = self.language.owned(self.author.name, relation)
        key = self.author.attribute(slug(f"{relation} {name}") if name else slug(relation))
        if not name:  # she may have been named before
            if self.last is not None and self.last.name.endswith(f"({owned})"):
                return self.last, []
            return Subject(name=owned, key=key), []
        told = Fact(
            key=f"{key}.name",
            subject=owned,
            predicate=f"{self.language.called} {name}",
            category=Category.RELATIONSHIP,
        )
        self.last = self.people[name.split(" ")[-1]] = Subject(name=f"{name} ({owned})", key=key)
        return self.last, [told]

    def _of_clause(self, text: str) -> list[Fact]:
        for wish in self.language.wishes:
            match = wish.pattern.match(text)
            if match and (facts := self._of_wish(wish, match)):
                return facts
        begins = _FIRST_WORD.match(text)
        if begins and begins[1] in self.people:
            self.last = self.people[begins[1]]
            text = f"{self.language.she} {text[begins.end() :]}"
        if self.language.trait.match(text):
            text = f"{self.language.intro[1]} {text}"
        clause = self.language.parse(text)
        if clause is None:
            return []
        if clause.about == "thing":
            subject = self.author
        elif clause.about == "I" or (clause.about == "same or I" and self.last is None):
            subject, self.last = self.author, None
        elif clause.owner:
            owned = self.language.owned(clause.owner, clause.relation)
            self.last = subject = Subject(name=owned, key=f"person.{slug(owned)}")
        elif clause.about == "kin":
            subject, _ = self._relative(clause.relation, clause.name)
            self.last, self.relation = subject, clause.relation
        elif self.last is None:
            return []
        else:
            subject = self.last
        for frame in self.language.frames:
            if found := self._of_frame(frame, clause, subject):
                return found
        return []

    def _of_frame(self, frame: Frame, clause: Clause, subject: Subject) -> list[Fact]:
        if (
            clause.sense == "think"
            or not frame.senses & {clause.sense, "*"}
            or clause.time != frame.time
            or clause.denied != frame.denied
            or (clause.about == "thing") != (frame.about == "thing")
            or (frame.about == "kin" and subject is self.author)
        ):
            return []
        match = frame.rest.match(clause.rest)
        if match is None:
            return []
        if frame.slot == "name":
            return self._of_name(match["o"], clause, subject)
        rest = match.groupdict().get("k") or clause.rest
        parts = [rest]
        if frame.category is Category.TASK:
            parts = [one for one in self.language.infinitives.split(rest) if one.strip()]
        thing = match.groupdict().get("o") or rest
        found = [
            self._fact(
                f"{clause.verb} {part}",
                part if len(parts) > 1 else thing,
                frame.category,
                frame.slot,
                frame.dated,
                subject,
            )
            for part in parts
        ]
        told = [one for one in found if one is not None and (one.day or not frame.exact)]
        return [fact for one in told for fact in self._placed(one)]

    def _of_name(self, name: str, clause: Clause, subject: Subject) -> list[Fact]:
        """One's own name; "is called Ann" of a relative: of Ann the rest tells."""
        if subject is not self.author:
            relation = clause.relation or self.relation
            known = (
                clause.sense != "call" or not relation or clause.name or clause.owner or "(" in subject.name
            )
            return [] if known else self._relative(relation, name)[1]
        if clause.sense != "call" and name.split()[0].casefold() != self.author.name.split()[0].casefold():
            return []
        return [
            Fact(
                key=subject.attribute("name"),
                subject=subject.name,
                predicate=f"{self.language.called} {name}",
                category=Category.IDENTITY,
            )
        ]

    def _of_wish(self, wish: Wish, match: re.Match[str]) -> list[Fact]:
        groups = match.groupdict()
        if "o" not in groups:
            parts = [""]
        elif wish.category is Category.TASK:
            parts = [one for one in self.language.infinitives.split(groups["o"]) if one.strip()]
        else:
            parts = [groups["o"]]
        said = {name: text or "" for name, text in groups.items()}
        done = self.language.parse(parts[0]) if wish.whole and wish.category is Category.DECISION else None
        if done is not None and done.about == "I":  # "decided: we keep the boat" as "keeps the boat"
            made = self._fact(
                f"{done.verb} {done.rest}", done.rest, wish.category, wish.slot, wish.dated, self.author
            )
            return [made] if made else []
        found = [
            self._fact(
                wish.says.format(**{**said, "o": part}),
                part,
                wish.category,
                wish.slot,
                wish.dated,
                self.author,
            )
            for part in parts
        ]
        return [one for one in found if one is not None]

    def _wanted(self, text: str) -> Iterator[Fact]:
        """Each part of a wish for all answers."""
        for part in self.language.parts.split(self.language.standing.sub(" ", text, count=1)):
            wish = part.strip(" ,.:")
            for known in self.language.wishes:
                match = known.pattern.match(wish) if known.category is Category.INSTRUCTION else None
                if match:
                    yield from self._of_wish(known, match)
                    break
            else:
                if self.language.imperative.match(wish):
                    said = self.language.wanted.format(o=wish)
                    made = self._fact(said, wish, Category.INSTRUCTION, "instruction*", None, self.author)
                    yield from [made] if made else []
                elif wish and not self.language.unsure.search(wish):
                    yield from self._of_clause(wish)

    def _fact(
        self, text: str, thing: str, category: Category, slot: str, dated: Tense | None, subject: Subject
    ) -> Fact | None:
        text = " ".join(text.split()).strip(" ,")
        if category is not Category.INSTRUCTION:  # "answer me in verse" stands as it was asked
            for pattern, form in self.language.whose:
                text = pattern.sub(form, text)
            if self.language.foreign.search(text):
                return None
        if len(text.split()) > MOST_WORDS:
            return None
        tense = dated or (Tense.COMING if category is Category.TASK else Tense.PAST)
        mention = dates.find(text, self.said, tense)
        repeated = mention is not None and (mention.recurring or bool(self.language.recurring.search(text)))
        if (dated and mention is None) or (repeated and category in _PASSING):
            return None
        if mention and mention.day and self.language.week.search(text):  # "Tuesday of next week"
            mention = replace(mention, day=_in_week(self.language.week, text, mention.day, self.said))
        day = None
        if mention and not repeated and (dated or category in _PASSING):
            day = mention.day
        if slot == "birth" and mention:
            day = mention.day
        elif mention and day:
            text = f"{dates.without(text, mention)} {self.language.day.format(day=day.isoformat())}"
            within = dates.find(thing, self.said, tense)
            thing = dates.without(thing, within) if within else thing
        if slot.endswith("*"):
            when = f"{day.isoformat()}." if day and category is Category.EVENT else ""
            slot = f"{slot[:-1]}.{when}{slug(thing or text)}"
        return Fact(
            key=subject.attribute(slot), subject=subject.name, predicate=text, category=category, day=day
        )

    def _placed(self, found: Fact) -> list[Fact]:
        """A trade, and apart from it the place where it is practised."""
        match = (
            self.language.place.match(found.predicate)
            if found.key.endswith((".occupation", ".employer"))
            else None
        )
        if match is None:
            return [found]
        _, comma, limit = match["o"].partition(", ")  # "..., but only in summer" holds for both
        where = Fact(
            key=f"{found.key.rpartition('.')[0]}.work-place",
            subject=found.subject,
            predicate=self.language.works.format(o=match["o"]),
            category=Category.LOCATION,
        )
        return [replace(found, predicate=f"{match['a'].strip(' ,')}{comma}{limit}"), where]


def _in_week(week: re.Pattern[str], text: str, day: date, said: date) -> date:
    """The day of that name in the week after, or in the one before."""
    match = week.search(text)
    step = -7 if match and match["last"] else 7
    return said + timedelta(days=day.weekday() - said.weekday() + step)


def _clauses(cuts: Cuts, sentence: str) -> Iterator[str]:
    """What belongs to a clause stays with it: lists, places, restrictions."""
    found: list[str] = []
    dropping = False
    begin, mark = 0, ";"
    for cut in [*cuts.at.finditer(sentence), None]:
        part = sentence[begin : cut.start() if cut else len(sentence)]
        joint = mark.strip()
        starts = not (found and cuts.front.fullmatch(found[-1].strip(" ,"))) and (
            cuts.dropped.match(part.lstrip())
            or joint in {";", "-"}
            or (cuts.comma if joint in {",", ":"} else cuts.bare).match(part.lstrip())
        )
        if not found or starts:
            dropping = bool(found and cuts.dropped.match(part.lstrip()))
            if not dropping:
                found.append(part)
        elif not dropping:
            between = " " if cuts.front.fullmatch(found[-1].strip(" ,")) else mark
            found[-1] = f"{found[-1]}{between}{part}"
        if cut:
            begin, mark = cut.end(), cut.group()
    return iter(one.strip(" ,") for one in found)


Reader = Callable[[Sequence[str], Subject, date], Iterator[Fact]]


def reader(language: Language) -> tuple[str, Reader]:
    """How an unnamed author is called, and the language's reader."""
    return language.unnamed, partial(read, language)
