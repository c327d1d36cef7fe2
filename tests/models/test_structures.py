"""Models of any structure: laws that some population has, intervals, and stored models that answer the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pnsight
from pnsight.data.law import Law
from pnsight.data.schema import Covariate, Schema
from pnsight.data.study import Study
from pnsight.errors import QueryError
from pnsight.estimands.compiled import incompatibility
from pnsight.estimands.estimand import usual_estimand
from quick_config import QUICK
from structures import STRUCTURES

FITTED = ("three arms, three grades", "survival", "noncompliance", "missing, worst case", "an arm that is not tried")
SCHEMA = Schema((Covariate("a", ("0", "1")), Covariate("b", ("0", "1"))))
PROFILES = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.int32)


def population(structure, seed):
    """Types of each profile, shape (profiles, types): those of everyone, and a difference by the first covariate."""
    rng = np.random.default_rng(seed)
    everyone, other = rng.dirichlet(np.full(structure.n_types, 0.5), 2)
    share = np.where(PROFILES[:, 0] == 1, 0.6, 0.1)[:, None]
    return (1 - share) * everyone + share * other


def drawn(structure, seed=0, rows=600, coarse=0.0):
    """A study of such a population; of rows of groups with sets, a share shows a set only, at random."""
    rng = np.random.default_rng([seed, 1])
    law = structure.cell_probabilities(population(structure, seed))
    counts = np.zeros((len(PROFILES), structure.n_columns))
    for number, columns in enumerate(structure.group_slices):
        shares = law[:, columns] / law[:, columns].sum(axis=1, keepdims=True)
        cells = np.stack([rng.multinomial(rows, each) for each in shares]).astype(float)
        sets = [k for k, own in enumerate(structure.group_of_set) if own == number]
        for k in sets:
            hidden = np.floor(cells * structure.set_members[k, columns] * coarse / len(sets))
            cells -= hidden
            counts[:, structure.n_cells + k] += hidden.sum(axis=1)
        counts[:, columns] = cells
    return Study(SCHEMA, PROFILES, counts, structure)


def asked(structure):
    return usual_estimand(structure)


@pytest.mark.parametrize("name", STRUCTURES)
def test_the_plug_in_answers_every_structure_with_intervals_around_the_truth_mostly(name):
    structure = STRUCTURES[name]
    estimand = asked(structure)
    inside = []
    for seed in range(4):
        answers = pnsight.PlugIn().fit(drawn(structure, seed, rows=4000)).bounds(PROFILES, estimand)
        truth = estimand.bounds_at(Law.from_types(population(structure, seed), structure))
        ok = answers.status == "ok"
        inside += [*(answers.lower_low <= truth[0])[ok], *(truth[1] <= answers.upper_high)[ok]]
    assert len(inside) > 20
    assert np.mean(inside) > 0.85


def test_rows_that_were_censored_widen_intervals_and_leave_them_around_the_truth():
    structure = STRUCTURES["survival"]
    estimand = pnsight.Estimand.parse("pns", horizon=90)
    whole, half = (pnsight.PlugIn().fit(drawn(structure, rows=4000, coarse=coarse)) for coarse in (0.0, 0.5))
    fine, rough = (model.bounds(None, estimand) for model in (whole, half))
    assert rough.lower_high[0] - rough.lower_low[0] > fine.lower_high[0] - fine.lower_low[0]
    truth = estimand.bounds_at(Law.from_types(population(structure, 0).mean(axis=0, keepdims=True), structure))
    assert rough.lower_low[0] <= truth[0][0] <= rough.lower_high[0] + 0.02
    assert rough.upper_low[0] - 0.02 <= truth[1][0] <= rough.upper_high[0]


@pytest.mark.parametrize("name", STRUCTURES)
def test_a_stored_model_has_its_structure_and_answers_the_same(tmp_path, name):
    structure = STRUCTURES[name]
    fitted = pnsight.PlugIn().fit(drawn(structure, coarse=0.2))
    pnsight.save(fitted, tmp_path / "model")
    loaded = pnsight.load(tmp_path / "model")
    assert loaded.structure == structure
    before, after = (model.bounds(PROFILES, asked(structure)) for model in (fitted, loaded))
    np.testing.assert_array_equal(before.lower, after.lower)
    np.testing.assert_array_equal(before.upper_high, after.upper_high)


@pytest.mark.slow
@pytest.mark.parametrize("name", FITTED)
def test_the_response_type_model_learns_every_structure(tmp_path, name):
    structure = STRUCTURES[name]
    study = drawn(structure, rows=1500, coarse=0.3)
    fitted = pnsight.ResponseTypeModel(config=QUICK).fit(study)
    estimand = asked(structure)
    answers = fitted.bounds(np.vstack([PROFILES, [[-1, -1]], [[1, -1]]]), estimand)
    assert (answers.status == "ok").all()
    assert (answers.lower <= answers.upper).all()
    assert incompatibility(fitted.law(PROFILES)).max() < 1e-6
    truth = estimand.bounds_at(Law.from_types(population(structure, 0), structure))
    inside = (answers.lower_low[:4] <= truth[0] + 0.03) & (answers.upper_high[:4] >= truth[1] - 0.03)
    assert inside.mean() >= 0.75
    pnsight.save(fitted, tmp_path / "model")
    np.testing.assert_array_equal(pnsight.load(tmp_path / "model").bounds(PROFILES, estimand).lower, answers.lower[:4])


@pytest.mark.parametrize(("name", "graded"), [("two by two", False), ("noncompliance", False), ("three grades", True)])
def test_only_with_more_than_two_outcomes_are_errors_expected_to_add_up(name, graded):
    study, errors = drawn(STRUCTURES[name], 1), []
    for ratio in (1.0, 2.0):
        intervals = replace(QUICK.intervals, end_ratio_if_graded=ratio)
        model = pnsight.ResponseTypeModel(config=replace(QUICK, intervals=intervals)).fit(study)
        assert not model.fit_summary_.no_network
        errors.append(model.marginaliser_.errors(PROFILES, np.array([0.0, 1.0])))
    expected = 2.0 ** (1 - QUICK.intervals.end_ratio_weight) if graded else 1.0
    np.testing.assert_allclose(errors[1] / errors[0], expected, rtol=1e-5)


def test_profiles_can_be_mixed_and_refined_in_any_structure():
    structure = STRUCTURES["three grades"]
    study = drawn(structure, rows=3000)
    plain = pnsight.PlugIn(mix="profiles").fit(study).bounds(None)
    refined = pnsight.PlugIn(mix="profiles").fit(study).bounds(None, refine="covariates")
    assert refined.status[0] == plain.status[0] == "ok"
    assert plain.lower[0] - 1e-9 <= refined.lower[0] <= refined.upper[0] <= plain.upper[0] + 1e-9


def test_counts_are_withheld_but_not_those_of_times_that_count_in_parts():
    study = drawn(STRUCTURES["three grades"], rows=200)
    shown = pnsight.suppress(pnsight.PlugIn().fit(study), 5)
    cells = shown.study.counts
    assert ((cells == 0) | (cells >= 5)).all()
    times = drawn(STRUCTURES["survival"])
    censored = times.counts + 7.5 * (np.arange(times.structure.n_columns) >= times.structure.n_cells)
    with pytest.raises(QueryError, match="cannot be withheld"):
        pnsight.suppress(pnsight.PlugIn().fit(times.with_counts(censored)), 5)


def test_the_experiment_alone_answers_where_both_tables_are_there():
    structure = STRUCTURES["three arms"]
    fitted = pnsight.PlugIn().fit(drawn(structure))
    both = fitted.bounds(None, contrast="high:placebo")
    alone = fitted.bounds(None, contrast="high:placebo", trial_alone=True)
    assert alone.lower[0] <= both.lower[0] + 1e-9
    assert alone.upper[0] >= both.upper[0] - 1e-9
