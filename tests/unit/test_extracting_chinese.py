"""Statements in Chinese, simplified and traditional (SPEC J-8)."""

from __future__ import annotations

import pytest

from tests.unit.extracting_parts import facts, values

STATED = {
    "a name": ("我叫周远航", ["安娜叫周远航"]),
    "an origin": ("我是土生土长的重庆人", ["安娜是土生土长的重庆人"]),
    "a home": ("我们家住在台北", ["安娜住在台北"]),
    "a trade": ("我是一名牙医", ["安娜是一名牙医"]),
    "a trade and its place": ("我姐在深圳做会计", ["安娜的姐姐做会计", "安娜的姐姐在深圳工作"]),
    "a trade and its house": ("我在口腔医院做前台", ["安娜在口腔医院做前台"]),
    "studies": ("我大学读的是临床医学", ["安娜大学读的是临床医学"]),
    "an age and an illness": ("我爷爷今年九十岁，有高血压", ["安娜的爷爷九十岁", "安娜的爷爷有高血压"]),
    "an allergy, traditional": ("我對海鮮過敏", ["安娜對海鮮過敏"]),
    "a diet": ("我不吃香菜", ["安娜不吃香菜"]),
    "a taste with its topic": ("咖啡我只喝黑的", ["安娜咖啡只喝黑的"]),
    "a comparison": ("比起喝酒，我更愿意喝茶", ["安娜比起喝酒更愿意喝茶"]),
    "an animal with its name": ("我養了一隻柴犬，叫麻糬", ["安娜養了一隻柴犬，叫麻糬"]),
    "a habit": ("每周三晚上我有瑜伽课", ["安娜每周三晚上有瑜伽课"]),
    "a time": ("我会弹吉他，学了五年", ["安娜会弹吉他，学了五年"]),
    "a relative and their name": (
        "我女儿叫小雨，在上幼儿园大班",
        ["安娜有个女儿叫小雨", "小雨 (安娜的女儿) 在上幼儿园大班"],
    ),
    "a name without a verb": (
        "我高中同学王磊在上海当律师",
        ["安娜有个同学叫王磊", "王磊 (安娜的同学) 当律师", "王磊 (安娜的同学) 在上海工作"],
    ),
    "a group": ("我们公司一共四十个人", ["安娜的公司一共四十个人"]),
    "a decision": ("我决定不考研了，直接找工作", ["安娜决定不考研"]),
    "a decision and its term": ("房子就租学校旁边那套，签两年", ["安娜房子就租学校旁边那套，签两年"]),
    "a statement before a question": ("我家老二今年上初一，数学老不及格，怎么办？", ["安娜的老二上初一"]),
}


@pytest.mark.parametrize("name", STATED)
def test_a_statement_is_read_in_its_own_words(name: str) -> None:
    text, expected = STATED[name]
    assert values(text, "安娜") == expected


DATED = [  # said on Wednesday, 15 May 2024
    ("我儿子昨天摔断了胳膊", "安娜的儿子 2024-05-14摔断了胳膊", "event", "2024-05-14"),
    ("上周六刚跑完人生第一个全马", "安娜 2024-05-11刚跑完人生第一个全马", "event", "2024-05-11"),
    ("6月3号我妈做白内障手术", "安娜的妈妈 2024-06-03做白内障手术", "event", "2024-06-03"),
    ("下周三下午三点我要去面试", "安娜 2024-05-22下午三点要去面试", "event", "2024-05-22"),
    ("周六我表哥结婚", "安娜的表哥 2024-05-18结婚", "event", "2024-05-18"),
    ("我大后天飞新加坡", "安娜 2024-05-18飞新加坡", "event", "2024-05-18"),
    ("下禮拜二之前要把報告交出去", "安娜 2024-05-21之前要把報告交出去", "task", "2024-05-21"),
    ("提醒我周四去拿药", "安娜 2024-05-16去拿药", "task", "2024-05-16"),
    ("我外婆上个月去世了", "安娜的外婆上个月去世了", "event", None),
    ("我得给奶奶打电话", "安娜得给奶奶打电话", "task", None),
]


@pytest.mark.parametrize(("text", "value", "category", "day"), DATED)
def test_days_count_from_when_it_was_said(text: str, value: str, category: str, day: str | None) -> None:
    (found,) = facts(text, "安娜")
    assert (found.value, found.category.value) == (value, category)
    assert (found.day.isoformat() if found.day else None) == day


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("以后回答都用简体中文，谢谢", "回答都用简体中文"),
        ("以後請用繁體中文回答我", "用繁體中文回答我"),
        ("以后给我写代码用Go就行，别用Java", "给我写代码用Go就行，别用Java"),
        ("以后凡是菜谱，一律按两人份写", "凡是菜谱，一律按两人份写"),
        ("麻烦以后别叫我“亲爱的”", "别叫我亲爱的"),
    ],
)
def test_a_standing_wish_is_kept(text: str, wish: str) -> None:
    (found,) = facts(text, "安娜")
    assert (found.predicate, found.category.value) == (wish, "instruction")


NOT_STATED = {
    "a denial": "我不是医生",
    "a question": "你住在哪里？",
    "a question without its mark": "我是不是对花生过敏",
    "a wish": "我想学日语",
    "an intention": "我打算明年去日本",
    "a possibility": "我可能下周去上海",
    "a condition": "如果我住在北京就好了",
    "another condition": "我要是住在海边，天天去赶海",
    "what somebody says": "他说他对花生过敏",
    "hearsay": "听说我们公司下周搬家",
    "somebody else": "有人喜欢猫，有人喜欢狗",
    "a quotation": "歌里唱“我住在高坡上”",
    "a quotation of several sentences": "书里写：“你好。我住在北京。我是医生。”",
    "a joke": "我是外星人，开玩笑的",
    "fiction": "帮我写个故事，主角说我住在火星",
    "work on a text": "翻译一下：我住在北京",
    "a passing state": "我有点累",
    "a passing day": "昨天太热了，一晚上没睡好",
    "a single request": "把刚才那段改成英文",
    "a form": "姓名：王芳\n城市：北京\n备注：我住在北京",
}


@pytest.mark.parametrize("name", NOT_STATED)
def test_what_is_not_stated_is_not_read(name: str) -> None:
    assert values("我住在北京。", "安娜") == ["安娜住在北京"]
    assert values(NOT_STATED[name], "安娜") == []


def test_simplified_and_traditional_have_one_slot_with_the_other_languages() -> None:
    """S-6: a newer value supersedes."""
    said = ["I live in Oslo.", "我住在台北。", "我住在北京。", "東京に住んでいます。"]
    assert {fact.key for text in said for fact in facts(text)} == {"user.home"}


def test_what_a_message_goes_on_to_say_replaces_nothing() -> None:
    found = facts("我爸妈都是农民，在老家种苹果", "安娜")
    assert [fact.predicate for fact in found] == ["是农民", "在老家种苹果"]
    assert len({fact.key for fact in found}) == 2
