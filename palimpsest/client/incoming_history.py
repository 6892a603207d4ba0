"""Messages of HistoryService as values of the client."""

from __future__ import annotations

from collections.abc import Iterable

from palimpsest import models
from palimpsest.client.incoming import message, time_of
from palimpsest.history.v1 import history_pb2, overlays_pb2, windows_pb2


def overlay(proto: overlays_pb2.Overlay) -> models.Overlay:
    """A summary over messages."""
    return models.Overlay(
        id=proto.id,
        conversation_id=proto.conversation_id,
        from_message_id=proto.from_message_id,
        to_message_id=proto.to_message_id,
        from_depth=proto.from_depth,
        to_depth=proto.to_depth,
        message_count=proto.message_count,
        message_tokens=proto.message_tokens,
        summary=proto.summary,
        token_count=proto.token_count,
        source_ids=tuple(proto.source_ids),
        model=proto.model,
        create_time=time_of(proto, "create_time"),
        superseded_by=tuple(proto.superseded_by),
    )


def window(proto: windows_pb2.GetWindowResponse) -> models.Window:
    """A slice of a path."""
    return models.Window(
        head=_shown(proto.head),
        overlays=tuple(
            models.WindowOverlay(
                overlay=overlay(one.overlay), from_depth=one.from_depth, to_depth=one.to_depth
            )
            for one in proto.overlays
        ),
        rolling_summary=proto.rolling_summary,
        tail=_shown(proto.tail),
        omitted_count=proto.omitted_count,
        overlays_left_out=proto.overlays_left_out,
        token_count=proto.token_count,
        head_tokens=proto.head_tokens,
        overlay_tokens=proto.overlay_tokens,
        tail_tokens=proto.tail_tokens,
        exact_tokens=proto.exact_tokens,
        latest_time=time_of(proto, "latest_time"),
        depth=proto.depth,
    )


def _shown(protos: Iterable[windows_pb2.WindowMessage]) -> tuple[models.WindowMessage, ...]:
    return tuple(
        models.WindowMessage(message=message(proto.message), cut=proto.cut, token_count=proto.token_count)
        for proto in protos
    )


def branch(proto: history_pb2.Branch) -> models.Branch:
    """A continuation of a message."""
    return models.Branch(
        first_message=message(proto.first_message),
        leaf_id=proto.leaf_id,
        depth=proto.depth,
        active=proto.active,
    )


def coverage(proto: overlays_pb2.GetCoverageResponse) -> models.Coverage:
    """What is due to be summarised."""
    return models.Coverage(
        uncovered=tuple(map(message, proto.uncovered)),
        previous_summary=proto.previous_summary,
        over_share=tuple(map(overlay, proto.over_share)),
        share_tokens=proto.share_tokens,
    )


def rendered_page(proto: history_pb2.RenderConversationResponse) -> models.RenderedPage:
    """Overlays over the originals."""
    return models.RenderedPage(
        ranges=tuple(
            models.RenderedRange(
                overlay=overlay(one.overlay) if one.HasField("overlay") else None,
                folded=tuple(map(overlay, one.folded)),
                messages=tuple(map(message, one.messages)),
            )
            for one in proto.ranges
        ),
        text=proto.text,
    )


def event(proto: history_pb2.WatchConversationResponse) -> models.ConversationEvent | None:
    """What happened; None for an event of a kind that is newer than this client."""
    token = proto.resume_token
    match proto.WhichOneof("event"):
        case "message":
            return models.ConversationEvent(message=message(proto.message), resume_token=token)
        case "overlay_change":
            changed = models.OverlayChange(overlays=tuple(map(overlay, proto.overlay_change.overlays)))
            return models.ConversationEvent(overlay_change=changed, resume_token=token)
        case "progress":
            return models.ConversationEvent(progress=progress(proto.progress), resume_token=token)
    return None


def progress(proto: history_pb2.DerivedProgress) -> models.DerivedProgress:
    """How far derived work has come."""
    return models.DerivedProgress(
        leaf_id=proto.leaf_id,
        stored_count=proto.stored_count,
        depth=proto.depth,
        covered_count=proto.covered_count,
        indexed_count=proto.indexed_count,
    )


def call_tokens(proto: history_pb2.CallTokens) -> models.CallTokens:
    """Tokens of a call."""
    return models.CallTokens(input=proto.input, output=proto.output)


def usage_row(proto: history_pb2.UsageRow) -> models.UsageRow:
    """What a model was used for on a day."""
    return models.UsageRow(
        day=time_of(proto, "day"),
        conversation_id=proto.conversation_id,
        tier=proto.tier,
        model=proto.model,
        calls=proto.calls,
        estimated_calls=proto.estimated_calls,
        input_tokens=proto.input_tokens,
        output_tokens=proto.output_tokens,
    )
