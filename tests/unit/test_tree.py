"""Trees as runs of sequence numbers, held against parent pointers (SPEC E-3)."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from services.memory.episodic.domain.tree import ROOT, Range, Run, Tree
from tests.unit.tree_model import ParentTree, parent_trees

LIMITS = settings(deadline=None, max_examples=200)


def as_runs(model: ParentTree) -> Tree:
    """The tree as appends store it: a run wherever a message does not follow the one before it."""
    later = [
        Run(first=number, base=parent, depth=len(model.path(parent)))
        for number, parent in enumerate(model.parents, 1)
        if parent != number - 1
    ]
    return Tree(len(model.parents), later[::-1])


def flat(ranges: Sequence[Range]) -> list[int]:
    return [number for first, last in ranges for number in range(first, last + 1)]


def numbers(model: ParentTree) -> range:
    return range(1, len(model.parents) + 1)


@LIMITS
@given(parent_trees())
def test_depths_and_paths_are_those_of_the_parents(model: ParentTree) -> None:
    tree = as_runs(model)
    for number in numbers(model):
        path = model.path(number)
        assert tree.depth(number) == len(path)
        assert flat(tree.path(number)[::-1]) == path
        assert [n for n in numbers(model) if tree.on_path(n, number)] == path
    assert tree.depth(ROOT) == 0
    assert tree.path(ROOT) == []


@LIMITS
@given(parent_trees(), st.data())
def test_a_stretch_is_the_part_of_the_path_between_two_depths(model: ParentTree, data: st.DataObject) -> None:
    tree = as_runs(model)
    leaf = data.draw(st.sampled_from(numbers(model)))
    first, last = data.draw(st.integers(-2, 40)), data.draw(st.integers(-2, 40))
    assert flat(tree.stretch(first, last, leaf)) == model.path(leaf)[max(first - 1, 0) : max(last, 0)]


@LIMITS
@given(parent_trees())
def test_children_and_newest_leaves_are_those_of_the_parents(model: ParentTree) -> None:
    tree = as_runs(model)
    assert tree.children(ROOT) == model.children(0)
    for number in numbers(model):
        assert tree.children(number) == model.children(number)
        assert tree.newest_leaf(number) == model.newest_leaf(number)


@LIMITS
@given(parent_trees())
def test_only_branches_are_stored(model: ParentTree) -> None:
    """A conversation that never forked has no run to store; each message that doesn't follow the last has."""
    tree = as_runs(model)
    assert len(tree.later) == sum(parent != number - 1 for number, parent in enumerate(model.parents, 1))
    for number in numbers(model):
        ranges = tree.path(number)
        assert len(ranges) <= len(tree.later) + 1
        assert all(first <= last for first, last in ranges)


def test_an_empty_tree_has_no_first_message() -> None:
    assert Tree(0).children(ROOT) == []
    assert Tree(0).stretch(1, 5, ROOT) == []
    assert Tree(1).children(ROOT) == [1]


@LIMITS
@given(parent_trees(most=12))
def test_two_paths_share_their_messages_up_to_where_they_part(model: ParentTree) -> None:
    tree = as_runs(model)
    for one in numbers(model):
        for other in numbers(model):
            shared = set(model.path(one)) & set(model.path(other))
            assert tree.shared_depth(one, other) == len(shared)
