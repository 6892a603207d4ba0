"""English clauses about something that is somebody's (SPEC J-8). Pure."""

from __future__ import annotations

import re
from datetime import date

from services.compactor.domain.extraction import dates
from services.compactor.domain.extraction.english import words
from services.compactor.domain.extraction.english.states import Clause
from services.compactor.domain.extraction.english.things import read_thing_state
from services.compactor.domain.extraction.english.verbs import about, trimmed
from services.compactor.domain.extraction.facts import Category, Fact, Subject, Tense
from services.compactor.domain.extraction.subjects import People, relative_of, slug

_FLAGS = re.IGNORECASE
_FAVOURITE = re.compile(
    r"^(?P<whose>my|our) (?:all-time |absolute )?(?P<n>(?:fav(?:ou?rite)?|go-to|usual|regular"
    r"|preferred) (?:[\w'-]+ ){0,3}?[\w'-]+) (?P<v>is|are|has always been|was always"
    r"|will always be) (?P<o>.+)$",
    _FLAGS,
)
_IS_FAVOURITE = re.compile(
    r"^(?P<o>(?!this\b|that\b|it\b|which\b|what\b|these\b|those\b|the (?:first|second|last)\b|he\b"
    r"|she\b)\w[\w' -]{1,30}?) (?:is|are) my (?:all-time "
    r"|absolute )?(?P<n>favou?rite (?:[\w'-]+ )?[\w'-]+)$",
    _FLAGS,
)
_ATTRIBUTE = re.compile(
    r"^(?P<whose>my|our) (?P<n>(?:(?:home|work|new|current|mobile|private|postal|former"
    rf"|main) )?(?:{words.ATTRIBUTES})) (?P<v>is|are|=) (?:now )?(?P<o>.+)$",
    _FLAGS,
)
_THING_CALLED = re.compile(
    r"^(?:my|our) (?P<n>(?:[\w-]+ ){0,2}(?:company|school|university|college|team|band|start-?up|shop"
    r"|bakery|boat|project|business|street|village|town|blog|podcast|choir|club|horse|car|house|restaurant"
    r"|café|firm|app|newsletter)) is (?P<o>(?:called|named) (?-i:[A-Z]).*)$",
    _FLAGS,
)
_OFFICE = re.compile(
    r"^(?:my|our) (?P<n>(?:(?:new|old|holiday|summer) )?(?:place|office|workplace|shop|studio|school|house"
    r"|flat|apartment|workshop|practice)) is (?P<o>(?:in|on|at|near|opposite|above"
    r"|next to) (?!the (?:phone|line)\b).+)$",
    _FLAGS,
)
_DEVICE = re.compile(
    rf"^(?:my|our) (?P<n>(?:work |new |old |current )?(?:{words.DEVICES})) is (?P<o>(?:a"
    rf"|an) (?:[\w'-]+ ){{0,3}}(?-i:[A-Z0-9]).+)$",
    _FLAGS,
)
_MEASURED = re.compile(
    rf"^(?:my|our) (?P<n>(?!(?:(?:{words.RELATION_ADJECTIVES}) )?(?:{words.RELATIONS})\b)(?!(?:guess"
    rf"|answer|question|score|count|point|issue"
    r"|problem|total|result|age|name|flight|train|output"
    rf"|code)\b)(?:[\w-]+ ){{0,2}}?[\w-]+) is "
    r"(?:now )?(?P<o>(?:about |around |only |just |£|€|\$)*\d[\d.,:'’-]*(?!\d*(?:st|nd|rd"
    r"|th)\b)(?: .{1,40})?)$",
    _FLAGS,
)
_BIRTHDAY = re.compile(r"^(?:my|our) birthday is (?:on )?(?P<o>(?:the )?\d.+|(?-i:[A-Z])\w+ \d.+)$", _FLAGS)
_OF_RELATIVE = re.compile(
    rf"^(?:my|our) (?P<relation>(?:(?:{words.RELATION_ADJECTIVES}) )?(?:{words.RELATIONS}))'s "
    r"(?P<rest>(?!name\b).+)$",
    _FLAGS,
)
_NEGATED_ATTRIBUTE = re.compile(
    r"^(?:not|down|up|slow|out|no longer|changing|going|moving|changed|probably|broken|late|full|empty"
    r"|wrong|gone|here|there|ready|so"
    r"|too|very|acting"
    r"|making|being|getting)\b",
    _FLAGS,
)


