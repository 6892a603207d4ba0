"""Japanese for the extraction of facts (SPEC J-8). Pure.

    read(sentences, author, said) -> Iterator[Fact]

What is said stands at the end of a clause, so a clause is put into plain style and understood from there.
Who is spoken of is often left out: that is the one of the clause before, or the author.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date

from services.compactor.domain.extraction.cjk import dates
from services.compactor.domain.extraction.cjk import japanese_words as words
from services.compactor.domain.extraction.cjk.japanese_forms import asked, due, plain
from services.compactor.domain.extraction.cjk.japanese_rules import RULES
from services.compactor.domain.extraction.cjk.shared import MOST_CLAUSE, distinct, fact
from services.compactor.domain.extraction.dates import Mention
from services.compactor.domain.extraction.facts import Category, Fact, Subject, Tense
from services.compactor.domain.extraction.subjects import slug

UNNAMED = "ユーザー"


@dataclass(slots=True)
class _Told:
    """Whom the sentence speaks of, and whom it has named."""

    author: Subject
    said: date
    last: Subject | None
    other: Subject | None = None
    names: dict[str, Subject] = field(default_factory=dict)
    sure: bool = False
    """Whether the message speaks of a choice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Clause:
    """A clause in plain style without its time: whom it is about, and what it says."""

    subject: Subject
    text: str
    raw: str
    when: str = ""
    particle: str = ""
    mention: Mention | None = None
    stated: bool = True
    named: Fact | None = None


def read(sentences: Sequence[str], author: Subject, said: date) -> Iterator[Fact]:
    """What sentences tell in Japanese."""
    return distinct(_read(sentences, author, said))


def _read(sentences: Sequence[str], author: Subject, said: date) -> Iterator[Fact]:
    told = _Told(author=author, said=said, last=author)
    told.sure = any(words.SURE.search(one) for one in sentences)
    settled = False
    for sentence in sentences:
        if wish := _wish(sentence, author):
            yield wish
            continue
        clauses = _clauses(sentence)
        if settled and clauses and not _is_doubtful(clauses[0]):
            text = plain(clauses.pop(0))
            yield fact(author, f"の決定：{text}", Category.DECISION, "decision*", text)
        settled = bool(words.SETTLED.match(sentence.strip()))
        for clause in clauses:
            if words.CONDITION.search(clause) and not words.OBLIGED.match(plain(clause)):
                break
            if words.REPORTED.search(clause) or len(clause) > MOST_CLAUSE:
                told.last = None
                continue
            yield from _of_clause(clause, told)


def _clauses(sentence: str) -> list[str]:
    """Its clauses; a piece that ends in an open noun goes on."""
    found: list[str] = []
    for part in words.PIECES.split(sentence):
        for piece in words.INNER.split(part or ""):
            clause = piece.strip()
            if not clause:
                continue
            if (found and _is_open(found[-1])) or (
                found and words.THING_TO_DO.search(found[-1]) and words.TO_DO.search(plain(clause))
            ):
                found[-1] = f"{found[-1]}、{clause}"
            else:
                found.append(clause)
    return found


def _is_open(piece: str) -> bool:
    if words.OPEN.search(piece):
        return True
    bare = words.LEAD.sub("", piece)
    mention = dates.find(bare, date(2024, 1, 1), Tense.COMING, dates.JAPANESE)
    if mention and mention.start == 0 and len(bare) - mention.end <= 3:
        return True
    return any(
        (match := pattern.match(f"{bare}、")) is not None and match.end() >= len(bare)
        for pattern in (words.RELATIVE, words.GROUP, words.FIRST)
    )


def _wish(sentence: str, author: Subject) -> Fact | None:
    """A standing wish, as a whole sentence up to its reason."""
    text = words.LEAD.sub("", sentence).strip("。 !！〜")
    standing = words.STANDING.search(text)
    if standing is None or (words.ONCE.search(text) and not words.FROM_NOW.match(text)):
        return None
    if words.NO_REQUEST.search(text) or re.search(r"もし|仮に", text):
        return None
    head = re.split(r"(?<=[てで])[。]|(?<=ください)|(?<=願いします)", words.BECAUSE.sub("", text))[0]
    if not words.IMPERATIVE.search(head):
        return None
    predicate = asked(words.FROM_NOW.sub("", head).lstrip("、"))
    return fact(author, f"の希望：{predicate}", Category.INSTRUCTION, "instruction*", predicate)


def _is_doubtful(clause: str) -> bool:
    """Whether a clause asks or supposes."""
    return bool(
        words.ASKED.search(clause) or words.HEDGED.search(plain(clause)) or words.HEDGED.search(clause)
    )


