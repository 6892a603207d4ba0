"""The deterministic judge of supersession: guard, contradictions, replacements, figures (S-7, J-16)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.memory.semantic.app.judging import DeterministicJudge, statement_of
from services.memory.semantic.domain.judging import judge
from services.memory.semantic.domain.judging_types import (
    CONTRADICTS_FROM,
    REPLACES_FROM,
    Statement,
    Verdict,
)
from services.memory.semantic.domain.memory import FactType, Kind, Memory, Source

PAIRS = Path(__file__).parents[1] / "data" / "supersession_dev.jsonl"
PRECISION = 0.98
RECALL = 0.6
CONTRADICTION_RECALL = 0.8
EARLIER = datetime(2021, 1, 1, tzinfo=UTC)
LATER = datetime(2022, 1, 1, tzinfo=UTC)


def said(value: str, begins: datetime, ends: datetime | None = None, kind: Kind = Kind.FACT) -> Statement:
    return Statement(key="a.key", value=value, valid_from=begins, valid_to=ends, kind=kind)


def judged(old: str, new: str) -> Verdict:
    return judge(said(old, EARLIER), said(new, LATER))


def replaces(verdict: Verdict) -> bool:
    return verdict.replaces >= REPLACES_FROM


def contradicts(verdict: Verdict) -> bool:
    return verdict.contradicts >= CONTRADICTS_FROM


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Plays tennis on Tuesdays", "Gave up tennis because of his knee"),
        ("Has a dog named Bruno", "Bruno passed away in March"),
        ("Hamid is engaged to Laura", "Hamid and Laura broke up"),
        ("The trip is planned for May", "The trip was cancelled"),
        ("Runs every morning before work", "Doesn't run anymore since the injury"),
        ("Owns a summer cottage in Estonia", "The cottage in Estonia was sold last year"),
        ("Answer with emojis", "Stop using emojis in answers"),
        ("Arbeitet bei einer Versicherung", "Arbeitet nicht mehr bei der Versicherung"),
        ("Julie travaille dans une banque", "Julie a quitté la banque"),
        ("Toma el café con azúcar", "Ya no toma azúcar en el café"),
        ("她每天喝咖啡", "她不再喝咖啡了"),
        ("毎朝ジョギングをしている", "膝を痛めてジョギングをやめた"),
        ("वह चाय में चीनी लेता है", "अब वह चाय में चीनी नहीं लेता"),
    ],
)
def test_what_ended_is_replaced(old: str, new: str) -> None:
    assert replaces(judged(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Lives in Porto", "Moved to Lyon last spring"),
        ("The party is on Saturday", "The party has been moved to Sunday"),
        ("The CI runs on Jenkins", "We replaced Jenkins with GitHub Actions for CI"),
        ("Jonas is the captain of the team", "Mia took over from Jonas as captain of the team"),
        ("The entry fee is 6 dollars", "The entry fee went up to 8 dollars"),
        ("Her surname is spelled Meyer", "Correction: her surname is spelled Maier, not Meyer"),
        ("Die Miete beträgt 900 Euro", "Die Miete wurde auf 980 Euro erhöht"),
        ("Habite à Nantes", "A déménagé à Brest"),
        ("Vive en Sevilla", "Se mudó a Granada en otoño"),
        ("他住在成都", "他搬到重庆去了"),
        ("田中さんは東京に住んでいる", "田中さんは大阪に引っ越した"),
        ("تسكن ليلى في بيروت", "انتقلت ليلى إلى عمان"),
    ],
)
def test_what_changed_is_replaced(old: str, new: str) -> None:
    assert replaces(judged(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Leon is 12 years old", "Leon is 13 years old"),
        ("The team has nine members", "The team has twelve members since the merger"),
        ("Her manager is Mr Petrov", "Her manager is Ms Adeyemi"),
        ("The bakery opens at seven", "From May the bakery opens at six"),
        ("The book club meets on Thursdays", "The book club now meets on Mondays"),
        ("Please write in British English", "From now on write in American English"),
        ("Is looking for a flat in Utrecht", "Found a flat in Utrecht"),
        ("Don't use tables", "You may use tables again"),
        ("Le code de la porte est 4812", "Le code de la porte est maintenant 9035"),
    ],
)
def test_a_new_value_of_a_slot_that_holds_one_replaces(old: str, new: str) -> None:
    assert replaces(judged(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Julia Stone lives in Kobe", "Julia Marsh moved to Kyoto"),
        ("My sister drives a Fiat", "My brother sold his Fiat"),
        ("Emma's brother lives in Kiel", "Emma moved to Kassel"),
        ("Her dog is afraid of thunder", "His dog died"),
        ("The invoice for May was paid", "The invoice for June was cancelled"),
        ("The mail server runs Debian", "The build server was upgraded to Debian 12"),
        ("Lives in Bern", "The tenant in Bern moved out"),
        ("小李住在北京", "小王搬到北京了"),
        ("山田さんは猫を飼っている", "山田さんの弟は猫を手放した"),
        ("राज दिल्ली में रहता है", "मोहन ने दिल्ली छोड़ दी"),
    ],
)
def test_guard_two_subjects_have_nothing_to_do_with_each_other(old: str, new: str) -> None:
    verdict = judged(old, new)
    assert not replaces(verdict)
    assert not contradicts(verdict)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Lives in Madrid", "Is thinking about moving to Valencia"),
        ("Plays tennis on Tuesdays", "Now also plays badminton on Fridays"),
        ("Works as a nurse", "Works as a nurse in the children's ward"),
        ("Lives in Austria", "Lives in Linz"),
        ("Speaks Polish", "Speaks Ukrainian"),
        ("Drives to work", "Drives a van at weekends"),
        ("The file limit is 20 MB", "The file limit for admins is 50 MB"),
        ("Buys bread at the market", "Sold bread at the market as a student"),
        ("Visited Oslo in 2019", "Visited Oslo again in 2022"),
        ("Doesn't drink alcohol", "Never drinks alcohol"),
        ("The fee is twenty euros", "The fee is €20"),
        ("Moved from Ulm to Trier", "Left Ulm and lives in Trier now"),
    ],
)
def test_an_addition_a_wish_a_refinement_or_a_paraphrase_leaves_the_old_statement(old: str, new: str) -> None:
    assert not replaces(judged(old, new))


@pytest.mark.parametrize(
    ("old", "ended", "beside"),
    [
        ("Owns a piano", "Sold the piano", "Sold the piano stool"),
        ("Lives in Ghent", "Moved to Bruges", "Stopped going to the gym in Ghent"),
        ("Has a daughter called Ines", "Ines died", "Ines stopped taking ballet lessons"),
        ("Reads poetry", "No longer reads poetry", "No longer reads the newspaper"),
        ("彼は銀行で働いている", "彼は銀行をやめた", "彼は銀行の口座を解約した"),
    ],
)
def test_an_ending_ends_its_object_and_not_what_stands_beside_it(old: str, ended: str, beside: str) -> None:
    assert replaces(judged(old, ended))
    assert not replaces(judged(old, beside))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Rita was born in Malmö", "Rita was born in Lund"),
        ("Omar's birthday is on 3 April", "Omar's birthday is on 9 April"),
        ("The bridge was built in 1931", "The bridge was built in 1938"),
        ("The Lions won the 2019 final", "The Tigers won the 2019 final"),
        ("Hugo was at the party on 5 May 2021", "Hugo was not at the party on 5 May 2021"),
        ("The tower is 82 metres high", "The tower is 91 metres high"),
        ("Elif ist 1990 geboren", "Elif ist 1992 geboren"),
        ("小红的生日是3月5日", "小红的生日是6月9日"),
    ],
)
def test_two_values_of_a_fixed_slot_contradict_and_do_not_replace(old: str, new: str) -> None:
    verdict = judged(old, new)
    assert contradicts(verdict)
    assert not replaces(verdict)


def test_a_correction_of_a_fixed_slot_replaces() -> None:
    assert contradicts(judged("Rita was born in Malmö", "Rita was born in Lund"))
    verdict = judged("Rita was born in Malmö", "Correction: Rita was born in Lund, not in Malmö")
    assert replaces(verdict)
    assert not contradicts(verdict)


def test_intervals_that_do_not_meet_never_replace() -> None:
    old = said("Lives in Porto", EARLIER, ends=LATER)
    open_ended = said("Lives in Porto", EARLIER)
    new = said("Moved to Lyon", LATER)
    assert replaces(judge(open_ended, new))
    assert judge(old, new) == Verdict(replaces=0.0, contradicts=0.0, reason="disjoint intervals")


def test_a_statement_about_an_earlier_time_does_not_replace_a_later_one() -> None:
    home, move = "Lives in Porto", "Moved to Lyon"
    assert replaces(judge(said(home, EARLIER), said(move, LATER)))
    assert not replaces(judge(said(home, LATER), said(move, EARLIER)))


def test_tasks_are_never_judged() -> None:
    old, new = "The meeting is on Monday", "The meeting was moved to Tuesday"
    assert replaces(judged(old, new))
    for kinds in ((Kind.TASK, Kind.FACT), (Kind.FACT, Kind.TASK)):
        verdict = judge(said(old, EARLIER, kind=kinds[0]), said(new, LATER, kind=kinds[1]))
        assert verdict.reason == "task"
        assert not replaces(verdict)


async def test_the_port_gives_the_rules_verdict() -> None:
    old, new = said("Lives in Porto", EARLIER), said("Moved to Lyon", LATER)
    rules = DeterministicJudge()
    assert await rules.judge(old, new) == judge(old, new)
    assert rules.name


def test_a_memory_becomes_the_statement_it_makes() -> None:
    memory = Memory(
        id="m1",
        agent_id="a",
        key="home.city",
        value="Lives in Porto",
        fact_type=FactType.TASK,
        contact_id="",
        pinned=False,
        confidence=0.5,
        source=Source.TURN,
        provenance=(),
        created=EARLIER,
        updated=EARLIER,
        accessed=None,
        access_count=0,
        valid_from=EARLIER,
        valid_to=LATER,
        superseded_by="",
        supersedes="",
        version=1,
        expires=None,
        revision=1,
        indexed_revision=0,
    )
    assert statement_of(memory) == Statement(
        key="home.city", value="Lives in Porto", valid_from=EARLIER, valid_to=LATER, kind=Kind.TASK
    )


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_is_judged_and_nothing_replaces_itself(old: str, new: str) -> None:
    verdict = judged(old, new)
    assert 0 <= verdict.replaces <= 1
    assert 0 <= verdict.contradicts <= 1
    assert not replaces(judged(old, old))


def test_figures_on_the_development_pairs() -> None:
    """S-7: precision first; the held-out pairs are for `palimpsest bench supersession` alone."""
    pairs = [json.loads(line) for line in PAIRS.read_text("utf-8").splitlines()]
    found = [(pair["label"], judge(_side(pair["old"]), _side(pair["new"]))) for pair in pairs]
    replaced = [label for label, verdict in found if replaces(verdict)]
    contradicted = [label for label, verdict in found if contradicts(verdict)]
    labels = [label for label, _ in found]
    assert replaced.count("replaces") >= PRECISION * len(replaced)
    assert replaced.count("replaces") >= RECALL * labels.count("replaces")
    assert contradicted.count("contradicts") >= PRECISION * len(contradicted)
    assert contradicted.count("contradicts") >= CONTRADICTION_RECALL * labels.count("contradicts")


def _side(side: dict[str, Any]) -> Statement:
    ends = side["valid_to"]
    return Statement(
        key=side["key"],
        value=side["value"],
        valid_from=_day(side["valid_from"]),
        valid_to=_day(ends) + timedelta(days=1) if ends else None,
    )


def _day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
