"""Which vector index a service has (SPEC O-1)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from services.memory.semantic.adapters.vectors import VECTOR_FOLDER, open_vectors
from services.memory.semantic.adapters.vectors_edge import EdgeVectorIndex
from services.memory.semantic.adapters.vectors_qdrant import QdrantVectors
from services.memory.semantic.config import SemanticSettings
from services.memory.semantic.domain.vectors import ContentClass, VectorModel
from tests.qdrant_server import StandIn

MODEL = VectorModel(revision="test-1", dimension=4)


async def test_without_a_server_the_index_is_embedded(tmp_path: Path) -> None:
    index = await open_vectors(SemanticSettings(data_dir=tmp_path), MODEL)
    assert isinstance(index, EdgeVectorIndex)
    await index.close()
    assert (tmp_path / VECTOR_FOLDER).exists()


async def test_a_server_is_named_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with StandIn() as server:
        monkeypatch.setenv("PALIMPSEST_SEMANTIC_QDRANT_URL", "http://127.0.0.1:6333")
        monkeypatch.setenv("PALIMPSEST_SEMANTIC_QDRANT_GRPC_PORT", str(server.port))
        monkeypatch.setenv("PALIMPSEST_SEMANTIC_QDRANT_PREFIX", "ours")
        monkeypatch.setenv("PALIMPSEST_SEMANTIC_QDRANT_REPLICATION_FACTOR", "2")
        index = await open_vectors(SemanticSettings(data_dir=tmp_path), MODEL)
        assert isinstance(index, QdrantVectors)
        assert await index.list_models() == [MODEL]
        created = server.requests("Create")
        assert all(request.collection_name.startswith("ours-") for request in created)
        assert [request.replication_factor for request in created] == [2] * len(ContentClass)
        await index.close()
    assert not (tmp_path / VECTOR_FOLDER).exists()


@pytest.mark.parametrize("bad", ["qdrant:6333", "ftp://qdrant", "http://"])
def test_a_url_that_names_no_server_is_refused(bad: str) -> None:
    with pytest.raises(ValidationError, match="qdrant_url"):
        SemanticSettings(qdrant_url=bad)


def test_the_key_is_not_shown() -> None:
    """X-3."""
    settings = SemanticSettings.model_validate({"qdrant_api_key": "sesame"})
    assert settings.qdrant_api_key.get_secret_value() == "sesame"
    assert "sesame" not in repr(settings)


def test_the_embedded_profile_does_without_the_client() -> None:
    """Choosing the index does not import what only the server profile installs."""
    program = (
        "import sys\n"
        "import services.memory.semantic.bootstrap\n"
        "import services.memory.semantic.adapters.vectors\n"
        "assert 'qdrant_client' not in sys.modules\n"
        "import services.memory.semantic.adapters.vectors_qdrant\n"
        "assert 'qdrant_client' in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
