"""English sentences, clause by clause (SPEC J-8). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date

from services.compactor.domain.extraction import dates
from services.compactor.domain.extraction.english import words
from services.compactor.domain.extraction.english.acts import read_act
from services.compactor.domain.extraction.english.chat import written as written_out
from services.compactor.domain.extraction.english.days import read_day, read_done, read_theirs
from services.compactor.domain.extraction.english.decisions import (
    decision_of,
    is_sure,
    read_decided,
    read_proposed,
)
from services.compactor.domain.extraction.english.doubt import denies, negated, unsure, unsure_clause, vouched
from services.compactor.domain.extraction.english.ellipsis import continued, goes_on, has_subject
from services.compactor.domain.extraction.english.events import and_did, undated, with_day
from services.compactor.domain.extraction.english.intros import by_name, introduced, is_private
from services.compactor.domain.extraction.english.liking import read_liking
from services.compactor.domain.extraction.english.names import plain, read_attributes, read_labelled
from services.compactor.domain.extraction.english.naming import apart, apposed, mentioned, read_names
from services.compactor.domain.extraction.english.notes import by_then, tasks_noted
from services.compactor.domain.extraction.english.orders import read_order
from services.compactor.domain.extraction.english.pronouns import named, noted, referent, resolved, seen
from services.compactor.domain.extraction.english.scheduled import (
    read_moved,
    read_scheduled,
    read_thing,
    topic_of,
)
from services.compactor.domain.extraction.english.somebody import known_from, relative_of_somebody
from services.compactor.domain.extraction.english.states import Clause, read_state
from services.compactor.domain.extraction.english.tasks import read_due, with_due
from services.compactor.domain.extraction.english.things import date_last
from services.compactor.domain.extraction.english.unsaid import with_subject
from services.compactor.domain.extraction.english.verbs import about, clauses, dated, joined
from services.compactor.domain.extraction.english.whole import whole
from services.compactor.domain.extraction.english.wishes import read_ruled, read_wish
from services.compactor.domain.extraction.facts import Category, Fact, Subject, Tense
from services.compactor.domain.extraction.subjects import (
    NAME,
    Parsed,
    People,
    parse,
    relation_fact,
    relative_of,
    slug,
)

_FLAGS = re.IGNORECASE
MOST_CLAUSES = 2
"""Clauses of a sentence of which one may be understood without knowing its verb."""
_IRRELEVANT = re.compile(
    r"^(?:if it (?:matters|helps|is relevant)|if you (?:must|want to) know"
    r"|if you are wondering|in case it (?:matters|helps))"
    r"[ ,:]+(?:at all, )?",
    _FLAGS,
)
_IN_CASE = re.compile(
    r",? (?:if|in case) (?:that|it|they|you|anyone|anybody|somebody|someone"
    r"|the \w+) (?:asks?|matters?|helps?|needs? (?:it|to know)"
    r"|wants? to know|wonders?|are wondering|is relevant|is (?:of )?any (?:use|help)"
    r"|counts?|cares?|keeps? (?:lists?|track))"
    r"(?: at all| with (?:that|it))?$",
    _FLAGS,
)
_ASKED = re.compile(
    r"^(?:I (?:would like|want|need) you to (?=.*\b(?:always|never|call me|from now on)\b"
    r"|be [\w ]+ with me\b)"
    r"|(?:can|could|would|will) you (?:please |just )*(?=(?:stop|always|never|call me|from now on|quit)\b)"
    r"|you (?:can|may|should) (?:just )?(?=call me ))",
    _FLAGS,
)
_OF_SELF = re.compile(r"\b(?:I|I'm|im|ive|my|we|our|me|us|mine)\b", _FLAGS)
_SO_IS = re.compile(r"^(?:and )?(?:so )?(?:is|am|are|does|do|has) (?P<rest>(?:my|our) .+)(?P<how>)$", _FLAGS)
_IS_TOO = re.compile(
    r"^(?P<rest>(?:my|our) [\w' -]+?) (?:is|am|are|does|do|has|have) (?P<how>too|as well|also"
    r"|not)(?: either)?$",
    _FLAGS,
)
_TEAM = re.compile(
    r"^(?:the|our|my) (?:whole |entire )?(?:team|committee|board|family|group|class|band|club"
    r"|department|choir) (?P<rest>.+)$",
    _FLAGS,
)
_EXPECTED = re.compile(
    rf"^(?P<o>(?:the|our|my) (?!(?:{words.RELATIONS})\b)(?:[\w'-]+ ){{1,4}}?)(?:is"
    r"|are) (?:coming|arriving|being delivered"
    r"|visiting)(?: by| over)? (?P<w>.+)$",
    _FLAGS,
)
_RULE_FOLLOWS = re.compile(
    r"^(?:that|it|this) (?:is|goes) (?:a|the|my|for|as a) (?:\w+ )?(?:rule|policy|default"
    r"|every\w*|all|always|standing)\b"
    r"|^(?:every time|always|at all times|from now on|permanently|I mean it|no exceptions)$",
    _FLAGS,
)
_SHARED = {Category.FACT, Category.PREFERENCE, Category.IDENTITY}
_TOGETHER = re.compile(
    rf"^(?:my (?P<relation>{words.SINGLE_RELATIONS}"
    rf"|{words.PLURAL_RELATIONS})(?: (?P<name>(?-i:[A-Z])\w+))?"
    r"|(?P<other>(?-i:[A-Z])\w+)) and I (?P<rest>.+)$",
    _FLAGS,
)
_PARTED = re.compile(
    r"^(?:(?:have|has|are) )?(?:split up|broke up|broken up|separated|moved in(?: together)?|got engaged"
    r"|got married"
    r"|called it a day)\b(?! (?:with|to)\b)",
    _FLAGS,
)
_TOLD = re.compile(
    r"^(?:just |once |recently )?(?:told (?:me|us)|tells (?:me|us)|says?|said|mentioned|wrote"
    r"|writes)(?: to me| me)?(?: (?:yesterday|today|recently|once|last \w+"
    r"|this \w+))?(?: that)? (?P<rest>(?:he|she|they|his|her|their) .+)$",
    _FLAGS,
)
_TOLD_BY = re.compile(
    r"^(?P<name>(?-i:[^\W\d_a-z][\w'-]+)) (?P<rest>(?:told|said|says|mentioned|wrote).+)$", _FLAGS
)
_THEIRS = re.compile(rf"^(?:his|her|their) (?P<relation>{words.RELATIONS}) (?P<rest>.+)$", _FLAGS)
_IS_CALLED = re.compile(rf"^(?:is|was) (?:called|named) (?P<name>{NAME})$", _FLAGS)
_MOVED = re.compile(r"^(?:have |has )?(?:just |recently |finally |now )?(?:moved|relocated)\b", _FLAGS)


def facts_of(sentences: Sequence[str], author: Subject, said: date) -> Iterator[Fact]:
    """What a message's sentences tell."""
    near = any(map(_OF_SELF.search, sentences))
    people, found = People(author=author, near=near, seen=seen(sentences, author)), list[Fact]()
    sentences = tasks_noted(joined(sentences))
    written = [
        _ASKED.sub("please ", _IN_CASE.sub("", _IRRELEVANT.sub("", apposed(written_out(sentence)))))
        for sentence in sentences
    ]
    for place, sentence in enumerate(written):
        following = written[place + 1] if place + 1 < len(written) else ""
        sure = is_sure(sentence) or any(
            is_sure(one) for one in written[place + 1 : place + 3] if len(one.split()) < 9
        )
        if unsure(sentence) and not sure:
            found += mentioned(sentence, people)
            found += read_wish(sentence, author) or _of_sentence(vouched(sentence), people, said, sure)
            continue
        if _RULE_FOLLOWS.match(sentence):
            continue
        if _RULE_FOLLOWS.match(following) and (ruled := read_ruled(sentence, author)):
            found += ruled
            continue
        found += _of_sentence(sentence, people, said, sure)
    for told in found:
        fact = whole(told)
        if fact is None or (fact.subject == author.name and undated(fact)):
            continue
        if any(other.predicate.startswith(f"{fact.predicate} called ") for other in found):
            continue  # "has a brother" was said before his name
        known = people.renamed.get(fact.subject)
        yield replace(fact, subject=known.name) if known else fact


