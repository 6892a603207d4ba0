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
    """Whether a new memory is held against those that it may replace or contradict (S-7); false holds for
    all, whatever an agent's settings are."""
    verify_candidates: int = Field(default=3, ge=1, le=20)
    """Against how many at the most."""
    verify_cosine: float = Field(default=0.5, ge=0, le=1)
    """How similar those are at the least: the cosine of the vectors."""
    judge_model: bool = True
    """Whether a model of the tier "fast", where one is set, judges what replaces or contradicts what; the
    rules otherwise (docs/memory-model.md)."""
    judge_seconds: float = Field(default=20.0, gt=0, le=600)
    """How long the model has for one verdict, before the rules give it."""
    sweep_seconds: float = Field(default=60.0, gt=0, le=86400)
    """How often memories are looked for whose planned end, or expiry, has come (J-15)."""
    recall_depth: int = Field(default=100, ge=15, le=1000)
    """Hits asked of each channel (docs/recall.md)."""
    channel_seconds: float = Field(default=2.0, gt=0)
    """Most seconds that a channel of recall may take (S-11)."""
    hyde: bool = True
    """Whether recall of memories also searches by a made-up answer, where a model of the tier "fast" is set
    (docs/models.md)."""
    data_flow: Literal["local-only", "allow-partner"] = "local-only"
    """Whether texts may be sent to endpoints that are somebody else's (S-15): the default of tenants that
    chose nothing, and "local-only" holds for all, whatever they chose."""
    remote_url: str = Field(default="", pattern="^(https?://.+)?$")
    """A remote memory, up to and without "/v1" (docs/providers.md); agents' settings say who uses it."""
    remote_token: SecretStr = SecretStr("")
    """Sent to it as a bearer token, if set."""
    remote_partner: bool = True
    """Whether the remote memory is somebody else's, so that what is sent to it leaves (S-15)."""
    remote_seconds: float = Field(default=5.0, gt=0, le=15)
    """How long it may take for a request, before it is asked again."""
    remote_sweep_seconds: float = Field(default=60.0, gt=0, le=86400)
    """How often what it holds is compared with the memories."""
    change_step: int = Field(default=64, ge=1, le=256)
    """Items that are embedded by a next model at a time, while its vectors are filled (docs/reindex.md)."""
    change_poll_seconds: float = Field(default=2.0, gt=0, le=60)
    """Between two looks at what other replicas did about a change of models."""
    change_lease_seconds: float = Field(default=30.0, gt=0, le=3600)
    """How long a replica counts as running after its last sign; more than a few polls."""
    abandon_model: str = ""
    """The revision of the active model, to have the embedder's current one in its place at once: where the
    former is no longer to be had."""
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
