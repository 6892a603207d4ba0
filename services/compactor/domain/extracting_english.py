"""English sentences, clause by clause (SPEC J-8). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date

from services.compactor.domain import extracting_dates as dates
from services.compactor.domain import extracting_words as words
from services.compactor.domain.extracting_acts import (
    decision_of,
    is_sure,
    read_act,
    read_scheduled,
)
from services.compactor.domain.extracting_names import plain, read_attributes, read_names
from services.compactor.domain.extracting_orders import read_order
from services.compactor.domain.extracting_states import Clause, read_state
from services.compactor.domain.extracting_subjects import (
    NAME,
    Parsed,
    People,
    parse,
    relation_fact,
    relative_of,
    slug,
)
from services.compactor.domain.extracting_types import Category, Fact, Subject, Tense
from services.compactor.domain.extracting_verbs import about, clauses, dated, expanded

_FLAGS = re.IGNORECASE
_UNSURE = re.compile(
    r"\b(?:if|unless|whether|not true|never said|did not say|not saying|misunderstanding"
    r"|dreamt|dreamed|in my dreams?"
    r"|dream of|wish|claim(?:s|ed)|horoscope|supposedly|allegedly|rumou?r|in theory|would have"
    r"|as though|were I|had I"
    r"|according to|quote|motto|caption|example\b(?!\.)|says? here|evil twin|in this game"
    r"|my character|my avatar|fortune cookie"
    r"|novel|story|film|movie|fiction|sitcom|episode|screenplay|role)\b"
    r"|\b(?:says|write|writes|reads?|draft|text|title|subject line|template|headline"
    r"|answer with|something like)\b[^:]*:"
    r"|^(?:maybe|perhaps|possibly|probably|presumably|ideally|hopefully|in another life|in an ideal)\b",
    _FLAGS,
)
_IRRELEVANT = re.compile(
    r"^(?:if it (?:matters|helps|is relevant)|if you (?:must|want to) know"
    r"|if you are wondering|in case it (?:matters|helps))"
    r"[ ,:]+(?:at all, )?",
    _FLAGS,
)
_ASKED = re.compile(
    r"^(?:I (?:would like|want|need) you to (?=.*\b(?:always|never|call me|from now on)\b)"
    r"|you (?:can|may|should) (?:just )?(?=call me ))",
    _FLAGS,
)
_NOTED = re.compile(
    r"^(?:note to self|to-?do|reminder to self)\s*[:,-]\s*(?:remember to |don't forget to )?", _FLAGS
)
_UNSURE_CLAUSE = re.compile(
    r"\b(?:might|maybe|perhaps|would|could|probably|possibly|presumably|(?-i:may)|some ?day"
    r"|one day|who knows|almost|nearly"
    r"|hope to|plan to|want to|thinking (?:of|about)|considering|tempted|pretended|kind of"
    r"|sort of|as a joke|apparently"
    r"|practically|virtually|basically|theoretically|metaphorically|literally|not sure)\b",
    _FLAGS,
)
_SO_IS = re.compile(r"^(?:and )?(?:so )?(?:is|am|are|does|do|has) (?P<rest>(?:my|our) .+)$", _FLAGS)
_TEAM = re.compile(
    r"^(?:the|our|my) (?:whole |entire )?(?:team|committee|board|family|group|class|band|club"
    r"|department|choir) (?P<rest>.+)$",
    _FLAGS,
)
_FROM_MY = re.compile(
    r"^(?P<name>(?-i:[^\W\d_a-z])[\w'-]+) (?P<p>from|at"
    r"|in) (?P<o>my (?:[\w'-]+ ){0,2}?[\w'-]+) (?=(?:is|has|was|lives|works|loves|hates|likes"
    r"|got|just|moved|told)\b)",
    _FLAGS,
)
_EXPECTED = re.compile(
    r"^(?P<o>(?:the|our|my) (?:[\w'-]+ ){1,4}?)(?:is|are) (?:coming|arriving|being delivered"
    r"|visiting)(?: by| over)? (?P<w>.+)$",
    _FLAGS,
)
_CARRIED = re.compile(rf"^(?:also |now |currently |then )*(?:{words.CARRIED})\b", _FLAGS)
_GREETED = re.compile(
    r"^\W*(?:hi|hey|hello|good (?:morning|evening"
    r"|afternoon))\b.{0,20}?\bI am (?P<name>(?-i:[^\W\d_a-z][\w'-]+))(?=[ ,.]|$)",
    _FLAGS,
)
_TOGETHER = re.compile(
    rf"^(?:my (?P<relation>{words.SINGLE_RELATIONS}"
    rf"|{words.PLURAL_RELATIONS})(?: (?P<name>(?-i:[A-Z])\w+))?"
    r"|(?P<other>(?-i:[A-Z])\w+)) and I (?P<rest>.+)$",
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
    people, found = People(author=author), list[Fact]()
    sentences = [_NOTED.sub("remind me to ", sentence) for sentence in sentences]
    written = [_ASKED.sub("please ", _IRRELEVANT.sub("", expanded(sentence))) for sentence in sentences]
    for place, sentence in enumerate(written):
        following = written[place + 1] if place + 1 < len(written) else ""
        sure = is_sure(sentence) or (is_sure(following) and len(following.split()) < 6)
        if _UNSURE.search(sentence) and not sure:
            continue
        found += _of_sentence(sentence, people, said, sure)
    for fact in found:
        named = people.renamed.get(fact.subject)
        yield replace(fact, subject=named.name) if named else fact


def _of_sentence(sentence: str, people: People, said: date, sure: bool) -> Iterator[Fact]:
    if greeted := _GREETED.match(sentence):
        yield plain(people.author, Category.IDENTITY, "name", f"is called {greeted['name']}")
    carried, last = "", None
    for clause in clauses(sentence):
        if _UNSURE_CLAUSE.search(clause):
            carried = ""
            continue
        whole = clause
        if carried and _CARRIED.match(clause) and not _SO_IS.match(clause):
            whole = f"{carried} {clause}"
        elif not carried and re.match(r"(?:need to|have to|must) ", clause, _FLAGS):
            whole = f"I {clause}"
        if again := _SO_IS.match(clause):
            yield from _alike(again["rest"], last, people)
            continue
        facts, phrase = _of_clause(_date_last(whole, said), people, said, sure)
        carried = phrase or carried
        last = facts[-1] if facts else last
        yield from facts


def _date_last(clause: str, said: date) -> str:
    """With a date that opens it at its end: "Three days ago I started" as "I started three days ago"."""
    mention = dates.find(clause, said, Tense.PAST)
    if (
        mention is None
        or mention.start > 0
        or not re.match(r"[ ,]+(?:I|we|my|our)\b", clause[mention.end :], _FLAGS)
    ):
        return clause
    when = clause[: mention.end]
    if re.match(
        r"(?:last|next|this|yesterday|today|tomorrow|tonight|in|on|two|three|four|five|a)\b", when, _FLAGS
    ):
        when = when[0].lower() + when[1:]
    return f"{clause[mention.end :].strip(' ,')} {when}"


def _alike(who: str, last: Fact | None, people: People) -> Iterator[Fact]:
    """From "I'm vegan, and so is my partner"."""
    parsed = parse(who, people)
    if parsed and last and not parsed.first and not parsed.rest:
        yield from parsed.told
        slot = last.key.removeprefix(_prefix(last, people))
        yield Fact(
            key=f"{parsed.subject.key}.{slot}",
            subject=parsed.subject.name,
            predicate=last.predicate,
            category=last.category,
        )


def _prefix(last: Fact, people: People) -> str:
    """The beginning of a fact's key that names its subject."""
    known = [people.author, *people.others]
    return f"{max((s.key for s in known if last.key.startswith(f'{s.key}.')), key=len, default='')}."


