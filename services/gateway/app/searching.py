"""Search over derived documents, as the gateway asks for it (SPEC S-13)."""

from __future__ import annotations

import asyncio

from palimpsest.search.v1 import search_pb2

from services.gateway.app.backends import Backends


async def search_documents(
    backends: Backends, request: search_pb2.SearchDocumentsRequest
) -> search_pb2.SearchDocumentsResponse:
    """With the contacts that were merged into those named.

    Raises NotFound for an unknown one, and for an unknown agent.
    """
    named = request.contact_ids or ("",)  # nobody: the agent alone is looked up
    groups = await asyncio.gather(*(backends.contact_ids(request.agent_id, one) for one in named))
    asked = search_pb2.SearchDocumentsRequest()
    asked.CopyFrom(request)
    del asked.contact_ids[:]
    asked.contact_ids.extend(dict.fromkeys(one for group in groups for one in group))
    return await backends.search.SearchDocuments(asked)
