"""Sentences of messages, and the terms that they are compared by, in any language. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

LONGEST = 280  # characters of one sentence; longer ones are split between words
_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003134f"
CJK_RUN = re.compile(f"[{_CJK}]+")
_WORD = re.compile(rf"[^\W_{_CJK}]+(?:['’_-][^\W_{_CJK}]+)*")
_CODE = re.compile(r"(?ms)^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)")
_END = re.compile(r"(?<=[.!?…])[\"'”’»)\]]*\s+|(?<=[。！？])[」』”’）]*\s*|\n+")
_MARKUP = re.compile(r"^(?:[-*+•>#|]+|\d{1,3}[.)])\s+")
_INITIAL = re.compile(r"(?:^|[\s(])(?:[^\W\d_]|Mr|Mrs|Ms|Dr|St|vs|e\.g|i\.e|z\.B|Nr)\.$")

URL = re.compile(r"https?://[^\s<>\"'`）」』】]+[^\s<>\"'`）」』】.,;:!?)\]}*_]")
_EXTENSIONS = (
    "bash|bat|c|cc|cfg|cjs|conf|cpp|cs|css|csv|docx?|env|gif|go|h|hpp|html?|ini|ipynb|java|jpe?g|js|json|jsx"
    "|kt|lock|log|lua|md|mjs|parquet|pdf|php|png|proto|ps1|py|rb|rs|rst|scala|sh|sql|sqlite|svg|swift|tex"
    "|tf|toml|ts|tsv|tsx|txt|vue|xlsx?|xml|ya?ml|zip"
)
FILE = re.compile(
    rf"(?<![\w/.@+~\\-])(?:(?:[A-Za-z]:\\|~/|\.{{0,2}}/)?(?:[\w.@+-]+[/\\])*[\w@+-][\w.@+-]*\.(?:{_EXTENSIONS})"
    r"(?::\d+)?|(?:~|\.{1,2})?/(?:[\w.@+-]+/)+[\w.@+-]*[\w+-])(?![\w/])",
    re.ASCII,
)
_LIBRARIES = frozenset(f"{name}.js" for name in ("d3", "express", "next", "node", "nuxt", "three", "vue"))
_IDENTIFIER = re.compile(
    r"`[^`\n]{1,80}`|(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.-]*\w|\b(?=[A-Za-z0-9]*_\w)\w{3,}\b|\b[A-Z]{2,}-\d+\b"
    r"|#\d+\b|\b[a-z]+[A-Z]\w+\b|\b(?=\w*\d)(?=\w*[A-Za-z])\w{3,}\b|\b[A-Z]{3,}\b",
    re.ASCII,
)
_NUMBER = re.compile(r"[$€£¥]?\d+(?:[.,:/-]\d+)*(?:\s?[%€£¥])?")
_WITHIN = re.compile(r"(?<=[^\W\d_] )[^\W\d_]{2,}")  # words after a word: a name if it begins with a capital


def sentences(text: str) -> Iterator[tuple[str, bool]]:
    """The sentences of a text in order, each on one line, and whether it is code."""
    done = 0
    for block in _CODE.finditer(text):
        yield from ((sentence, False) for sentence in _prose(text[done : block.start()]))
        yield from ((line, True) for line in _lines(block.group().strip().splitlines()[1:]))
        done = block.end()
    yield from ((sentence, False) for sentence in _prose(text[done:]))


def _prose(text: str) -> Iterator[str]:
    pending = ""
    done = 0
    for end in [*_END.finditer(text), None]:
        piece = pending + text[done : end.end() if end else len(text)]
        done = end.end() if end else done
        if end and "\n" not in end.group() and _goes_on(piece, text[done : done + 1]):
            pending = piece
            continue
        pending = ""
        yield from _lines([piece])


def _goes_on(piece: str, following: str) -> bool:
    """Whether a full stop ended no sentence: after an initial or abbreviation, or before a small letter."""
    return following.islower() or bool(_INITIAL.search(piece.rstrip()))


def _lines(lines: list[str]) -> Iterator[str]:
    for line in lines:
        line = _MARKUP.sub("", " ".join(line.split()))
        while len(line) > LONGEST:
            cut = _between_words(line)
            yield line[:cut].rstrip()
            line = line[cut:].lstrip()
        if any(map(str.isalnum, line)):
            yield line


def _between_words(line: str) -> int:
    """Where a long line is split: after a clause or a word, and within text that has none of either."""
    for marks in (";；", ",，、", " "):
        cut = max(line.rfind(mark, LONGEST // 2, LONGEST) for mark in marks) + 1
        if cut:
            return cut
    end = line.find(" ", LONGEST)
    # A run of letters without a space in so long a line is CJK text, or one long token: kept whole.
    return LONGEST if CJK_RUN.search(line[:LONGEST]) else (end if end > 0 else len(line))


def terms(text: str) -> set[str]:
    """What two sentences have in common when they speak of the same: words in small letters, and pairs of
    neighbouring characters where a script has no spaces."""
    found = {word.group().casefold() for word in _WORD.finditer(text) if len(word.group()) > 1}
    for run in CJK_RUN.finditer(text):
        characters = run.group()
        found.update(characters[i : i + 2] for i in range(max(len(characters) - 1, 1)))
    return found


def specifics(text: str) -> set[str]:
    """What must be kept to the letter: addresses, files, identifiers, numbers and dates, names."""
    found = {word.group() for word in _WITHIN.finditer(text) if word.group()[0].isupper()}
    for pattern in (URL, FILE, _IDENTIFIER, _NUMBER):
        found.update(match.group() for match in pattern.finditer(text))
    return found


def is_cjk(term: str) -> bool:
    """Whether a term is of a script without spaces."""
    return bool(CJK_RUN.match(term))


def files(text: str) -> list[str]:
    """The paths of files named in a text, in order, each once."""
    found = dict.fromkeys(match.group() for match in FILE.finditer(URL.sub(" ", text)))
    return [path for path in found if path.casefold() not in _LIBRARIES]
