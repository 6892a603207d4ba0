"""A folder for each model's vectors, and how an older layout becomes one (SPEC S-17, SV-2)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from services.memory.semantic.adapters.vectors import (
    MOVING_FOLDER,
    VECTOR_FOLDER,
    folder_name,
    move_former_layout,
    open_vectors,
    remove_other_models,
)
from services.memory.semantic.adapters.vectors_edge import EdgeVectorIndex
from services.memory.semantic.config import SemanticSettings
from services.memory.semantic.domain.vectors import Bucket, ContentClass, VectorModel, VectorPoint, pack

MODEL = VectorModel(revision="sha256:0a1b/1", dimension=2)
OTHER = VectorModel(revision="sha256:0a1b/2", dimension=3)
BUCKET = Bucket(tenant="acme", agent="anna", content=ContentClass.MEMORY)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


async def former(data: Path) -> None:
    """An index of one point in the vectors' folder itself."""
    index = await EdgeVectorIndex.open(data / VECTOR_FOLDER, MODEL)
    await index.upsert([VectorPoint(bucket=BUCKET, item_id="a", vector=pack([1, 0]))])
    await index.close()


async def test_an_older_layout_is_moved_whole(tmp_path: Path) -> None:
    await former(tmp_path)
    assert move_former_layout(tmp_path) == MODEL
    index = await open_vectors(SemanticSettings(data_dir=tmp_path), MODEL)
    assert index.opened_clean
    assert await index.count() == 1
    await index.close()
    assert names(tmp_path / VECTOR_FOLDER) == {folder_name(MODEL.revision)}
    assert move_former_layout(tmp_path) is None


async def test_a_move_that_was_broken_off_is_ended(tmp_path: Path) -> None:
    await former(tmp_path)
    (tmp_path / VECTOR_FOLDER).rename(tmp_path / MOVING_FOLDER)
    assert move_former_layout(tmp_path) == MODEL
    assert not (tmp_path / MOVING_FOLDER).exists()
    index = await open_vectors(SemanticSettings(data_dir=tmp_path), MODEL)
    assert await index.count() == 1
    await index.close()


@pytest.mark.parametrize("text", [None, "{", "[]"])
async def test_what_is_no_whole_index_is_not_kept(tmp_path: Path, text: str | None) -> None:
    await former(tmp_path)
    manifest = tmp_path / VECTOR_FOLDER / "manifest.json"
    if text is None:
        manifest.unlink()
    else:
        manifest.write_text(text)
    assert move_former_layout(tmp_path) is None
    assert names(tmp_path) == set()


async def test_each_model_has_a_folder_and_the_others_can_be_removed(tmp_path: Path) -> None:
    settings = SemanticSettings(data_dir=tmp_path)
    assert move_former_layout(tmp_path) is None
    for model in (MODEL, OTHER):
        index = await open_vectors(settings, model)
        assert not index.opened_clean
        await index.close()
    assert names(tmp_path / VECTOR_FOLDER) == {folder_name(model.revision) for model in (MODEL, OTHER)}
    index = await open_vectors(settings, OTHER)
    await remove_other_models(settings, index)
    await index.close()
    assert names(tmp_path / VECTOR_FOLDER) == {folder_name(OTHER.revision)}


async def test_a_loss_that_nobody_learnt_of_is_found_at_the_next_start(tmp_path: Path) -> None:
    """A child that began anew, and was closed in order before anybody looked."""
    index = await EdgeVectorIndex.open(tmp_path / "v", MODEL)
    await index.upsert([VectorPoint(bucket=BUCKET, item_id="a", vector=pack([1, 0]))])
    child = index.child
    process = child.pid
    assert process is not None
    shutil.rmtree(tmp_path / "v")
    child._process.kill()  # type: ignore[union-attr]
    assert await index.count() == 0
    assert index.lost
    await index.close()
    again = await EdgeVectorIndex.open(tmp_path / "v", MODEL)
    assert not again.opened_clean
    await again.close()
