"""Palimpsest as the memory of agent frameworks, over the client: a module for each (docs/integrations.md).

A framework is imported by its own module alone, and is installed by the extra of the same name.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Imports of an optional dependency; an ImportError within says what to install."""
    try:
        yield
    except ImportError as error:
        raise ImportError(
            f"this needs palimpsest's extra {name!r}: pip install 'palimpsest[{name}]' ({error})"
        ) from error
