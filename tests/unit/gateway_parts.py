"""The services behind the gateway, for tests of what it does with them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from palimpsest.common.v1 import recall_pb2
from palimpsest.search.v1 import search_pb2

from services.gateway.app.backends import Backends
from services.kit.errors import NotFound


class NoAttractor:
    """Documents of an agent that has no attractor."""

    async def ListBasins(self, request: Any) -> Any:
        raise NotFound("attractor", request.agent_id)


class FakeSearch:
    """Answers a search with these documents, or raises `broken`."""

    def __init__(self, *hits: search_pb2.DocumentHit) -> None:
        self.hits = hits
        self.broken: BaseException | None = None
        self.failures: list[recall_pb2.ChannelFailure] = []
        self.asked: list[search_pb2.SearchDocumentsRequest] = []

    async def SearchDocuments(
        self, request: search_pb2.SearchDocumentsRequest
    ) -> search_pb2.SearchDocumentsResponse:
        self.asked.append(request)
        if self.broken:
            raise self.broken
        return search_pb2.SearchDocumentsResponse(hits=self.hits[: request.limit], failures=self.failures)


def backends(**stubs: Any) -> Backends:
    """These stubs, by their names, and none of the others: a call of one of those fails.

    Without one of them, a search finds no documents.
    """
    stubs = {"search": FakeSearch(), **stubs}
    return Backends(**{field.name: stubs.pop(field.name, None) for field in fields(Backends)}, **stubs)
