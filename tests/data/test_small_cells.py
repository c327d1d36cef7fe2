"""Which profiles are withheld: those with a small cell, and as many more as known totals ask for."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pnsight.data.small_cells import withheld_profiles
from pnsight.queries import lattice
from strategies import studies


@st.composite
def counted(draw):
    """Profiles with people on both sides of ten, and a limit."""
    study = draw(studies(experiment_alone=True))
    people = draw(hnp.arrays(np.float64, (len(study.profiles), 4), elements=st.integers(0, 40).map(float)))
    return study.schema, study.profiles, people, draw(st.sampled_from([2, 5, 10, 30]))


def withheld(people, limit, sizes=None):
    return withheld_profiles(people, people.sum(axis=1) if sizes is None else sizes, limit)


def is_small(people, limit):
    return (np.asarray(people) > 0) & (np.asarray(people) < limit)


@given(counted())
def test_every_profile_with_a_small_cell_is_withheld(found):
    _, _, people, limit = found
    hidden = withheld(people, limit)
    assert hidden[is_small(people, limit).any(axis=1)].all()


@given(counted())
def test_no_sum_of_what_is_shown_is_small_nor_any_difference_of_nested_sums(found):
    schema, profiles, people, limit = found
    shown = np.where(withheld(people, limit)[:, None], 0, people)
    queries = lattice.all_queries(schema)
    sums = lattice.sum_over(schema, queries, profiles, shown)
    assert not is_small(sums, limit).any()
    place = {query.tobytes(): row for row, query in enumerate(queries)}
    for row, query in enumerate(queries):
        for parent in lattice.query_and_parents(query)[1:]:
            assert not is_small(sums[place[parent.tobytes()]] - sums[row], limit).any()


@given(counted())
def test_what_is_missing_in_a_total_is_not_small_unless_all_of_it_is(found):
    _, _, people, limit = found
    hidden = withheld(people, limit)
    gone, shown = people[hidden].sum(axis=0), people[~hidden].sum(axis=0)
    assert not (is_small(gone, limit) & (shown > 0)).any()


def test_no_more_is_withheld_than_a_total_asks_for():
    """Three people are missing in the first cell of everyone; the smallest profile that has enough in it goes too."""
    people = np.array([[3.0, 20, 20, 20], [30, 30, 30, 30], [12, 20, 20, 20], [40, 0, 0, 0]])
    assert withheld(people, 10).tolist() == [True, False, False, True]
    people[3] = [0, 40, 0, 0]
    assert withheld(people, 10).tolist() == [True, False, True, False]


def test_two_tables_withhold_the_same_further_profiles():
    """Which of them is smaller in one table alone does not matter."""
    people = np.array([[3.0, 20, 20, 20], [30, 30, 30, 30], [31, 31, 31, 31]])
    assert withheld(people, 10).tolist() == [True, True, False]
    assert withheld(people, 10, sizes=np.array([100.0, 500, 400])).tolist() == [True, False, True]


def test_where_nothing_is_small_nothing_is_withheld():
    people = np.array([[0.0, 10, 11, 400], [10, 10, 10, 0]])
    assert not withheld(people, 10).any()


def test_nobody_at_all():
    assert withheld(np.zeros((0, 4)), 10).tolist() == []
    assert withheld(np.full((1, 4), 3.0), 10).tolist() == [True]
