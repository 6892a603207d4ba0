"""Where the vectors of a model are: in a folder of its own, or on a Qdrant server (SPEC O-1, S-17)."""

from __future__ import annotations

import asyncio
import json
import re
from hashlib import sha256
from pathlib import Path

import structlog

from services.kit.errors import DependencyDown, StartupError
from services.memory.semantic.adapters.vectors_edge import EdgeVectorIndex, discard
from services.memory.semantic.app.vectors import VectorCorrupt, VectorIndex, VectorOutdated
from services.memory.semantic.config import SemanticSettings
from services.memory.semantic.domain.vectors import VectorModel

VECTOR_FOLDER = "vectors"
"""Holds a folder for each model."""
MOVING_FOLDER = "vectors-moving"
MANIFEST = "manifest.json"
READABLE_CHARACTERS = 40
DIGEST_CHARACTERS = 16


def folder_name(revision: str) -> str:
    """Of a model's folder; the digest keeps revisions apart that look alike."""
    readable = re.sub(r"[^A-Za-z0-9.]+", "_", revision)[:READABLE_CHARACTERS]
    return f"{readable}-{sha256(revision.encode('utf-8')).hexdigest()[:DIGEST_CHARACTERS]}"


def move_former_layout(data_dir: Path) -> VectorModel | None:
    """Moves an index that lies in the vectors' folder itself into that of its model, and names the model.

    So it was before an installation could have two. Broken off, it goes on at the next start; what is no
    whole index is removed, for it is derived. None where there is nothing to move.
    """
    root, moving = data_dir / VECTOR_FOLDER, data_dir / MOVING_FOLDER
    if (root / "shard").exists() or (root / MANIFEST).exists():
        discard(moving)
        root.rename(moving)
    if not moving.exists():
        return None
    model = _model_of(moving)
    if model is None:
        discard(moving)
        return None
    place = root / folder_name(model.revision)
    if place.exists():
        discard(moving)
    else:
        root.mkdir(exist_ok=True)
        moving.rename(place)
    return model


def _model_of(folder: Path) -> VectorModel | None:
    try:
        manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
        return VectorModel(revision=str(manifest["model_revision"]), dimension=int(manifest["dimension"]))
    except (OSError, ValueError, LookupError, TypeError):
        return None


async def open_vectors(settings: SemanticSettings, model: VectorModel) -> VectorIndex:
    """A model's index where the settings say. Raises StartupError: see the `open` of each adapter.

    An embedded index that can't be read, or that another version of the service laid out, is set aside and
    begun anew, for it is derived.
    """
    if settings.qdrant_url:
        return await _on_server(settings, model)
    root = settings.data_dir / VECTOR_FOLDER
    root.mkdir(parents=True, exist_ok=True)
    folder = root / folder_name(model.revision)
    try:
        return await EdgeVectorIndex.open(folder, model)
    except (VectorCorrupt, VectorOutdated) as error:
        event = "vectors_corrupt" if isinstance(error, VectorCorrupt) else "vectors_outdated"
        structlog.get_logger("semantic").warning(event, folder=folder.name)
        discard(folder)
        return await EdgeVectorIndex.open(folder, model)


async def remove_other_models(settings: SemanticSettings, index: VectorIndex) -> None:
    """Removes the vectors of every model but that of an open index. What can't be removed stays, logged."""
    log = structlog.get_logger("semantic")
    if isinstance(index, EdgeVectorIndex):
        removed = await asyncio.to_thread(_remove_others, settings.data_dir / VECTOR_FOLDER, index.model)
        if removed:
            log.info("vectors_removed", folders=removed)
        return
    from services.memory.semantic.adapters.vectors_qdrant import QdrantVectors

    if not isinstance(index, QdrantVectors):
        return
    try:
        for model in await index.list_models():
            if model != index.model:
                await index.drop_model(model.revision)
                log.info("vectors_removed", revision=model.revision)
    except DependencyDown as error:
        log.warning("vectors_not_removed", reason=error.reason)


def _remove_others(root: Path, model: VectorModel) -> list[str]:
    kept = folder_name(model.revision)
    others = [folder for folder in root.iterdir() if folder.is_dir() and folder.name != kept]
    for folder in others:
        discard(folder)
    return [folder.name for folder in others]


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
