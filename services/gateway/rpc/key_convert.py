"""Between the gateway's messages about API keys and its domain."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from palimpsest.gateway.v1 import administration_pb2 as pb

from services.gateway.domain.keys import ApiKey, KeyChange
from services.kit import paging
from services.kit.errors import InvalidField
from services.kit.times import to_timestamp

LISTING = "ListApiKeys"
CHANGE_LISTING = "ListApiKeyChanges"


def key(value: ApiKey) -> pb.ApiKey:
    """Without its secrets, which nobody has."""
    return pb.ApiKey(
        id=value.id,
        display_name=value.display_name,
        role=int(value.role),  # type: ignore[arg-type]
        agent_ids=sorted(value.agents or ()),
        create_time=to_timestamp(value.created),
        expire_time=to_timestamp(value.expires),
        revoke_time=to_timestamp(value.revoked),
        rotate_time=to_timestamp(value.rotated),
        previous_secret_expire_time=to_timestamp(value.previous_expires),
    )


def lifetime(request: pb.CreateApiKeyRequest | pb.RotateApiKeyRequest) -> timedelta | None:
    """None if it is not given. Raises InvalidField for one beyond the calendar."""
    if not request.HasField("lifetime"):
        return None
    if request.lifetime.seconds > timedelta(days=36500).total_seconds():
        raise InvalidField("lifetime", "at most 100 years")
    return request.lifetime.ToTimedelta()


def after(request: pb.ListApiKeysRequest) -> int:
    """The number that the page begins after."""
    return paging.number_position(LISTING, request.page_token) or 0


def key_page(request: pb.ListApiKeysRequest, rows: Sequence[tuple[int, ApiKey]]) -> pb.ListApiKeysResponse:
    """One more row than the page holds says that there is a next one."""
    size = paging.page_size(request.page_size)
    return pb.ListApiKeysResponse(
        keys=[key(row) for _, row in rows[:size]],
        next_page_token=paging.next_token(LISTING, rows[size - 1][0] if len(rows) > size else None),
    )


def before(request: pb.ListApiKeyChangesRequest) -> int | None:
    """The number that the page goes on before; None for the first page."""
    return paging.number_position(_changes_of(request), request.page_token)


def change_page(
    request: pb.ListApiKeyChangesRequest, rows: Sequence[tuple[int, KeyChange]]
) -> pb.ListApiKeyChangesResponse:
    """One more row than the page holds says that there is a next one."""
    size = paging.page_size(request.page_size)
    return pb.ListApiKeyChangesResponse(
        changes=[_change(row) for _, row in rows[:size]],
        next_page_token=paging.next_token(
            _changes_of(request), rows[size - 1][0] if len(rows) > size else None
        ),
    )


def _changes_of(request: pb.ListApiKeyChangesRequest) -> str:
    return f"{CHANGE_LISTING} {request.key_id}"


def _change(change: KeyChange) -> pb.ApiKeyChange:
    return pb.ApiKeyChange(
        key_id=change.key_id,
        kind=int(change.kind),  # type: ignore[arg-type]
        subject=change.subject,
        time=to_timestamp(change.time),
    )
