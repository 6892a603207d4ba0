"""English clauses that name somebody, or something that is theirs (SPEC J-8). Pure."""

from __future__ import annotations

import re

from services.compactor.domain import extracting_words as words
from services.compactor.domain.extracting_states import Clause
from services.compactor.domain.extracting_subjects import People, relation_fact, relative_of, slug
from services.compactor.domain.extracting_types import Category, Fact, Subject
from services.compactor.domain.extracting_verbs import about, trimmed

_FLAGS = re.IGNORECASE
_NAMED = re.compile(
    r"^(?:my"
    rf"|our|the) (?P<relation>(?:(?:{words.RELATION_ADJECTIVES}) )?(?:{words.RELATIONS}))(?:'s "
    r"name (?P<v1>is|was)"
    r"|s? (?P<v2>is|was) (?:called|named)) (?P<name>(?-i:[^\W\d_a-z])[\w'-]*(?: "
    r"(?-i:[^\W\d_a-z])[\w'-]*)*)(?:,? not .+)?$",
    _FLAGS,
)
_IS_RELATIVE = re.compile(
    r"^(?:my|our) (?P<relation>best friend|boss|doctor|dentist|landlord|manager|therapist"
    r"|supervisor) (?:is"
    r"|was) (?P<name>(?-i:[^\W\d_a-z])[\w'-]*(?: (?-i:[^\W\d_a-z])[\w'-]*)*)$",
    _FLAGS,
)
_RELATIVE_IS = re.compile(
    r"^(?P<name>(?-i:[^\W\d_a-z])[\w'-]+) "
    rf"is my (?P<relation>(?:(?:{words.RELATION_ADJECTIVES}) )?(?:{words.RELATIONS}))$",
    _FLAGS,
)
_OWN_NAME = re.compile(
    r"^(?:my (?:full |real )?name is|my name's|I am called|people call me|everyone calls me"
    r"|most people (?:just )?(?:call me|say)|my friends call me)"
    r" (?P<name>(?-i:[^\W\d_a-z])[\w'.-]*(?: (?-i:[^\W\d_a-z])[\w'.-]*){0,3})(?: from .+)?$",
    _FLAGS,
)
_FAVOURITE = re.compile(
    r"^(?P<whose>my|our) (?:all-time |absolute )?(?P<n>(?:fav(?:ou?rite)?|go-to|usual"
    r"|regular|preferred) (?:[\w'-]+ "
    r"){0,3}?[\w'-]+) (?P<v>is|are|has always been|was always|will always be) (?P<o>.+)$",
    _FLAGS,
)
_IS_FAVOURITE = re.compile(
    r"^(?P<o>(?!this\b|that\b|it\b|which\b|what\b|these\b|those\b|the (?:first|second"
    r"|last)\b|he\b|she\b)\w[\w' -]{1,30}?) (?:is|are) my (?:all-time "
    r"|absolute )?(?P<n>favou?rite (?:[\w'-]+ )?[\w'-]+)$",
    _FLAGS,
)
_ATTRIBUTE = re.compile(
    r"^(?P<whose>my|our) (?P<n>(?:(?:home|work|new|current|mobile|private|postal|former"
    rf"|main) )?(?:{words.ATTRIBUTES})) (?P<v>is|are|=) (?:now )?(?P<o>.+)$",
    _FLAGS,
)
_THING_CALLED = re.compile(
    r"^(?:my|our) (?P<n>(?:[\w-]+ ){0,2}(?:company|school|university|college|team|band"
    r"|start-?up|shop|bakery|boat|project|business|street|village|town|blog|podcast|choir|club"
    r"|horse|car|house|restaurant|café|firm|app|newsletter)) is (?P<o>(?:called"
    r"|named) (?-i:[A-Z]).*)$",
    _FLAGS,
)
_OFFICE = re.compile(
    r"^(?:my|our) (?P<n>(?:(?:new|old|holiday|summer) )?(?:place|office|workplace|shop"
    r"|studio|school|house|flat|apartment|workshop"
    r"|practice)) is (?P<o>(?:in|on|at|near|opposite|above|next to) (?!the (?:phone"
    r"|line)\b).+)$",
    _FLAGS,
)
_DEVICE = re.compile(
    rf"^(?:my|our) (?P<n>(?:work |new |old |current )?(?:{words.DEVICES})) is (?P<o>(?:a"
    rf"|an) (?:[\w'-]+ ){{0,3}}(?-i:[A-Z0-9]).+)$",
    _FLAGS,
)
_MEASURED = re.compile(
    rf"^(?:my|our) (?P<n>(?!(?:(?:{words.RELATION_ADJECTIVES}) "
    rf")?(?:{words.RELATIONS})\b)(?!(?:guess|answer|question|score|count|point|issue"
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
    r"^(?:not|no longer|probably|broken|late|full|empty|wrong|gone|here|there|ready|so|too"
    r"|very|acting|making|being|getting)\b",
    _FLAGS,
)


