"""A tree of messages as plain parent pointers, for the tests of what is stored more cleverly."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st


class ParentTree:
    """Messages 1 to n by the numbers of their parents, 0 for the root."""

    def __init__(self, parents: Sequence[int] = ()) -> None:
        self.parents = list(parents)

    def add(self, parent: int) -> int:
        """Adds a message after another; its number."""
        self.parents.append(parent)
        return len(self.parents)

    def path(self, number: int) -> list[int]:
        """From the root to a message, that one included."""
        path: list[int] = []
        while number:
            path.insert(0, number)
            number = self.parents[number - 1]
        return path

    def children(self, number: int) -> list[int]:
        """What follows a message, in the order it was added."""
        return [child for child, parent in enumerate(self.parents, 1) if parent == number]

    def leaves(self) -> list[int]:
        """The messages that nothing follows."""
        return [number for number in range(1, len(self.parents) + 1) if number not in self.parents]

    def newest_leaf(self, number: int) -> int:
        """The last added leaf at or below a message."""
        return max(leaf for leaf in self.leaves() if number in self.path(leaf))


@st.composite
def parent_trees(draw: st.DrawFn, *, most: int = 30) -> ParentTree:
    """Trees of conversations: mostly the last message is followed, now and then another one or the root."""
    tree = ParentTree()
    for count in range(draw(st.integers(1, most))):
        tree.add(draw(st.one_of(st.just(count), st.just(count), st.integers(0, count))))
    return tree
