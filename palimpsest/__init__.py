"""Palimpsest: durable memory for LLM agents. What a Python user imports."""

from __future__ import annotations

from pkgutil import extend_path

# The generated stubs (palimpsest.gateway.v1 and so on) live in a tree of their own.
__path__ = extend_path(__path__, __name__)
