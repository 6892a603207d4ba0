"""Wires the graph of themes and its pages (SPEC J-13, J-14)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from palimpsest.embedder.v1 import embedder_pb2_grpc
from palimpsest.episodic.v1 import episodic_pb2_grpc

from services.compactor.adapters.embeddings import EmbedderEmbeddings
from services.compactor.adapters.graph_handler import GrowHandler, WikiHandler
from services.compactor.adapters.graph_vectors import EmbeddedNames, EpisodicConversations
from services.compactor.adapters.sql.graph import SqlGraph
from services.compactor.app.documents import Documents
from services.compactor.app.graph import GROW_GRAPH, Graph
from services.compactor.app.graph_ports import WRITE_WIKI
from services.compactor.app.ports import Handler
from services.compactor.app.wiki import Wiki
from services.compactor.rpc import graph_servicer
from services.kit.channels import Channels
from services.kit.serving import Face
from services.kit.sql import SqlDatabase
from services.kit.times import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Themes:
    """What the Compactor serves and does of it."""

    face: Face
    handlers: Mapping[str, Handler]


def wire(
    database: SqlDatabase,
    channels: Channels,
    documents: Documents,
    wake: Callable[[], None],
    clock: Clock,
    merge_at: float,
) -> Themes:
    """Over real adapters; `merge_at` is the score from which near-synonyms are merged by themselves."""
    store, embedder = SqlGraph(database), embedder_pb2_grpc.EmbedderServiceStub(channels.embedder)
    graph = Graph(
        store,
        documents,
        EmbeddedNames(embedder),
        EpisodicConversations(episodic_pb2_grpc.EpisodicServiceStub(channels.episodic)),
        clock,
        merge_at=merge_at,
        wake=wake,
    )
    wiki = Wiki(store, documents, EmbedderEmbeddings(embedder))
    return Themes(
        face=graph_servicer.face(graph, wiki, clock),
        handlers={GROW_GRAPH: GrowHandler(graph), WRITE_WIKI: WikiHandler(wiki)},
    )
