"""What a window shows before its tail: the head, and overlays or the rolling summary (SPEC E-5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from services.kit.tokens import TokenCounter
from services.memory.episodic.domain.compaction import at_its_place
from services.memory.episodic.domain.cutting import Shown, cut_text, fit_together
from services.memory.episodic.domain.model import DepthRange, Message, Overlay

HEAD_PERCENT = 10  # E-5
OVERLAY_PERCENT = 20  # E-5; the other 70 % are the tail's, with what these two leave
HEAD_MESSAGES = 2  # E-5

Counted = tuple[Overlay, int]  # with the tokens of its summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """What stands before a tail. `left_out` are the overlays that are over their share."""

    head: tuple[Shown, ...]
    overlays: tuple[Counted, ...]
    left_out: tuple[Counted, ...]
    rolling_summary: str
    summary_tokens: int

    @property
    def head_tokens(self) -> int:
        """Tokens of the head as shown."""
        return sum(one.token_count for one in self.head)

    @property
    def overlay_tokens(self) -> int:
        """Tokens of the overlays or the rolling summary."""
        return sum(tokens for _, tokens in self.overlays) + self.summary_tokens

    @property
    def token_count(self) -> int:
        """Tokens of all of it."""
        return self.head_tokens + self.overlay_tokens

    def stands_for(self, overlay: Overlay, tail: Sequence[Shown]) -> DepthRange:
        """The first and last depth of the overlay's messages that head and tail do not show verbatim."""
        verbatim = _verbatim((*self.head, *tail))
        first, last = overlay.from_depth, overlay.to_depth
        # From both ends: an overlay that others were folded into spans nearly all of a long path.
        while first in verbatim:
            first += 1
        while last in verbatim:
            last -= 1
        return first, last

    def beside(self, tail: Sequence[Shown]) -> Front:
        """Without the overlays whose messages turned out to be verbatim in head and tail, every one."""
        verbatim = _verbatim((*self.head, *tail))
        return replace(
            self,
            overlays=tuple(one for one in self.overlays if not verbatim.issuperset(_depths(one[0]))),
            left_out=tuple(one for one in self.left_out if not verbatim.issuperset(_depths(one[0]))),
        )


class Fronts:
    """The front for any tail of one path. `overlays` are sorted by depth and don't overlap."""

    def __init__(
        self,
        head: Sequence[Message],
        overlays: Sequence[Overlay],
        rolling_summary: str,
        *,
        path_depth: int,
        budget: int,
        count: TokenCounter,
    ) -> None:
        self._first = [at_its_place(message, path_depth, count) for message in head[:HEAD_MESSAGES]]
        self._head_share = budget * HEAD_PERCENT // 100
        self._overlay_share = budget * OVERLAY_PERCENT // 100
        self._overlays = [(overlay, count(overlay.summary)) for overlay in overlays]
        self._summary = "" if overlays else cut_text(rolling_summary, self._overlay_share, count)
        self._count = count
        self._heads: dict[int, tuple[Shown, ...]] = {}

    def before(self, start: int, *, verbatim_from: int) -> Front:
        """The front of a tail that starts at depth `start` and is verbatim from `verbatim_from` on."""
        head = self._head(min(start, HEAD_MESSAGES + 1))
        overlays, left_out = self._choose(_verbatim(head), verbatim_from)
        summary = self._summary if start - 1 > len(head) else ""
        return Front(
            head=head,
            overlays=overlays,
            left_out=left_out,
            rolling_summary=summary,
            summary_tokens=self._count(summary),
        )

    def _head(self, start: int) -> tuple[Shown, ...]:
        """The first messages within their share, verbatim or cut; at least half of it is there for each."""
        if start not in self._heads:
            first = [one for one in self._first if one.message.depth < start]
            share = self._head_share
            shares = [share] * len(first)
            if len(first) == HEAD_MESSAGES:
                shares[0] = max(share // 2, share - first[1].token_count)
            self._heads[start] = tuple(fit_together(first, shares, share, self._count))
        return self._heads[start]

    def _choose(
        self, verbatim: set[int], verbatim_from: int
    ) -> tuple[tuple[Counted, ...], tuple[Counted, ...]]:
        """Of the overlays that hold what isn't verbatim, the newest that fit, and those left out."""
        chosen: list[Counted] = []
        left_out: list[Counted] = []
        left = self._overlay_share
        for overlay, tokens in reversed(self._overlays):
            if not _stands_for_some(overlay, verbatim, verbatim_from):
                continue
            if tokens <= left:
                chosen.append((overlay, tokens))
                left -= tokens
            else:
                left_out.append((overlay, tokens))
        return tuple(reversed(chosen)), tuple(reversed(left_out))


def _stands_for_some(overlay: Overlay, verbatim: set[int], verbatim_from: int) -> bool:
    """Whether some of its messages are neither among the `verbatim` nor from `verbatim_from` on."""
    first = overlay.from_depth
    while first in verbatim:
        first += 1
    return first <= overlay.to_depth and first < verbatim_from


def _verbatim(shown: Sequence[Shown]) -> set[int]:
    return {one.message.depth for one in shown if one.verbatim}


def _depths(overlay: Overlay) -> range:
    return range(overlay.from_depth, overlay.to_depth + 1)
