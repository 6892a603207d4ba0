"""Settings from the environment, read once and frozen (SPEC O-1)."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


def default_data_dir() -> Path:
    """Where the embedded suite keeps its data: $PALIMPSEST_DATA, else the XDG data folder."""
    given = os.environ.get("PALIMPSEST_DATA")
    if given:
        return Path(given)
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "palimpsest"


class ServiceSettings(BaseSettings):
    """What every service has; a subclass sets its own `env_prefix`."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore")

    data_dir: Path = Field(default_factory=default_data_dir)
    """Folder of the service's files."""
    host: str = "127.0.0.1"
    """Address to listen on."""
    port: int = Field(default=0, ge=0, le=65535)
    """Port to listen on; 0 takes a free one."""
    metrics_port: int | None = Field(default=None, ge=0, le=65535)
    """Port of Prometheus metrics over HTTP; none if unset."""
    log_level: str = Field(default="INFO", pattern="^(?i:debug|info|warning|error)$")
    """Least level that is logged."""
    identity_secret: SecretStr = SecretStr("")
    """Shared by all services of a deployment; signs the tokens between them (SV-6). At least 32 bytes."""
    embedder_target: str = ""
    """Where the embedder listens, e.g. "dns:///embedder:7005"."""
    episodic_target: str = ""
    """Where the episodic service listens."""
    semantic_target: str = ""
    """Where the semantic service listens."""
    compactor_target: str = ""
    """Where the compactor listens."""
    gateway_target: str = ""
    """Where the gateway listens: it keeps the settings of tenants. Without it no text leaves."""
    drain_seconds: float = Field(default=5.0, ge=0, le=600)
    """How long calls may go on after SIGTERM (O-3)."""
