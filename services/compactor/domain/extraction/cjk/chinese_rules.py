"""What a Chinese clause may say of its subject: who they are (SPEC J-8). Pure data, in simplified characters.

RULES are tried in order on what follows a subject.
"""

from __future__ import annotations

from services.compactor.domain.extraction.cjk.chinese_parts import (
    ADVERB,
    END,
    ORG,
    SCHOOL,
    TONGUE,
    TRADES,
    WORK,
    N,
)
from services.compactor.domain.extraction.cjk.chinese_rules_life import LIFE
from services.compactor.domain.extraction.cjk.chinese_rules_what import WHAT
from services.compactor.domain.extraction.cjk.dates import NUMBER
from services.compactor.domain.extraction.cjk.shared import Rule, rule
from services.compactor.domain.extraction.facts import Category

RULES: tuple[Rule, ...] = (
    rule(rf"{ADVERB}(?P<p>是(?P<o>[\u4e00-\u9fff]{{1,4}}族)){END}", Category.IDENTITY, "origin"),
    rule(r"(?P<p>(?:血型)?(?:是)?(?P<o>(?:[ABO]|AB)型血?))", Category.FACT, "blood-type"),
    rule(rf"(?P<p>(?:收集|收藏|集)(?P<o>(?!了|起|中|合|到).{{1,10}}?)){END}", Category.FACT, "collects*"),
    rule(
        rf"(?:{ADVERB}|今年|刚|刚满|快|马上|虚岁|周岁)*(?P<p>(?P<o>{N})岁(?:半|多|零.{{1,4}})?{END})",
        Category.IDENTITY,
        "age",
    ),
    rule(
        r"(?P<p>(?:今年|都|快|刚|刚满)*(?P<o>\d\d|[一二三四五六七八九]?十[一二三四五六七八九]?)(?:了"
        r"|多了|出头)|今年(?P<o_2>\d\d|[一二三四五六七八九]?十[一二三四五六七八九]?))",
        Category.IDENTITY,
        "age",
    ),
    rule(
        rf"{ADVERB}(?P<p>是?(?P<o>(?:19|20)?\d\d)年(?:.{{0,8}}?)(?:出生的?|生的?|生人|的(?=$)"
        rf"|生于.{{1,10}}))",
        Category.IDENTITY,
        "birth-year",
    ),
    rule(r"(?P<p>属(?P<o>[鼠牛虎兔龙蛇马羊猴鸡狗猪])的?)", Category.IDENTITY, "zodiac"),
    rule(
        rf"的?(?P<p>(?:(?:阳历|农历|阴历|公历)?生日(?:是|在)?(?P<o>(?:阳历|农历|阴历"
        rf"|公历)?.{{0,6}}{NUMBER}月.*)|(?:农历|阳历)?{NUMBER}月{NUMBER}[号日]?(?:的)?(?:生日|过生日"
        rf"|出生))){END}",
        Category.IDENTITY,
        "birthday",
    ),
    rule(r"(?P<p>姓(?P<o>[\u4e00-\u9fff]{1,2}))", Category.IDENTITY, "surname"),
    rule(
        rf"{ADVERB}(?P<p>是(?:地道的?|土生土长的?|地地道道的?|正宗的?|老"
        rf"|在)?(?P<o>(?!.*的人)(?!(?:外星|机器|好|坏|男|女|老|年轻|普通|聪明|诚实|[外内]行|病|过来"
        rf"|正常|本|有钱|大|古|穷|什么|负责|当事|成年|文明|现代|地球|打工|主|怎样|懒|狠|候选|证|粗|忙"
        rf"|俗|闲|e|i|E|I|性情|新|名"
        rf"|家|爱|恋|情|媒|军|残疾|孤家寡|单身|路|这种|那种|种|个|社会|商|猎|牧|工|素|代言|继承|创始"
        rf"|发起|合伙|联系|经纪|主持|介绍|一个|两个|几个|[一二三四五六七八九十两\d]+个?|凡|罪|圣|铁|超"
        rf"|正经|明白|局外|局内|自己|监护|陌生|仇|野|死|活|苦命|被告|原告|嫌疑|当地|外乡|同龄|边缘"
        rf"|隐形|透明|废|成熟|体面)人).{{1,8}})人){END}",
        Category.IDENTITY,
        "origin",
    ),
    rule(
        rf"{ADVERB}(?P<p>(?:来自|是?从(?=.+来)|出生在|出生于|生在|生于)(?P<o>(?!.*(?:消息|图片|心底"
        rf"|地球|火星|月球|未来|未知)).{{1,16}}?)(?:来)?){END}",
        Category.IDENTITY,
        "origin",
    ),
    rule(
        rf"的?(?P<p>(?:老家|家乡|籍贯|祖籍|娘家|婆家)(?:是|在)?(?P<o>(?!的|那边?|有|都|没|人|话|菜"
        rf"|特产|比|房|寄|来).{{2,12}}?)(?:人)?){END}",
        Category.IDENTITY,
        "origin",
    ),
    rule(
        rf"{ADVERB}(?P<p>(?:一直|常年|长期|从小|独自|一个人|自己|和.{{1,6}}|跟.{{1,6}}"
        rf"|单独)*(?:家在|家?住在?|定居在?|搬到|搬来|移居)(?P<o>(?!.*(?:酒店|宾馆|医院里|了院|院了|民宿|不"
        rf"|满|惯|进|着|过|宿费|院$)).{{2,20}}?)){END}",
        Category.LOCATION,
        "home",
    ),
    rule(
        rf"{ADVERB}(?P<p>(?:从小|一直|一个人|独自)*在(?P<o>.{{1,14}}?)(?:生活|定居|长大|租房|安家|落户"
        rf"|待|呆|漂|住)(?:(?:了|快|有)*{N}(?:多)?年|{N}个月)?(?:多)?){END}",
        Category.LOCATION,
        "home",
    ),
    rule(
        rf"{ADVERB}(?P<p>(?:(?:毕业后|退休前|一直|长期|平时)*)在(?P<o>(?!.*(?:想|问|看|等|找|用|路上"
        rf"|学习|群里|家里?$)).{{1,14}}?)(?:上班|工作|打工|实习|任职|就职|创业|做生意|谋生|服役|当兵"
        rf"|务农)(?:(?:了|快|有)*{N}(?:多)?年)?(?:多)?){END}",
        Category.LOCATION,
        "work-place",
    ),
    rule(
        rf"{ADVERB}(?P<p>(?:退休前|以前|之前|曾经|原来|业余|兼职)?(?:在(?P<at>(?!.*(?:想|问|看|等"
        rf"|找)).{{1,14}}?))?(?:当|做|干|兼职做?|担任|从事|是)(?:着|过)?(?:一?(?:名|位"
        rf"|个))?(?P<o>.{{0,14}}?(?:{TRADES})))"
        rf"(?:这行|工作|(?:了|快|有)*{N}(?:多)?年(?:多)?)?{END}",
        Category.IDENTITY,
        "occupation",
    ),
    rule(
        rf"{ADVERB}(?P<p>(?:是)?(?:在.{{1,10}}?)?(?:{WORK}|学)(?P<o>(?!什么|啥|梦|饭|作业|题|完"
        rf"|好).{{1,12}}?)(?:这行|这块|生意|行业|这一行|工作)?(?:了|快|有)*{N}(?:多)?(?:年"
        rf"|十年)(?:的?.{{1,6}})?(?:多)?){END}",
        Category.FACT,
        "does*",
    ),
    rule(
        rf"{ADVERB}(?P<p>(?:是(?:在.{{1,10}}?)?(?:{WORK}|搞|学)|(?:专门)?做)(?P<o>(?!什么|啥"
        rf"|梦).{{1,12}}?)的){END}",
        Category.IDENTITY,
        "occupation",
    ),
    rule(
        rf"{ADVERB}(?P<p>在(?P<at>(?!.*(?:想|问|看|等|找"
        rf"|群里)).{{1,12}}?)(?:{WORK})(?:了)?(?:一?[家个间])?(?P<o>(?!什么|啥|梦|饭|作业|题|功课|完"
        rf"|好|的|过|到|车|会|电话|球|伞|票|灯|门).{{1,14}}?)){END}",
        Category.IDENTITY,
        "occupation",
    ),
    rule(
        rf"{ADVERB}(?P<p>在(?P<at>.{{0,10}}?(?:{ORG}))(?:里)?(?P<o>(?!.*(?:看|等|排队|吃饭|睡|住院"
        rf"|发现|遇|丢|碰到|厕所|想|问|找|迷路|喝|玩|逛|说|打架|拍照|隔离|打针|输液|见|自习|办|了|什么"
        rf"|的|门口|附近|旁|对面|里面|楼|那边|隔壁|后面|前面)).{{2,10}}?)){END}",
        Category.IDENTITY,
        "occupation",
    ),
    rule(rf"{ADVERB}(?P<p>(?:主要)?负责(?P<o>.{{2,14}}?)(?:的)?){END}", Category.FACT, "duties*"),
    rule(
        rf"{ADVERB}(?P<p>(?:手下)?(?:带|管)(?:着|了)?(?P<o>{N}(?:个|名|条|座|家|间).{{1,10}}?)){END}",
        Category.FACT,
        "leads*",
    ),
    rule(
        rf"{ADVERB}(?P<p>是(?:一名|一位|个|一个|名|位)(?P<o>(?!.*(?:孩|男|女|的|这|那|笨蛋|傻|废物"
        rf"|好人|俗人|普通人|正常|问题|事|意外|秘密|谜|错|误会|好|坏|人)).{{2,12}}?)){END}",
        Category.IDENTITY,
        "occupation",
    ),
    rule(
        rf"{ADVERB}(?P<p>(?:主打|只卖|专卖|主要卖|主营|主要做|专门做)(?P<o>.{{1,14}}?)(?:的)?){END}",
        Category.FACT,
        "sells*",
    ),
    rule(
        rf"{ADVERB}(?P<p>(?:自己|和.{{1,6}}|跟.{{1,6}})*(?:开了?|经营着?)(?:{N}|一)?(?:家|个"
        rf"|间)?(?P<o>.{{0,10}}?(?:店|馆|厂|公司|诊所|工作室|民宿|农场|餐厅|酒吧|补习班|网店|超市"
        rf"|铺子?|面馆|理发店|花店|书店|茶馆|饭店|客栈))(?:了?{N}年)?){END}",
        Category.IDENTITY,
        "occupation",
    ),
    rule(
        rf"(?P<p>(?:跑|做)(?P<o>外贸|出租车?|网约车|滴滴|外卖|业务|长途|运输|销售|货运|快递|代购|微商"
        rf"|电商|直播|跨境|自媒体|工地|装修|保险|前台|后勤|财务|人事|运营|会计|护理|测试|前端|后端"
        rf"|算法|设计|审计)(?:的|工作|了?{N}年)?){END}",
        Category.IDENTITY,
        "occupation",
    ),
    rule(
        rf"{ADVERB}(?P<p>(?:早就?|去年|前年|已经)*(?:退休|退伍|待业|失业|自由职业|全职带娃|单身|离异"
        rf"|丧偶|未婚|已婚|独居)(?:在家)?(?:(?:了|快|有)*{N}(?:多)?年(?:多)?)?){END}",
        Category.FACT,
        "status*",
    ),
    rule(
        rf"{ADVERB}(?P<p>(?:在(?P<at>.{{1,12}}?))?(?:上|读|念|就读于?)(?:的是"
        rf"|的)?(?P<o>(?:.{{0,10}}?)(?:{SCHOOL})(?!的|了|时|毕业|同学|老师|食堂|那).{{0,8}}?)){END}",
        Category.IDENTITY,
        "studies",
    ),
    rule(
        rf"{ADVERB}(?P<p>(?:大学|本科|研究生|博士|硕士|高中|中专)?(?:是)?在(?P<o>.{{2,12}}?)(?:读|念"
        rf"|上|学)(?:的)?(?:书|大学|研|博|研究生|博士|高中|本科|.{{2,8}}(?:专业|学|工程))?){END}",
        Category.IDENTITY,
        "school",
    ),
    rule(
        rf"{ADVERB}(?P<p>(?:大学|本科|研究生|博士)?(?:是)?(?:学|读|念|修)(?:的是?|过)(?P<o>(?!时候|人"
        rf"|内容|东西).{{2,12}}?)(?:专业)?){END}",
        Category.IDENTITY,
        "studies",
    ),
    rule(
        rf"{ADVERB}(?P<p>(?:大学|本科|研究生|博士)?(?:是)?(?:学|读|念)(?P<o>(?!什么|啥|好|完|会|不"
        rf"|个).{{2,8}}?)的){END}",
        Category.IDENTITY,
        "studies",
    ),
    rule(rf"{ADVERB}(?P<p>(?:(?:19|20)?\d\d年)?毕业于(?P<o>.{{2,14}}))", Category.IDENTITY, "studies"),
    rule(
        rf"(?P<p>(?:大学|本科|研究生)?(?:是)?(?P<o>.{{2,12}}?)(?:专业)?毕业的?(?:{N}年)?){END}",
        Category.IDENTITY,
        "studies",
    ),
    rule(
        rf"{ADVERB}(?P<p>(?:会|能|精通)(?:说|讲|听)?(?:一?点儿?|流利的?"
        rf"|一些)?(?P<o>(?:{TONGUE}).{{0,14}}))",
        Category.IDENTITY,
        "speaks*",
    ),
    rule(r"的?(?P<p>母语(?:是|为)?(?P<o>.{2,8}))", Category.IDENTITY, "mother-tongue"),
    rule(
        rf"(?P<p>(?P<o>{TONGUE})(?:水平|说得|讲得)?(?:还行|还可以|流利|很好|不错|一般|不好|不太好"
        rf"|听不懂|不会|不行|很差|半吊子|{N}级|[ABC][12]|N[1-5]|.{{0,4}}听不懂|只会.{{1,6}})){END}",
        Category.IDENTITY,
        "speaks*",
        denies=True,
    ),
    rule(
        rf"{ADVERB}(?P<p>(?:还|也)?(?:不会|不懂|听不懂|看不懂)(?:说|讲)?(?P<o>{TONGUE})){END}",
        Category.IDENTITY,
        "speaks*",
        denies=True,
    ),
    *WHAT,
    *LIFE,
)
