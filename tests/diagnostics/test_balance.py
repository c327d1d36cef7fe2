"""Was treatment randomised? Allocation by strata is recognised, chosen treatment is refused."""

from __future__ import annotations

import numpy as np
import pytest

import pnsight
from noted import values
from pnsight import simulation as populations
from pnsight.data.schema import Schema
from pnsight.diagnostics.balance import balance_of
from pnsight.queries import lattice

NAMES = ("a", "b", "c", "d", "e")


def trial(treated_share: np.ndarray, rows: np.ndarray | float = 1_000.0, seed: int = 1) -> pnsight.Study:
    """A trial with these chances of treatment in the 32 profiles of five covariates; half of everybody responds."""
    schema = Schema.binary(NAMES)
    rng = np.random.default_rng(seed)
    rows = np.broadcast_to(rows, 32).astype(int)
    treated = rng.binomial(rows, treated_share)
    counts = np.stack(
        [treated // 2, treated - treated // 2, (rows - treated) // 2, rows - treated - (rows - treated) // 2]
    )
    return pnsight.Study.from_tables(schema, lattice.all_profiles(schema), counts.T.astype(float), None)


PROFILES = lattice.all_profiles(Schema.binary(NAMES))
A, B, C, D, E = PROFILES.T


def test_a_fair_coin_is_balanced():
    found = balance_of(trial(np.full(32, 0.5)))
    assert found.verdict.status == "ok"
    assert (found.stratification_covariates, found.unexplained) == ((), ())


def test_an_unequal_but_constant_chance_is_balanced():
    assert balance_of(trial(np.full(32, 0.8))).verdict.status == "ok"


def test_few_random_trials_are_called_unbalanced():
    """At level 5%; more than 20 of 200 would come in 1 of 500 cases."""
    alarms = sum(balance_of(trial(np.full(32, 0.5), 40, seed)).verdict.status != "ok" for seed in range(200))
    assert alarms <= 20


def test_allocation_by_one_covariate_is_recognised():
    found = balance_of(trial(np.where(B == 1, 0.67, 0.5)))
    assert found.stratification_covariates == ("b",)
    assert found.unexplained == ()
    assert found.verdict.status == "warning"
    said = values(found.verdict.notes, "allocation_differs")
    about = {"covariate": "b", "least": pytest.approx(0.5, abs=0.01), "most": pytest.approx(0.67, abs=0.01)}
    assert said["stratification"] == (about,)
    assert said["explained"]


def test_allocation_by_a_combination_names_its_covariates():
    found = balance_of(trial(np.where((A == 1) & (D == 1), 0.7, 0.5)))
    assert set(found.stratification_covariates) == {"a", "d"}
    assert found.combinations >= 0.05


def test_allocation_by_a_combination_that_no_covariate_shows_alone():
    found = balance_of(trial(np.where(A == D, 0.6, 0.4)))
    assert found.stratification_covariates == ()
    assert found.verdict.status == "warning"
    assert values(found.verdict.notes, "allocation_by_combinations") == {"p_value": found.combinations}


def test_a_covariate_that_goes_along_with_the_allocating_one_is_not_blamed():
    """b decides; a mostly equals b, and so differs between the arms too."""
    rows = np.where(A == B, 3_000, 300)
    found = balance_of(trial(np.where(B == 1, 0.7, 0.4), rows))
    assert found.stratification_covariates == ("b",)
    assert found.contrast.difference[0] > 0.1
    assert found.contrast.adjusted[0] < 1e-6


def test_treatment_that_depends_on_many_covariates_looks_chosen():
    found = balance_of(trial(1 / (1 + np.exp(-0.5 * (A + B - C + D - E)))))
    assert found.verdict.status == "failed"
    assert len(found.stratification_covariates) == 3
    assert len(found.unexplained) == 2
    assert values(found.verdict.notes, "treatment_chosen")["unexplained"] == found.unexplained


@pytest.mark.parametrize("kind", populations.KINDS)
def test_an_observational_table_is_not_taken_for_an_experiment(kind):
    study = populations.get(f"{kind}:1").sample(50_000, 50_000, seed=1)
    assert balance_of(study).verdict.status != "failed"
    assert balance_of(study.with_tables(experimental=study.observational)).verdict.status == "failed"


def test_one_treatment_for_all_at_most_levels_is_not_randomised():
    found = balance_of(trial(np.where(C == 1, 1.0, 0.0)))
    assert found.positivity_violation == 1.0
    assert found.verdict.status == "failed"
    assert values(found.verdict.notes, "positivity_violated") == {"share": 1.0, "stratification": ("c",)}


def test_one_treatment_for_all_at_some_levels_is_mentioned():
    found = balance_of(trial(np.where((C == 1) & (D == 1), 1.0, 0.5)))
    assert found.positivity_violation == pytest.approx(0.25)
    assert found.verdict.status == "warning"
    assert values(found.verdict.notes, "allocation_differs")["one_armed"] == pytest.approx(0.25)


def test_a_difference_that_only_many_rows_show_is_no_failure():
    share = 0.5 + 0.01 * (A + B + C + D + E)
    found = balance_of(trial(share, 40_000))
    assert found.unexplained
    assert found.verdict.status == "warning"
    assert values(found.verdict.notes, "allocation_differs")["unexplained"] == found.unexplained


def test_the_largest_difference_of_any_level_is_standardised():
    """Half of the treated and four in ten of the others have b."""
    share = np.where(B == 1, 0.5 / 0.9, 0.5 / 1.1)
    found = balance_of(trial(share, 100_000))
    assert found.contrast.difference[1] == pytest.approx(0.1 / np.sqrt((0.25 + 0.24) / 2), abs=0.01)
    assert found.contrast.total_variation[1] == pytest.approx(0.1, abs=0.005)


def test_without_covariates_there_is_nothing_to_look_at():
    study = pnsight.Study.from_tables(Schema(), np.zeros((1, 0), dtype=np.int32), np.full((1, 4), 9.0), None)
    assert balance_of(study).verdict.status == "ok"
