"""Requests and responses that differ between services in their type only."""

from __future__ import annotations

from typing import Any, TypeVar

from google.protobuf.message import Message

M = TypeVar("M", bound=Message)


def mirrored(target: type[M], source: Message, **extra: Any) -> M:
    """A `target` with every set field of `source` that has the same name; `extra` fields are set on top.

    Raises AttributeError for a set field that the target lacks, so that nothing is lost in silence.
    """
    made = target(**extra)
    for field, value in source.ListFields():
        ours: Any = getattr(made, field.name)
        if field.is_repeated:
            ours.extend(value)
        elif field.message_type is None:
            setattr(made, field.name, value)
        elif type(ours) is type(value):
            ours.CopyFrom(value)
        else:
            ours.CopyFrom(mirrored(type(ours), value))
    return made
