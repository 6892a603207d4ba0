"""Contradictions of a person's memories and the agent-wide ones (SPEC S-5, S-7)."""

from __future__ import annotations

from palimpsest.gateway.v1 import memories_pb2 as pb
from palimpsest.semantic.v1 import semantic_pb2

from services.gateway.app.backends import Backends
from services.gateway.app.recalling import scope


async def list_contradictions(
    backends: Backends, request: pb.ListContradictionsRequest
) -> pb.ListContradictionsResponse:
    """Those that nobody has resolved. Raises NotFound."""
    response = await backends.semantic.ListContradictions(
        semantic_pb2.ListContradictionsRequest(
            scope=await scope(backends, request.agent_id, request.contact_id),
            page_size=request.page_size,
            page_token=request.page_token,
        )
    )
    return pb.ListContradictionsResponse(
        contradictions=response.contradictions, next_page_token=response.next_page_token
    )
