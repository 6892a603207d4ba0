"""Wires what Semantic indexes of derived documents (SPEC S-13)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from palimpsest.semantic.v1 import semantic_pb2_grpc

from services.compactor.adapters.document_item import document_item
from services.compactor.adapters.index_handler import IndexHandler
from services.compactor.adapters.sql.graph import SqlGraph
from services.compactor.app.documents import Documents
from services.compactor.app.ports import Handler
from services.compactor.app.searching import INDEX_DOCUMENT, SearchableDocuments
from services.compactor.rpc import sources_servicer
from services.kit.channels import Channels
from services.kit.serving import Face
from services.kit.sql import SqlDatabase


@dataclass(frozen=True, slots=True, kw_only=True)
class Searching:
    """What the Compactor serves and does of it."""

    face: Face
    handlers: Mapping[str, Handler]


def wire(database: SqlDatabase, channels: Channels, documents: Documents) -> Searching:
    """Over real adapters."""
    semantic = semantic_pb2_grpc.SemanticServiceStub(channels.semantic)
    return Searching(
        face=sources_servicer.face(SearchableDocuments(documents, SqlGraph(database))),
        handlers={INDEX_DOCUMENT: IndexHandler(semantic, document_item)},
    )
