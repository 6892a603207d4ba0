"""Japanese clauses in plain style (SPEC J-8). Pure.

    plain(clause) -> str        without what is only tone, verbs and copula as in a book

"大阪にすんでますよ" becomes "大阪にすんでいる", "魚屋なんですけど" becomes "魚屋". What is not known
stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_TONE = re.compile(
    r"(?:[〜～!！…。、\s]|(?<![ァ-ヶー])ー+|w+|[（(]?笑[)）]?|草|よねえ?|よな|よ"
    r"|(?<!こと)(?<![かさたなまらわば])ねえ|ね(?!え)|なあ|な(?<![いかの]な)|わ(?<![かま]わ)|ぞ|ぜ"
    r"|さ(?<=[だるたい]さ)|っす(?=$)|のう|じゃのう|けどね"
    r"|[\U0001F300-\U0001FAFF\u2600-\u27BF\uFE0F])+$"
)
_LINK = re.compile(
    r"(?:なん|ん|の)?(?:です|だ|でして|ます(?=[けがの]))?(?P<s>けれども|けれど|けども|けど|が"
    r"|ので|んで|から|し|もので|もんで|のに|ものの)$"
)
_GODAN = dict(zip("きぎしちにびみりい", "くぐすつぬぶむるう", strict=True))
_NEGATED = dict(zip("きぎちにびみりい", "かがたなばまらわ", strict=True))
_PAST_GODAN = dict(
    zip(
        "きぎしちにびみりい",
        ("いた", "いだ", "した", "った", "んだ", "んだ", "んだ", "った", "った"),
        strict=True,
    )
)
_ICHIDAN_I = re.compile(
    r"(?:起き|見|着|でき|出来|借り|降り|下り|落ち|過ぎ|浴び|信じ|感じ|生き|似|煮|閉じ|足り|伸び"
    r"|延び|老い|尽き|飽き|通じ|演じ|禁じ|案じ|用い|強い|率い|(?<=[てでにがはも人匹羽頭つ])い)$"
)
_A_ROW = dict(zip("かがさたなばまらわ", "くぐすつぬぶむるう", strict=True))
DUTY = (
    r"(?:なきゃ(?:いけない|ならない|だめ|な|あかん)?|なければ(?:ならない|いけない|ならん|いけん)?"
    r"|ないと(?:いけない|ならない|だめ|駄目|まずい|やばい|ヤバい|いかん|あかん|な|ね)?"
    r"|なくちゃ(?:いけない|ならない|な)?"
    r"|ないと.{0,3}(?:怒られる|叱られる|間に合わない|大変|困る)|ねば(?:ならない|ならん|ならぬ)?"
    r"|な(?:あかん|いかん)|んと(?:あかん|いかん|いけん|だめ|ならん|な)?|にゃ(?:ならん|いかん"
    r"|あかん|いけん)?|なくては(?:ならない|いけない)?|んならん|んといかんの)"
)
_DUTY = re.compile(f"{DUTY}$")
_VERBS = {
    "言って": "言う",
    "使って": "使う",
    "話して": "話す",
    "返して": "返す",
    "書いて": "書く",
    "呼んで": "呼ぶ",
    "読んで": "読む",
    "出して": "出す",
    "省いて": "省く",
    "訳して": "訳す",
    "添えて": "添える",
    "付けて": "付ける",
    "つけて": "つける",
    "答えて": "答える",
    "教えて": "教える",
    "見せて": "見せる",
    "やめて": "やめる",
    "辞めて": "やめる",
    "止めて": "やめる",
    "まとめて": "まとめる",
    "控えて": "控える",
    "入れて": "入れる",
    "避けて": "避ける",
    "並べて": "並べる",
    "揃えて": "揃える",
    "分けて": "分ける",
    "変えて": "変える",
    "考えて": "考える",
    "載せて": "載せる",
    "挙げて": "挙げる",
    "伝えて": "伝える",
    "続けて": "続ける",
    "始めて": "始める",
    "終えて": "終える",
    "守って": "守る",
    "絞って": "絞る",
    "切って": "切る",
    "送って": "送る",
    "直して": "直す",
    "示して": "示す",
    "頼んで": "頼む",
    "選んで": "選ぶ",
    "聞いて": "聞く",
    "置いて": "置く",
    "抜いて": "抜く",
    "外して": "外す",
    "減らして": "減らす",
    "略して": "略す",
    "説明して": "説明する",
    "して": "する",
    "いって": "いう",
    "扱って": "扱う",
    "従って": "従う",
    "打って": "打つ",
    "待って": "待つ",
    "喋って": "喋る",
    "しゃべって": "しゃべる",
    "足して": "足す",
    "消して": "消す",
    "表して": "表す",
    "記して": "記す",
    "参照して": "参照する",
    "勧めて": "勧める",
    "すすめて": "すすめる",
    "褒めて": "褒める",
    "叱って": "叱る",
    "起こして": "起こす",
    "提案して": "提案する",
}
_PLEASE = (
    r"(?:ください|下さい|くれ(?:る(?:と.{1,6})?|ると助かる)?|ほしい|欲しい|もらえ(?:る|ると.{1,8}"
    r"|たら.{1,8}|ないか)|もらって(?:いい|も.{1,4})|いただけ.{1,10}|頂け.{1,10}|ちょうだい|おくれ"
    r"|な|ね|よ)?(?:です|ます)?"
)
_REQUESTS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (re.compile(rf"(?:し|やっ)(?:といて|ておいて|とって){_PLEASE}$"), lambda _: "する"),
    (
        re.compile(rf"(?P<v>{'|'.join(sorted(_VERBS, key=len, reverse=True))})(?:おいて)?{_PLEASE}$"),
        lambda found: _VERBS[found["v"]],
    ),
    (re.compile(rf"(?P<v>[\u3041-\u3093]ない)で{_PLEASE}$"), lambda found: found["v"]),
    (
        re.compile(
            r"(?:で|を)?(?:お願い(?:し(?:たい(?:です)?|ます)|いたします|できますか)?"
            r"|よろしく(?:お願いします)?|頼む(?:わ)?|たのむ)$"
        ),
        lambda _: "",
    ),
    (re.compile(r"(?:よう)?に(?:して)$"), lambda _: "にする"),
)
_E_ROW = "えけせてねへめれげぜでべぺ"


def plain(clause: str) -> str:
    """The clause in plain style."""
    text = _untoned(clause)
    for _ in range(2):
        text = _LINK.sub("", text) if len(text) > 4 and not text.endswith(("ながら", "だから")) else text
        text = _untoned(text)
    text = _verb(text)
    return _untoned(text)


def asked(text: str) -> str:
    """What a request asks for: "短く答えてください" is "短く答える", "使わないで" is "使わない"."""
    text = _untoned(text)
    for pattern, form in _REQUESTS:
        changed = pattern.sub(form, text)
        if changed != text:
            return changed
    return text


def due(text: str) -> str:
    """What somebody must do: "電話しなくちゃ" is "電話する", "払わないといけない" is "払う"."""
    stem = _DUTY.sub("", text)
    if stem == text or not stem:
        return text
    if stem.endswith("し") and not stem.endswith("探し"):
        return f"{stem[:-1]}する"
    if stem.endswith("しとか"):
        return f"{stem[:-3]}する"
    if stem.endswith("せ"):
        return f"{stem[:-1]}する"
    if stem.endswith(("とか", "どか")):
        return f"{stem[:-1]}く"
    if stem[-1] in _A_ROW:
        return f"{stem[:-1]}{_A_ROW[stem[-1]]}"
    return f"{stem}る"


def _untoned(text: str) -> str:
    return _TONE.sub("", text)


def _verb(text: str) -> str:
    """Its last verb in the dictionary's form, or the past one; a copula is left away."""
    for pattern, form in _FIXED:
        changed = pattern.sub(form, text)
        if changed != text:
            return _verb(changed) if pattern in _AGAIN else changed
    if text.endswith("ません"):
        return _denied(text[:-3])
    if text.endswith("ました"):
        return _past(text[:-3])
    if text.endswith("まして"):
        return _past(text[:-3])
    if text.endswith("ます"):
        return _present(text[:-2])
    return text


