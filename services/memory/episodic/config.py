"""Settings of the Episodic service; every figure of its rules is here or beside its rule in domain/."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from services.kit.settings import ServiceSettings
from services.memory.episodic.domain.checks import Limits

KIB = 1024
MIB = 1024 * KIB
DATABASE_FILE = "episodic.db"
MAX_RESPONSE_BYTES = 16 * MIB  # content of one answer; leaves room for its wrapping in a gRPC message
REQUEST_ID_HOURS = 24  # how long a request id is remembered (E-2)


class EpisodicSettings(ServiceSettings):
    """Read from PALIMPSEST_EPISODIC_*."""

    model_config = SettingsConfigDict(env_prefix="PALIMPSEST_EPISODIC_", frozen=True, extra="ignore")

    max_text_bytes: int = Field(default=32 * KIB, ge=1, le=MIB)
    """Most bytes of a text part or a tool result (X-2)."""
    max_argument_bytes: int = Field(default=32 * KIB, ge=2, le=MIB)
    """Most bytes of a tool call's arguments, as JSON (X-2)."""
    max_append_bytes: int = Field(default=16 * MIB, ge=KIB, le=16 * MIB)
    """Most bytes of the messages of one append (X-2)."""
    request_id_hours: float = Field(default=REQUEST_ID_HOURS, gt=0, le=720)
    """How long a request id returns its first answer (E-2)."""
    readers: int = Field(default=2, ge=1, le=32)
    """Threads that read from the database."""
    relay: bool = True
    """Whether this process hands its outbox to the Compactor (SV-5)."""

    @property
    def database(self) -> Path:
        """The service's file."""
        return self.data_dir / DATABASE_FILE

    @property
    def limits(self) -> Limits:
        """What an append may hold."""
        return Limits(
            text_bytes=self.max_text_bytes,
            argument_bytes=self.max_argument_bytes,
            append_bytes=self.max_append_bytes,
        )
