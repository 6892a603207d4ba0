"""Which models there are, from the environment (SPEC J-16, O-1)."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from services.kit.models.types import Tier

MAX_NAME_CHARACTERS = 200
"""Of a model's name; also what a request that counts in a model's tokens may name."""
PRINTABLE = re.compile(r"[\x21-\x7e]*")  # what may stand in an HTTP header, or a URL


class TierSettings(BaseModel):
    """One tier's endpoint; without a URL there is none."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    url: str = ""
    """Up to and without "/chat/completions", e.g. "http://127.0.0.1:8080/v1"."""
    name: str = Field(default="", max_length=MAX_NAME_CHARACTERS)
    """What the endpoint calls the model."""
    api_key: SecretStr = SecretStr("")
    """Sent as a bearer token, if set."""
    timeout_seconds: float = Field(default=60.0, gt=0, le=3600)
    """How long one attempt may take; of a stream, how long its next text may."""
    concurrency: int = Field(default=4, ge=1, le=1000)
    """Most requests at a time; others wait for their turn."""
    attempts: int = Field(default=3, ge=1, le=20)
    """Most requests for one answer."""
    max_tokens_field: str = Field(default="max_tokens", pattern="^max_(completion_)?tokens$")
    """What the endpoint calls the limit of an answer; some models take "max_completion_tokens" alone."""
    partner: bool = True
    """Whether the endpoint is somebody else's, so that texts sent to it leave (S-15); false for one that runs
    on the operator's own machines."""
    temperature: bool = True
    """Whether to send a temperature; some models refuse it."""
    tools: bool = True
    """Whether to offer tools; some models, and servers, refuse them."""

    @field_validator("url")
    @classmethod
    def _plain_url(cls, url: str) -> str:
        if not url:
            return url
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or not PRINTABLE.fullmatch(url):
            raise ValueError("must begin with http:// or https:// and name a host")
        if parts.port == 0:
            raise ValueError("must not name port 0")
        if parts.username is not None or parts.query or parts.fragment:
            raise ValueError("must hold no credentials, query or fragment")
        return url.rstrip("/")

    @field_validator("api_key")
    @classmethod
    def _sendable_key(cls, key: SecretStr) -> SecretStr:
        if not PRINTABLE.fullmatch(key.get_secret_value()):
            raise ValueError("must be printable ASCII without spaces")
        return key

    @model_validator(mode="after")
    def _named(self) -> TierSettings:
        if self.url and not self.name:
            raise ValueError("a tier with a URL needs the model's name")
        return self


class ModelSettings(BaseSettings):
    """From PALIMPSEST_MODEL_<TIER>_<FIELD>, e.g. PALIMPSEST_MODEL_FAST_URL, PALIMPSEST_MODEL_DEEP_API_KEY."""

    model_config = SettingsConfigDict(
        env_prefix="PALIMPSEST_MODEL_",
        env_nested_delimiter="_",
        env_nested_max_split=1,
        frozen=True,
        extra="ignore",
        hide_input_in_errors=True,
    )

    fast: TierSettings = TierSettings()
    """Summaries, extraction, judging, hypotheses."""
    standard: TierSettings = TierSettings()
    """Answer and Chat."""
    deep: TierSettings = TierSettings()
    """What may take long."""

    def tiers(self) -> dict[Tier, TierSettings]:
        """The tiers that have an endpoint."""
        given = {Tier.FAST: self.fast, Tier.STANDARD: self.standard, Tier.DEEP: self.deep}
        return {tier: settings for tier, settings in given.items() if settings.url}
