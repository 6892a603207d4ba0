"""Statements in Japanese (SPEC J-8)."""

from __future__ import annotations

import pytest

from services.compactor.domain.extraction.cjk.japanese_forms import asked, due, plain
from tests.unit.extracting_parts import facts, values

STATED = {
    "a home": ("横浜の戸塚に住んでます", ["直美は横浜の戸塚に住んでいる"]),
    "an origin": ("生まれも育ちも神戸です", ["直美は生まれも育ちも神戸"]),
    "two origins": ("生まれは釧路、育ちは横浜", ["直美は生まれは釧路", "直美は育ちは横浜"]),
    "an age and a state": ("三十二歳、独身です", ["直美は三十二歳", "直美は独身"]),
    "a trade": ("IT企業で営業をやってます", ["直美はIT企業で営業をやっている"]),
    "a trade and its place": (
        "妹が名古屋で保育士をしています",
        ["直美の妹は保育士をしている", "直美の妹は名古屋で働いている"],
    ),
    "a taste": ("編み物は好き、ミシンは大嫌い", ["直美は編み物が好き", "直美はミシンが大嫌い"]),
    "a denied taste": ("パクチーがどうしても食べられません", ["直美はパクチーがどうしても食べられない"]),
    "an only thing": ("コーヒーはブラックしか飲まない", ["直美はコーヒーはブラックしか飲まない"]),
    "an illness with its reason": (
        "そばアレルギーがあるので、そば粉の入らないレシピでお願いします",
        ["直美はそばアレルギーがある"],
    ),
    "a habit": ("毎朝六時に起きて走っています", ["直美は毎朝六時に起きて走っている"]),
    "a time": ("新潟で米を作って四十年になります", ["直美は新潟で米を作って四十年になる"]),
    "a family": ("三児の母です", ["直美は三児の母"]),
    "a relative and their name": (
        "娘の名前は凛といいます、もうすぐ四歳",
        ["直美の娘の名前は凛", "凛 (直美の娘)はもうすぐ四歳"],
    ),
    "a name without a verb": (
        "甥っ子の大輝が来月から自衛隊に入る",
        ["直美の甥っ子の名前は大輝", "大輝 (直美の甥っ子)は来月から自衛隊に入る"],
    ),
    "a group": ("うちの会社は従業員四十人です", ["直美の会社は従業員四十人"]),
    "a decision": ("式は挙げないことにした", ["直美は式は挙げないことにした"]),
    "a statement before a question": (
        "妻がピーナツアレルギーなんだけど、機内食って変えられる？",
        ["直美の妻はピーナツアレルギー"],
    ),
}


@pytest.mark.parametrize("name", STATED)
def test_a_statement_is_read_in_plain_style(name: str) -> None:
    text, expected = STATED[name]
    assert values(text, "直美") == expected


DATED = [  # said on Wednesday, 15 May 2024
    ("息子が昨日腕を骨折しました", "直美の息子は2024-05-14に腕を骨折した", "event", "2024-05-14"),
    ("先週の金曜に車をぶつけられた", "直美は2024-05-10に車をぶつけられた", "event", "2024-05-10"),
    ("6月3日に母が手術を受けます", "直美の母は2024-06-03に手術を受ける", "event", "2024-06-03"),
    ("来週の水曜に面接があります", "直美は2024-05-22に面接がある", "event", "2024-05-22"),
    ("三日後に引っ越します", "直美は2024-05-18に引っ越す", "event", "2024-05-18"),
    ("明日、荷物を受け取りに行かなきゃ", "直美は2024-05-16に荷物を受け取りに行く", "task", "2024-05-16"),
    (
        "金曜までに家賃を振り込まないといけない",
        "直美は2024-05-17までに家賃を振り込む",
        "task",
        "2024-05-17",
    ),
    ("二年前に離婚しました", "直美は二年前に離婚した", "event", None),
    ("おばあちゃんに電話しなくちゃ", "直美はおばあちゃんに電話する", "task", None),
]


@pytest.mark.parametrize(("text", "value", "category", "day"), DATED)
def test_days_count_from_when_it_was_said(text: str, value: str, category: str, day: str | None) -> None:
    (found,) = facts(text, "直美")
    assert (found.value, found.category.value) == (value, category)
    assert (found.day.isoformat() if found.day else None) == day


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("これからは敬語なしで話してくれる？", "敬語なしで話す"),
        ("次回から見出しはつけないで", "見出しはつけない"),
        ("毎回最初に結論を書いてほしいです", "毎回最初に結論を書く"),
        ("私のことは「なお」って呼んで", "私のことはなおって呼ぶ"),
    ],
)
def test_a_standing_wish_is_kept(text: str, wish: str) -> None:
    (found,) = facts(text, "直美")
    assert (found.predicate, found.category.value) == (f"の希望：{wish}", "instruction")


NOT_STATED = {
    "a denial": "医者じゃないので分かりません",
    "a question": "どこに住んでるの？",
    "a question without its mark": "私は東京に住んでいますか。",
    "a wish": "犬が飼いたい",
    "a possibility": "来週東京に行くかもしれない",
    "a condition": "もし北海道に住んでたら毎日スキーするのに",
    "another condition": "俺が社長なら月曜は休みにする",
    "what somebody says": "友達が会社を辞めるって言ってた",
    "a quotation": "「東京に住んでいます」って英語で何？",
    "a quotation of several sentences": "「私は看護師です。横浜に住んでいます。」を英語に",
    "a joke": "僕は東京に住んでいます、なんちゃって",
    "fiction": "短編の主人公は横浜に住んでいます",
    "a passing state": "ちょっと疲れた",
    "a passing day": "昨日は暑くて眠れなかった",
    "a single request": "この文を短くして",
    "somebody else's": "田中さんは看護師です。横浜に住んでいます",
}


@pytest.mark.parametrize("name", NOT_STATED)
def test_what_is_not_stated_is_not_read(name: str) -> None:
    assert values("横浜に住んでいます。", "直美") == ["直美は横浜に住んでいる"]
    assert values(NOT_STATED[name], "直美") == []


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("大阪に住んでますよ", "大阪に住んでいる"),
        ("魚屋なんですけど", "魚屋"),
        ("コーヒーは飲みません", "コーヒーは飲まない"),
        ("手紙を書きました", "手紙を書いた"),
        ("家を出たことねえな", "家を出たことない"),
        ("古いのは捨てた", "古いのは捨てた"),
        ("昔は京都に住んでました", "昔は京都に住んでいた"),
        ("牛乳アレルギーです", "牛乳アレルギー"),
    ],
)
def test_a_clause_in_plain_style(said: str, written: str) -> None:
    assert plain(said) == written


def test_what_is_asked_for_and_what_is_due_in_the_dictionary_form() -> None:
    assert asked("短く答えてください") == "短く答える"
    assert asked("絵文字は使わないでね") == "絵文字は使わない"
    assert due("荷物を取りに行かなきゃ") == "荷物を取りに行く"
    assert due("電話しないといけない") == "電話する"
    assert due("草を刈らんといかん") == "草を刈る"
