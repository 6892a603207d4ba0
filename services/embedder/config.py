"""Settings of the embedder."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from services.kit.settings import ServiceSettings


class EmbedderSettings(ServiceSettings):
    """From PALIMPSEST_EMBEDDER_…"""

    model_config = SettingsConfigDict(
        env_prefix="PALIMPSEST_EMBEDDER_", frozen=True, extra="ignore", protected_namespaces=()
    )

    backend: Literal["onnx", "openai", "hashing"] = "onnx"
    """Where vectors come from; "hashing" is for tests."""
    model_dir: Path | None = None
    """Folder with model.onnx and tokenizer.json; the bundled model if unset."""
    dimension: int | None = Field(default=None, ge=1, le=65536)
    """Values a vector must have; required for "openai", else checked if set."""
    threads: int = Field(default=0, ge=0, le=256)
    """Threads of a batch; 0 leaves it to the runtime."""
    batch_size: int = Field(default=32, ge=1, le=256)
    """Most texts in a batch (M-2)."""
    queue_limit: int = Field(default=2048, ge=1)
    """Most texts that may wait (M-2)."""
    cache_bytes: int = Field(default=32 * 1024 * 1024, ge=0)
    """Bound of the vector cache (M-6)."""
    openai_base_url: str = ""
    """Endpoint of "openai", e.g. "http://127.0.0.1:8080/v1"."""
    openai_api_key: SecretStr = SecretStr("")
    """Its key, if it wants one."""
    openai_model: str = ""
    """The model's name there."""
    openai_max_tokens: int = Field(default=8191, ge=1)
    """Its limit of a text."""
    openai_timeout_seconds: float = Field(default=30.0, gt=0)
    """Most seconds of a request."""
