"""The deterministic judge of supersession: guard, contradictions, replacements, figures (S-7, J-16)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.memory.semantic.app.judging import RULES, DeterministicJudge, Judged, statement_of
from services.memory.semantic.domain.judging import judge
from services.memory.semantic.domain.judging_evidence import (
    ACTED_ON,
    HELD_BACK,
    RELIABILITY,
    Tie,
    probability,
)
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
CONTRADICTION_RECALL = 0.3
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
        ("Hamid is engaged to Laura", "Hamid and Laura broke up"),
        ("The trip is planned for May", "The trip was cancelled"),
        ("Runs every morning before work", "Doesn't run anymore since the injury"),
        ("Answer with emojis", "Stop using emojis in answers"),
        ("Piotr gra w klubie szachowym", "Piotr odszedł z klubu szachowego"),
        ("Fuma un paquete al día", "Ya no fuma"),
        ("Lavora in una farmacia", "Ha lasciato la farmacia"),
        ("De les is op maandag", "De les op maandag is geschrapt"),
        ("Олег курит", "Олег бросил курить"),
        ("Kemal sigara içiyor", "Kemal sigarayı bıraktı"),
        ("매일 커피를 마신다", "커피를 끊었다"),
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
        ("The entry fee is 6 dollars", "The entry fee went up to 8 dollars"),
        ("Her surname is spelled Meyer", "Correction: her surname is spelled Maier, not Meyer"),
        ("My favourite food is pizza", "My favourite food is sushi now"),
        ("The dog is called Rex", "Sorry, the dog is called Max, not Rex"),
        ("The lift is out of order", "The lift has been fixed"),
        ("Tom hates jazz", "Tom loves jazz now"),
        ("The flag is disabled", "The flag has been enabled for all"),
        ("A Joana mora em Braga", "A Joana mudou-se para o Porto"),
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
        ("Editor of choice: Kate", "Editor of choice: Zed"),
        ("The ladder is behind the shed", "The ladder is in the cellar now"),
        ("Prefers tea", "Prefers cocoa these days because of her stomach"),
    ],
)
def test_a_new_value_of_a_slot_that_holds_one_replaces(old: str, new: str) -> None:
    assert replaces(judged(old, new))


@pytest.mark.parametrize(
    ("old", "new", "tie"),
    [
        ("Has a dog named Bruno", "Bruno passed away in March", Tie.LOOSE),
        ("Has a cottage by the lake", "The cottage was struck by lightning and burned down", Tie.LOOSE),
        ("The office is heated with oil", "The office oil tank was torn out", Tie.NARROWER),
    ],
)
def test_where_the_statements_are_hardly_tied_it_is_likely_but_not_acted_on(
    old: str, new: str, tie: Tie
) -> None:
    """S-7: precision first."""
    verdict = judged(old, new)
    assert verdict.replaces == min(RELIABILITY[tie], HELD_BACK) < REPLACES_FROM
    assert verdict.reason.endswith(tie.value)


@pytest.mark.parametrize("tie", list(Tie))
def test_only_what_is_reliable_is_acted_on(tie: Tie) -> None:
    """S-7: the working point separates the ties by their measured reliability."""
    assert (probability(tie) >= REPLACES_FROM) == (RELIABILITY[tie] >= ACTED_ON)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The landlord of the pub is Mr Dunn", "Mr Dunn sold his moped"),
        ("The deposit is 300 euros", "The bank raised its interest to 2 percent"),
    ],
)
def test_somebody_who_acts_on_something_else_changes_nothing(old: str, new: str) -> None:
    assert not replaces(judged(old, new))


@pytest.mark.parametrize(
    ("old", "new", "beside"),
    [
        ("The tram goes on weekdays", "The tram no longer goes", "The tram no longer goes on Sundays"),
        ("Eats cheese", "Stopped eating cheese", "Stopped eating cheese at the office"),
        ("Paints landscapes", "Gave up painting landscapes", "Gave up a landscape of the Alps"),
        ("Pays rent for the flat", "No longer pays rent for the flat", "No longer pays rent for the garage"),
        ("The pier is 80 m long", "The pier was extended to 95 m", "The pier measures 95 m"),
        (
            "The lesson is at 9:00",
            "The lesson was moved to 9:30",
            "Ada suggested the lesson be moved to 9:30",
        ),
        (
            "Writes with the left hand",
            "No longer writes with the left hand",
            "Has never changed hands all her life",
        ),
        ("Works in the mill", "Left the mill", "The mill got a new roof"),
        ("The shop sells tea", "The shop no longer sells tea", "The shop sells coffee"),
        ("Wants to see Rome", "No longer wants to see Rome", "Wants to see Rome before moving to Ghent"),
    ],
)
def test_another_time_place_purpose_or_instance_leaves_the_old_statement(
    old: str, new: str, beside: str
) -> None:
    """Each with its positive control: the same statement, ended or changed."""
    assert replaces(judged(old, new))
    assert not replaces(judged(old, beside))


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
        ("Wir haben einen Hund", "Unsere Nachbarn haben keinen Hund mehr"),
        ("Lavoro in banca", "Il mio collega ha lasciato la banca"),
        ("У меня есть кошка", "У соседа больше нет кошки"),
        ("I'm in the chess club", "Kai left the chess club"),
        ("The parking permit has expired", "My residence permit was renewed"),
        ("Bea is a vegan", "Bea's cafe is no longer vegan"),
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
        ("Is allergic to cats", "Is no longer allergic to dogs"),
        ("Drinks coffee", "Stopped drinking coffee after dinner"),
        ("Goes running on Mondays", "Goes swimming on Fridays now"),
        ("My bike is blue", "My bike has a new saddle"),
        ("The kitchen is white", "The kitchen sink was repaired"),
        ("The picnic is on Sunday", "If it rains, the picnic is off"),
        ("Plays the piano", "Sold her aunt's piano"),
        ("Needs to water the plants", "Watered the lawn"),
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
    judged_ = await DeterministicJudge().judge("acme", "agent", old, new)
    assert judged_ == Judged(verdict=judge(old, new), judge=RULES)


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
