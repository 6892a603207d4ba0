"""Palimpsest: durable memory for LLM agents. What a Python user imports.

with palimpsest.Client(agent="ada") as client:
    client.remember("marta.coffee", "black, one cup, before noon")
    for hit in client.recall("how does she take her coffee?"):
        print(hit.memory.value)
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import extend_path
from typing import TYPE_CHECKING, Any

# The generated stubs (palimpsest.gateway.v1 and so on) live in a tree of their own.
__path__ = extend_path(__path__, __name__)

if TYPE_CHECKING:
    from palimpsest.client import AsyncClient as AsyncClient
    from palimpsest.client.policy import RetryPolicy as RetryPolicy
    from palimpsest.errors import *  # noqa: F403
    from palimpsest.models import *  # noqa: F403
    from palimpsest.sync import Client as Client

_HOMES = {
    "AsyncClient": "palimpsest.client",
    "RetryPolicy": "palimpsest.client.policy",
    "Client": "palimpsest.sync",
}


def __getattr__(name: str) -> Any:
    """Imports on first use: the services and the CLI import this package without needing the client."""
    if not name[:1].isupper():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    for home in (_HOMES[name],) if name in _HOMES else ("palimpsest.models", "palimpsest.errors"):
        value = getattr(import_module(home), name, None)
        if value is not None:
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
