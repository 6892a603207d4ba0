"""mem0 in a process of its own, over lines of JSON: `python -m bench.mem0.peer STORE FOLDER`.

Runs in the environment that `bench.mem0.environment` makes, with this project's model and its adapter as
mem0's embedder. Each request is {"op", ...}; each answer has the seconds that mem0's own call took.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import sys
import time
import uuid
from array import array
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from services.embedder.adapters.onnx_folder import OnnxFolder

MODEL = Path(__file__).parents[2] / "services" / "embedder" / "model"
USER = "bench"
DIMENSION = 384
FILL_BATCH = 500
SETTINGS = {"MEM0_TELEMETRY": "False", "OPENAI_API_KEY": "unused"}


class Bundled:
    """mem0's embedder interface over this project's model."""

    def __init__(self, config: Any) -> None:
        self.config = config
        self._model = OnnxFolder.load(MODEL)

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:  # noqa: ARG002
        """One vector."""
        return list(array("f", self._model.embed_now(self._model.prepare_now([text]))[0]))

    def embed_batch(self, texts: list[str], memory_action: str = "add") -> list[list[float]]:
        """One vector a text."""
        return [self.embed(text, memory_action) for text in texts]


class Peer:
    """A mem0 memory; `store` is "qdrant" (as it comes, in a local folder) or "faiss"."""

    def __init__(self, store: str, folder: Path) -> None:
        # The configuration takes known providers only; the class that one stands for is open.
        factory = import_module("mem0.utils.factory").EmbedderFactory
        factory.provider_to_class["huggingface"] = "__main__.Bundled"
        self._memory: Any = import_module("mem0").Memory.from_config(
            {
                "vector_store": {
                    "provider": store,
                    "config": {
                        "collection_name": "bench",
                        "path": str(folder / store),
                        "embedding_model_dims": DIMENSION,
                    },
                },
                "embedder": {"provider": "huggingface", "config": {}},
                "history_db_path": str(folder / "history.db"),
            }
        )

    def fill(self, texts: list[str], vectors: list[str]) -> dict[str, Any]:
        """Stores many at once, as `add` would leave them; `vectors` are base64 of float32, little endian."""
        began = time.perf_counter()
        for start in range(0, len(texts), FILL_BATCH):
            part = texts[start : start + FILL_BATCH]
            self._memory.vector_store.insert(
                vectors=[
                    list(array("f", base64.b64decode(vector)))
                    for vector in vectors[start : start + FILL_BATCH]
                ],
                ids=[str(uuid.uuid4()) for _ in part],
                payloads=[_payload(text) for text in part],
            )
        return {"seconds": time.perf_counter() - began}

    def add(self, text: str) -> dict[str, Any]:
        """Stores a text as it is."""
        began = time.perf_counter()
        added = self._memory.add(text, user_id=USER, infer=False)
        return {"seconds": time.perf_counter() - began, "id": added["results"][0]["id"]}

    def search(self, query: str, limit: int) -> dict[str, Any]:
        """The texts found, best first."""
        began = time.perf_counter()
        found = self._memory.search(query, top_k=limit, filters={"user_id": USER})
        return {
            "seconds": time.perf_counter() - began,
            "texts": [memory["memory"] for memory in found["results"]],
        }


def _payload(text: str) -> dict[str, Any]:
    now = datetime.now(UTC).isoformat()
    return {
        "user_id": USER,
        "role": "user",
        "data": text,
        "hash": hashlib.md5(text.encode(), usedforsecurity=False).hexdigest(),
        "created_at": now,
        "updated_at": now,
        "text_lemmatized": text,
    }


def main() -> None:
    """Answers until its input ends. What mem0 prints goes to standard error."""
    answers, sys.stdout = sys.stdout, sys.stderr
    store, folder = sys.argv[1], Path(sys.argv[2])
    os.environ.update(SETTINGS, MEM0_DIR=str(folder / "mem0"))
    peer = Peer(store, folder)
    operations: Mapping[str, Callable[..., dict[str, Any]]] = {
        "fill": peer.fill,
        "add": peer.add,
        "search": peer.search,
    }
    print("{}", file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(operations[request.pop("op")](**request)), file=answers, flush=True)


if __name__ == "__main__":
    main()