def _present(stem: str) -> str:
    if stem.endswith("し"):
        return f"{stem[:-1]}する" if _is_suru(stem) else f"{stem[:-1]}す"
    if stem.endswith(("来", "き")) and (stem.endswith("来") or stem.endswith("てき")):
        return f"{stem[:-1]}{'来る' if stem.endswith('来') else 'くる'}"
    if stem[-1:] in _E_ROW or _ICHIDAN_I.search(stem) or stem[-1:] not in _GODAN:
        return f"{stem}る"
    return f"{stem[:-1]}{_GODAN[stem[-1]]}"


def _denied(stem: str) -> str:
    """ "飲みません" is "飲まない", "見ません" is "見ない", "しません" is "しない"."""
    if _ICHIDAN_I.search(stem) or stem[-1:] not in _NEGATED or stem.endswith(("し", "来")):
        return f"{stem}ない"
    return f"{stem[:-1]}{_NEGATED[stem[-1]]}ない"


def _past(stem: str) -> str:
    if stem.endswith(("行き", "いき")) and not stem.endswith("ていき"):
        return f"{stem[:-1]}った"
    if stem.endswith("来") or stem.endswith("てき"):
        return f"{stem}た"
    if stem[-1:] in _E_ROW or _ICHIDAN_I.search(stem) or stem[-1:] not in _GODAN:
        return f"{stem}た"
    return f"{stem[:-1]}{_PAST_GODAN[stem[-1]]}"


