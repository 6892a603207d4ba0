"""Calls of tools as models write them: whole, or in pieces of a stream.

Source: https://platform.openai.com/docs/api-reference/chat-streaming, and what compatible servers make of it:
some give no index, no id, or the arguments as an object.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from services.kit.models.errors import Cause, ModelUnavailable
from services.kit.models.texts import clean, storable, strict_decoder
from services.kit.models.types import ToolCall

MAX_CALLS = 32
"""J-16: calls of one answer; a model that writes more has lost its way."""
MAX_NAME = 128  # characters of a tool's name and of a call's id


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPiece:
    """What one event says of one call; `index` is its place among the answer's calls, None where not said."""

    index: int | None = None
    call_id: str = ""
    name: str = ""
    arguments: str = ""


def read_calls(value: Any) -> tuple[CallPiece, ...]:
    """The field `tool_calls` of a message or a delta. Raises ModelUnavailable(MALFORMED)."""
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > MAX_CALLS:
        raise ModelUnavailable(Cause.MALFORMED)
    return tuple(map(_piece, value))


def _piece(value: Any) -> CallPiece:
    function = value.get("function") if isinstance(value, dict) else None
    if not isinstance(function, dict):
        raise ModelUnavailable(Cause.MALFORMED)
    index, arguments = value.get("index"), function.get("arguments")
    if isinstance(arguments, Mapping):
        arguments = json.dumps(arguments, ensure_ascii=False)
    if not isinstance(arguments, str | None) or not isinstance(index, int | None) or isinstance(index, bool):
        raise ModelUnavailable(Cause.MALFORMED)
    return CallPiece(
        index=index,
        call_id=_name(value.get("id")),
        name=_name(function.get("name")),
        arguments=arguments or "",
    )


def _name(value: Any) -> str:
    if not isinstance(value, str | None) or len(value or "") > MAX_NAME:
        raise ModelUnavailable(Cause.MALFORMED)
    return value or ""


@dataclass(slots=True)
class _Open:
    index: int | None
    call_id: str
    name: str
    arguments: list[str] = field(default_factory=list)


class Calls:
    """Puts calls together from their pieces."""

    def __init__(self) -> None:
        self._open: list[_Open] = []

    def add(self, pieces: Sequence[CallPiece]) -> None:
        """Takes pieces in the order in which they came. Raises ModelUnavailable(MALFORMED)."""
        for piece in pieces:
            call = self._of(piece)
            call.call_id = call.call_id or piece.call_id
            call.name = call.name or piece.name
            call.arguments.append(piece.arguments)

    def _of(self, piece: CallPiece) -> _Open:
        """The call that a piece goes on with, by its index, else its id, else the newest."""
        for call in self._open:
            if piece.index is not None and call.index == piece.index:
                return call
            if piece.index is None and piece.call_id and call.call_id == piece.call_id:
                return call
        new = piece.index is not None or bool(piece.call_id or piece.name)
        if not new and self._open:
            return self._open[-1]
        if len(self._open) == MAX_CALLS:
            raise ModelUnavailable(Cause.MALFORMED)
        self._open.append(_Open(piece.index, piece.call_id, piece.name))
        return self._open[-1]

    @property
    def text(self) -> str:
        """All that was written, for an estimate of its tokens."""
        return "".join(call.name + "".join(call.arguments) for call in self._open)

    def end(self) -> tuple[ToolCall, ...]:
        """The calls, with ids of their own. Raises ModelUnavailable(MALFORMED) for one without a name."""
        made: list[ToolCall] = []
        taken: set[str] = set()
        for number, call in enumerate(self._open, 1):
            call_id = clean(call.call_id)
            if not call_id or call_id in taken:
                call_id = f"call-{number}"
            taken.add(call_id)
            if not call.name.strip():
                raise ModelUnavailable(Cause.MALFORMED)
            made.append(
                ToolCall(
                    call_id=call_id, name=clean(call.name.strip()), arguments=clean("".join(call.arguments))
                )
            )
        return tuple(made)


def arguments_of(call: ToolCall) -> dict[str, Any] | None:
    """The arguments as a JSON object that can be stored, empty where there are none; None for others."""
    if not call.arguments.strip():
        return {}
    try:
        value = strict_decoder().decode(call.arguments)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and storable(value) else None
