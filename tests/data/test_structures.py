"""Structures as values: their cells partition the types, they are small to store, and too large ones are refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pnsight.data.structure import EXPERIMENTAL, OBSERVATIONAL, Description
from pnsight.data.structures import KINDS, n_types, outcome_codes, places, structure_of
from pnsight.data.two_by_two import TWO_BY_TWO, cell_of, two_by_two
from pnsight.errors import LimitError
from structures import STRUCTURES

BOTH = (EXPERIMENTAL, OBSERVATIONAL)


@pytest.mark.parametrize("name", STRUCTURES)
def test_a_structure_is_built_again_from_its_description(name):
    structure = STRUCTURES[name]
    again = structure_of(structure.description, structure.tables)
    assert again == structure
    assert again.n_types == n_types(structure.description) == structure.n_types


@pytest.mark.parametrize("name", STRUCTURES)
def test_the_cells_of_every_group_hold_each_type_once_and_sets_are_unions_of_a_group_s_cells(name):
    structure = STRUCTURES[name]
    for group, cells in structure.split(structure.incidence.T):
        assert (cells.sum(axis=1) == 1).all(), group.name
    for number, each in enumerate(structure.sets):
        columns = np.flatnonzero(structure.set_members[number])
        own = structure.group_slices[structure.group_of_set[number]]
        assert set(columns) <= set(range(own.start, own.stop)), each.name


@pytest.mark.parametrize("name", STRUCTURES)
def test_every_cell_and_set_of_a_table_has_a_place_of_its_own(name):
    structure = STRUCTURES[name]
    for table in structure.tables:
        found = places(structure, table)
        counted = sorted(found[found >= 0].ravel())
        assert counted == list(range(len(structure.all_columns_of(table))))
        assert found.shape[-2:] == (len(structure.description.arms), len(outcome_codes(structure.description)))


def test_places_of_two_by_two_are_those_that_it_always_had():
    x, y = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    for table in BOTH:
        np.testing.assert_array_equal(places(TWO_BY_TWO, table)[x, y], cell_of(x, y))


def test_names_of_two_arms_and_two_outcomes_change_nothing_but_the_names():
    named = two_by_two(("placebo", "drug"), ("sick", "well"))
    np.testing.assert_array_equal(named.incidence, TWO_BY_TWO.incidence)
    assert [cell.name for cell in named.cells] == [cell.name for cell in TWO_BY_TWO.cells]


def test_rows_of_sets_count_for_their_group_and_table():
    structure = STRUCTURES["survival"]
    counts = np.arange(structure.n_columns, dtype=float)
    by_group = structure.by_group(counts)
    assert by_group.sum() == structure.by_table(counts).sum() == counts.sum()
    first = counts[structure.group_slices[0]].sum() + sum(
        counts[structure.n_cells + k] for k, group in enumerate(structure.group_of_set) if group == 0
    )
    assert by_group[0] == first


def test_the_same_people_are_seen_through_one_table():
    both = STRUCTURES["survival"]
    alone = both.only([EXPERIMENTAL])
    assert alone.n_types == both.n_types
    assert all(each.table == EXPERIMENTAL for each in alone.sets)
    assert alone.description == both.description


@pytest.mark.parametrize(
    ("arms", "outcomes", "merge"),
    [(8, 2, "fewer arms:"), (2, 20, "fewer outcomes:"), (4, 4, "fewer arms or outcomes:")],
)
def test_a_structure_too_large_to_compile_is_refused_with_what_to_merge(arms, outcomes, merge):
    large = Description(
        "arms and outcomes",
        tuple(f"a{k}" for k in range(arms)),
        tuple(f"y{k}" for k in range(outcomes)),
        tried=tuple(f"a{k}" for k in range(arms)),
    )
    with pytest.raises(LimitError, match=rf"{arms} arms and {outcomes} outcomes make .* response types.*{merge}"):
        structure_of(large, BOTH)


def test_horizons_and_the_worst_case_are_named_where_they_make_a_structure_too_large():
    survival = STRUCTURES["survival"].description
    many = replace(survival, horizons=tuple(range(1, 30)), outcomes=tuple(map(str, range(30))))
    with pytest.raises(LimitError, match="fewer horizons"):
        structure_of(many, BOTH)
    worst = replace(STRUCTURES["three arms, three grades"].description, missing="worst-case")
    with pytest.raises(LimitError, match="or leave --missing-outcome worst-case"):
        structure_of(worst, BOTH)


def test_every_kind_is_known():
    assert {structure.description.kind for structure in STRUCTURES.values()} == set(KINDS)
