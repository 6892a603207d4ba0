"""What the fake Meilisearch makes of filters, queries and federation; held to a server of version 1.50.

Only what Palimpsest uses is here; anything else is an error, the one of Meilisearch where it has one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
Passes = Callable[[Json], bool]

WORD = re.compile(r"\w+")
FILTER_TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|>=|<=|!=|[=<>()\[\],]|[\w.+-]+)')
QUERY_PART = re.compile(r'(?P<minus>(?<!\S)-)?(?:"(?P<phrase>[^"]*)(?:"|$)|(?P<word>\w+))')
COMPARISONS = {">=": float.__ge__, "<": float.__lt__, ">": float.__gt__, "<=": float.__le__}
MAX_WORD_BYTES = 250
MAX_QUERY_PARTS = 10

DEFAULTS: Json = {
    "displayedAttributes": ["*"],
    "searchableAttributes": ["*"],
    "filterableAttributes": [],
    "sortableAttributes": [],
    "rankingRules": ["words", "typo", "proximity", "attributeRank", "sort", "wordPosition", "exactness"],
    "stopWords": [],
    "nonSeparatorTokens": [],
    "separatorTokens": [],
    "dictionary": [],
    "synonyms": {},
    "distinctAttribute": None,
    "proximityPrecision": "byWord",
    "typoTolerance": {
        "enabled": True,
        "minWordSizeForTypos": {"oneTypo": 5, "twoTypos": 9},
        "disableOnWords": [],
        "disableOnAttributes": [],
        "disableOnNumbers": False,
    },
    "faceting": {"maxValuesPerFacet": 100, "sortFacetValuesBy": {"*": "alpha"}},
    "pagination": {"maxTotalHits": 1000},
    "embedders": {},
    "searchCutoffMs": None,
    "localizedAttributes": None,
    "facetSearch": True,
    "prefixSearch": "indexingTime",
}


class ApiError(Exception):
    """An answer with an error code of Meilisearch."""

    def __init__(
        self, code: str, message: str = "", status: int = 400, kind: str = "invalid_request"
    ) -> None:
        super().__init__(code)
        self.status = status
        self.body = {
            "message": message or code.replace("_", " "),
            "code": code,
            "type": kind,
            "link": f"https://docs.meilisearch.com/errors#{code}",
        }


@dataclass
class Index:
    """Documents by id, in the order in which they came, with settings."""

    uid: str
    created: str
    primary_key: str | None = None
    settings: Json = field(default_factory=lambda: dict(DEFAULTS))
    documents: dict[str, Json] = field(default_factory=dict)

    def change(self, settings: Mapping[str, Any]) -> None:
        """Members that are objects are merged; null is the default."""
        for name, value in settings.items():
            default = DEFAULTS[name]
            if value is None:
                self.settings[name] = default
            elif isinstance(default, dict) and name != "synonyms":
                self.settings[name] = self.settings[name] | value
            else:
                self.settings[name] = value

    def words(self, document: Json) -> list[str]:
        """In order; too long ones are dropped."""
        wanted = self.settings["searchableAttributes"]
        texts = [v for k, v in document.items() if isinstance(v, str) and (wanted == ["*"] or k in wanted)]
        words = [word.lower() for text in texts for word in WORD.findall(text.replace("_", " "))]
        return [word for word in words if len(word.encode()) <= MAX_WORD_BYTES]

    def shown(self, document: Json, wanted: Sequence[str]) -> Json:
        displayed = self.settings["displayedAttributes"]
        return {
            name: value
            for name, value in document.items()
            if (displayed == ["*"] or name in displayed) and (list(wanted) == ["*"] or name in wanted)
        }

    def features(self, name: str) -> Json | None:
        """How a field may be filtered by; None: not at all."""
        for rule in self.settings["filterableAttributes"]:
            if rule == name:
                return {"equality": True, "comparison": True}
            if isinstance(rule, dict) and name in rule["attributePatterns"]:
                features: Json = rule["features"]["filter"]
                return features
        return None


@dataclass
class Found:
    """A query's hits in order: (words' score, values that the sorting rules compare), and the document."""

    hits: list[tuple[float, tuple[float, ...], Json]]


def search(index: Index, query: Json) -> Found:
    """Everything that passes the filter and the words, sorted by the ranking rules."""
    passes = parse_filter(index, query.get("filter"))
    near = index.settings["proximityPrecision"] == "byWord"
    candidates = [document for document in index.documents.values() if passes(document)]
    parts, negative = _parts(query.get("q") or "")
    scored = []
    for document in candidates:
        words = index.words(document)
        score = _score(words, parts, near=near) if parts else 1.0
        if score and not any(_holds(words, part, near=near) for part in negative):
            scored.append((score, _sorting(index, document), document))
    scored.sort(key=lambda hit: (-hit[0], hit[1]))
    return Found(hits=scored)


def federate(found: Sequence[tuple[float, Found]]) -> Iterator[tuple[int, float, Json]]:
    """Merged: (query, weighted score, document), each document once, for the query that comes first."""
    merged = sorted(
        (
            (-weight * score, sorting, query, place, document)
            for query, (weight, each) in enumerate(found)
            for place, (score, sorting, document) in enumerate(each.hits)
        ),
        key=lambda hit: hit[:4],
    )
    seen: set[int] = set()
    for negative, _, query, _, document in merged:
        if id(document) not in seen:
            seen.add(id(document))
            yield query, -negative, document


def facets(index: Index, found: Found, names: Sequence[str]) -> tuple[Json, Json]:
    """Distribution and statistics."""
    distribution: Json = {}
    stats: Json = {}
    for name in names:
        if index.features(name) is None:
            raise ApiError("invalid_search_facets", f"Attribute `{name}` is not filterable")
        values = [document[name] for _, _, document in found.hits if document.get(name) is not None]
        counts = Counter(map(str, values))
        limit = index.settings["faceting"]["maxValuesPerFacet"]
        distribution[name] = dict(sorted(counts.items())[:limit])
        numbers = [float(value) for value in values if isinstance(value, (int, float))]
        if numbers:
            stats[name] = {"min": min(numbers), "max": max(numbers)}
    return distribution, stats


def _sorting(index: Index, document: Json) -> tuple[float, ...]:
    values = []
    for rule in index.settings["rankingRules"]:
        if rule == "words":
            continue
        name, _, order = rule.partition(":")
        if order not in ("asc", "desc"):
            raise ApiError("internal", f"the fake does not know the ranking rule {rule}", 500, "internal")
        value = document.get(name)
        known = isinstance(value, (int, float))
        values.append((float(value) if order == "asc" else -float(value)) if known else float("inf"))
    return tuple(values)


def _parts(text: str) -> tuple[list[tuple[tuple[str, ...], bool]], list[tuple[str, ...]]]:
    """(words, whether they are a phrase) of what must or may match; and what must not."""
    parts: list[tuple[tuple[str, ...], bool]] = []
    negative: list[tuple[str, ...]] = []
    for match in QUERY_PART.finditer(text.replace("_", " ")):
        phrase = match["phrase"]
        words = tuple(word.lower() for word in WORD.findall(match["word"] if phrase is None else phrase))
        if words and match["minus"]:
            negative.append(words)
        elif words and len(parts) < MAX_QUERY_PARTS:
            parts.append((words, phrase is not None))
    return parts, negative


def _score(words: Sequence[str], parts: Sequence[tuple[tuple[str, ...], bool]], *, near: bool) -> float:
    """Strategy "last": words are given up from the end, phrases never; 0 if nothing matches."""
    kept = list(parts)
    while kept:
        if all(_holds(words, part, near=near) for part, _ in kept):
            return sum(len(part) for part, _ in kept) / sum(len(part) for part, _ in parts)
        droppable = [position for position, (_, phrase) in enumerate(kept) if not phrase]
        if not droppable or len(kept) == 1:
            return 0.0
        del kept[droppable[-1]]
    return 0.0


def _holds(words: Sequence[str], part: tuple[str, ...], *, near: bool) -> bool:
    """With the precision "byAttribute", a phrase's words may stand anywhere in the attribute."""
    if not near:
        return set(part) <= set(words)
    size = len(part)
    return any(tuple(words[start : start + size]) == part for start in range(len(words) - size + 1))