def _of_clause(clause: str, people: People, said: date, sure: bool) -> tuple[list[Fact], str]:
    """The facts of a clause, and how it names its subject ("" when that cannot be carried on)."""
    author = people.author
    own = Clause(author=author, subject=author, first=True, rest=clause, said=said)
    for reader in (read_names, read_attributes):
        if found := reader(clause, own, people):
            return found, ""
    if found := read_scheduled(clause, own) or read_order(clause, own) or _together(clause, people, said):
        return found, ""
    if found := _expected(clause, own) or _team(clause, own):
        return found, ""
    parsed = parse(clause, people) or _someone_told(clause, people) or _known_from(clause, people)
    if parsed is None:
        return [], ""
    return [*parsed.told, *_told(parsed, people, said, sure)], parsed.phrase


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
    what = re.sub(r"^(?:my|our) ", "the ", match["o"].strip(), flags=_FLAGS)
    text, day = dated(f"expects {what} {match['w']}", own.said, Tense.COMING)
    return [
        replace(
            plain(own.author, Category.EVENT, f"event.{mention.day}.{slug(what)}", about(text, own.author)),
            day=day,
        )
    ]


def _known_from(clause: str, people: People) -> Parsed | None:
    """From "Anna from my book club is expecting"."""
    match = _FROM_MY.match(clause)
    if match is None or match["name"] in words.NOT_NAMES:
        return None
    subject = Subject(name=match["name"], key=people.author.attribute(f"knows.{slug(match['name'])}"))
    where = (
        f"is {'in' if match['p'].lower() == 'in' else match['p'].lower()} {about(match['o'], people.author)}"
    )
    told = Fact(
        key=subject.attribute("known"), subject=subject.name, predicate=where, category=Category.RELATIONSHIP
    )
    people.add(subject, subject.name)
    return Parsed(subject=subject, first=False, rest=clause[match.end() :], phrase=subject.name, told=(told,))


def _told(parsed: Parsed, people: People, said: date, sure: bool) -> list[Fact]:
    if not parsed.first and (match := _TOLD.match(parsed.rest)):
        return _reported(parsed.subject, match["rest"], people, said)
    clause = Clause(
        author=people.author, subject=parsed.subject, first=parsed.first, rest=parsed.rest, said=said
    )
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
    found = read_act(parsed) or read_state(parsed)
    if name and re.match(r"(?:got|are|have been|were) (?:engaged|married)\b", match["rest"], _FLAGS):
        status = "engaged" if "engaged" in match["rest"] else "married"
        found.append(plain(people.author, Category.RELATIONSHIP, "marital-status", f"is {status} to {name}"))
    if match["relation"] and match["name"]:
        found.append(relation_fact(people.author, match["relation"].lower(), match["name"]))
    return found
