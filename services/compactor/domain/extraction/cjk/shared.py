"""What Chinese and Japanese share in the extraction of facts (SPEC J-8). Pure.

Neither writes spaces between words, and no dictionary is at hand. A clause is understood by frames: a closed
list of beginnings and endings with open words between. Chinese is matched in simplified characters, one for
one, so that a place in the match is a place in the text, whose own words are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from services.compactor.domain.extraction.dates import Mention
from services.compactor.domain.extraction.facts import Category, Fact, Subject
from services.compactor.domain.extraction.subjects import slug

MOST_CLAUSE = 80
"""Characters of a clause that is read."""
LEAST_CHARACTERS = 2
"""Characters of a sentence that may be Chinese or Japanese."""
CHINESE, JAPANESE = "zh", "ja"
_TRADITIONAL = (
    "愛爱罷罢幫帮貝贝備备筆笔畢毕邊边編编變变別别標标賓宾補补層层產产場场廠厂車车陳陈稱称遲迟齒"
    "齿寵宠醜丑處处傳传"
    "創创純纯詞词從从達达帶带單单當当黨党導导燈灯敵敌點点電电訂订東东動动獨独讀读鍛锻對对隊队頓"
    "顿兒儿爾尔發发髮发"
    "煩烦飯饭範范訪访費费紛纷豐丰風风鳳凤婦妇復复蓋盖趕赶剛刚崗岗個个給给夠够購购顧顾關关觀观館馆廣广歸归櫃柜"
    "貴贵國国過过還还漢汉號号後后護护華华話话畫画懷怀歡欢環环換换匯汇會会貨货機机雞鸡極极級级際际繼继記记"
    "計计績绩濟济檢检減减簡简見见漸渐將将講讲獎奖醬酱餃饺腳脚較较階阶節节結结緊紧僅仅進进盡尽經"
    "经驚惊淨净靜静舊旧"
    "舉举據据決决覺觉絕绝開开課课褲裤誇夸塊块寬宽礦矿來来藍蓝懶懒勞劳樂乐離离裡里裏里禮礼歷历曆"
    "历麗丽連连臉脸練练"
    "涼凉兩两療疗獵猎臨临鄰邻靈灵領领劉刘龍龙樓楼錄录陸陆亂乱論论羅罗媽妈馬马嗎吗買买賣卖滿满貓"
    "猫貿贸沒没夢梦麵面"
    "滅灭鳴鸣難难腦脑鬧闹內内膩腻擬拟寧宁農农歐欧盤盘賠赔騎骑氣气錢钱牆墙橋桥親亲輕轻請请慶庆窮穷區区確确"
    "權权勸劝熱热認认榮荣軟软賽赛傘伞喪丧掃扫紗纱殺杀傷伤賞赏燒烧紹绍設设攝摄聲声勝胜師师獅狮詩"
    "诗時时實实識识適适"
    "勢势視视試试書书術术樹树數数雙双誰谁稅税順顺說说説说絲丝飼饲鬆松訴诉雖虽隨随歲岁孫孙筍笋縮"
    "缩臺台檯台態态灘滩"
    "談谈彈弹湯汤討讨鐵铁聽听廳厅頭头圖图團团圍围網网為为爲为維维衛卫溫温聞闻問问窩窝烏乌無无務"
    "务誤误習习係系戲戏"
    "細细蝦虾嚇吓鮮鲜閒闲顯显現现線线縣县獻献鄉乡詳详響响項项曉晓寫写謝谢興兴選选學学詢询訓训壓压鴨鸭亞亚"
    "煙烟嚴严鹽盐顏颜驗验陽阳養养樣样藥药爺爷業业葉叶頁页醫医遺遗義义憶忆議议異异藝艺譯译陰阴銀银飲饮應应營营"
    "萬万丟丢虧亏們们價价夥伙衝冲劑剂協协卻却廚厨吳吴諮咨壯壮妝妆寶宝審审屬属懼惧慣惯戶户報报擔"
    "担擺摆斷断晝昼暈晕條条棧栈檔档殘残溝沟潔洁測测淺浅漁渔濕湿潰溃瘡疮癢痒監监碼码礙碍禍祸簽签"
    "籃篮類类糾纠紀纪納纳終终統统續续縫缝聾聋聯联聰聪腸肠膚肤腎肾腫肿膽胆脈脉蘇苏蘋苹薦荐蕁荨獲"
    "获蘿萝蕭萧蔣蒋慮虑虛虚蠻蛮規规讓让許许評评誠诚該该調调謀谋譜谱負负財财質质貧贫貫贯貼贴賀贺"
    "贈赠贏赢趙赵輪轮輔辅輛辆輯辑輸输辭辞輩辈遠远遞递郵邮鄧邓鄒邹龐庞盧卢喬乔韋韦釣钓鋼钢鋪铺銷"
    "销鍋锅錯错錫锡門门閉闭間间悶闷閨闺險险韓韩頂顶須须題题飛飞餓饿駕驾罵骂鸚鹦鵡鹉黃黄齊齐劇剧"
    "嬰婴臟脏註注淚泪蘭兰鳥鸟塊块爐炉癱瘫癲癫憂忧鬱郁礎础醬酱偉伟"
    "擁拥優优猶犹遊游魚鱼與与語语預预員员園园願愿約约閱阅雲云運运雜杂載载讚赞贊赞髒脏則则責责擇择澤泽賊贼"
    "債债佔占戰战張张長长帳帐漲涨這这針针診诊陣阵鎮镇爭争徵征證证鄭郑隻只職职執执紙纸誌志製制鐘"
    "钟種种眾众週周豬猪"
    "專专轉转賺赚莊庄裝装狀状準准資资總总縱纵組组鑽钻嘗尝麼么妳你祇只睏困著着姊姐嬤嬷體体攤摊錶表喫吃"
)
_SIMPLIFIED = str.maketrans(
    dict(zip(_TRADITIONAL[::2], _TRADITIONAL[1::2], strict=True))
    | {wide: str(digit) for digit, wide in enumerate("０１２３４５６７８９")}
)
_KANA = re.compile(r"[\u3041-\u30fa\u30fc]")
_LATIN_WORD = re.compile(r"[A-Za-zÀ-ÿ]{2,}")
UNSPACED = re.compile(r"[\u3005\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What may follow a subject, and what it says; "*" at the end of the slot: a key for each object `o`.

    `p` is the predicate, where it is not all of it. A rule that `denies` may hold a negation.
    """

    pattern: re.Pattern[str]
    category: Category
    slot: str
    denies: bool = False


