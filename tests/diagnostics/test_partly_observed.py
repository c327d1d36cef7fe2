"""Checks of tables with censored rows: what is not seen of a row must not look like a contradiction."""

from __future__ import annotations

import numpy as np
import pytest

import pnsight
from pnsight import simulation as populations
from pnsight.data.structure import EXPERIMENTAL, OBSERVATIONAL


@pytest.mark.parametrize("seed", [2, 4, 6, 7, 8])
def test_tables_of_one_population_do_not_contradict_each_other_where_half_of_the_rows_are_censored(seed):
    study = populations.get(f"survival:{seed}").sample(50_000, 50_000, seed=seed)
    assert study.partly_observed
    assert [note.kind for note in pnsight.PlugIn().fit(study).warnings if note.kind == "tables_contradict"] == []


def test_tables_of_two_populations_do():
    first, second = (populations.get(name).sample(50_000, 50_000, seed=1) for name in ("survival:1", "survival:3"))
    np.testing.assert_array_equal(first.profiles, second.profiles)
    columns = first.structure.all_columns_of(OBSERVATIONAL)
    mixed = first.counts.copy()
    mixed[:, columns] = second.counts[:, columns]
    study = first.with_counts(mixed)
    assert "tables_contradict" in [note.kind for note in pnsight.PlugIn().fit(study).warnings]


def test_a_rows_evidence_is_at_most_one_row():
    study = populations.get("survival:1").sample(5_000, 5_000, seed=1)
    for table in (EXPERIMENTAL, OBSERVATIONAL):
        worth = study.cell_evidence[:, study.structure.columns_of(table)].sum(axis=1)
        assert (worth <= study.rows_of(table) + 1e-9).all()
        assert 0.5 < worth.sum() / study.rows_of(table).sum() < 0.95
