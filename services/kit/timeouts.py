"""The service configs that ship with the client: timeouts and retries by method, one file per service."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

CONFIG_PACKAGE = "palimpsest"
CONFIG_FOLDER = "service_configs"


def service_config(service: str) -> dict[str, Any]:
    """The gRPC service config of a service ("episodic", …), parsed.

    Its form is gRPC's own: https://github.com/grpc/grpc/blob/master/doc/service_config.md
    """
    text = (files(CONFIG_PACKAGE) / CONFIG_FOLDER / f"{service}.json").read_text("utf-8")
    config: dict[str, Any] = json.loads(text)
    return config


def method_timeouts(config: dict[str, Any]) -> dict[str, float]:
    """Seconds by full method path ("/package.Service/Method"); methods without a timeout are left out."""
    return {
        f"/{name['service']}/{name['method']}": float(entry["timeout"].removesuffix("s"))
        for entry in config["methodConfig"]
        if "timeout" in entry
        for name in entry["name"]
        if "method" in name
    }