def _of_sentence(sentence: str, people: People, said: date, sure: bool) -> Iterator[Fact]:
    """What a sentence tells as a whole, then clause by clause; a clause may go on about the one before."""
    own = Clause(author=people.author, subject=people.author, first=True, rest="", said=said)
    told = _whole(sentence, own, people)
    yield from told
    if any(fact.category is Category.INSTRUCTION for fact in told):
        return
    yield from apart(sentence, people)
    carried, topic, before, elided = "", "", "", True
    told_before: Fact | None = None
    if people.spoken and goes_on(sentence):
        carried = people.spoken
    denied = denies(sentence)
    due = bool(re.search(r"\bdue\b|\bdeadline\b", sentence, _FLAGS))
    parts = list(clauses(sentence))
    people.crowded = len(parts) > MOST_CLAUSES
    for place, part in enumerate(parts):
        clause = with_subject(part) if elided and not carried else part
        elided = elided and not has_subject(part)
        if unsure_clause(clause) or (denied and negated(clause)):
            carried = ""
            continue
        if again := _SO_IS.match(clause) or _IS_TOO.match(clause):
            yield from _alike(again["rest"], people.last, people, denied="not" in (again["how"] or ""))
            continue
        clause = by_then(clause, people.last)
        if place and f", who {part}" in sentence and (named_last := _last_named(before, people)):
            carried = named_last
        if place == 0 and carried:
            whole = f"{carried} {clause[0].lower()}{clause[1:]}"
        else:
            whole = date_last(continued(clause, carried, before), said)
        before = whole
        facts, phrase = _of_clause(whole, people, said, sure=sure, due=due)
        if people.last and (
            same := with_due(people.last, clause, said) or with_day(people.last, clause, said)
        ):
            facts = [same]
        if told_before and f" and {part}" in sentence and (more := and_did(told_before, part, own)):
            facts = [more]
        if not facts and topic:
            facts = read_moved(clause, topic, own)
        topic = topic_of(clause) or topic
        carried = phrase or carried
        people.spoken = phrase if phrase.lower() not in {"i", "we"} else ""
        told_before = facts[-1] if facts else None
        people.last = told_before or people.last
        yield from mentioned(clause, people)
        yield from (known for fact in facts if (known := resolved(fact, people, sentence)))
        noted(clause, people)


