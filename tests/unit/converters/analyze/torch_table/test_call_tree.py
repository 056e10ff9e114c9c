"""Calls of one name that are taken for one event, and sums over a tree."""

from __future__ import annotations

import numpy as np

from rblnpb.converters.analyze.torch_table.call_tree import levels, merge_same_name, sum_below


def test_a_chain_of_one_name_becomes_its_outermost_event() -> None:
    #        0 mm -> 1 mm -> 2 mm -> 3 add
    tree = merge_same_name(np.array([-1, 0, 1, 2]), np.array([5, 5, 5, 6]))

    assert tree.is_kept.tolist() == [True, False, False, True]
    assert tree.parent[tree.is_kept].tolist() == [-1, 0]
    assert tree.carrier[tree.is_kept].tolist() == [2, 3]


def test_two_calls_of_the_callers_name_stay_two() -> None:
    tree = merge_same_name(np.array([-1, 0, 0]), np.array([5, 5, 5]))

    assert tree.is_kept.tolist() == [True, True, True]
    assert tree.parent.tolist() == [-1, 0, 0]


def test_calls_of_a_merged_event_become_those_of_its_caller() -> None:
    #        0 a -> 1 a -> {2 b, 3 a}: a has two calls then, so the last one stays
    tree = merge_same_name(np.array([-1, 0, 1, 1]), np.array([1, 1, 2, 1]))

    assert tree.is_kept.tolist() == [True, False, True, True]
    assert tree.parent[tree.is_kept].tolist() == [-1, 0, 0]


def test_a_tree_of_nothing() -> None:
    nothing = np.empty(0, np.int64)

    tree = merge_same_name(nothing, nothing)

    assert (tree.is_kept.tolist(), tree.parent.tolist(), tree.carrier.tolist()) == ([], [], [])
    assert levels(nothing) == ()


def test_levels_come_deepest_first_and_without_what_nothing_called() -> None:
    found = levels(np.array([-1, 0, 1, 0, -1, 4]))

    assert [level.tolist() for level in found] == [[2], [1, 3, 5]]


def test_a_sum_below_adds_children_in_row_order_each_with_its_own_first() -> None:
    parent = np.array([-1, 0, 0, 2])
    own = np.array([8.0, 0.1, 0.2, 0.3])

    assert sum_below(parent, levels(parent), own).tolist() == [0.0 + 0.1 + (0.2 + 0.3), 0.0, 0.3, 0.0]
