"""The rows that an append leaves in Episodic's tables, for writers that do nothing else."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from typing import Any

from bench.fixtures import AGENT

TENANT = "bench"
MICROS = 1_800_000_000_000_000

INSERT_AGENT = (
    "INSERT INTO agents (tenant, id, display_name, system_prompt, create_time) VALUES (?, ?, '', '', ?)"
)
INSERT_CONVERSATION = (
    "INSERT INTO conversations (number, tenant, agent_id, id, contact_id, title, create_time, update_time)"
    " VALUES (?, ?, ?, ?, '', '', ?, ?)"
)
INSERT_MESSAGE = (
    "INSERT INTO messages (tenant, place, conversation, id, parent_id, role, author, session, time,"
    " create_time, token_count, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
UPDATE_CONVERSATION = (
    "UPDATE conversations SET stored_count = ?, leaf_id = ?, leaf_sequence = ?, leaf_depth = ?,"
    " leaf_tokens = ?, update_time = ? WHERE tenant = ? AND number = ?"
)
INSERT_OUTBOX = "INSERT INTO outbox (tenant, agent_id, type, subject, key, payload) VALUES (?, ?, ?, ?, ?, ?)"

Row = tuple[Any, ...]


class Rows:
    """Rows of messages that follow each other in conversations numbered from 1."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._contents = [json.dumps([["text", text]], separators=(",", ":")) for text in texts]
        self._tokens = [len(text) // 4 for text in texts]
        self._ends: dict[int, tuple[int, str, int]] = {}  # sequence, id and tokens of the newest message

    @staticmethod
    def agent() -> Row:
        """Arguments of INSERT_AGENT."""
        return TENANT, AGENT, MICROS

    @staticmethod
    def conversation(caller: int) -> Row:
        """Arguments of INSERT_CONVERSATION."""
        return caller + 1, TENANT, AGENT, f"c{caller}", MICROS, MICROS

    def next(self, caller: int) -> tuple[Row, Row, Row]:
        """Arguments of INSERT_MESSAGE, UPDATE_CONVERSATION and INSERT_OUTBOX for one message more."""
        number = caller + 1
        sequence, parent, tokens = self._ends.get(caller, (0, "", 0))
        sequence += 1
        which = (sequence * 64 + caller) % len(self._contents)
        tokens += self._tokens[which]
        made = secrets.token_hex(16)
        self._ends[caller] = sequence, made, tokens
        place = number << 32 | sequence
        content = self._contents[which]
        return (
            (TENANT, place, number, made, parent, 2, "", "", MICROS, MICROS, self._tokens[which], content),
            (sequence, made, sequence, sequence, tokens, MICROS, TENANT, number),
            (
                *(TENANT, AGENT, "index_message", f"conversations/c{caller}/messages/{sequence}"),
                f"index_message/{AGENT}/c{caller}/{sequence}",
                f'{{"conversation_id":"c{caller}","sequence":{sequence}}}',
            ),
        )