_LABELLED = re.compile(
    r"^(?P<n>(?:(?:my|our|the) )?(?:new )?(?:home |work )?(?:address|phone number|mobile number"
    r"|email address|email|postcode|handle|username))(?: from (?:then|now|today)(?: on)?| as of .{3,20}"
    r"| now)?: (?P<o>(?=.*\d|.*@)[^?]{4,80})$",
    _FLAGS,
)
_LABELLED_FAVOURITE = re.compile(r"^(?:my )?(?P<n>favou?rite \w+(?: \w+)?): (?P<o>[^?:,]{2,40})$", _FLAGS)
_TO_DO = re.compile(
    r"^(?:one more |another |new )?(?:task|job|errand|reminder)(?: for (?:you|me|us|the list|later"
    r"|the week))?(?: to (?:hold on to|remember|keep|note))?: (?P<o>(?:the|my|our|an?) [^?]{4,80})$",
    _FLAGS,
)
_TASTE = re.compile(
    r"^(?!.*\b(?:thinks?|says?|reckons?|believes?|claims?) )"
    r"(?P<o>(?!this\b|that\b|it\b|these\b|those\b|the (?:first|second|last"
    r"|other)\b)[\w' -]{2,40}?) (?:is|are) (?:(?:really |just |so |definitely |also )*)"
    r"(?:(?P<no>an? (?:hard |big |firm |definite )?no(?:[- ]go)? (?:from|for) me"
    r"|not (?:really )?(?:my thing|my cup of tea|my jam|for me|my style|my scene)"
    r"|my (?:pet hate|pet peeve|kryptonite)|disgusting|revolting|vile|gross)"
    r"|the (?:best|greatest)(?: (?:thing|food|snack|drink|music|genre|band|sport|game"
    r"|season|invention|show)\b.*)?|the (?P<bad>worst)(?: thing\b.*)?|my (?:thing|jam"
    r"|comfort food|guilty pleasure|happy place|weakness|go-to|passion|cup of tea"
    r"|favou?rites?|hobby))$",
    _FLAGS,
)


_REACTION = re.compile(
    r"^(?P<o>(?!this\b|that\b|it\b|you\b|these\b|those\b|he\b|she\b|they\b"
    r"|the\b)[\w' -]{2,40}?) (?:always |really )?(?:(?:makes?|give|gives) me (?:sick|ill|gag"
    r"|migraines|itch|itchy|bloated|heartburn|nightmares)"
    r"|(?:(?<=[a-rt-z]s )give|(?<=wool )gives|(?<=latex )gives|(?<=nickel )gives|(?<=gluten )gives"
    r"|(?<=dairy )gives|(?<=milk )gives|(?<=penicillin )gives|(?<=aspirin )gives|(?<=sun )gives)"
    r" me (?:a rash|hives))$",
    _FLAGS,
)
_NOTHING_BEATS = re.compile(
    r"^nothing (?:beats|better than|like|is better than) (?P<o>(?!this\b|that\b|it\b).{3,40})$",
    _FLAGS,
)


def read_labelled(sentence: str, own: Clause) -> list[Fact]:
    """What is told as on a form. From "new address: Elm Road 4", "task for you: the grant report"."""
    if match := _LABELLED.match(sentence):
        name = re.sub(r"^(?:my|our|the) ", "", match["n"], flags=_FLAGS)
        return [
            plain(
                own.author,
                _category(name),
                slug(re.sub(r"^new ", "", name, flags=_FLAGS)),
                f"'s {name.lower()} is {match['o']}",
            )
        ]
    if match := _LABELLED_FAVOURITE.match(sentence):
        return [
            plain(
                own.author,
                Category.PREFERENCE,
                slug(match["n"]),
                _owned(f"{match['n']} is {match['o']}", own.author),
            )
        ]
    match = _TO_DO.match(sentence)
    said = about(match["o"], own.author) if match else ""
    if match is None or not said:
        return []
    return [plain(own.author, Category.TASK, f"task.{slug(match['o'])}", f"has to see to {said}")]


