"""The record of a turn that has no assistant message yet (SPEC W-3). Times are microseconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from services.kit.errors import InvalidField
from services.memory.episodic.domain.checks import check_arguments, check_text
from services.memory.episodic.domain.parts import Json
from services.memory.episodic.domain.working import WorkingLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What a tool returned, in short; `cut` says that there was more."""

    content: str
    is_error: bool = False
    cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedCall:
    """A tool call; without a result it is pending. `round` is the one that it was first saved in.

    `said` is what the assistant said right before it.
    """

    call_id: str
    name: str
    arguments: Mapping[str, Json]
    result: Preview | None
    round: int = 0
    said: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handle:
    """How to reach a session that a tool keeps open."""

    name: str
    handle: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What a caller saves after a round of tool calls."""

    turn_id: str
    number: int
    calls: Sequence[SavedCall]
    handles: Sequence[Handle]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The record of an open turn; the calls by round, then as they were given."""

    turn_id: str
    round: int
    calls: Sequence[SavedCall]
    handles: Sequence[Handle]
    create_time: int
    update_time: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTurn:
    """A checkpoint as it is seen at some moment."""

    checkpoint: Checkpoint
    stale: bool
    expire_time: int


def seen(checkpoint: Checkpoint | None, now: int, limits: WorkingLimits) -> OpenTurn | None:
    """The checkpoint as of `now`; None once it has expired."""
    if checkpoint is None or expired(checkpoint.update_time, now, limits):
        return None
    return OpenTurn(
        checkpoint=checkpoint,
        stale=now - checkpoint.update_time >= limits.stale_after,
        expire_time=checkpoint.update_time + limits.expires_after,
    )


def expired(update_time: int, now: int, limits: WorkingLimits) -> bool:
    """Whether a checkpoint last saved then is forgotten now."""
    return now - update_time >= limits.expires_after


def preview(content: str, limit: int) -> tuple[str, bool]:
    """The content in at most `limit` characters, and whether it was cut; a cut one says so at its end."""
    if len(content) <= limit:
        return content, False
    mark = f" […cut; {len(content)} characters in all]"
    return content[: max(0, limit - len(mark))] + mark[:limit], True


def checked(given: Round, limits: WorkingLimits) -> Round:
    """The round as it is stored, results shortened. Raises InvalidField."""
    calls = tuple(_checked_call(f"calls[{i}]", call, limits) for i, call in enumerate(given.calls))
    for index, handle in enumerate(given.handles):
        check_text(f"handles[{index}].name", handle.name)
        check_text(f"handles[{index}].handle", handle.handle)
    _check_unique("calls[{}].call.call_id", [call.call_id for call in calls])
    _check_unique("handles[{}].name", [handle.name for handle in given.handles])
    return Round(turn_id=given.turn_id, number=given.number, calls=calls, handles=tuple(given.handles))


def _checked_call(path: str, call: SavedCall, limits: WorkingLimits) -> SavedCall:
    check_text(f"{path}.call.call_id", call.call_id)
    check_text(f"{path}.call.name", call.name)
    check_text(f"{path}.said", call.said)
    check_arguments(f"{path}.call.arguments", call.arguments, limits.argument_bytes)
    result = call.result
    if result is not None:
        check_text(f"{path}.result.content", result.content)
        content, cut = preview(result.content, limits.preview_characters)
        result = Preview(content=content, is_error=result.is_error, cut=cut)
    return replace(call, result=result)


def _check_unique(path: str, names: Sequence[str]) -> None:
    known: set[str] = set()
    for index, name in enumerate(names):
        if name in known:
            raise InvalidField(path.format(index), "given twice")
        known.add(name)
