"""Which Chinese and Japanese sentences are their author's own statements (SPEC J-8). Pure.

VETO                        a message that asks for fiction or work on a text, or is a joke
stated(line) -> str         what is said or wished for in a sentence that ends as a question
unquoted(line) -> str       without quotation marks around somebody's name
"""

from __future__ import annotations

import re

VETO = re.compile(
    r"^\W*(?:请|請|麻烦|麻煩)?(?:帮我|幫我|帮忙|幫忙)?(?:把.{0,8})?(?:翻译|翻譯|润色|潤色|改写"
    r"|改寫|校对|校對|扩写|擴寫|缩写|縮寫|续写|續寫|造句)"
    r"|[写寫编編讲講][^。！？!?\n]{0,16}(?:故事|小说|小說|剧本|劇本|诗|詩|童话|童話|歌词|歌詞"
    r"|作文|段子|台词|台詞|笑话|笑話|小品|人设|人設)"
    r"|开(?:个|個)?玩笑|開(?:个|個)?玩笑|逗你|骗你的|騙你的|才怪|当我没说|當我沒說|梦做完|愚人节"
    r"|愚人節|瞎编|瞎編|角色扮演|扮演|从前有|從前有|例句|作文题|作文題"
    r"|假装|假裝|打个比方|打個比方|举个例子|舉個例子|反话|反話|狗头|doge|打钱|V我\d|(?:对对对"
    r"|對對對|是是是|行行行)"
    r"|翻訳し|訳して|添削|校正して|言い換え|要約して|例文|たとえば|例えば|台詞|セリフ|小説|短編"
    r"|脚本|歌詞|物語を|冗談|嘘です|うそです|うそうそ|なんちゃって|なーんて"
    r"|知らんけど|もしもの話|エイプリルフール|ロールプレイ|になりきって|という設定|って設定|仮の話|妄想"
)
_QUESTION = re.compile(
    r"^(?P<said>.*(?:[，,、；;。]|(?<=[\u3041-\u30ff\u4e00-\u9fff])\s|けれど|けど|んだが|ですが"
    r"|ますが|なので|んで|ので))"
    r"[^，,、；;]*[?？][\s)）]*$"
)
"""What stands before a question where clauses follow each other with commas (Chinese, Japanese)."""
_UNSPACED = re.compile(r"[\u3041-\u30ff\u4e00-\u9fff]")
_NAMED = re.compile(  # a name in quotation marks
    r"((?:叫做?|名叫|称呼我?为?|稱呼我?為?|喊我|叫我|名字是"
    r"|名前は)\s?)[“「『\"]([^“”「」『』\"，。！？]{1,8})[”」』\"]()"
    r"|()[「『]([^「」『』、。！？]{1,10})[」』]((?:って|と)(?:呼んで|いう名前|いいます|言います|申します))"
)
_WISHED = re.compile(  # a standing wish, politely asked
    r"^((?:以后|以後|从现在起|從現在起|今后|今後|往后|往後|从现在开始|從現在開始|これから|次から"
    r"|次回から|今度から|いつも|毎回)[^。？?]{2,60}?)"
    r"(?:可以|行|好)?(?:吗|嗎|吧|么|のは(?:可能|どう)ですか)?[?？]+$"
)


def stated(line: str) -> str:
    """A sentence without the question that follows what it states, and a wish without being asked."""
    line = _WISHED.sub(r"\1", line)
    return _QUESTION.sub(r"\g<said>", line) if _UNSPACED.search(line) else line


def unquoted(line: str) -> str:
    """A sentence without quotation marks around a name, and without what is in wide brackets."""
    line = _NAMED.sub(lambda found: "".join(part or "" for part in found.groups()), line)
    return re.sub(r"\s*（[^（）]*）", "", line)
