"""A turn of a chat: what is asked, what happens, and what is kept of it (SPEC G-4, W-3). Pure.

A turn is named by the request id that its caller gave: its messages have ids made from that, so that a second
attempt finds what the first one stored.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, TypeAlias

from services.kit.models.types import Tier, Usage

TEXT_PART_BYTES = 32 * 1024
"""X-2: of one part of a message."""
TEXT_PARTS = 24
"""Parts of one answer: with the calls of a round within the 64 that a message may have."""
ARGUMENT_BYTES = 32 * 1024
"""X-2: of a call's arguments as JSON."""
RESULT_CHARACTERS = 8000
"""G-4: of what a tool returned, for the model and in the history."""
PREVIEW_CHARACTERS = 300
"""G-4: of what a tool returned, in the event that tells of it."""
SAID_CHARACTERS = 32_000
"""W-3: of what the model said before its calls, in the turn's checkpoint: at most 128 KB."""
CUT = " […cut]"
NO_USAGE = Usage()
BAD_ARGUMENTS = "The arguments are not a JSON object, or too long. Call the tool again with another one."
NO_SUCH_TOOL = "There is no such tool."
UNAVAILABLE = "The tool is not available at the moment."
NOT_RUN = "The tool was not run to its end: the turn was interrupted."


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A conversation of a tenant."""

    tenant: str
    agent_id: str
    conversation_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnIds:
    """What a turn and its messages are called in its conversation."""

    turn: str

    @classmethod
    def of(cls, request_id: str) -> TurnIds:
        """From a request id, whatever characters it has."""
        return cls(turn="turn-" + hashlib.sha256(request_id.encode("utf-8")).hexdigest()[:32])

    @property
    def user(self) -> str:
        """The user's message."""
        return f"{self.turn}-user"

    @property
    def answer(self) -> str:
        """The assistant's."""
        return f"{self.turn}-answer"

    def calls(self, number: int) -> str:
        """The message that calls the tools of a round, from 1."""
        return f"{self.turn}-{number}-calls"

    def results(self, number: int) -> str:
        """The message with what they returned."""
        return f"{self.turn}-{number}-results"


class Cause(IntEnum):
    """Why an answer broke off; numbers as in the proto."""

    READER_LEFT = 1
    DEADLINE = 2
    FAILED = 3
    LIMIT_EXCEEDED = 4
    STOPPED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A request for a turn. `wait` in seconds, for another turn that runs; `rounds` 0 for no tools."""

    place: Place
    request_id: str
    text: str
    author: str
    tier: Tier
    rounds: int
    budget: int
    wait: float = 0.0
    wait_for: Sequence[object] = ()

    @property
    def ids(self) -> TurnIds:
        """Of its messages."""
        return TurnIds.of(self.request_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of a tool; `arguments` is None where the model's could not be read."""

    call_id: str
    name: str
    arguments: Mapping[str, Any] | None

    @property
    def json(self) -> str:
        """The arguments as JSON, an empty object for none."""
        return json.dumps(self.arguments or {}, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a tool returned, in at most RESULT_CHARACTERS."""

    content: str
    is_error: bool = False

    @classmethod
    def of(cls, content: str, *, is_error: bool = False) -> Result:
        """Shortened, and fit to be stored."""
        return cls(content=shortened(content.replace("\0", ""), RESULT_CHARACTERS), is_error=is_error)

    @property
    def preview(self) -> str:
        """Its beginning."""
        return shortened(self.content, PREVIEW_CHARACTERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What the model said before it called tools, the calls, and the results that are there, by call id."""

    number: int
    calls: tuple[Call, ...]
    text: str = ""
    results: Mapping[str, Result] = field(default_factory=dict)

    def with_result(self, call: Call, result: Result) -> Round:
        """One more result."""
        return replace(self, results={**self.results, call.call_id: result})

    def ended(self) -> Round:
        """With a result for every call: those that are missing say that they were not run to their end."""
        missing = {
            call.call_id: Result(content=NOT_RUN, is_error=True)
            for call in self.calls
            if call.call_id not in self.results
        }
        return replace(self, results={**self.results, **missing})


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What is stored of a turn whose user's message is, and the answer once there is one.

    `newest` says whether the user's message is the last one of the active path; `sequence` is the answer's.
    """

    newest: bool
    answer: str | None = None
    interruption: Cause | None = None
    interrupted: bool = False
    sequence: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """The user's message is stored, and the model is about to be asked.

    `unindexed`, `failures` and `messages` are passed on as recall gave them.
    """

    user_message_id: str
    prompt_revision: int = 0
    unindexed: tuple[object, ...] = ()
    failures: tuple[object, ...] = ()
    memory_ids: tuple[str, ...] = ()
    messages: tuple[tuple[str, str], ...] = ()
    replayed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """The next piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """The model calls a tool."""

    call: Call


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """A tool has returned; `reused` tells that an earlier attempt at the turn ran it."""

    call: Call
    result: Result
    reused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The answer is stored. `token` is for a read that must see it; `first_token` in seconds."""

    assistant_message_id: str
    token: object
    usage: Usage = NO_USAGE
    model: str = ""
    truncated: bool = False
    interrupted: bool = False
    interruption: Cause | None = None
    first_token: float | None = None
    rounds: int = 0


Event: TypeAlias = Started | Said | Called | Returned | Finished


def shortened(text: str, limit: int) -> str:
    """At most `limit` characters; a cut text says so."""
    return text if len(text) <= limit else text[: limit - len(CUT)] + CUT


def text_parts(text: str) -> list[str]:
    """The text in parts that a message may have, cut between characters; beyond TEXT_PARTS it is cut off."""
    parts: list[str] = []
    data = text.encode("utf-8")
    while data and len(parts) < TEXT_PARTS:
        piece = data[:TEXT_PART_BYTES].decode("utf-8", "ignore")
        parts.append(piece)
        data = data[len(piece.encode("utf-8")) :]
    if data:
        parts[-1] = parts[-1][: -len(CUT) * 4] + CUT
    return parts


def own_id(call_id: str, number: int, taken: Collection[str]) -> str:
    """The id of a call that no other call of the turn has."""
    made, again = call_id, 0
    while made in taken:
        again += 1
        made = f"round-{number}-{again}-{call_id}"
    return made


def readable(arguments: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The arguments, None if they are too long to be kept."""
    if arguments is None:
        return None
    size = len(json.dumps(arguments, ensure_ascii=False, separators=(",", ":")).encode("utf-8"))
    return arguments if size <= ARGUMENT_BYTES else None
