"""The sweep over small and unequal studies: what it fits, what a line says, and what its table shows."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import pnsight
from pnsight.data.law import Law
from pnsight_experiments.interval_coverage import (
    asked,
    cells_with_wrong_decisions,
    coverage,
    decisions,
    large_groups,
    settings,
    table_columns,
    trial_shift,
)
from pnsight_experiments.scores import truth
from quick_config import QUICK


@pytest.fixture(scope="module")
def study():
    return pnsight.simulation.get("mediator").sample(3000, 3000, seed=1)


@pytest.fixture(scope="module")
def model(study):
    return pnsight.ResponseTypeModel(random_state=1, config=QUICK).fit(study)


@pytest.fixture(scope="module")
def known():
    return asked(truth("mediator"))


def test_small_trials_have_ten_samples_and_large_ones_three():
    found = list(settings(["150/300", "20000/20000"], ["mediator", "tree"], range(211, 221)))
    assert sum(size == "150/300" for _, size, _ in found) == 20
    assert [name for name, size, _ in found if size == "20000/20000"][:2] == ["mediator", "tree:211"]
    assert sum(size == "20000/20000" for _, size, _ in found) == 6


def test_everyone_of_the_trial_keeps_what_its_rows_say(model):
    found = trial_shift(model)
    assert 0 <= found["trial_shift"] < 1
    assert 0 <= found["trial_shift_groups"] < 0.1


def test_a_law_that_is_bent_away_from_the_trial_is_seen(model):
    def swap_outcomes(codes, estimand):
        law, rows = model.law_and_error(codes, estimand)
        return Law(law.structure, law.cells[:, [1, 0, *range(2, law.cells.shape[1])]]), rows

    bent = SimpleNamespace(
        structure=model.structure, schema=model.schema, counts=model.counts, law_and_error=swap_outcomes
    )
    assert trial_shift(bent)["trial_shift"] > 3


def test_a_line_counts_ends_inside_their_intervals_and_decisions(model, known, study):
    found = model.bounds(known.codes)
    row = coverage(known, found) | decisions(known, found)
    row |= large_groups(known, found, pnsight.PlugIn().fit(study).bounds(known.codes))
    assert all(0 <= row[f"{space}_{end}"] <= 1 for space in ("exact", "all") for end in ("lower", "upper"))
    assert 0 <= row["wrong"] <= row["decided"]
    assert row["large"] > 0
    assert row["large_width"] > 0


def test_the_table_has_a_line_for_each_cell_each_size_and_all(model, known):
    found = model.bounds(known.codes)
    row = coverage(known, found) | decisions(known, found) | large_groups(known, found, found) | trial_shift(model)
    rows = [
        {name: str(value) for name, value in row.items()} | {"population": name, "size": "150/300", "contradicted": "0"}
        for name in ("mediator", "tree:1")
    ]
    table = table_columns(rows)
    assert table["population"] == ["mediator", "tree", "all", "all"]
    assert table["samples"] == ["1", "1", "2", "2"]
    assert np.isfinite(float(table["exact width"][0]))


def test_cells_in_which_decisions_are_often_wrong_are_named():
    line = {"size": "150/300", "decided": "500", "wrong": "0"}
    rows = [
        {**line, "population": "tree:1", "wrong": "1"},
        {**line, "population": "tree:2"},
        {**line, "population": "mediator", "wrong": "1"},
        {**line, "population": "direct", "decided": "0"},
    ]
    assert cells_with_wrong_decisions(rows, 0.001) == ["mediator with 150/300 rows"]