def parse_filter(index: Index, text: Any) -> Passes:
    """The filter of a search. Raises ApiError for what is no filter, or not allowed by the settings."""
    if text is None:
        return lambda _: True
    if not isinstance(text, str):
        raise ApiError("invalid_search_filter", "the fake knows filters that are strings")
    tokens: list[str] = []
    position = 0
    while text[position:].strip():
        match = FILTER_TOKEN.match(text, position)
        if match is None:
            raise ApiError("invalid_search_filter", f"unexpected characters at {position}")
        tokens.append(match[1])
        position = match.end()
    parser = _Parser(index, tokens)
    passes = parser.any_of()
    if parser.rest:
        raise ApiError("invalid_search_filter", f"Found unexpected characters at the end: {parser.rest}")
    return passes


class _Parser:
    """any := all (OR all)*; all := one (AND one)*; one := ( any ) | NOT one | field operator value."""

    def __init__(self, index: Index, tokens: list[str]) -> None:
        self._index = index
        self.rest = tokens

    def any_of(self) -> Passes:
        parts = [self._all_of()]
        while self._taken("OR"):
            parts.append(self._all_of())
        return lambda document: any(part(document) for part in parts)

    def _all_of(self) -> Passes:
        parts = [self._one()]
        while self._taken("AND"):
            parts.append(self._one())
        return lambda document: all(part(document) for part in parts)

    def _one(self) -> Passes:
        if self._taken("("):
            inner = self.any_of()
            self._expect(")")
            return inner
        if self._taken("NOT"):
            negated = self._one()
            return lambda document: not negated(document)
        name, operator = _unquoted(self._next()), self._next()
        if operator == "IN":
            wanted = set(self._list())
            self._allowed(name, "equality")
            return lambda document: _normal(document.get(name)) in wanted
        value = _unquoted(self._next())
        if operator in ("=", "!="):
            self._allowed(name, "equality")
            return lambda document: (_normal(document.get(name)) == _normal(value)) is (operator == "=")
        if operator not in COMPARISONS:
            raise ApiError("invalid_search_filter", f"Was expecting an operation, instead got {operator}")
        self._allowed(name, "comparison")
        compare, bound = COMPARISONS[operator], _number(value)
        return lambda document: (
            isinstance(document.get(name), (int, float)) and compare(float(document[name]), bound)
        )

    def _list(self) -> Iterator[str | None]:
        self._expect("[")
        while not self._taken("]"):
            yield _normal(_unquoted(self._next()))
            if not self._taken(","):
                self._expect("]")
                return

    def _allowed(self, name: str, feature: str) -> None:
        features = self._index.features(name)
        if features is None:
            raise ApiError("invalid_search_filter", f"Attribute `{name}` is not filterable.")
        if not features[feature]:
            raise ApiError("invalid_search_filter", f"Filter operator is not allowed for `{name}`.")

    def _taken(self, token: str) -> bool:
        if self.rest and self.rest[0] == token:
            del self.rest[0]
            return True
        return False

    def _expect(self, token: str) -> None:
        if not self._taken(token):
            raise ApiError("invalid_search_filter", f"Was expecting {token}")

    def _next(self) -> str:
        if not self.rest:
            raise ApiError("invalid_search_filter", "Was expecting a value but instead got nothing.")
        return self.rest.pop(0)


def _unquoted(token: str) -> str:
    if token in ("AND", "OR", "NOT", "IN", "(", ")", "[", "]", ",", "=", "<", ">", ">=", "<="):
        raise ApiError("invalid_search_filter", f"Was expecting a value, instead got {token}")
    if token[0] in "\"'":
        return re.sub(r"\\(.)", r"\1", token[1:-1])
    return token


def _normal(value: Any) -> str | None:
    """Strings are compared without regard to case, numbers as text of their value."""
    if value is None:
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"{float(value)}"
    try:
        return f"{float(value)}"
    except ValueError:
        return str(value).lower()


def _number(text: str) -> float:
    """A text is compared with texts: no number passes."""
    try:
        return float(text)
    except ValueError:
        return float("nan")
