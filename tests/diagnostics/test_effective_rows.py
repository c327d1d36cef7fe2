"""Tests go by effective rows: clusters and unequal weights raise no false alarm, and real faults are still found."""

from __future__ import annotations

import numpy as np
import pandas
import pytest
from cluster_trials import alike_within, household_trial, village_trial

import pnsight
from pnsight.diagnostics import coherence_of, pooling_concerns
from pnsight.diagnostics.balance import balance_of
from pnsight.diagnostics.covariate_shift import shift_of
from pnsight.diagnostics.support import support_of

TRIALS = {
    "households randomised whole": ("household", lambda seed: household_trial(300, seed)),
    "people of households": ("household", lambda seed: household_trial(300, seed, whole=False)),
    "ten villages": ("village", lambda seed: village_trial(10, 50, seed)),
    "forty villages, very alike": ("village", lambda seed: village_trial(40, 30, seed, correlation=0.5)),
}
"""Trials in which nothing is wrong, with the column of their clusters."""


def read(*tables, **how) -> pnsight.Study:
    return pnsight.read_study(*tables, treatment="x", outcome="y", **how)


def without(table: pandas.DataFrame, *names: str) -> list[str]:
    return [name for name in table if name not in ("x", "y", *names)]


@pytest.mark.parametrize("trial", TRIALS)
def test_cluster_trials_raise_no_more_false_alarms_than_others(trial):
    """At level 5%; more than 12 of 100 would come in 1 of 300 cases."""
    cluster, make = TRIALS[trial]
    alarms = sum(balance_of(read(make(seed), cluster=cluster)).verdict.status != "ok" for seed in range(100))
    assert alarms <= 12


@pytest.mark.parametrize("trial", ["households randomised whole", "ten villages"])
def test_without_their_clusters_they_raise_many(trial):
    cluster, make = TRIALS[trial]
    tables = [make(seed) for seed in range(50)]
    alarms = sum(balance_of(read(t, covariates=without(t, cluster))).verdict.status != "ok" for t in tables)
    assert alarms >= 12


def test_treatment_that_depends_on_a_covariate_is_found_in_clusters_too():
    trial = household_trial(3_000, seed=1)
    by_place = np.where(trial["rural"] == 1, trial["x"], trial["x"] | (np.arange(len(trial)) % 4 == 0))
    found = balance_of(read(trial.assign(x=by_place), cluster="household"))
    assert found.stratification_covariates == ("rural",)


def equal_shares(seed: int) -> tuple[pandas.DataFrame, pandas.DataFrame]:
    """A trial and a registry at the edge of coherence, where everybody chose treatment, in villages."""
    rng = np.random.default_rng(seed)
    tables = []
    for name in ("trial", "registry"):
        village = np.repeat(np.arange(40), 50)
        x = (np.arange(40) % 2)[village] if name == "trial" else np.ones(len(village), int)
        y = alike_within(village, 0.4, 0.1, rng)
        tables.append(pandas.DataFrame({"village": village, "x": x, "y": y}))
    return tables[0], tables[1]


def test_tables_of_clusters_are_found_to_contradict_each_other_by_chance_only():
    """The level is 5% at most; without the clusters a quarter of these tables or more do."""
    tables = [equal_shares(seed) for seed in range(60)]
    known = sum(bool(coherence_of(read(*pair, cluster="village")).reported) for pair in tables)
    unknown = sum(bool(coherence_of(read(*pair, covariates=[])).reported) for pair in tables)
    assert known <= 9  # 3 expected; more come in 1 of 500 cases
    assert unknown >= 15


def test_tables_of_clusters_are_alike_in_their_covariates_by_chance_only():
    pairs = [(village_trial(40, 30, seed), village_trial(40, 30, 1_000 + seed)) for seed in range(60)]
    known = sum(shift_of(read(*pair, cluster="village")).contrast.smallest < 0.05 for pair in pairs)
    unknown = sum(
        shift_of(read(*pair, covariates=without(pair[0], "village"))).contrast.smallest < 0.05 for pair in pairs
    )
    assert known <= 9
    assert unknown >= 15


def test_weights_alone_raise_no_alarm():
    alarms = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        table = household_trial(300, seed, whole=False).drop(columns="household")
        study = read(table.assign(w=rng.exponential(size=len(table)) ** 2 + 0.01), survey_weight="w")
        alarms += balance_of(study).verdict.status != "ok"
    assert alarms <= 9


def test_rows_in_clusters_are_not_taken_to_be_allocated_unevenly():
    """Some profiles are treated more often than others by whole villages, not by design."""
    trial = village_trial(20, 200, seed=1, correlation=0.9)
    assert pooling_concerns(read(trial, covariates=without(trial, "village"))) != []
    assert pooling_concerns(read(trial, cluster="village")) == []


def test_support_counts_effective_rows():
    trial = village_trial(40, 30, seed=1, correlation=0.5)
    study = read(trial, cluster="village", covariates=[])
    assert study.experimental.sum() > 1_000
    assert study.effective_counts.sum() < 300
    assert support_of(study).people == 0
    assert support_of(read(trial, covariates=[])).people == 1
