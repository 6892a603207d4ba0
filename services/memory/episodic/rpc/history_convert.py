"""Between the wire of HistoryService and the domain."""

from __future__ import annotations

from collections.abc import Sequence

from palimpsest.history.v1 import history_pb2 as pb
from palimpsest.history.v1 import overlays_pb2, windows_pb2

from services.kit import paging
from services.kit.errors import InvalidField, InvalidPageToken
from services.memory.episodic.app.history import Event
from services.memory.episodic.app.ports import (
    Branch,
    PathPage,
    Position,
    Progress,
    Uncovered,
    Usage,
    UsageKey,
)
from services.memory.episodic.app.usage import MICROS_PER_DAY, CallSum, CallTexts, CallTokens, Spent
from services.memory.episodic.domain.cutting import Shown
from services.memory.episodic.domain.model import ConversationKey, Message, Overlay
from services.memory.episodic.domain.rendering import Rendered, as_text
from services.memory.episodic.domain.window import Window
from services.memory.episodic.rpc.convert import message_proto, micros, stamp_of


def window_proto(window: Window, depth: int, *, exact: bool) -> windows_pb2.GetWindowResponse:
    """As on the wire."""
    return windows_pb2.GetWindowResponse(
        head=map(_shown, window.head),
        overlays=[
            windows_pb2.WindowOverlay(overlay=overlay_proto(one), from_depth=first, to_depth=last)
            for one, (first, last) in zip(window.overlays, window.stands_for, strict=True)
        ],
        rolling_summary=window.rolling_summary,
        tail=map(_shown, window.tail),
        omitted_count=window.omitted_count,
        overlays_left_out=window.overlays_left_out,
        token_count=window.token_count,
        head_tokens=window.head_tokens,
        overlay_tokens=window.overlay_tokens,
        tail_tokens=window.tail_tokens,
        exact_tokens=exact,
        latest_time=None if window.latest_time is None else stamp_of(window.latest_time),
        depth=depth,
    )


def _shown(shown: Shown) -> windows_pb2.WindowMessage:
    return windows_pb2.WindowMessage(
        message=message_proto(shown.message), cut=shown.cut, token_count=shown.token_count
    )


def overlay_proto(overlay: Overlay) -> overlays_pb2.Overlay:
    """As on the wire."""
    return overlays_pb2.Overlay(
        id=overlay.id,
        conversation_id=overlay.conversation_id,
        from_message_id=overlay.from_id,
        to_message_id=overlay.to_id,
        from_depth=overlay.from_depth,
        to_depth=overlay.to_depth,
        message_count=overlay.message_count,
        message_tokens=overlay.message_tokens,
        summary=overlay.summary,
        token_count=overlay.token_count,
        source_ids=overlay.source_ids,
        model=overlay.model,
        create_time=stamp_of(overlay.create_time),
        superseded_by=overlay.superseded_by,
    )


def branch_proto(branch: Branch) -> pb.Branch:
    """As on the wire."""
    return pb.Branch(
        first_message=message_proto(branch.first),
        leaf_id=branch.leaf.id,
        depth=branch.leaf.depth,
        active=branch.active,
    )


def rendering_proto(ranges: Sequence[Rendered], next_page_token: str) -> pb.RenderConversationResponse:
    """As on the wire, and as text."""
    return pb.RenderConversationResponse(
        ranges=[
            pb.RenderedRange(
                overlay=None if one.overlay is None else overlay_proto(one.overlay),
                folded=map(overlay_proto, one.folded),
                messages=map(message_proto, one.messages),
            )
            for one in ranges
        ],
        text=as_text(ranges),
        next_page_token=next_page_token,
    )


def coverage_proto(
    uncovered: Uncovered, over_share: Sequence[Overlay], share: int
) -> overlays_pb2.GetCoverageResponse:
    """As on the wire."""
    return overlays_pb2.GetCoverageResponse(
        uncovered=map(message_proto, uncovered.messages),
        previous_summary=uncovered.previous_summary,
        over_share=map(overlay_proto, over_share),
        share_tokens=share,
    )


def path_position(
    listing: str, request: pb.ListPathRequest | pb.RenderConversationRequest
) -> tuple[int | None, str]:
    """After which depth a page of a path begins, and the leaf of that path. Raises InvalidPageToken."""
    match paging.decode(listing, request.page_token):
        case None:
            return None, request.leaf_id
        case (int(depth), str(leaf_id)) if 0 <= depth < paging.MAX_NUMBER:
            return depth, leaf_id
    raise InvalidPageToken


def path_token(listing: str, page: PathPage) -> str:
    """The token of the next page, which names the path, as another leaf may be active then; "" after the
    last one."""
    return "" if page.last is None else paging.encode(listing, (page.last, page.leaf_id))


def watch_listing(key: ConversationKey) -> str:
    """Names a watch, so that its resume tokens are good for it alone."""
    return f"WatchConversation {key.agent_id} {key.id}"


def resume_token(key: ConversationKey, position: Position) -> str:
    """An opaque token."""
    return paging.encode(watch_listing(key), (position.sequence, position.revision))


def start_position(key: ConversationKey, request: pb.WatchConversationRequest) -> Position | None:
    """Where a watch begins, None for now. Raises InvalidField."""
    match request.WhichOneof("start"):
        case "after_sequence":
            return Position(sequence=request.after_sequence, revision=0)
        case "resume_token":
            try:
                match paging.decode(watch_listing(key), request.resume_token):
                    case (int(sequence), int(revision)):
                        return Position(sequence=sequence, revision=revision)
            except InvalidPageToken:
                pass
            raise InvalidField("resume_token", "is not of a watch of this conversation")
    return None


def event_proto(key: ConversationKey, event: Event, position: Position) -> pb.WatchConversationResponse:
    """As on the wire."""
    response = pb.WatchConversationResponse(resume_token=resume_token(key, position))
    match event:
        case Message():
            response.message.CopyFrom(message_proto(event))
        case Progress():
            response.progress.CopyFrom(
                pb.DerivedProgress(
                    leaf_id=event.leaf.id,
                    stored_count=event.stored_count,
                    depth=event.leaf.depth,
                    covered_count=event.covered_count,
                )
            )
        case _:
            response.overlay_change.overlays.extend(map(overlay_proto, event))
    return response


def spent(request: pb.RecordUsageRequest) -> Spent:
    """What was used."""
    match request.WhichOneof("spent"):
        case "texts":
            return CallTexts(input=request.texts.input, output=request.texts.output)
        case "sum":
            return CallSum(
                calls=request.sum.calls,
                estimated_calls=request.sum.estimated_calls,
                tokens=_call_tokens(request.sum.tokens),
            )
        case _:
            return _call_tokens(request.tokens)


def _call_tokens(proto: pb.CallTokens) -> CallTokens:
    return CallTokens(input=proto.input, output=proto.output)


def usage_proto(rows: Sequence[tuple[UsageKey, Usage]]) -> pb.GetUsageResponse:
    """As on the wire."""
    return pb.GetUsageResponse(
        rows=[
            pb.UsageRow(
                day=stamp_of(key.day * MICROS_PER_DAY),
                conversation_id=key.conversation_id,
                tier=key.tier,
                model=key.model,
                calls=usage.calls,
                estimated_calls=usage.estimated_calls,
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
            )
            for key, usage in rows
        ]
    )


def moment(request: pb.GetUsageRequest, field: str) -> int | None:
    """An optional time of a request, in microseconds. Raises InvalidField."""
    return micros(field, getattr(request, field)) if request.HasField(field) else None  # type: ignore[arg-type]
