"""Columns that should be coarser, and what clusters leave of the rows."""

from __future__ import annotations

import numpy as np
import pandas
import pytest
from cluster_trials import household_trial, village_trial

import pnsight
from noted import kinds, values
from pnsight.diagnostics import study_warnings
from pnsight.diagnostics.columns import columns_of
from pnsight.diagnostics.sampling_check import sampling_of


def read(table, **how) -> pnsight.Study:
    return pnsight.read_study(table, treatment="x", outcome="y", **how)


def people(rows: int = 2_000) -> pandas.DataFrame:
    rng = np.random.default_rng(1)
    return pandas.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "doctor": [f"Dr {k}" for k in rng.integers(0, 400, rows)],
            "ward": [f"ward {k}" for k in rng.integers(0, 30, rows)],
            "sex": rng.choice(["F", "M"], rows),
            "x": rng.integers(0, 2, rows),
            "y": rng.integers(0, 2, rows),
        }
    )


def test_numbers_without_bands_and_rare_levels_are_told():
    found = columns_of(read(people(), numeric="none"))
    assert [(one.covariate, one.levels) for one in found.numbers] == [("age", 72)]
    assert [one.covariate for one in found.sparse] == ["doctor"]  # each ward has some sixty rows
    assert found.verdict.status == "warning"
    assert kinds(found.verdict.notes) == ["numbers_without_bands", "levels_are_rare"]


def test_bands_and_merged_levels_are_fine():
    found = columns_of(read(people(), bands={"age": 4}, merge_rare=10))
    assert (found.numbers, found.sparse) == ((), ())
    assert found.verdict.status == "ok"


def test_few_levels_are_fine():
    found = columns_of(read(people(), covariates=["sex"]))
    assert found.verdict.text == "1 covariate, with at most 2 levels."
    assert columns_of(read(people(), covariates=[])).verdict.text == "no covariates."


def test_independent_rows_have_no_part_on_sampling():
    assert sampling_of(read(people())) is None
    assert "sampling" not in pnsight.check(read(people())).verdicts


def test_what_clusters_leave_is_said():
    trial = household_trial(500, seed=1)
    study = read(trial, cluster="household")
    verdict = pnsight.check(study).verdicts["sampling"]
    assert verdict.status == "ok"
    said = values(verdict.notes, "sampled")
    assert (said["clusters"], said["largest"], said["split"]) == (500, 5, 0)
    assert said["design_effect"] == pytest.approx(len(trial) / said["worth"])
    assert study_warnings(study) == ()


def test_few_clusters_are_warned_of():
    study = read(village_trial(12, 100, seed=1), cluster="village")
    found = sampling_of(study)
    assert found.verdict.status == "warning"
    assert values(found.notes, "few_clusters") == {"table": "experimental", "clusters": 6}
    assert kinds(study_warnings(study)) == ["few_clusters"]


def test_unequal_weights_are_no_fault():
    table = people().assign(w=np.random.default_rng(2).exponential(size=2_000) + 0.1)
    assert sampling_of(read(table, covariates=["sex"], survey_weight="w")).verdict.status == "ok"