def _of_clause(clause: str, told: _Told) -> Iterator[Fact]:
    if _is_doubtful(clause):
        if words.OTHERS.search(clause):
            told.last = None
        return
    one = _parsed(words.LEAD.sub("", clause), told)
    if one is None:
        return
    found = list(_told(one, told))
    if found and one.named is not None:
        yield one.named
    if one.stated:
        told.last = told.other if one.subject is not told.author and told.other else one.subject
    yield from found


def _parsed(clause: str, told: _Told) -> _Clause | None:
    """Who is spoken of, and the time before or behind it."""
    past = bool(words.PAST.search(plain(clause))) and not re.search(
        r"付(?:け)?で|予約した|約束した|決まった", clause
    )
    subject, rest, stated, named = _subject(clause, told)
    lasting = words.LASTING.search(rest) or (not past and re.search(r"(?:ている|休み|定休)$", plain(rest)))
    mention = (
        None if lasting else dates.find(rest, told.said, Tense.PAST if past else Tense.COMING, dates.JAPANESE)
    )
    when, particle = "", ""
    if mention is not None and mention.recurring:
        mention = None
    if mention is not None and (mention.day is not None or mention.start == 0):
        behind = words.BEHIND.match(rest, mention.end)
        end = behind.end() if behind else mention.end
        particle = (behind["p"] or "") if behind else ""
        when = mention.day.isoformat() if mention.day else rest[mention.start : mention.end]
        hour = behind["t"] or "" if behind else ""
        when = f"{when}{'の' if hour and mention.day and hour[0] != 'の' else ''}{hour}"
        rest = (rest[: mention.start] + rest[end:]).lstrip("、")
        if not stated:
            subject, rest, stated, named = _subject(rest, told)
    else:
        mention = None
    if subject is None or not rest:
        return None
    return _Clause(
        subject=subject,
        text=plain(rest),
        raw=rest,
        when=when,
        particle=particle,
        mention=mention,
        stated=stated,
        named=named,
    )


def _subject(clause: str, told: _Told) -> tuple[Subject | None, str, bool, Fact | None]:
    """Whom a clause is about, the rest, whether it says so, and a name that it tells."""
    author = told.author
    if match := words.FIRST.match(clause):
        return author, clause[match.end() :], True, None
    if match := words.MINE.match(clause):
        return author, clause[match.end() :], True, None
    if match := words.OF_KIN.match(clause):
        told.other = Subject(name=f"{author.name}の{match['kin']}", key=author.attribute(slug(match["kin"])))
        return told.other, clause[match.end() :], True, None
    if match := words.GROUP.match(clause):
        group = match["kin"] or ("店" if "店" in match.group() else "会社")
        told.other = Subject(name=f"{author.name}の{group}", key=author.attribute(slug(group)))
        return told.other, clause[match.end() :], True, None
    if match := words.RELATIVE.match(clause):
        return _relative(clause, match, told)
    for name, subject in told.names.items():
        if re.match(rf"{re.escape(name)}(?:は|が|も|って|、)", clause):
            return subject, clause[len(name) + 1 :], True, None
    if words.OTHERS.match(clause) or words.KINS.match(clause):
        told.last = None
        return None, clause, False, None
    return told.last, clause, False, None


def _relative(
    clause: str, match: re.Match[str], told: _Told
) -> tuple[Subject | None, str, bool, Fact | None]:
    author = told.author
    kins = [kin for kin in (match["kin"], match["kin_2"]) if kin]
    key = author.key
    for kin in kins:
        key = f"{key}.{slug(kin)}"
    subject = Subject(name="の".join([author.name, *kins]), key=key)
    name = match["name"] or ""
    if not name:
        told.other = subject
        return subject, clause[match.end() :], True, None
    if words.NOT_NAMES.search(name):
        told.last = None
        return (author if re.search(r"会$|式$|日$|試験|手術|発表|受験", name) else None), clause, False, None
    return _with_name(subject, name, told), clause[match.end() :], True, _called(subject, name, told)


def _with_name(subject: Subject, name: str, told: _Told) -> Subject:
    person = Subject(name=f"{name} ({subject.name})", key=f"{subject.key}.{slug(name)}")
    told.other = told.names[name] = person
    return person


def _called(subject: Subject, name: str, told: _Told) -> Fact:
    """ "さくらの兄の名前は亮介"."""
    kin = subject.name.removeprefix(told.author.name)
    return Fact(
        key=f"{subject.key}.{slug(name)}.name",
        subject=told.author.name,
        predicate=f"{kin}の名前は{name}",
        category=Category.RELATIONSHIP,
    )


