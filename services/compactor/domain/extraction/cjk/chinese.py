"""Chinese, simplified and traditional, for the extraction of facts (SPEC J-8). Pure.

    read(sentences, author, said) -> Iterator[Fact]

People write clause after clause with commas, and leave out whom they speak of: that is the one of the clause
before, or the author.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date

from services.compactor.domain.extraction.cjk import chinese_words as words
from services.compactor.domain.extraction.cjk import dates
from services.compactor.domain.extraction.cjk.chinese_clauses import Clause, Told, parsed
from services.compactor.domain.extraction.cjk.chinese_events import (
    COMING,
    COMING_TOPIC,
    DECIDED,
    DUTY,
    LIFE_EVENT,
    PAST_EVENT,
    RECENT,
    REMIND,
    REMINDED,
    SURE_DUTY,
    TOPIC_DECIDED,
)
from services.compactor.domain.extraction.cjk.chinese_parts import BARE_TRADE
from services.compactor.domain.extraction.cjk.chinese_rules import RULES
from services.compactor.domain.extraction.cjk.chinese_wishes import wish
from services.compactor.domain.extraction.cjk.shared import MOST_CLAUSE, distinct, fact, simplified
from services.compactor.domain.extraction.facts import Category, Fact, Subject, Tense
from services.compactor.domain.extraction.subjects import slug

UNNAMED = "用户"


def read(sentences: Sequence[str], author: Subject, said: date) -> Iterator[Fact]:
    """What sentences tell in Chinese."""
    return distinct(_read(sentences, author, said))


def _read(sentences: Sequence[str], author: Subject, said: date) -> Iterator[Fact]:
    told = Told(author=author, said=said, last=author)
    for sentence in sentences:
        told.last = author if told.last is None else told.last
        yield from _of_sentence(sentence, told)


def _of_sentence(sentence: str, told: Told) -> Iterator[Fact]:
    if words.HYPOTHETICAL.search(simplified(sentence)):
        return
    clauses = _clauses(sentence)
    done = 0
    for place, clause in enumerate(clauses):
        plain = simplified(clause)
        if words.REPORTED.search(plain):
            return
        if place < done:
            continue
        if wished := wish(clauses, place, told.author):
            yield wished[0]
            done = wished[1]
            continue
        if _is_doubtful(plain):
            told.last = None if words.OTHERS.search(plain) else told.last
            continue
        following = simplified(clauses[place + 1]) if place + 1 < len(clauses) else ""
        if following and words.SETTLED.match(plain) and not _is_doubtful(following):
            yield _settled(clauses[place + 1], told.author)
            done = place + 2
            continue
        found = list(_of_clause(clause, following, told))
        if found and found[-1].category is not Category.RELATIONSHIP and words.RESTRICTS.match(following):
            first = next((n for n, each in enumerate(found) if each.category is not Category.RELATIONSHIP), 0)
            found[first] = replace(found[first], predicate=f"{found[first].predicate}，{clauses[place + 1]}")
            done = place + 2
        yield from (one for one in found if "我" not in one.predicate)


def _is_doubtful(plain: str) -> bool:
    """Whether a clause asks or supposes, or is none."""
    return bool(words.ASKED.search(plain) or words.HEDGED.search(plain) or len(plain) > MOST_CLAUSE)


def _settled(clause: str, author: Subject) -> Fact:
    """What was decided, told in a clause of its own."""
    text = re.sub(words.FIRST_PERSON, "", clause)
    return fact(author, f"决定{text}", Category.DECISION, "decision*", text)


def _clauses(sentence: str) -> list[str]:
    """Its clauses, but what is compared stays with what it is compared to."""
    found: list[str] = []
    for part in words.SPLIT.split(sentence):
        clause = words.PARTICLES.sub("", (part or "").strip(" 、"))
        if not clause:
            continue
        if found and _joins(simplified(found[-1])):
            found[-1] = (
                f"{found[-1]}，{clause}"
                if not words.COMPARED.match(simplified(found[-1]))
                else f"{found[-1]}{clause}"
            )
        else:
            found.append(clause)
    return found


def _joins(plain: str) -> bool:
    """Whether a clause is only a time, or half of a comparison."""
    mention = dates.find(plain, date(2024, 1, 1), Tense.COMING, dates.CHINESE)
    alone = mention is not None and mention.start == 0 and re.fullmatch(words.WHEN_REST, plain[mention.end :])
    return bool(alone or words.COMPARED.match(plain))


def _of_clause(clause: str, following: str, told: Told) -> Iterator[Fact]:
    lead = words.LEAD.match(simplified(clause))
    rest = clause[lead.end() :] if lead else clause
    one = parsed(rest, told)
    if one is None:
        return
    found = list(_named(one, told)) or list(_told(one, following, told))
    if one.stated or found:
        told.last = one.subject
    elif words.OTHERS.search(one.plain):
        told.last = None
    if told.other is not None and told.other in told.names.values() and told.last is not told.author:
        told.last = told.other
    yield from found


def _named(one: Clause, told: Told) -> Iterator[Fact]:
    """A name that is told, of the author or of one of theirs."""
    match = words.CALLED.match(one.plain)
    if match and one.stated:
        name = one.text[match.start("o") : match.end("o")]
        yield _name_of(one.subject, name, told)
        return
    introduced = (
        words.INTRODUCED.match(f"我{one.plain}") if one.stated and one.subject is told.author else None
    )
    if introduced and introduced["o"] == simplified(told.author.name):
        yield fact(told.author, f"叫{told.author.name}", Category.IDENTITY, "name", "")


def _name_of(subject: Subject, name: str, told: Told) -> Fact:
    author = told.author
    if subject is author:
        return fact(author, f"叫{name}", Category.IDENTITY, "name", name)
    kin = subject.name.removeprefix(f"{author.name}的")
    person = Subject(name=f"{name} ({subject.name})", key=f"{subject.key}.{slug(name)}")
    told.other = told.names[name] = person
    if words.SINGLE.fullmatch(kin) or "的" in kin:
        return Fact(
            key=f"{subject.key}.name",
            subject=subject.name,
            predicate=f"叫{name}",
            category=Category.RELATIONSHIP,
        )
    return Fact(
        key=f"{person.key}.name",
        subject=author.name,
        predicate=f"有个{kin}叫{name}",
        category=Category.RELATIONSHIP,
    )


def _told(one: Clause, following: str, told: Told) -> Iterator[Fact]:
    """What a clause says: dated things first, then states."""
    if one.when and one.subject is told.other and re.match(r"[小老阿大][\u4e00-\u9fff](?!子)", one.plain):
        named = list(_with_name(one, told))
        if named:
            yield from named
            return
    if one.when or one.mention:
        if found := _dated(one, following, told):
            yield found
            return
        if one.mention and one.mention.day:
            return
    if found := _undated(one, told):
        yield found
        return
    if found := _state(one):
        yield from _placed(one, found)
        return
    if one.stated and one.subject is not told.author and told.other is one.subject:
        yield from _with_name(one, told)
        return
    yield from _with_topic(one, told)


def _placed(one: Clause, found: Fact) -> Iterator[Fact]:
    """A trade, and apart from it the place where it is practised."""
    match = words.PLACED.match(simplified(found.predicate)) if words.OCCUPATION.search(found.key) else None
    if match is None:
        yield found
        return
    where = found.predicate[match.start("at") : match.end("at")]
    begin, end = match.span("all")
    yield replace(found, predicate=found.predicate[:begin] + found.predicate[end:])
    yield fact(one.subject, f"在{where}工作", Category.LOCATION, "work-place", where)


def _with_name(one: Clause, told: Told) -> Iterator[Fact]:
    """A relation and a name without anything between: only where the rest is understood."""
    for end in (2, 3):
        name, plain = one.text[:end], one.plain[end:]
        if len(plain) < 2 or not words.MAY_BE_NAME.fullmatch(one.plain[:end]):
            continue
        shorter = replace(one, text=one.text[end:], plain=plain)
        found = list(_told_of(shorter, told))
        if found or (re.match(words.NAME, one.plain[:end]) and words.GOES_ON.match(plain)):
            yield _name_of(one.subject, name, told)
            person = told.names[name]
            yield from (_about(each, one.subject, person) for each in found)
            return


def _told_of(one: Clause, told: Told) -> list[Fact]:
    if one.when:
        dated = _dated(one, "", told)
        return [dated] if dated else []
    found = _state(one, bare=False)
    return list(_placed(one, found)) if found else []


def _about(one: Fact, before: Subject, person: Subject) -> Fact:
    """The same of somebody whose name is known now."""
    return replace(one, subject=person.name, key=person.key + one.key.removeprefix(before.key))


def _with_topic(one: Clause, told: Told) -> Iterator[Fact]:
    """A thing before "I": "of tea I drink only the green"."""
    match = words.PREFERRED.match(one.plain) if not one.stated and not one.when else None
    if match is None:
        return
    begin = match.end()
    rest = replace(one, text=one.text[begin:].strip(), plain=one.plain[begin:].strip(), subject=told.author)
    found = _state(rest)
    if found and found.category in words.VALID_SHARED:
        topic = one.text[match.start("topic") : match.end("topic")].strip("，、 ")
        yield fact(told.author, f"{topic}{found.predicate}", found.category, "taste*", topic)


def _state(one: Clause, *, bare: bool = True) -> Fact | None:
    denied = bool(words.DENIED.search(one.plain))
    for each in RULES:
        if denied and not (each.denies or each.category is Category.PREFERENCE):
            continue
        match = each.pattern.fullmatch(one.plain)
        if match is None:
            continue
        end = match.end("p")
        if each.category is Category.PREFERENCE and one.plain[end : end + 1] == "的":
            end += 1  # "only what is steamed"
        text = one.text[match.start("p") : end]
        thing = match.groupdict().get("k") or match.groupdict().get("o") or text
        if one.when:
            text = f"{one.when}{text}"
        return fact(one.subject, text, each.category, each.slot, thing)
    if bare and one.stated and (match := BARE_TRADE.fullmatch(one.plain)):
        return fact(one.subject, f"是{one.text}", Category.IDENTITY, "occupation", one.text)
    return None


def _dated(one: Clause, following: str, told: Told) -> Fact | None:
    """What happened or is fixed to happen, or has to be done by a day."""
    fixed = one.mention is not None and one.mention.day is not None
    past = fixed and one.mention is not None and one.mention.day is not None and one.mention.day < told.said
    if fixed and not past and one.subject is told.author and (match := REMIND.fullmatch(one.plain)):
        return _when(one, match, Category.TASK, "task*")
    duty = DUTY.fullmatch(one.plain) if not past else None
    if duty and one.subject is told.author:
        return _when(one, duty, Category.TASK, "task*")
    if fixed and not past and one.subject is told.author:
        reminded = bool(REMINDED.match(following)) or bool(words.BEFORE.search(one.when))
        match = re.fullmatch(r"(?P<p>(?:记得|要|去|我)?(?P<o>.{2,30}))", one.plain) if reminded else None
        if match and not words.DENIED.search(one.plain):
            return _when(one, match, Category.TASK, "task*")
    if fixed and past:
        match = LIFE_EVENT.fullmatch(one.plain) or PAST_EVENT.fullmatch(one.plain)
        return _when(one, match, Category.EVENT, "event*") if match and not _unlike(one) else None
    if fixed:
        done = LIFE_EVENT.fullmatch(one.plain) if "了" in one.plain else None
        match = done or COMING.fullmatch(one.plain) or COMING_TOPIC.fullmatch(one.plain)
        return _when(one, match, Category.EVENT, "event*") if match else None
    if re.search(r"下|明|年底|月底|后", one.when) and (match := COMING.fullmatch(one.plain)):
        return _when(one, match, Category.EVENT, "event*")
    match = LIFE_EVENT.fullmatch(one.plain) if re.search(r"了|过|第一次|的|查出|确诊", one.plain) else None
    return _when(one, match, Category.EVENT, "event*") if match and not _unlike(one) else None


def _unlike(one: Clause) -> bool:
    """Whether something else than a person of the author's seems to be spoken of."""
    return bool(words.DENIED.search(one.plain) or words.OTHERS.search(one.plain))


