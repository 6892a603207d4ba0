"""What the suites of documents share."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from services.compactor.domain.documents import (
    DocumentKey,
    Draft,
    attractor_key,
    summary_key,
)

TENANT = "acme"
AGENT = "ada"
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
TICK = timedelta(microseconds=1)
ATTRACTOR = attractor_key(TENANT, AGENT)
SUMMARY = summary_key(TENANT, AGENT, "c1")
ODD_IDS = ("a", "a:b", "{a}", "}{", "a%3Ab", "%", "🦉", "history", "frozen:1", "a b\n", "ä/ö?*[x]", "..", "~")


def odd_keys() -> list[DocumentKey]:
    """Documents whose ids would fall together if they stood in a name as they are."""
    return [
        key
        for tenant in ODD_IDS
        for agent in ODD_IDS
        for key in (attractor_key(tenant, agent), summary_key(tenant, agent, tenant + agent))
    ]


def draft(number: int = 1, **fields: Any) -> Draft:
    """A document; `number` tells it from others."""
    body = {"number": number, "themes": [{"label": f"theme {number}", "weight": 0.5}]}
    return Draft(**{"body": body, "engine": "test-1", "source_ids": (f"s{number}", "s"), **fields})
