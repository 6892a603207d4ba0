"""Wires what sums up conversations (SPEC J-5 to J-7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from palimpsest.embedder.v1 import embedder_pb2_grpc
from palimpsest.episodic.v1 import episodic_pb2_grpc
from palimpsest.history.v1 import history_pb2_grpc

from services.compactor.adapters.conversation_paths import EpisodicPaths
from services.compactor.adapters.embeddings import EmbedderEmbeddings
from services.compactor.adapters.refresh_handler import RefreshHandler
from services.compactor.adapters.sql.summaries import SqlSummaryIndex
from services.compactor.adapters.summary_handler import (
    BATCHES,
    SUMMARIZE_BATCH,
    SUMMARIZE_CONVERSATION,
    BatchHandler,
    SummaryHandler,
)
from services.compactor.app.conversation_summaries import REFRESH_SUMMARY, ConversationSummaries, FollowUps
from services.compactor.app.documents import Documents
from services.compactor.app.ports import Handler
from services.compactor.app.refreshing import Refreshing
from services.compactor.app.summarising import Refresher
from services.compactor.domain.covering import Lengths
from services.kit.channels import Channels
from services.kit.refreshing import REFRESH_DERIVED
from services.kit.sql import SqlDatabase

SCHEDULES: Final = (BATCHES,)


def wire(
    database: SqlDatabase,
    channels: Channels,
    documents: Documents,
    wake: Callable[[], None],
    refreshing: Refreshing,
    follow_ups: FollowUps,
    refresher: Refresher,
) -> Mapping[str, Handler]:
    """Who does which type of job, over real adapters; `wake` is that of the outbox's relay."""
    paths = EpisodicPaths(
        episodic_pb2_grpc.EpisodicServiceStub(channels.episodic),
        history_pb2_grpc.HistoryServiceStub(channels.episodic),
    )
    embeddings = EmbedderEmbeddings(embedder_pb2_grpc.EmbedderServiceStub(channels.embedder))
    index = SqlSummaryIndex(database)
    summaries = ConversationSummaries(
        documents, paths, embeddings, index, Lengths(), follow_ups, refresher=refresher
    )
    handler = SummaryHandler(summaries)
    return {
        REFRESH_DERIVED: RefreshHandler(refreshing, summaries),
        REFRESH_SUMMARY: handler,
        SUMMARIZE_CONVERSATION: handler,
        SUMMARIZE_BATCH: BatchHandler(index, wake),
    }
