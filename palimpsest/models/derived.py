"""How far derived work has come, and what of it comes round."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkProgress:
    """How far one kind of work is done in a conversation.

    `kind`: "index", "extract", "cover", "summarize", "graph", "attractor" or "refresh". `up_to_sequence` is
    the message up to which it is done; 0 for none, and for the last one, which counts no messages.
    `waiting_count` and `dead_count` are jobs; `dead_job_id` names the newest that was given up.
    """

    conversation_id: str
    kind: str
    up_to_sequence: int
    waiting_count: int
    dead_count: int
    dead_job_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Work that comes round. `cron` is in UTC; `next_run_time` is None while it is disabled."""

    name: str
    job_type: str
    cron: str
    enabled: bool
    last_run_time: datetime | None
    next_run_time: datetime | None
