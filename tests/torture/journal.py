"""What a caller knows of its conversation: that which was acknowledged, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A message that was acknowledged."""

    id: str
    sequence: int
    parent: str
    text: str


@dataclass(slots=True)
class Journal:
    """Of a conversation that only one caller writes to, so that what it holds is known exactly."""

    conversation: str
    messages: list[Stored] = field(default_factory=list)  # by sequence number
    leaf: str = ""
    overlays: dict[str, str] = field(default_factory=dict)  # summaries by id
    turn: str = ""  # the open one that has a checkpoint
    calls: list[str] = field(default_factory=list)  # its calls
    state: str = ""
    state_version: int = 0
    notes: str = ""

    def add(self, stored: Stored) -> None:
        """Enters a message. AssertionError where its sequence number isn't the next one."""
        assert stored.sequence == len(self.messages) + 1, "sequence numbers are not dense"
        self.messages.append(stored)
        self.leaf = stored.id

    def path(self) -> list[str]:
        """The ids from the root to the leaf."""
        parents = {one.id: one.parent for one in self.messages}
        ids = []
        at = self.leaf
        while at:
            ids.append(at)
            at = parents[at]
        return ids[::-1]
