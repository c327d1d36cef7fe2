"""Do the tables mix people alike? Differences are found, named and weighed."""

from __future__ import annotations

import numpy as np
import pytest
from check_power import few_profiles, shifted, ten_covariates

import pnsight
from noted import kinds, values
from pnsight.data.schema import Covariate, Schema
from pnsight.diagnostics.covariate_shift import shift_of
from pnsight.queries import lattice


def tables(experimental: list[int], observational: list[int]) -> pnsight.Study:
    """So many rows of each town, spread evenly over treatment and outcome."""
    schema = Schema((Covariate("town", tuple("abcdefgh"[: len(experimental)])),))
    counts = [np.array(rows, dtype=float)[:, None] * np.full(4, 0.25) for rows in (experimental, observational)]
    return pnsight.Study.from_tables(schema, lattice.all_profiles(schema), *counts)


def test_the_same_mix_raises_no_alarm():
    """At level 5%; more than 20 of 200 would come in 1 of 500 cases."""
    alarms = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        found = shift_of(few_profiles(rng).draw(rng, 3_000))
        alarms += found.contrast.smallest < 0.05
    assert alarms <= 20


def test_another_mix_is_found_and_named():
    found = shift_of(tables([4_000, 4_000, 2_000], [2_000, 4_000, 4_000]))
    assert found.verdict.status == "warning"
    about = {"covariate": "town", "difference": pytest.approx(0.45, abs=0.005)}
    assert values(found.verdict.notes, "covariate_shift")["covariates"] == (about,)
    assert found.contrast.total_variation[0] == pytest.approx(0.2)
    assert found.contrast.difference[0] == pytest.approx(0.2 / np.sqrt((0.16 + 0.24) / 2))


def test_a_difference_that_only_many_rows_show_is_mentioned_and_no_more():
    found = shift_of(tables([501_000, 499_000], [496_000, 504_000]))
    assert found.contrast.adjusted[0] < 1e-6
    assert found.verdict.status == "ok"
    assert kinds(found.verdict.notes) == ["small_covariate_shift"]


def test_combinations_that_differ_are_found_though_no_covariate_does():
    schema = Schema.binary(["a", "b"])
    rows = np.array([[300.0, 200], [200, 300], [200, 300], [300, 200]])
    study = pnsight.Study.from_tables(
        schema, lattice.all_profiles(schema), *(rows[:, [j]] * np.full(4, 0.25) for j in (0, 1))
    )
    found = shift_of(study)
    assert found.contrast.differing == []
    assert found.verdict.status == "warning"
    assert values(found.verdict.notes, "covariate_shift")["covariates"] == ()


def test_a_shifted_population_is_found():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        assert shift_of(shifted(ten_covariates(rng), rng).draw(rng, 20_000)).verdict.status == "warning"


def test_towns_of_which_each_table_has_its_own_are_apart_completely():
    found = shift_of(tables([50, 0], [0, 50]))
    assert found.contrast.difference[0] == np.inf
    assert found.contrast.total_variation[0] == 1.0
    assert found.verdict.status == "warning"


def test_an_experiment_alone_has_no_other_mix():
    assert shift_of(tables([5, 5], [5, 5]).with_tables(observational=None)) is None