def _last_named(clause: str, people: People) -> str:
    """Whom a clause names at its end, and what is added with "who" is about."""
    return next((name for name in people.by_name if clause.endswith(f" {name}")), "")


def _whole(sentence: str, own: Clause, people: People) -> list[Fact]:
    """From a sentence that is an introduction, a verdict or a field: "Kim here, 71", "decided: blue"."""
    found = (
        introduced(sentence, people.author, after=people.introduced)
        or read_decided(sentence, people.author)
        or read_labelled(sentence, own)
        or read_wish(sentence, people.author)
    )
    people.introduced = any(fact.key.endswith(".name") for fact in found)
    people.last = found[-1] if found else people.last
    return found


def _alike(who: str, last: Fact | None, people: People, *, denied: bool = False) -> Iterator[Fact]:
    """From "I'm vegan, and so is my partner", "but my kids aren't"."""
    parsed = parse(who, people)
    if parsed and last and last.category in _SHARED and not parsed.first and not parsed.rest:
        yield from parsed.told
        said = re.sub(r"^is\b", "are" if parsed.subject.plural else "is", last.predicate)
        if denied and not said.startswith(("is ", "are ")):
            return
        said = re.sub(r"^(is|are)\b", r"\1n't", said) if denied else said
        slot = last.key.removeprefix(_prefix(last, people))
        yield Fact(
            key=f"{parsed.subject.key}.{slot}",
            subject=parsed.subject.name,
            predicate=said,
            category=last.category,
        )


def _prefix(last: Fact, people: People) -> str:
    """The beginning of a fact's key that names its subject."""
    known = [people.author, *people.others]
    return f"{max((s.key for s in known if last.key.startswith(f'{s.key}.')), key=len, default='')}."


def _of_clause(clause: str, people: People, said: date, *, sure: bool, due: bool) -> tuple[list[Fact], str]:
    """The facts of a clause, and how it names its subject ("" when that cannot be carried on)."""
    author = people.author
    own = Clause(author=author, subject=author, first=True, rest=clause, said=said, crowded=people.crowded)
    for reader in (read_names, read_attributes):
        if found := reader(clause, own, people):
            return found, people.called() if reader is read_names else ""
    if (
        found := read_due(clause, own)
        or read_scheduled(clause, own)
        or read_liking(clause, own)
        or read_order(clause, own)
        or _together(clause, people, said)
    ):
        return found, ""
    if sure and (found := read_proposed(clause, own)):
        return found, ""
    if found := _expected(clause, own) or _team(clause, own):
        return found, ""
    parsed = parse(clause, people) or relative_of_somebody(clause, people)
    parsed = (
        parsed
        or referent(clause, people)
        or named(clause, people)
        or _someone_told(clause, people)
        or known_from(clause, people)
    )
    if parsed is None and (parsed := by_name(clause, people)):
        if kept := [
            fact for fact in _told(parsed, people, own, sure=False) if is_private(fact, near=people.near)
        ]:
            people.add(parsed.subject, parsed.subject.name)
        if kept:
            return kept, parsed.phrase
        parsed = None
    if parsed is None:
        theirs = read_theirs(clause, own, people)
        return theirs or read_thing(clause, own) or read_day(clause, own) or read_done(clause, own), ""
    return [*parsed.told, *_told(parsed, people, replace(own, due=due), sure=sure)], parsed.phrase


