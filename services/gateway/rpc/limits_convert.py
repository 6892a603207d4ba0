"""Between the messages of budgets and what was spent and their domain."""

from __future__ import annotations

from collections.abc import Sequence

from google.protobuf.duration_pb2 import Duration
from palimpsest.settings.v1 import settings_pb2 as pb

from services.gateway.app.usage import HeldLimit
from services.gateway.domain.budgets import ModelSpend


def limits(held: Sequence[HeldLimit]) -> pb.GetLimitsResponse:
    """In the order given."""
    return pb.GetLimitsResponse(
        limits=[
            pb.Limit(name=one.name, most=one.most, left=one.left, wait=_duration(one.wait), own=one.own)
            for one in held
        ]
    )


def spend(rows: Sequence[ModelSpend]) -> pb.GetModelSpendResponse:
    """In the order given."""
    return pb.GetModelSpendResponse(
        rows=[
            pb.ModelSpend(
                day=row.day.isoformat(),
                tier=row.tier,
                model=row.model,
                calls=row.calls,
                estimated_calls=row.estimated_calls,
                input_tokens=row.input_tokens,
                output_tokens=row.output_tokens,
                spend_micros=row.micros,
            )
            for row in rows
        ]
    )


def _duration(seconds: float | None) -> Duration | None:
    if seconds is None:
        return None
    made = Duration()
    made.FromMicroseconds(round(seconds * 1_000_000))
    return made
