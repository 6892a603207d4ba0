"""Which vector index a service has: the embedded one, or that of a Qdrant server (SPEC O-1)."""

from __future__ import annotations

import structlog

from services.kit.errors import StartupError
from services.memory.semantic.adapters.vectors_edge import EdgeVectorIndex, discard
from services.memory.semantic.app.vectors import VectorCorrupt, VectorIndex
from services.memory.semantic.config import SemanticSettings
from services.memory.semantic.domain.vectors import VectorModel

VECTOR_FOLDER = "vectors"


async def open_vectors(settings: SemanticSettings, model: VectorModel) -> VectorIndex:
    """The index that the settings name. Raises StartupError: see the `open` of each adapter.

    An embedded index that can't be read is set aside and begun anew, for it is derived.
    """
    if settings.qdrant_url:
        return await _on_server(settings, model)
    folder = settings.data_dir / VECTOR_FOLDER
    try:
        return await EdgeVectorIndex.open(folder, model)
    except VectorCorrupt:
        structlog.get_logger("semantic").warning("vectors_corrupt", folder=folder.name)
        discard(folder)
        return await EdgeVectorIndex.open(folder, model)


async def _on_server(settings: SemanticSettings, model: VectorModel) -> VectorIndex:
    try:  # the embedded profile is installed without the client
        from services.memory.semantic.adapters.vectors_qdrant import QdrantOptions, QdrantVectors
        from services.memory.semantic.adapters.vectors_qdrant_calls import CallLimits, connect
    except ModuleNotFoundError as error:
        raise StartupError('a Qdrant server needs the client: install "palimpsest[server]"') from error
    limits = CallLimits(
        read_seconds=settings.qdrant_read_seconds, write_seconds=settings.qdrant_write_seconds
    )
    client = connect(
        settings.qdrant_url,
        api_key=settings.qdrant_api_key.get_secret_value(),
        over_grpc=settings.qdrant_grpc,
        grpc_port=settings.qdrant_grpc_port,
        limits=limits,
    )
    options = QdrantOptions(
        prefix=settings.qdrant_prefix, replication_factor=settings.qdrant_replication_factor
    )
    return await QdrantVectors.open(
        client, model, options=options, limits=limits, patience=settings.qdrant_wait_seconds
    )