def _when(one: Clause, match: re.Match[str], category: Category, slot: str) -> Fact:
    text = one.text[match.start("p") : match.end("p")]
    thing = match.groupdict().get("o") or match["p"]
    mention = one.mention if one.mention and one.mention.day else None
    return fact(one.subject, f"{one.when}{text}", category, slot, thing, mention)


def _undated(one: Clause, told: Told) -> Fact | None:
    """Duties, decisions and recent turns of a life, for which no day need be told."""
    if one.when:
        return None
    if one.stated and (match := RECENT.fullmatch(one.plain)):
        return None if words.DENIED.search(one.plain) else _when(one, match, Category.EVENT, "event*")
    if one.subject is not told.author:
        return None
    if match := REMIND.fullmatch(one.plain):
        return _when(one, match, Category.TASK, "task*")
    needed = one.stated or re.match(r"(?:还|也)?(?:得|必须|记得|别忘)", one.plain)
    if needed and (match := SURE_DUTY.fullmatch(one.plain)):
        return _when(one, match, Category.TASK, "task*")
    if match := DECIDED.fullmatch(one.plain):
        return _when(one, match, Category.DECISION, "decision*")
    if not one.stated and (match := TOPIC_DECIDED.fullmatch(one.plain)):
        return _when(one, match, Category.DECISION, "decision*")
    return None
