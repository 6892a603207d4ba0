"""Namespaces of a store, tuples of labels, as texts that sort as they do and begin as their parents do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

END = "\x1f"
"""Ends each label; below it only control characters sort, which labels may not hold."""
BEYOND = "\x20"
"""The character after END."""
MAX_PATH_BYTES = 1024
"""Of an indexed text of a record (W-8)."""


class Condition(Protocol):
    """What a namespace is asked for; "*" stands for any label."""

    @property
    def match_type(self) -> Literal["prefix", "suffix"]: ...
    @property
    def path(self) -> tuple[str, ...]: ...


def path_of(namespace: Sequence[str]) -> str:
    """The namespace as a text. ValueError without labels, for an empty one, and for too many bytes."""
    if not namespace or not all(isinstance(label, str) and label for label in namespace):
        raise ValueError("a namespace has one label or more, none of them empty")
    if any(character < BEYOND for label in namespace for character in label):
        raise ValueError("a namespace has no control characters")
    path = "".join(label + END for label in namespace)
    if len(path.encode("utf-8")) > MAX_PATH_BYTES:
        raise ValueError(f"a namespace has at most {MAX_PATH_BYTES} bytes, with one more a label")
    return path


def labels(path: str) -> tuple[str, ...]:
    """The namespace again."""
    return tuple(path.split(END)[:-1])


def deeper(path: str) -> str:
    """Sorts after the namespace and all below it, and before all others that follow."""
    return path[:-1] + BEYOND


def matches(namespace: Sequence[str], condition: Condition) -> bool:
    """Whether a namespace begins, or ends, as the condition says."""
    wanted = condition.path
    if len(namespace) < len(wanted):
        return False
    if condition.match_type == "suffix":
        shown = namespace[len(namespace) - len(wanted) :]
    else:
        shown = namespace[: len(wanted)]
    return all(want in ("*", label) for label, want in zip(shown, wanted, strict=True))


def literal_head(conditions: Sequence[Condition]) -> tuple[str, ...]:
    """The longest beginning without wildcards that the conditions ask for."""
    heads = [_literal(one.path) for one in conditions if one.match_type == "prefix"]
    return max(heads, key=len, default=())


def _literal(path: tuple[str, ...]) -> tuple[str, ...]:
    return path[: path.index("*")] if "*" in path else path
