"""The directory of the embedded vector index: kept, damaged, of another model, in use (SPEC SV-2, S-17)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from services.memory.semantic.adapters.vectors_edge import EdgeVectorIndex, discard
from services.memory.semantic.app.vectors import VectorCorrupt, VectorMismatch, VectorOutdated, VectorsInUse
from services.memory.semantic.domain.vectors import Bucket, ContentClass, VectorModel, VectorPoint, pack

MODEL = VectorModel(revision="test-1", dimension=4)
ANNA = Bucket(tenant="acme", agent="anna", content=ContentClass.MEMORY)
X, Y = pack([1, 0, 0, 0]), pack([0, 1, 0, 0])


async def embedded(directory: Path) -> EdgeVectorIndex:
    return await EdgeVectorIndex.open(directory / "vectors", MODEL)


def point(item_id: str, vector: bytes = X) -> VectorPoint:
    return VectorPoint(bucket=ANNA, item_id=item_id, vector=vector)


async def test_what_was_closed_is_found_again_clean(tmp_path: Path) -> None:
    first = await embedded(tmp_path)
    await first.upsert([point("a", X), point("b", Y)])
    await first.close()
    second = await embedded(tmp_path)
    assert second.opened_clean
    assert [hit.item_id for hit in await second.search(ANNA, X, limit=5)] == ["a", "b"]
    await second.close()


@pytest.mark.parametrize(
    "model", [VectorModel(revision="test-2", dimension=4), VectorModel(revision="test-1", dimension=5)]
)
async def test_another_model_is_a_clear_error_until_the_index_is_discarded(
    tmp_path: Path, model: VectorModel
) -> None:
    """S-17."""
    index = await embedded(tmp_path)
    await index.upsert([point("a")])
    await index.close()
    with pytest.raises(VectorMismatch, match="test-1"):
        await EdgeVectorIndex.open(tmp_path / "vectors", model)
    kept = await embedded(tmp_path)
    assert await kept.count() == 1
    await kept.close()
    discard(tmp_path / "vectors")
    rebuilt = await EdgeVectorIndex.open(tmp_path / "vectors", model)
    assert await rebuilt.count() == 0
    await rebuilt.close()


def spoil_segment(directory: Path) -> None:
    for file in directory.glob("shard/segments/*/segment.json"):
        file.write_text("{")


def spoil_flags(directory: Path) -> None:
    for file in directory.glob("shard/segments/*/vector_storage/**/status.dat"):
        file.write_bytes(b"")


def spoil_manifest(directory: Path) -> None:
    (directory / "manifest.json").write_text("[]")


def lose_manifest(directory: Path) -> None:
    (directory / "manifest.json").unlink()


def lose_shard(directory: Path) -> None:
    discard(directory / "shard")


@pytest.mark.parametrize("spoil", [spoil_segment, spoil_flags, spoil_manifest, lose_manifest, lose_shard])
async def test_a_damaged_index_is_a_clear_error(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    index = await embedded(tmp_path)
    await index.upsert([point("a")])
    await index.close()
    spoil(tmp_path / "vectors")
    with pytest.raises(VectorCorrupt):
        await embedded(tmp_path)


async def test_an_index_of_another_layout_is_told_from_one_of_another_model(tmp_path: Path) -> None:
    """S-17, SV-2: it is derived, and made anew by who opens it for the service."""
    index = await embedded(tmp_path)
    await index.upsert([point("a")])
    await index.close()
    manifest = tmp_path / "vectors" / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"schema": 1}))
    with pytest.raises(VectorOutdated, match="layout 1"):
        await embedded(tmp_path)


async def test_an_index_that_lost_points_does_not_open_clean(tmp_path: Path) -> None:
    index = await embedded(tmp_path)
    await index.upsert([point("a")])
    await index.close()
    (tmp_path / "vectors" / "clean").write_text('{"points": 2}')
    index = await embedded(tmp_path)
    assert not index.opened_clean
    assert await index.count() == 1
    await index.close()


async def test_a_second_owner_is_refused(tmp_path: Path) -> None:
    first = await embedded(tmp_path)
    with pytest.raises(VectorsInUse):
        await embedded(tmp_path)
    assert await first.count() == 0
    await first.close()
