"""What is remembered, as a note for a model."""

from __future__ import annotations

from palimpsest.client import AsyncClient

MAX_QUERY_BYTES = 1024
"""Of a query of recall."""
HEADING = "What is remembered:"


async def remembered(client: AsyncClient, query: str, *, contact_id: str = "", limit: int = 5) -> str:
    """The memories that recall finds for a text, a line each under a heading; "" where there are none."""
    query = shortened(query)
    if not query or limit < 1:
        return ""
    found = await client.recall(query, contact_id=contact_id, limit=limit)
    lines = [f"- {' '.join(hit.memory.value.split())}" for hit in found]
    return "\n".join((HEADING, *lines)) if lines else ""


def shortened(query: str) -> str:
    """As much of a text as a query may hold: its end, where questions stand."""
    query = query.replace("\0", " ").strip()
    raw = query.encode("utf-8", "replace")
    return raw[-MAX_QUERY_BYTES:].decode("utf-8", "ignore").strip()
