"""Settings of the gateway."""

from __future__ import annotations

from typing import Literal

from pydantic_settings import SettingsConfigDict

from services.kit.stores import StoreSettings


class GatewaySettings(StoreSettings):
    """From PALIMPSEST_GATEWAY_…"""

    model_config = SettingsConfigDict(env_prefix="PALIMPSEST_GATEWAY_", frozen=True, extra="ignore")

    profile: Literal["embedded", "server"] = "server"
    """How the services are composed."""
