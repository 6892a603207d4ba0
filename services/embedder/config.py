"""Settings of the embedder."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr
from pydantic_settings import SettingsConfigDict

from services.kit.settings import ServiceSettings


class ModelChoice(BaseModel):
    """Which model makes vectors, and how it is reached."""

    model_config = ConfigDict(frozen=True, extra="ignore", protected_namespaces=())

    backend: Literal["onnx", "openai", "hashing"] = "onnx"
    """Where vectors come from; "hashing" is for tests."""
    model_dir: Path | None = None
    """Folder with model.onnx and tokenizer.json; the bundled model if unset."""
    dimension: int | None = Field(default=None, ge=1, le=65536)
    """Values a vector must have; required for "openai", else checked if set."""
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
    openai_partner: bool = True
    """Whether the endpoint is somebody else's, so that texts sent to it leave (S-15); false for one that runs
    on the operator's own machines."""

    @property
    def leaves(self) -> bool:
        """Whether texts are sent to somebody else."""
        return self.backend == "openai" and self.openai_partner


class EmbedderSettings(ServiceSettings, ModelChoice):
    """From PALIMPSEST_EMBEDDER_…; the next model's from PALIMPSEST_EMBEDDER_NEXT_…"""

    model_config = SettingsConfigDict(
        env_prefix="PALIMPSEST_EMBEDDER_",
        env_nested_delimiter="_",
        env_nested_max_split=1,  # NEXT_MODEL_DIR is `model_dir` of `next`
        frozen=True,
        extra="ignore",
        protected_namespaces=(),
    )

    next: ModelChoice | None = None
    """A second model, served beside the current one while the indexes change over to it (S-17)."""
    data_flow: Literal["local-only", "allow-partner"] = "local-only"
    """Whether texts may be sent to a model that is somebody else's (S-15): the default of tenants that chose
    nothing, and "local-only" holds for all, whatever they chose."""
    threads: int = Field(default=0, ge=0, le=256)
    """How many runs of the model go side by side, each in a thread; 0 for one for each processor."""
    batch_size: int = Field(default=32, ge=1, le=256)
    """Most texts in a batch (M-2)."""
    queue_limit: int = Field(default=2048, ge=1)
    """Most texts that may wait, for each model (M-2)."""
    cache_bytes: int = Field(default=32 * 1024 * 1024, ge=0)
    """Bound of each model's vector cache (M-6)."""