def _told(one: _Clause, told: _Told) -> Iterator[Fact]:
    """What a clause says: names, dated things, duties and decisions, then states."""
    called = (
        (words.CALLED.match(one.text) or words.NAME_IS.match(one.text))
        if one.stated or one.text.startswith(("名前", "本名"))
        else None
    )
    if called:
        if one.subject is told.author and not one.stated and called["o"] not in told.author.name:
            return
        if one.subject is told.author:
            yield fact(told.author, f"の名前は{called['o']}", Category.IDENTITY, "name", "")
        else:
            _with_name(one.subject, called["o"], told)
            yield _called(one.subject, called["o"], told)
        return
    if one.subject is told.author and (found := _resolved(one, told)):
        yield found
        return
    if one.mention is not None:
        if found := _dated(one, told):
            yield found
        return
    if (match := words.TURN_OF_LIFE.match(one.text)) and not words.DENIED.search(one.text):
        yield _fact(one, match["p"], Category.EVENT, "event*", match["o"])
        return
    yield from _state(one)


def _resolved(one: _Clause, told: _Told) -> Fact | None:
    """What its author has to do, or has decided."""
    if words.OBLIGED.match(one.text):
        text = due(re.sub(r"必要がある$", "", one.text))
        if words.POINTING.search(text):
            return None
        return _fact(one, text, Category.TASK, "task*", text)
    if match := words.REMIND.match(one.text):
        text = re.sub(r"の?、?$", "", match["o"] or match["o_2"])
        return _fact(one, text, Category.TASK, "task*", text)
    if (
        one.mention is not None
        and words.DEADLINE.search(one.particle)
        and (match := words.DEADLINE_DUTY.match(one.text))
    ):
        return _fact(one, match["p"], Category.TASK, "task*", match["o"])
    if match := words.DECIDED.match(one.text):
        return _fact(one, match["p"], Category.DECISION, "decision*", match["o"])
    if told.sure and (match := words.CHOSE.match(one.text)):
        return _fact(one, match["p"], Category.DECISION, "decision*", match["o"])
    return None


def _dated(one: _Clause, told: _Told) -> Fact | None:
    """What happened, or is fixed to happen."""
    if one.mention is None or words.DENIED.search(one.text):
        return None
    day = one.mention.day
    if day is not None and day < told.said and words.DONE.search(one.text):
        return _fact(one, one.text, Category.EVENT, "event*", one.text)
    if words.PAST.search(one.text):
        life = words.LIFE_EVENT.fullmatch(one.text)
        if life and not words.PASSING.search(re.sub(rf"{words.LIFE}", "", one.text)):
            return _fact(one, one.text, Category.EVENT, "event*", one.text)
        return None
    if day is None and not re.match("来|再来|今月|今週末", one.when):
        return None
    if (day is not None and day < told.said) or words.NOT_COMING.search(one.text):
        return None
    match = words.COMING.fullmatch(one.text)
    return _fact(one, one.text, Category.EVENT, "event*", one.text) if match else None


def _fact(one: _Clause, text: str, category: Category, slot: str, thing: str) -> Fact:
    particle = one.particle if one.particle in {"までに", "まで", "から", "までの", "の", "中に"} else "に"
    if one.mention and one.mention.day is None:
        particle = one.particle
    when = f"{one.when}{particle}" if one.when else ""
    mention = one.mention if one.mention and one.mention.day else None
    return fact(one.subject, f"は{when}{text}", category, slot, thing, mention)


def _state(one: _Clause) -> Iterator[Fact]:
    denied = bool(words.DENIED.search(one.text))
    for each in RULES:
        if denied and not each.denies:
            continue
        match = each.pattern.fullmatch(one.text)
        if match is None:
            continue
        groups = match.groupdict()
        text = match["p"]
        if each.slot == "taste*" and groups.get("w") == "は" and groups.get("v"):
            text = f"{match['o']}が{text[match.start('v') - match.start('p') :]}"
        yield from _placed(one, each.category, each.slot, text, groups)
        return


def _placed(
    one: _Clause, category: Category, slot: str, text: str, groups: dict[str, str | None]
) -> Iterator[Fact]:
    """A trade, and apart from it the place where it is practised."""
    thing = groups.get("k") or groups.get("o") or text
    place = groups.get("at")
    if not place:
        yield fact(one.subject, f"は{text}", category, slot, thing)
        return
    if re.search(
        r"[校社院店園所局館場会塾寺室家部学設]$|高校|中学|小学|施設|センター|企業|メーカー|スーパー"
        r"|ホテル|コンビニ|カフェ|バー$|レストラン|役所|ネット|自宅|隣|近く",
        place,
    ):
        yield fact(one.subject, f"は{text}", category, slot, thing)
        return
    rest = text[len(place) + 1 :]
    yield fact(one.subject, f"は{rest}", category, slot, thing)
    yield fact(one.subject, f"は{place}で働いている", Category.LOCATION, "work-place", place)
