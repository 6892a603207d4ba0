"""Values of a store: which ones a filter lets pass, and what they say in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import ge, gt, le, lt
from typing import Any

ORDERS = {"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le}


def fits(value: Mapping[str, Any], filter_: Mapping[str, Any] | None) -> bool:
    """Whether each field is as the filter says. ValueError for an unknown operator."""
    return all(_fits(value.get(field), wanted) for field, wanted in (filter_ or {}).items())


def _fits(value: Any, wanted: Any) -> bool:
    """A mapping with operators, one that is looked for within a mapping, a list item by item, or a value."""
    if isinstance(wanted, Mapping):
        if any(key.startswith("$") for key in wanted):
            return all(_operator(value, name, operand) for name, operand in wanted.items())
        return isinstance(value, Mapping) and all(_fits(value.get(key), one) for key, one in wanted.items())
    if isinstance(wanted, list | tuple):
        if not isinstance(value, list | tuple) or len(value) != len(wanted):
            return False
        return all(_fits(one, other) for one, other in zip(value, wanted, strict=True))
    return bool(value == wanted)


def _operator(value: Any, name: str, operand: Any) -> bool:
    if name == "$eq":
        return bool(value == operand)
    if name == "$ne":
        return bool(value != operand)
    if name not in ORDERS:
        raise ValueError(f"unknown operator {name!r}")
    try:
        return bool(ORDERS[name](float(value), float(operand)))
    except (TypeError, ValueError):
        # No numbers: two texts are compared as texts (times, say); all else has no order and doesn't match.
        return isinstance(value, str) and isinstance(operand, str) and bool(ORDERS[name](value, operand))


def leaves(value: Any) -> str:
    """The texts, numbers and flags of a value, a line each, named by their paths unless there is but one."""
    found = list(_leaves(value, ""))
    if len(found) == 1:
        return found[0][1]
    return "\n".join(f"{path}: {text}" if path else text for path, text in found)


def _leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from _leaves(one, f"{path}.{key}" if path else str(key))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for one in value:
            yield from _leaves(one, path)
    elif value is not None and str(value).strip():
        yield path, str(value)