def _is_suru(stem: str) -> bool:
    """ "練習し" and "をし", not "話し" or "出し": of two characters and more, or behind a particle."""
    before = stem[:-1]
    return bool(re.search(r"(?:[をもにはが]|[\u4e00-\u9fff]{2}|[ァ-ヶー]{2})$", before))


_BEFORE_TE = "[んっいしきびみえべせれけね着見似寝出来得経煮居]"
"""What a continuous form follows, unlike the stem of "捨てる"."""
_FIXED: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), form)
    for pattern, form in (
        (r"(?<=[いたるうくすつぬむぶ])(?:ん|の)(?:です|だ|でして|や|じゃ)$", ""),
        (r"(?<=[いたるうくすつぬむぶ])(?:です|っす|んや|んじゃ|んよ|の)$", ""),
        (r"(?P<s>こと|[かさたなまらわば])ね[えぇー]$", r"\g<s>ない"),
        (r"(?P<v>[てで])(?:おり|居り|い)?ますので$", r"\g<v>いる"),
        (
            r"(?P<v>[てで])(?:おります|居ります|います|ます|まーす|おる|おりまして|いまして|まして|おり"
            r"|いて)$",
            r"\g<v>いる",
        ),
        (rf"(?<={_BEFORE_TE})(?P<v>[てで])(?:る|て)$", r"\g<v>いる"),
        (r"(?<=[人匹羽頭つ])いて$", "いる"),
        (r"(?<=[っいしきえけせねべめれ])とります$", "ている"),
        (r"っちゃった$", "った"),
        (r"(?<=[いえけせてねめれげべきし])ちゃった$|(?<=[いえけせてねめれげべきし])ちまった$", "た"),
        (r"(?:んじゃった|んじまった)$", "んだ"),
        (r"(?<=ん)でました$", "でいた"),
        (r"(?<=[っいし])てました$", "ていた"),
        (r"(?P<v>[てで])(?:おりました|いました)$", r"\g<v>いた"),
        (rf"(?<={_BEFORE_TE})(?P<v>[てで])た$", r"\g<v>いた"),
        (r"(?<=[^まし])とる$", "ている"),
        (r"ませんでした$", "なかった"),
        (r"(?:じゃ|では)ありません$", "ではない"),
        (r"おりません$|いません$", "いない"),
        (r"ありません$", "ない"),
        (r"(?P<s>[えけせてねへめれげぜでべぺ])ません$", r"\g<s>ない"),
        (r"あります$|ございます$|ありまして$|ございまして$|あって$", "ある"),
        (r"(?<![てで])おります$|(?<![てで])おりまして$|(?<![てで])いまして$|(?<![てで])おる$", "いる"),
        (r"(?:と申し|と言い|といい|っていい)ます$|と申しまして$", "という"),
        (
            r"(?:なの|なん)?(?:です|だ|でございます|であります|である|じゃ|や|っす|なんで|なので|でして"
            r"|なの|なんだ|なんや|なんじゃ)$",
            "",
        ),
        (r"(?<=[\u4e00-\u9fffァ-ヶーきれ派])(?:で|な)$(?<!まで)", ""),
    )
)
_AGAIN = {pattern for pattern, _ in _FIXED[:2]}
