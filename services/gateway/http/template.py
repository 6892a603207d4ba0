"""Path templates of google.api.http (https://github.com/googleapis/googleapis/blob/master/google/api/http.proto)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

from services.kit.errors import InvalidField

_TOKEN = re.compile(
    r"\{(?P<name>[a-z0-9_.]+)(?:=(?P<pattern>[^{}]+))?\}|(?P<literal>[A-Za-z0-9_.-]+)|(?P<star>\*\*?)"
)
_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_ONE, _MANY = "[^/]+", ".+"


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A template, ready to be held against paths as they came (not yet decoded)."""

    text: str
    expression: re.Pattern[str]
    variables: tuple[str, ...]
    """The fields that it binds, in order."""
    segments: int
    """How many segments a path has; 0 where one variable may hold several."""
    rank: tuple[int, ...]
    """Which of two templates that match one path comes first: the smaller."""

    @property
    def shape(self) -> str:
        """The same for two templates that match the same paths."""
        return self.expression.pattern

    def match(self, path: str) -> tuple[str, ...] | None:
        """What stands in the place of each variable, not yet decoded."""
        found = self.expression.fullmatch(path)
        return None if found is None else found.groups()


def parse(text: str) -> Template:
    """Reads a template. Raises ValueError for one that it cannot read."""
    body, verb = _split_verb(text)
    if not body.startswith("/"):
        raise ValueError(f"a template begins with a slash: {text}")
    variables: list[str] = []
    expressions, rank, many = [], [], False
    for segment in _segments(body[1:]):
        token = _TOKEN.fullmatch(segment)
        if token is None:
            raise ValueError(f"cannot read the segment {segment} of {text}")
        name, literal = token["name"], token["literal"]
        pattern = (token["pattern"] or "*") if name else token["star"]
        many = many or "**" in (pattern or "")
        rank.append(0 if literal else 2 if "**" in (pattern or "") else 1)
        if name:
            variables.append(name)
        inner = re.escape(literal) if literal else _expression(pattern)
        expressions.append(f"({inner})" if name else inner)
    expression = "/" + "/".join(expressions) + (re.escape(":" + verb) if verb else "")
    return Template(
        text=text,
        expression=re.compile(expression),
        variables=tuple(variables),
        segments=0 if many else text.count("/"),
        rank=(0 if verb else 1, *rank),
    )


def decode(name: str, value: str) -> str:
    """A variable's value. Raises InvalidField for one that is no UTF-8, or wrongly escaped."""
    try:
        if _PERCENT.search(value):
            raise ValueError(value)
        return unquote(value, errors="strict")
    except ValueError as error:
        raise InvalidField(name, "wrongly escaped in the path") from error


def _split_verb(text: str) -> tuple[str, str]:
    head, colon, verb = text.rpartition(":")
    return (head, verb) if colon and "/" not in verb and "}" not in verb else (text, "")


def _segments(body: str) -> list[str]:
    """Splits at slashes outside of braces."""
    found: list[str] = re.findall(r"(?:\{[^{}]*\}|[^/{}])+", body)
    if "/".join(found) != body:
        raise ValueError(f"cannot split {body} into segments")
    return found


def _expression(pattern: str) -> str:
    parts = pattern.split("/")
    return "/".join(_MANY if p == "**" else _ONE if p == "*" else re.escape(p) for p in parts)
