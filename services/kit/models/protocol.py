"""Requests and answers of `/chat/completions`, as bodies.

Source: https://platform.openai.com/docs/api-reference/chat, and what compatible servers make of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from services.kit.models.errors import Cause, ModelUnavailable
from services.kit.models.settings import MAX_NAME_CHARACTERS, TierSettings
from services.kit.models.texts import clean
from services.kit.models.tool_calls import CallPiece, read_calls
from services.kit.models.types import Message, Tool, Usage
from services.kit.tokens import estimate_tokens

MAX_ANSWER_BYTES = 4 * 1024 * 1024
"""J-16: of an answer with everything around it; far beyond what a summary or a reply takes."""
MAX_TOKENS = 1_000_000_000  # E-11: a figure beyond this is no figure
DONE = b"[DONE]"
THINKING, THOUGHT = "<think>", "</think>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is asked; `extras` are fields that an endpoint may refuse, left out when it does."""

    messages: Sequence[Message]
    max_tokens: int
    temperature: float | None
    extras: Mapping[str, Any] = field(default_factory=dict)
    tools: Sequence[Tool] = ()

    def body(self, settings: TierSettings, *, extras: bool, stream: bool) -> bytes:
        """As JSON."""
        body: dict[str, Any] = {
            "model": settings.name,
            "messages": [_message(message) for message in self.messages],
            settings.max_tokens_field: self.max_tokens,
        }
        if self.temperature is not None and settings.temperature:
            body["temperature"] = self.temperature
        if self.tools and settings.tools:
            body["tools"] = [_tool(tool) for tool in self.tools]
        if stream:
            body["stream"] = True
        return json.dumps(body | dict(self.extras if extras else {})).encode()

    def input_tokens(self) -> int:
        """An estimate (E-10)."""
        said = sum(estimate_tokens(_words(message)) for message in self.messages)
        return said + sum(estimate_tokens(json.dumps(_tool(tool))) for tool in self.tools)


def _message(message: Message) -> dict[str, Any]:
    made: dict[str, Any] = {"role": message.role, "content": clean(message.text)}
    if message.calls:
        made["tool_calls"] = [
            {
                "id": call.call_id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.calls
        ]
    if message.call_id:
        made["tool_call_id"] = message.call_id
    return made


def _words(message: Message) -> str:
    return message.text + "".join(call.name + call.arguments for call in message.calls)


def _tool(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.schema)}
    return {"type": "function", "function": function}


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """What one body, or one event of a stream, says; `tokens` are those in and out, None where not given."""

    text: str = ""
    model: str = ""
    finish: str = ""
    tokens: tuple[int | None, int | None] = (None, None)
    calls: tuple[CallPiece, ...] = ()

    @property
    def truncated(self) -> bool:
        return self.finish == "length"


def usage_of(request: Request, tokens: tuple[int | None, int | None], text: str) -> Usage:
    """The endpoint's figures where it gave them, else estimates (E-11)."""
    given_in, given_out = tokens
    return Usage(
        calls=1,
        estimated_calls=int(given_in is None or given_out is None),
        input_tokens=request.input_tokens() if given_in is None else given_in,
        output_tokens=estimate_tokens(text) if given_out is None else given_out,
    )


def read_completion(body: bytes) -> Piece:
    """A whole answer. Raises ModelUnavailable: MALFORMED, FAILED, FILTERED."""
    return _read(body, "message")


def read_event(data: bytes) -> Piece:
    """One event of a stream. Raises as `read_completion` does."""
    return _read(data, "delta")


def spoken(text: str) -> str:
    """The answer without the thoughts that some models put before it; empty if there is nothing else."""
    text = clean(text).strip()
    if text.startswith(THINKING):
        text = text.partition(THOUGHT)[2].strip()
    return text


class Opening:
    """Holds back what a stream says before its answer: blanks, and thoughts as `spoken` knows them."""

    def __init__(self) -> None:
        self._held = ""
        self._over = False

    def add(self, piece: str) -> str:
        """What of the answer is known after this piece."""
        if self._over:
            return piece
        self._held = (self._held + piece).lstrip()
        if self._held.startswith(THINKING):
            _, end, rest = self._held.partition(THOUGHT)
            # Of thoughts that go on only as much is kept as could be the beginning of their end.
            self._held = rest.lstrip() if end else THINKING + self._held[len(THINKING) :][-len(THOUGHT) :]
        if self._held.startswith(THINKING) or THINKING.startswith(self._held):
            return ""
        self._over = True
        return self._held

    def end(self) -> str:
        """What was held back for a piece that did not come, if it is of the answer."""
        return "" if self._over or self._held.startswith(THINKING) else self._held


def _read(body: bytes, kind: str) -> Piece:
    try:
        value = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        raise ModelUnavailable(Cause.MALFORMED) from None
    if not isinstance(value, dict):
        raise ModelUnavailable(Cause.MALFORMED)
    if value.get("error"):
        raise ModelUnavailable(Cause.FAILED)
    choices = value.get("choices")
    if not isinstance(choices, list) or (kind == "message" and not choices):
        raise ModelUnavailable(Cause.MALFORMED)
    model = value.get("model")
    text, finish, calls = _choice(choices[0], kind) if choices else ("", "", ())
    return Piece(
        calls=calls,
        text=text,
        finish=finish,
        model=clean(model) if isinstance(model, str) and len(model) <= MAX_NAME_CHARACTERS else "",
        tokens=_tokens(value.get("usage")),
    )


def _choice(choice: Any, kind: str) -> tuple[str, str, tuple[CallPiece, ...]]:
    said = choice.get(kind) if isinstance(choice, dict) else None
    if not isinstance(said, dict):
        raise ModelUnavailable(Cause.MALFORMED)
    text, finish = said.get("content"), choice.get("finish_reason")
    if not isinstance(text, str | None) or not isinstance(finish, str | None):
        raise ModelUnavailable(Cause.MALFORMED)
    if finish == "content_filter" or said.get("refusal"):
        raise ModelUnavailable(Cause.FILTERED)
    return text or "", finish or "", read_calls(said.get("tool_calls"))


def _tokens(usage: Any) -> tuple[int | None, int | None]:
    if not isinstance(usage, dict):
        return None, None
    return _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))


def _count(value: Any) -> int | None:
    usable = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_TOKENS
    return value if usable else None
