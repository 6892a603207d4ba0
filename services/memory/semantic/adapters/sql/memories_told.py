"""What messages have told already, so that no extraction writes it again (SPEC J-8, J-9)."""

from __future__ import annotations

import hashlib

from services.kit.sql import Script, first
from services.memory.semantic.domain.memory import NewMemory

DIGEST_BYTES = 8


def is_new_telling(tenant: str, new: NewMemory) -> Script[bool]:
    """Notes that the memory's messages tell of its key; False when every one of them did so before."""
    digest = hashlib.blake2b(new.key.encode("utf-8"), digest_size=DIGEST_BYTES).hexdigest()
    fresh = not new.provenance
    for ref in new.provenance:
        noted = yield from first(
            "INSERT INTO told (tenant, agent_id, conversation_id, message_id, key_digest)"
            " VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING message_id",
            tenant,
            new.scope.agent_id,
            ref.conversation_id,
            ref.message_id,
            digest,
        )
        fresh = fresh or noted is not None
    return fresh
