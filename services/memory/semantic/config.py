"""Settings of the semantic service."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from services.kit.stores import StoreSettings


class SemanticSettings(StoreSettings):
    """From PALIMPSEST_SEMANTIC_…"""

    model_config = SettingsConfigDict(env_prefix="PALIMPSEST_SEMANTIC_", frozen=True, extra="ignore")

    task_lifetime_days: float = Field(default=7.0, gt=0)
    """After how many days a task expires (S-3)."""
    verify: bool = True
    """Whether a new memory is held against those that it may replace or contradict (S-7)."""
    verify_candidates: int = Field(default=3, ge=1, le=20)
    """Against how many at the most."""
    verify_cosine: float = Field(default=0.6, ge=0, le=1)
    """How similar those are at the least: the cosine of the vectors."""
    recall_depth: int = Field(default=100, ge=15, le=1000)
    """Hits asked of each channel (docs/recall.md)."""
    channel_seconds: float = Field(default=2.0, gt=0)
    """Most seconds that a channel of recall may take (S-11)."""
    hyde: bool = True
    """Whether recall of memories also searches by a made-up answer, where a model of the tier "fast" is set
    (docs/models.md)."""
    data_flow: Literal["local-only", "allow-partner"] = "local-only"
    """Whether texts may be sent to endpoints that are somebody else's (S-15)."""
    embedder_wait_seconds: float = Field(default=30.0, ge=0)
    """How long a start waits for the embedder, which may start later."""
    meilisearch_url: str = Field(default="", pattern="^(https?://.+)?$")
    """A Meilisearch server for the words, e.g. "http://meilisearch:7700"; without one, SQLite's FTS5."""
    meilisearch_api_key: SecretStr = SecretStr("")
    """What the server asks of its clients, if it does: a key that may make indexes and change settings."""
    meilisearch_prefix: str = Field(default="palimpsest", pattern="^[A-Za-z0-9_-]{1,60}$")
    """What the names of the indexes begin with; suites that share a server take different ones."""
    meilisearch_read_seconds: float = Field(default=2.0, gt=0, le=600)
    """How long the server may take for one of the two requests of a search, before it is asked again."""
    meilisearch_task_seconds: float = Field(default=60.0, gt=0, le=3600)
    """How long the server may take to apply a write."""
    meilisearch_wait_seconds: float = Field(default=30.0, ge=0)
    """How long a start waits for the server, which may start later."""
    qdrant_url: str = Field(default="", pattern="^(https?://.+)?$")
    """A Qdrant server for the vectors, e.g. "http://qdrant:6333"; without one, the embedded engine."""
    qdrant_api_key: SecretStr = SecretStr("")
    """What the server asks of its clients, if it does."""
    qdrant_grpc: bool = True
    """Whether to call the server over gRPC, else over REST."""
    qdrant_grpc_port: int = Field(default=6334, ge=1, le=65535)
    """Where the server listens for gRPC, on the host of `qdrant_url`."""
    qdrant_prefix: str = Field(default="palimpsest", pattern="^[A-Za-z0-9_.-]{1,60}$")
    """What the names of the collections begin with; suites that share a server take different ones."""
    qdrant_replication_factor: int = Field(default=1, ge=1, le=100)
    """How many nodes of a Qdrant cluster keep each point, in collections made from now on."""
    qdrant_read_seconds: float = Field(default=5.0, gt=0, le=600)
    """How long the server may take for a search, count or list, before it is asked again."""
    qdrant_write_seconds: float = Field(default=30.0, gt=0, le=600)
    """Likewise for a write."""
    qdrant_wait_seconds: float = Field(default=30.0, ge=0)
    """How long a start waits for the server, which may start later."""
