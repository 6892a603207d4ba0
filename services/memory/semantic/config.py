"""Settings of the semantic service."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from services.kit.settings import ServiceSettings


class SemanticSettings(ServiceSettings):
    """From PALIMPSEST_SEMANTIC_…"""

    model_config = SettingsConfigDict(env_prefix="PALIMPSEST_SEMANTIC_", frozen=True, extra="ignore")

    task_lifetime_days: float = Field(default=7.0, gt=0)
    """After how many days a task expires (S-3)."""
    recall_depth: int = Field(default=100, ge=15, le=1000)
    """Hits asked of each channel (docs/recall.md)."""
    channel_seconds: float = Field(default=2.0, gt=0)
    """Most seconds that a channel of recall may take (S-11)."""
    embedder_wait_seconds: float = Field(default=30.0, ge=0)
    """How long a start waits for the embedder, which may start later."""
