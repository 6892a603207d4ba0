"""English sentences, clause by clause (SPEC J-8). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date

from services.compactor.domain import extracting_dates as dates
from services.compactor.domain import extracting_words as words
from services.compactor.domain.extracting_acts import read_act
from services.compactor.domain.extracting_chat import with_subject
from services.compactor.domain.extracting_chat import written as written_out
from services.compactor.domain.extracting_decisions import decision_of, is_sure, read_decided, read_proposed
from services.compactor.domain.extracting_intros import by_name, introduced, is_private, mentioned
from services.compactor.domain.extracting_names import plain, read_attributes, read_labelled, read_names
from services.compactor.domain.extracting_orders import read_order, read_ruled
from services.compactor.domain.extracting_scheduled import read_moved, read_scheduled, read_thing, topic_of
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
from services.compactor.domain.extracting_tasks import read_due, with_due
from services.compactor.domain.extracting_types import Category, Fact, Subject, Tense
from services.compactor.domain.extracting_verbs import about, clauses, dated

_FLAGS = re.IGNORECASE
_UNSURE = re.compile(
    r"\b(?:if|unless|whether|not true|never said|did not say|not saying|misunderstanding"
    r"|dreamt|dreamed|in my dreams?"
    r"|dream of|wish(?! (?:me|us) luck)|claim(?:s|ed)|horoscope|supposedly|allegedly|rumou?r"
    r"|in theory|would have"
    r"|as though|were I|had I"
    r"|according to|quote|motto|caption|example\b(?!\.)|says? here|evil twin|in this game"
    r"|my character|my avatar|fortune cookie"
    r"|(?<!favourite )(?<!favorite )(?<!a )(?:novel|story|film|movie)|fiction|sitcom"
    r"|episode|screenplay|role of|the role)\b"
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
_IN_CASE = re.compile(
    r",? (?:if|in case) (?:that|it|they|you|anyone|anybody|somebody|someone"
    r"|the \w+) (?:asks?|matters?|helps?|needs? (?:it|to know)"
    r"|wants? to know|wonders?|are wondering|is relevant|is (?:of )?any (?:use|help)"
    r"|counts?|cares?|keeps? (?:lists?|track))"
    r"(?: at all| with (?:that|it))?$",
    _FLAGS,
)
_ASKED = re.compile(
    r"^(?:I (?:would like|want|need) you to (?=.*\b(?:always|never|call me|from now on)\b)"
    r"|(?:can|could|would|will) you (?:please |just )*(?=(?:stop|always|never|call me|from now on|quit)\b)"
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
_CIRCUMSTANCE = re.compile(
    r"^(?P<w>(?:on|in|at|since|for) (?:the |an? |my |last |about "
    r"|around )?[\w' -]{2,24}?),? (?=(?:I|we) (?:only |always |usually |never )?(?:love"
    r"|like|hate|prefer|drink|eat|live|work"
    r"|go|take|sleep|have|get|run|play|use)\b)",
    _FLAGS,
)
_OF_SELF = re.compile(r"\b(?:I|I'm|im|ive|my|we|our|me|us|mine)\b", _FLAGS)
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
    rf"^(?P<o>(?:the|our|my) (?!(?:{words.RELATIONS})\b)(?:[\w'-]+ ){{1,4}}?)(?:is"
    r"|are) (?:coming|arriving|being delivered"
    r"|visiting)(?: by| over)? (?P<w>.+)$",
    _FLAGS,
)
_CARRIED = re.compile(
    rf"^(?:also |now |currently |then )*(?:{words.CARRIED}|still \w+|used to"
    r"|(?:never|always|only) \w+s)\b",
    _FLAGS,
)
_RULE_FOLLOWS = re.compile(
    r"^(?:that|it|this) (?:is|goes) (?:a|the|my|for|as a) (?:\w+ )?(?:rule|policy|default"
    r"|every\w*|all|always|standing)\b"
    r"|^(?:every time|always|at all times|from now on|permanently|I mean it|no exceptions)$",
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
    near = any(map(_OF_SELF.search, sentences))
    people, found = People(author=author, near=near), list[Fact]()
    sentences = [_NOTED.sub("remind me to ", sentence) for sentence in sentences]
    written = [
        _ASKED.sub("please ", _IN_CASE.sub("", _IRRELEVANT.sub("", written_out(sentence))))
        for sentence in sentences
    ]
    for place, sentence in enumerate(written):
        following = written[place + 1] if place + 1 < len(written) else ""
        sure = is_sure(sentence) or any(
            is_sure(one) for one in written[place + 1 : place + 3] if len(one.split()) < 9
        )
        if _UNSURE.search(sentence) and not sure:
            continue
        if _RULE_FOLLOWS.match(sentence):
            continue
        if _RULE_FOLLOWS.match(following) and (ruled := read_ruled(sentence, author)):
            found += ruled
            continue
        found += _of_sentence(sentence, people, said, sure)
    for fact in found:
        named = people.renamed.get(fact.subject)
        yield replace(fact, subject=named.name) if named else fact


def _of_sentence(sentence: str, people: People, said: date, sure: bool) -> Iterator[Fact]:
    """What a sentence tells as a whole, then clause by clause; a clause may go on about the one before."""
    own = Clause(author=people.author, subject=people.author, first=True, rest="", said=said)
    yield from _whole(sentence, own, people)
    carried, topic = "", ""
    due = bool(re.search(r"\bdue\b|\bdeadline\b", sentence, _FLAGS))
    for place, part in enumerate(clauses(sentence)):
        clause = with_subject(part) if place == 0 else part
        if _UNSURE_CLAUSE.search(clause):
            carried = ""
            continue
        if again := _SO_IS.match(clause):
            yield from _alike(again["rest"], people.last, people)
            continue
        whole = _date_last(_continued(clause, carried), said)
        facts, phrase = _of_clause(whole, people, said, sure=sure, due=due)
        if people.last and (dated_task := with_due(people.last, clause, said)):
            facts = [dated_task]
        if not facts and topic:
            facts = read_moved(clause, topic, own)
        topic = topic_of(clause) or topic
        carried = phrase or carried
        people.last = facts[-1] if facts else people.last
        yield from mentioned(clause, people)
        yield from facts


def _whole(sentence: str, own: Clause, people: People) -> list[Fact]:
    """From a sentence that is an introduction, a verdict or a field: "Kim here, 71", "decided: blue"."""
    found = (
        introduced(sentence, people.author, after=people.introduced)
        or read_decided(sentence, people.author)
        or read_labelled(sentence, own)
    )
    people.introduced = any(fact.key.endswith(".name") for fact in found)
    people.last = found[-1] if found else people.last
    return found


def _continued(clause: str, carried: str) -> str:
    """A clause with the subject of the one before, where it has none."""
    if carried and _CARRIED.match(clause):
        return f"{carried} {clause}"
    return f"I {clause}" if not carried and re.match(r"(?:need to|have to|must) ", clause, _FLAGS) else clause


def _date_last(clause: str, said: date) -> str:
    """With a date that opens it at its end: "Three days ago I started" as "I started three days ago"."""
    if opened := _CIRCUMSTANCE.match(clause):
        return f"{clause[opened.end() :]} {opened['w'][0].lower()}{opened['w'][1:]}"
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


def _of_clause(clause: str, people: People, said: date, *, sure: bool, due: bool) -> tuple[list[Fact], str]:
    """The facts of a clause, and how it names its subject ("" when that cannot be carried on)."""
    author = people.author
    own = Clause(author=author, subject=author, first=True, rest=clause, said=said)
    for reader in (read_names, read_attributes):
        if found := reader(clause, own, people):
            return found, ""
    if (
        found := read_due(clause, own)
        or read_scheduled(clause, own)
        or read_order(clause, own)
        or _together(clause, people, said)
    ):
        return found, ""
    if sure and (found := read_proposed(clause, own)):
        return found, ""
    if found := _expected(clause, own) or _team(clause, own):
        return found, ""
    parsed = parse(clause, people) or _someone_told(clause, people) or _known_from(clause, people)
    if parsed is None and (parsed := by_name(clause, people)):
        if kept := [
            fact for fact in _told(parsed, people, own, sure=False) if is_private(fact, near=people.near)
        ]:
            people.add(parsed.subject, parsed.subject.name)
        return kept, parsed.phrase if kept else ""
    if parsed is None:
        return read_thing(clause, own), ""
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


def _known_from(clause: str, people: People) -> Parsed | None:
    """From "Anna from my book club is expecting"."""
    match = _FROM_MY.match(clause)
    if match is None or match["name"] in words.NOT_NAMES:
        return None
    subject = Subject(name=match["name"], key=people.author.attribute(f"knows.{slug(match['name'])}"))
    where = f"is {match['p'].lower()} {about(match['o'], people.author)}"
    told = Fact(
        key=subject.attribute("known"), subject=subject.name, predicate=where, category=Category.RELATIONSHIP
    )
    people.add(subject, subject.name)
    return Parsed(subject=subject, first=False, rest=clause[match.end() :], phrase=subject.name, told=(told,))


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
