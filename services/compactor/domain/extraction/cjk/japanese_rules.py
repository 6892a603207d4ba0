"""What a Japanese clause may say of its subject: who they are (SPEC J-8). Pure data.

RULES are tried in order on a clause in plain style, without its subject. A noun marked by "は" or "が" is
open only where the verb makes it an object.
"""

from __future__ import annotations

from services.compactor.domain.extraction.cjk.dates import NUMBER
from services.compactor.domain.extraction.cjk.japanese_parts import ADV, N
from services.compactor.domain.extraction.cjk.japanese_rules_life import LIFE
from services.compactor.domain.extraction.cjk.japanese_rules_what import WHAT
from services.compactor.domain.extraction.cjk.shared import Rule, rule
from services.compactor.domain.extraction.facts import Category

RULES: tuple[Rule, ...] = (
    rule(
        rf"{ADV}(?P<p>(?:実家|地元|故郷|出身地?|生まれ|故里|生家|本籍|育ち)(?:は"
        rf"|が)(?P<o>[^はが、]{{1,16}}))",
        Category.IDENTITY,
        "origin",
    ),
    rule(rf"{ADV}(?P<p>生まれも育ちも(?P<o>[^はが、]{{1,16}}))", Category.IDENTITY, "origin"),
    rule(
        rf"{ADV}(?P<p>(?P<o>[^はがを、]{{1,14}}?)(?:出身|生まれ)の(?!人|友|方|夫|妻|母"
        rf"|父)[^はがを、]{{2,12}}?)",
        Category.IDENTITY,
        "origin",
    ),
    rule(
        rf"{ADV}(?P<p>(?P<o>[^はがを、]{{1,14}}?)(?:の)?(?:出身|生まれ(?:育ち)?|育ち|で生まれ(?:た"
        rf"|育った|て育った)|で育った))",
        Category.IDENTITY,
        "origin",
    ),
    rule(
        rf"{ADV}(?P<p>(?P<o>(?!.*(?:夢|ここ|どこ|宇宙|月面)).{{1,24}}?)(?:に|で|の)(?:ずっと|一人で"
        rf"|ひとりで|家族で|夫婦で|家族と|夫と|妻と|猫と)?(?:{N}年(?:ほど|以上|くらい)?)?(?:住んでいる"
        rf"|すんでいる|暮らしている|住んでいた|暮らしていた|住まい|在住|下宿している"
        rf"|一人暮らし(?:をしている|している)?|ひとり暮らし(?:をしている|している)?|生活している"
        rf"|単身赴任(?:している|中)?|実家暮らし))",
        Category.LOCATION,
        "home",
    ),
    rule(
        rf"{ADV}(?P<p>(?P<o>[^はがを、]{{1,14}}?)(?:在住|暮らし(?:をしている)?|住み|住まい))",
        Category.LOCATION,
        "home",
    ),
    rule(
        rf"{ADV}(?P<p>(?P<o>[^はが、]{{2,18}}?)から(?:来た|来ている|きた|やってきた|越してきた"
        rf"|引っ越してきた))",
        Category.IDENTITY,
        "origin",
    ),
    rule(
        rf"{ADV}(?P<p>(?P<o>(?!.*(?:宇宙|外国|現地|日本人だ|普通|素人|一般|大|個|新|本|犯|他|美|主|老"
        rf"|芸能|有名|社会|病|恩|善|悪|人間|仕事|常|何|数|職|二|三|四|五|一)人)(?!.*(?:人が"
        rf"|人は))[^はがをに、]{{1,10}})人(?:と.{{1,8}}のハーフ)?)",
        Category.IDENTITY,
        "origin",
    ),
    rule(
        rf"{ADV}(?P<p>(?:今年で?|来月で|もうすぐ|先月で)?(?:満)?(?P<o>{NUMBER})(?:歳|才"
        rf"|さい)(?:半)?(?:になった|になる)?)",
        Category.IDENTITY,
        "age",
    ),
    rule(
        rf"{ADV}(?P<p>(?P<o>(?:昭和|平成|令和|大正|西暦)?(?:{NUMBER}"
        rf"|元)年)(?:の)?(?:{NUMBER}月(?:{NUMBER}日)?)?(?:の)?(?:生まれ(?:で)?|早生まれ))",
        Category.IDENTITY,
        "birth-year",
    ),
    rule(rf"{ADV}(?P<p>誕生日は(?P<o>{NUMBER}月{NUMBER}日))", Category.IDENTITY, "birthday"),
    rule(
        rf"{ADV}(?P<p>(?:今年|今春|来年から)?(?:(?:幼稚園|保育園|小学校?|中学校?|高校|大学|大学院"
        rf"|専門学校|短大|修士|博士|学部|小|中|高|院)の?(?P<o>{NUMBER})(?:年生?|回生)|年少|年中|年長"
        rf"|(?P<o_2>社会人|新卒){NUMBER}年目)(?:になった)?)",
        Category.IDENTITY,
        "school-year",
    ),
    rule(
        rf"{ADV}(?P<p>(?P<o>[^はが、]{{2,20}}?)(?:学部|学科|専攻|大学|大学院|専門学校|高校)(?:で|の|に"
        rf"|を)?(?P<r>.{{0,12}}?)(?:専攻|専攻している|学んでいる|勉強している|通っている|在籍している"
        rf"|在学中|卒業した|出た|卒|出身|{NUMBER}年生?))",
        Category.IDENTITY,
        "studies",
    ),
    rule(
        rf"{ADV}(?P<p>(?:大学|大学院|高校|専門学校|短大)?(?:では|で)?(?P<o>[^はが、]{{1,20}}?)(?:を"
        rf"|で)?(?:専攻している|専攻していた|学んでいる|学んでいた|勉強している|習っている"
        rf"|研究している|研究していた))",
        Category.FACT,
        "studies*",
    ),
    rule(
        rf"{ADV}(?P<p>(?P<o>[^はが]{{1,28}}?)(?:として(?:働いている|勤務している|勤めている)"
        rf"|に勤めている|に勤務している|勤務|勤め|で働いている|で働かせてもらっている|で勤務している"
        rf"|で(?:パート|バイト|アルバイト)(?:を?している|中)?))",
        Category.IDENTITY,
        "occupation",
    ),
    rule(
        rf"{ADV}(?P<p>(?:(?P<at>[^はがを、で]{{1,12}})で)?(?P<o>[^はが]{{1,28}}?)(?:を"
        rf"|の)?(?:経営している|営んでいる|担当している|教えている|任されている|自営している"
        rf"|開いている|運営している|務めている|切り盛りしている|手伝っている|栽培している|作っている"
        rf"|育てている|指導している))",
        Category.IDENTITY,
        "occupation",
    ),
    rule(
        rf"{ADV}(?P<p>(?:(?P<at>[^はがを、]{{1,14}}?)で)?(?P<o>(?!.*(?:何|それ|これ|あれ|どう|無理"
        rf"|心配|話|ゲーム|勉強|準備|作業|連絡|我慢|喧嘩|寝坊|損|真似|風邪|予定|用意"
        rf"|練習))[^はがを、で]{{1,16}}?)を?(?:やらせてもらっている|やらせていただいている|やっている"
        rf"|している|しておる|やっとる))",
        Category.IDENTITY,
        "does*",
    ),
    rule(
        rf"{ADV}(?P<p>(?P<o>(?!.*(?:何|それ|これ|待って|経って"
        rf"|たって))[^が]{{1,24}}?(?:[っいしきえけせねべめれげじり]て|んで"
        rf"|なくなって))(?:から)?、?(?:もう|今年で|早|かれこれ|ちょうど)?(?P<n>{NUMBER})(?:年|ヶ月"
        rf"|か月|日)(?:目|以上|ほど|くらい|ちょっと|半|間)?(?:になる|になった|経つ|経った|たつ)?)",
        Category.FACT,
        "since*",
    ),
    rule(
        rf"{ADV}(?P<p>(?P<o>[^はがを、]{{1,14}}?)(?:歴|一筋)(?:は)?、?(?:もう)?{NUMBER}年(?:目"
        rf"|以上)?(?:になる)?)",
        Category.FACT,
        "since*",
    ),
    rule(
        rf"{ADV}(?P<p>(?P<o>[^はがを、]{{1,14}}?)(?:生活|結婚|入社|社会人|移住|在日|来日|同棲|禁煙"
        rf"|禁酒|断酒|勤続)(?:して)?、?(?:もう|今年で)?{NUMBER}(?:年目?|ヶ月目?|か月目?|日目"
        rf"|周年)(?:になる|になった)?)",
        Category.FACT,
        "since*",
    ),
    rule(
        rf"{ADV}(?P<p>(?P<o>(?:結婚|入社|移住|来日|同棲|禁煙|禁酒|断酒|勤続|独立|開業|創業"
        rf"|退職)(?:して)?、?(?:もう|今年で|から)?{NUMBER}(?:年目?|ヶ月目?|か月目?|日目"
        rf"|周年))(?:になる|になった)?)",
        Category.FACT,
        "since*",
    ),
    *WHAT,
    *LIFE,
)