def _team(clause: str, own: Clause) -> list[Fact]:
    """What a group that the author speaks for decided."""
    match = _TEAM.match(clause)
    found = read_act(replace(own, rest=match["rest"])) if match else []
    return [fact for fact in found if fact.category is Category.DECISION]


def _expected(clause: str, own: Clause) -> list[Fact]:
    """From "the boiler man is coming on Tuesday"."""
    match = _EXPECTED.match(clause)
    mention = dates.find(match["w"], own.said, Tense.COMING) if match else None
    if match is None or mention is None or mention.day is None or mention.day < own.said:
        return []
    what = re.sub(r"^(?:my|our|the) ", "the ", match["o"].strip(), flags=_FLAGS)
    text, day = dated(f"expects {what} {match['w']}", own.said, Tense.COMING)
    return [
        replace(
            plain(own.author, Category.EVENT, f"event.{mention.day}.{slug(what)}", about(text, own.author)),
            day=day,
        )
    ]


def _told(parsed: Parsed, people: People, own: Clause, *, sure: bool) -> list[Fact]:
    if not parsed.first and (match := _TOLD.match(parsed.rest)):
        return _reported(parsed.subject, match["rest"], people, own.said)
    clause = replace(own, subject=parsed.subject, first=parsed.first, rest=parsed.rest)
    if sure and parsed.first and (found := decision_of(clause)):
        return found
    if not parsed.first and (match := _IS_CALLED.match(parsed.rest)):
        return _named_later(parsed.subject, match["name"], people)
    return (read_state(clause) if _MOVED.match(parsed.rest) else []) or read_act(clause) or read_state(clause)


def _named_later(subject: Subject, name: str, people: People) -> list[Fact]:
    """From "our daughter was born today, she's called Mila"."""
    match = re.fullmatch(rf"{re.escape(people.author.name)}'s (?P<relation>.+)", subject.name)
    if match is None:
        return []
    people.others = [one for one in people.others if one is not subject]
    people.renamed[subject.name] = people.add(relative_of(people.author, match["relation"], name), name)
    return [relation_fact(people.author, match["relation"], name)]


def _someone_told(clause: str, people: People) -> Parsed | None:
    """From "Tom told me his sister lives in Kyiv"."""
    match = _TOLD_BY.match(clause)
    if match is None or match["name"] in words.NOT_NAMES or not _TOLD.match(match["rest"]):
        return None
    subject = Subject(name=match["name"], key=people.author.attribute(f"knows.{slug(match['name'])}"))
    return Parsed(subject=subject, first=False, rest=match["rest"], phrase="")


def _reported(speaker: Subject, rest: str, people: People, said: date) -> list[Fact]:
    """What somebody said of themselves or of a relative of theirs."""
    subject = speaker
    if match := _THEIRS.match(rest):
        base = Subject(name=speaker.name.split(" (")[0], key=speaker.key)
        subject, rest = relative_of(base, match["relation"].lower()), match["rest"]
    else:
        rest = rest.partition(" ")[2]
    clause = Clause(author=people.author, subject=subject, first=False, rest=rest, said=said)
    return read_act(clause) or read_state(clause)


def _together(clause: str, people: People, said: date) -> list[Fact]:
    """From "my wife and I have been married for ten years", "Marc and I got engaged"."""
    match = _TOGETHER.match(clause)
    if match is None or (match["other"] or "") in words.NOT_NAMES:
        return []
    parsed = Clause(author=people.author, subject=people.author, first=True, rest=match["rest"], said=said)
    name = match["name"] or match["other"] or ""
    found = [
        replace(fact, predicate=_PARTED.sub(rf"\g<0> with {name}", fact.predicate)) if name else fact
        for fact in read_act(parsed) or read_state(parsed)
    ]
    if name and re.match(r"(?:got|are|have been|were) (?:engaged|married)\b", match["rest"], _FLAGS):
        status = "engaged" if "engaged" in match["rest"] else "married"
        found.append(plain(people.author, Category.RELATIONSHIP, "marital-status", f"is {status} to {name}"))
    if match["relation"] and match["name"]:
        found.append(relation_fact(people.author, match["relation"].lower(), match["name"]))
    return found