def rule(pattern: str, category: Category, slot: str, *, denies: bool = False) -> Rule:
    """A rule with its pattern compiled."""
    return Rule(pattern=re.compile(pattern), category=category, slot=slot, denies=denies)


def simplified(text: str) -> str:
    """The text in simplified characters, as long as it was."""
    return text.translate(_SIMPLIFIED)


def is_japanese(sentence: str) -> bool:
    """Whether it is written with kana, and with more characters of Japanese than Latin words."""
    return bool(_KANA.search(sentence)) and _is_unspaced(sentence)


def tongues(sentences: Sequence[str]) -> list[str]:
    """For each sentence of a message CHINESE, JAPANESE or "" for neither.

    A sentence without kana is Chinese, unless another one of the message has some.
    """
    with_han = JAPANESE if any(map(is_japanese, sentences)) else CHINESE
    return [
        JAPANESE if is_japanese(one) else with_han if _is_unspaced(one) and not _KANA.search(one) else ""
        for one in sentences
    ]


def _is_unspaced(sentence: str) -> bool:
    characters = len(UNSPACED.findall(sentence))
    return characters >= LEAST_CHARACTERS and characters >= 2 * len(_LATIN_WORD.findall(sentence))


def fact(
    subject: Subject,
    predicate: str,
    category: Category,
    slot: str,
    thing: str,
    mention: Mention | None = None,
) -> Fact:
    """A fact, its key made of the slot and what it is about."""
    day = mention.day if mention else None
    if slot.endswith("*"):
        when = f"{day.isoformat()}." if day and category is Category.EVENT else ""
        slot = f"{slot[:-1]}.{when}{slug(thing or predicate)}"
    return Fact(
        key=subject.attribute(slot), subject=subject.name, predicate=predicate, category=category, day=day
    )


def distinct(facts: Iterable[Fact]) -> Iterator[Fact]:
    """The facts; two of one slot are both kept, since what a message goes on to say replaces nothing."""
    seen: set[str] = set()
    for one in facts:
        key = f"{one.key}.{slug(one.predicate)}" if one.key in seen else one.key
        seen.add(key)
        yield replace(one, key=key)