_LABELLED = re.compile(
    r"^(?P<n>(?:(?:my|our|the) )?(?:new )?(?:home |work )?(?:address|phone number"
    r"|mobile number|email address|email|postcode|handle|username))"
    r"(?: from (?:then|now|today)(?: on)?| as of .{3,20}| now)?: (?P<o>(?=.*\d|.*@)[^?]{4,80})$",
    _FLAGS,
)
_LABELLED_FAVOURITE = re.compile(r"^(?:my )?(?P<n>favou?rite \w+(?: \w+)?): (?P<o>[^?:,]{2,40})$", _FLAGS)
_TO_DO = re.compile(
    r"^(?:one more |another |new )?(?:task|job|errand|reminder)(?: for (?:you|me|us"
    r"|the list|later|the week))?(?: to (?:hold on to|remember|keep|note))?: "
    r"(?P<o>(?:the|my|our|an?) [^?]{4,80})$",
    _FLAGS,
)
_TASTE = re.compile(
    r"^(?P<o>(?!this\b|that\b|it\b|these\b|those\b|the (?:first|second|last"
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


def read_names(clause: str, own: Clause, people: People) -> list[Fact]:
    """From "my name is Ann", "my wife's name is Ann", "Ann is my sister"."""
    author = own.author
    clause = trimmed(clause)
    if match := _OWN_NAME.match(clause):
        nick = not re.match(r"my (?:full |real )?name", clause, _FLAGS)
        slot = "nickname" if nick else "name"
        return [plain(author, Category.IDENTITY, slot, f"is called {match['name']}")]
    if match := _NAMED.match(clause):
        relation, name = match["relation"].lower(), match["name"]
        people.add(relative_of(author, relation, name), name)
        past = (match["v1"] or match["v2"]).lower() == "was"
        return [relation_fact(author, relation, name, "had" if past else "has")]
    if match := _IS_RELATIVE.match(clause) or _RELATIVE_IS.match(clause):
        relation, name = match["relation"].lower(), match["name"]
        if name in words.NOT_NAMES:
            return []
        people.add(relative_of(author, relation, name), name)
        return [relation_fact(author, relation, name)]
    return []


_REACTION = re.compile(
    r"^(?P<o>(?!this\b|that\b|it\b|you\b|these\b|those\b|he\b|she\b|they\b"
    r"|the\b)[\w' -]{2,40}?) (?:always |really )?"
    r"(?:(?:makes?|give|gives) me (?:sick|ill|gag|hives|a rash|migraines|itch|itchy"
    r"|bloated|heartburn|nightmares))$",
    _FLAGS,
)
_NOTHING_BEATS = re.compile(
    r"^nothing (?:beats|better than|like|is better than) (?P<o>(?!this\b|that\b"
    r"|it\b).{3,40})$",
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
    return []


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
    if match is None or _NEGATED_ATTRIBUTE.match(match["o"]):
        return None
    said = f"{match['n']} is {match['o']}".replace("pronouns is", "pronouns are")
    return plain(subject, _category(match["n"]), slug(match["n"]), _owned(said, author))


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
