"""What a Japanese clause may say of its subject: family, belongings and habits (SPEC J-8). Pure data."""

from __future__ import annotations

from services.compactor.domain.extraction.cjk.dates import NUMBER
from services.compactor.domain.extraction.cjk.japanese_parts import (
    ADV,
    DAILY,
    NOT_DAILY,
    NOT_TRADE,
    SKILL,
    TRADES,
    VERB,
    N,
)
from services.compactor.domain.extraction.cjk.shared import Rule, rule
from services.compactor.domain.extraction.facts import Category

LIFE: tuple[Rule, ...] = (
    rule(rf"{ADV}(?P<p>妊娠(?P<o>{NUMBER}(?:ヶ月|か月|カ月|週)目?).{{0,4}})", Category.FACT, "pregnant"),
    rule(
        rf"{ADV}(?P<p>(?P<o>(?:子供|子ども|こども|孫|兄弟|姉妹|兄|姉|弟|妹|息子|娘|猫|犬|うさぎ|インコ"
        rf"|ハムスター|金魚|亀|ひ孫|甥|姪|[ァ-ヶー]{{2,10}})(?:が|は|も)(?:全部で|上から)?(?:{NUMBER}"
        rf"|何)?(?:人|匹|頭|羽|つ)?)(?:いる|おる|ある))",
        Category.FACT,
        "has*",
    ),
    rule(
        rf"{ADV}(?P<p>(?P<o>{NUMBER}(?:人|児)(?:兄弟|姉妹|きょうだい|家族|の(?:子|子供|子ども|孫|父|母"
        rf"|親|パパ|ママ)|暮らし)(?:の[\u4e00-\u9fff]{{2,3}})?)(?:がいる)?(?:[^は、]{{0,10}}))",
        Category.FACT,
        "family",
    ),
    rule(
        rf"{ADV}(?P<p>(?:[^はが、]{{1,10}}に)?(?P<o>[^はが、]{{1,12}})が{N}(?:冊|台|本|枚|個|足|着|頭"
        rf"|羽|匹|人|件|坪|反|ヘクタール|種類|カ所)(?:以上|くらい|ほど)?(?:ある|いる))",
        Category.FACT,
        "has*",
    ),
    rule(
        rf"{ADV}(?P<p>(?P<o>家|自宅|車|愛車|スマホ|携帯|パソコン|PC|部屋|自転車|バイク|庭|畑|店"
        rf"|下の名前|苗字|カメラ|楽器|眼鏡|メガネ|機種|OS|ブラウザ|エディタ)は(?P<r>(?!.*(?:どこ|ない"
        rf"|壊|故障|汚|狭|遠|何|まだ|今日|昨日|明日))[^は、]{{2,20}}(?<![いるたうくぐすつぬぶむ])))",
        Category.FACT,
        "attribute*",
    ),
    rule(
        rf"{ADV}(?P<p>(?P<o>ペースメーカー|ステント|人工関節|ボルト|インプラント|義足|義手|補聴器"
        rf"|コンタクト|眼鏡|メガネ|入れ歯)(?:が|を|は)?(?:入っている|入れている|埋め込んでいる"
        rf"|使っている|つけている|かけている|している))",
        Category.FACT,
        "health*",
    ),
    rule(
        rf"{ADV}(?P<p>(?P<o>[^は、]{{1,28}}?)(?:を|と)?(?:{NUMBER}(?:匹|頭|羽)(?:を)?)?(?:飼っている"
        rf"|飼い始めた|飼うことになった|保護している|一緒に暮らしている))",
        Category.FACT,
        "pet*",
    ),
    rule(
        rf"{ADV}(?P<p>(?P<o>[^は、]{{1,16}}?)を?(?:持っている|所有している|乗っている|愛用している"
        rf"|集めている|収集している|やめた|やめている|卒業した))",
        Category.FACT,
        "has*",
    ),
    rule(
        rf"{ADV}(?P<p>(?P<o>[^は、]{{1,20}}?)に(?:通っている|通院している|所属している|入っている"
        rf"|登録している|参加している|乗っている))",
        Category.FACT,
        "goes*",
    ),
    rule(
        rf"{ADV}(?P<p>(?P<o>(?:[\u4e00-\u9fffァ-ヶー]{{1,8}}語|手話|点字|方言|ピアノ|ギター|車|バイク"
        rf"|自転車|料理|[\u4e00-\u9fff]{{2,6}})(?:と[\u4e00-\u9fffァ-ヶー]{{1,8}}語)?)(?:は|が|も"
        rf"|を)(?:少し|少しだけ|ちょっと|全く|全然|まったく|多少|ほとんど|日常会話なら"
        rf"|ある程度)*(?:{SKILL}))",
        Category.IDENTITY,
        "speaks*",
        denies=True,
    ),
    rule(
        rf"{ADV}(?P<p>(?P<o>(?:[^はが、]{{1,14}})(?:の)?(?:免許|資格|{NUMBER}級|[一二三四五]段"
        rf"|検定)(?:を)?)(?:持っている|ある|持ち|がある|を持っている|取得した))",
        Category.FACT,
        "licence*",
    ),
    rule(
        rf"{ADV}(?P<p>{NOT_TRADE}(?P<o>(?:[^はがをも、]{{0,20}}?)(?:{TRADES}))(?:をしている"
        rf"|をやっている|(?:に|と)なった|{NUMBER}年目|をしていた|をやっていた|だった|として働いていた"
        rf"|として勤めていた)?)",
        Category.IDENTITY,
        "occupation*",
    ),
    rule(
        rf"(?P<p>(?P<o>{DAILY}{NOT_DAILY}(?!.*が(?!好き|得意)).{{2,26}}?{VERB}))",
        Category.FACT,
        "habit*",
        denies=True,
    ),
    rule(
        r"(?P<p>(?P<o>[^はが、]{2,16}?(?:し|って|て))て?(?:から|ないと)(?:寝る|眠れない"
        r"|落ち着かない|出かけない))",
        Category.FACT,
        "habit*",
        denies=True,
    ),
    rule(
        rf"(?P<p>(?P<o>社員|従業員|メンバー|部員|生徒|定員){NUMBER}(?:名|人)(?:の[^は]{{1,12}})?)",
        Category.FACT,
        "size",
    ),
    rule(
        r"(?P<p>(?P<o>毎週[月火水木金土日]曜日?)が(?:定休|休み|定休日)(?:になる)?)", Category.FACT, "closed"
    ),
)