def read_attributes(clause: str, own: Clause, people: People) -> list[Fact]:
    """From "my favourite colour is blue", "my wife's birthday is on 4 June", "our shop is called Heron"."""
    subject = own.author
    if match := _OF_RELATIVE.match(clause):
        subject, clause = (
            people.add(relative_of(own.author, match["relation"].lower())),
            f"my {match['rest']}",
        )
    if subject is own.author and (match := _TASTE.match(trimmed(clause))):
        said = about(f"{'dislikes' if match['no'] or match['bad'] else 'likes'} {match['o']}", own.author)
        return [plain(subject, Category.PREFERENCE, f"taste.{slug(match['o'])}", said)] if said else []
    if subject is own.author and (match := _NOTHING_BEATS.match(trimmed(clause))):
        said = about(f"loves {match['o']}", own.author)
        return [plain(subject, Category.PREFERENCE, f"taste.{slug(match['o'])}", said)] if said else []
    if subject is own.author and (match := _REACTION.match(trimmed(clause))):
        said = about(match.group(), own.author)
        return [plain(subject, Category.FACT, f"reaction.{slug(match['o'])}", f": {said}")] if said else []
    for reader in (_favourite, _birthday, _office, _attribute):
        if found := reader(clause, subject, own.author):
            return [found] if found.predicate and not words.SECRETS.search(clause) else []
    thing = read_thing_state(clause, own.author) if subject is own.author else None
    return [thing] if thing and not words.SECRETS.search(clause) else []


def _favourite(clause: str, subject: Subject, author: Subject) -> Fact | None:
    match = _IS_FAVOURITE.match(clause)
    said = f"{match['n']} is {match['o']}" if match else ""
    if match is None and (match := _FAVOURITE.match(clause)):
        said = f"{match['n']} {match['v']} {match['o']}"
    return plain(subject, Category.PREFERENCE, slug(match["n"]), _owned(said, author)) if match else None


def _birthday(clause: str, subject: Subject, author: Subject) -> Fact | None:
    match = _BIRTHDAY.match(clause)
    said = f"birthday is on {match['o']}" if match else ""
    return plain(subject, Category.IDENTITY, "birthday", _owned(said, author)) if match else None


def _office(clause: str, subject: Subject, author: Subject) -> Fact | None:
    match = _OFFICE.match(clause)
    if match is None:
        return None
    said = f"{match['n']} is {match['o']}"
    return plain(subject, Category.LOCATION, f"{slug(match['n'])}.place", _owned(said, author))


def _attribute(clause: str, subject: Subject, author: Subject) -> Fact | None:
    match = (
        _ATTRIBUTE.match(clause) or _measured(clause) or _THING_CALLED.match(clause) or _DEVICE.match(clause)
    )
    if match is None or _NEGATED_ATTRIBUTE.match(match["o"]) or _on_one_day(match["o"]):
        return None
    said = f"{match['n']} is {match['o']}".replace("pronouns is", "pronouns are")
    return plain(subject, _category(match["n"]), slug(match["n"]), _owned(said, author))


def _on_one_day(text: str) -> bool:
    mention = dates.find(text, date.min, Tense.COMING)
    return bool(mention and mention.day and not mention.recurring)


def _measured(clause: str) -> re.Match[str] | None:
    """A number of something that is theirs, and no matter of work."""
    return None if words.CODE_TALK.search(clause) else _MEASURED.match(clause)


def _category(attribute: str) -> Category:
    if re.search(r"(?<!mail )address", attribute, _FLAGS):
        return Category.LOCATION
    identity = r"name|pronoun|nationality|language|tongue|profession|job|town|religion"
    return Category.IDENTITY if re.search(identity, attribute, _FLAGS) else Category.FACT


def _owned(said: str, author: Subject) -> str:
    """As the predicate of its owner; "" when it cannot be said of them."""
    text = about(said, author)
    return f"'s {text}" if text else ""


def plain(subject: Subject, category: Category, slot: str, predicate: str) -> Fact:
    """A fact without a day."""
    return Fact(
        key=subject.attribute(slot), subject=subject.name, predicate=trimmed(predicate), category=category
    )
