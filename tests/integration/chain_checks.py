"""What holds of the versions of a key in one bucket, by whomever they were written (SPEC S-6, S-8)."""

from __future__ import annotations

from collections.abc import Sequence

from palimpsest.common.v1 import resources_pb2

Memory = resources_pb2.Memory


def live(chain: Sequence[Memory]) -> list[Memory]:
    """Those that nothing replaced."""
    return [memory for memory in chain if not memory.superseded_by]


def assert_one_chain(chain: Sequence[Memory], *, whole: bool = True) -> None:
    """Versions without gaps, each replaced once and by the next, one live; `whole`: nothing was undone."""
    assert [memory.version for memory in chain] == list(range(1, len(chain) + 1))
    assert len({memory.id for memory in chain}) == len(chain)
    assert len(live(chain)) <= 1
    ends = [memory.superseded_by for memory in chain if memory.superseded_by]
    assert len(set(ends)) == len(ends), "nothing replaces two of one key"
    starts = [memory.supersedes for memory in chain if memory.supersedes]
    assert len(set(starts)) == len(starts)
    if whole:
        assert [memory.superseded_by for memory in chain] == [*(memory.id for memory in chain[1:]), ""]
        assert [memory.supersedes for memory in chain] == ["", *(memory.id for memory in chain[:-1])]
        assert [memory.HasField("valid_to_time") for memory in chain] == [True] * (len(chain) - 1) + [False]
