"""Settings of the gateway."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator
from pydantic_settings import SettingsConfigDict

from services.gateway.domain.budgets import BOUNDS, BURST, REQUESTS, SPEND, STREAMS, TOKENS
from services.kit.models.types import Tier
from services.kit.stores import StoreSettings

ORIGIN = re.compile(r"\*|https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?|https?://\[[0-9a-fA-F:]+\](:[0-9]{1,5})?")


def split_origins(text: str) -> tuple[str, ...]:
    """The origins of a list that is parted by commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _budget(name: str) -> Any:
    least, most = BOUNDS[name]
    return Field(default=None, ge=least, le=most)


class ModelPrice(BaseModel):
    """What a million tokens cost, in the deployment's currency."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Decimal = Field(default=Decimal(0), ge=0, le=1_000_000)
    output: Decimal = Field(default=Decimal(0), ge=0, le=1_000_000)


class GatewaySettings(StoreSettings):
    """From PALIMPSEST_GATEWAY_…"""

    model_config = SettingsConfigDict(env_prefix="PALIMPSEST_GATEWAY_", frozen=True, extra="ignore")

    profile: Literal["embedded", "server"] = "server"
    """How the services are composed."""
    data_flow: Literal["local-only", "allow-partner"] = "local-only"
    """Whether chats and answers may be sent to models that are somebody else's (S-15): the default of tenants
    that chose nothing, and "local-only" holds for all, whatever they chose."""
    tokenizers: dict[str, Path] = Field(default_factory=dict)
    """`tokenizer.json` files by model name, for prompts in exact tokens (E-10)."""
    chat_rounds: int = Field(default=8, ge=0, le=100)
    """G-4: most rounds of tool calls in a turn."""
    chat_max_tokens: int = Field(default=2048, ge=1, le=1_000_000)
    """G-4, G-8: most tokens of one answer of the model."""
    chat_seconds: float = Field(default=600.0, gt=0, le=86_400)
    """G-4: how long a turn may take; then it is cut off, and what came is stored."""
    chat_lease_seconds: float = Field(default=15.0, ge=1, le=600)
    """G-4: how long a conversation stays taken after the process that answered it has died."""
    http_port: int | None = Field(default=None, ge=0, le=65535)
    """Port of JSON over HTTP, on the host of gRPC; none if unset, 0 for a free one."""
    http_origins: str = ""
    """Origins whose pages may call over HTTP, parted by commas, as "https://app.example.com"; "*" for any."""

    limit_requests_per_minute: int | None = _budget(REQUESTS)
    """Calls a minute of a tenant that chose nothing, and the most that its admin may choose (G-5); unset,
    there is no limit. So for the others of these."""
    limit_request_burst: int | None = _budget(BURST)
    """How many of them may come at once; those of a minute if unset."""
    limit_tokens_per_minute: int | None = _budget(TOKENS)
    """Tokens a minute of models, in Chat and Answer."""
    limit_spend_per_day_micros: int | None = _budget(SPEND)
    """What these may cost a day (UTC), in millionths of the currency of the prices."""
    limit_concurrent_streams: int | None = _budget(STREAMS)
    """Calls that answer with a stream and are open at one time."""
    limit_prices: dict[str, ModelPrice] = Field(default_factory=dict)
    """What a million tokens cost, by tier or by tier and its model's name in the settings, as JSON:
    {"standard": {"input": 2, "output": 10}, "standard/a-model": {"input": 1, "output": 4}}. What has no price
    costs nothing."""
    limit_without_redis: Literal["local", "open", "closed"] = "local"
    """What holds while Redis is away: each process counts for itself, nothing is limited, or nothing that is
    limited is allowed."""
    limit_redis_seconds: float = Field(default=0.25, gt=0, le=10)
    """How long Redis may take to tell what is left; then it counts as away, until it answers again."""
    redis_url: SecretStr = SecretStr("")
    """A Redis server, e.g. "redis://redis:6379/0", that counts calls, tokens and streams for all replicas;
    without one each counts for itself."""
    redis_prefix: str = Field(default="palimpsest", pattern="^[A-Za-z0-9_.-]{1,60}$")
    """What the names of the keys begin with; suites that share a server take different ones."""
    redis_cluster: bool = False
    """Whether that server is a machine of a cluster."""

    mcp: bool = False
    """Whether the HTTP face serves the Model Context Protocol at /mcp; needs the extra `mcp` (G-10)."""

    jwt_issuer: str = ""
    """Whose tokens are accepted beside API keys: their claim `iss`, to the letter; none if unset (G-9)."""
    jwt_audience: str = ""
    """For whom tokens must be: one of their claim `aud`."""
    jwt_jwks_url: str = ""
    """Where the issuer's public keys are: an https URL, or http on this machine."""
    jwt_jwks_file: Path | None = None
    """The file that holds them, instead."""
    jwt_tenant_claim: str = Field(default="tenant", min_length=1)
    """The claim that names the tenant."""
    jwt_role_claim: str = Field(default="role", min_length=1)
    """The claim that says reader, writer, admin or operator."""
    jwt_agents_claim: str = Field(default="agents", min_length=1)
    """The claim that lists the agents that the caller is limited to; a token without it reaches all."""

    @field_validator("http_origins")
    @classmethod
    def _origins_are_whole(cls, text: str) -> str:
        for origin in split_origins(text):
            if not ORIGIN.fullmatch(origin):
                raise ValueError(f"{origin} is no origin: scheme://host[:port], or * for any")
        return text

    @field_validator("limit_prices")
    @classmethod
    def _prices_are_of_tiers(cls, prices: dict[str, ModelPrice]) -> dict[str, ModelPrice]:
        for name in prices:
            if name.partition("/")[0] not in {tier.value for tier in Tier}:
                raise ValueError(f"{name} is neither a tier nor TIER/MODEL")
        return prices

    @model_validator(mode="after")
    def _spend_has_prices(self) -> Self:
        if self.limit_spend_per_day_micros and not self.limit_prices:
            raise ValueError(
                "limit_spend_per_day_micros needs limit_prices: without them nothing costs anything"
            )
        return self
