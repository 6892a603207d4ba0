"""When one contact may become part of another (SPEC S-5).

`merged_into` points from a contact to the one it was merged into; a chain of them ends at the contact that
stands for all. Merging changes one pointer, so undoing it is exact.
"""

from __future__ import annotations

from services.kit.errors import StateConflict


def must_merge(*, source: str, target: str, source_final: str, target_final: str) -> bool:
    """Whether the source must be pointed at `target_final`; False when it is part of it already.

    `…_final` is the end of that contact's chain. Raises StateConflict.
    """
    if source in {target, target_final}:
        raise StateConflict("a contact cannot become part of itself")
    if source_final == target_final:
        return False
    if source_final != source:
        raise StateConflict("the contact is already merged into another")
    return True
