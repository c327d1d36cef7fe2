"""Bound regressors: what they train on, how they validate and choose, and what they refuse."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

import pnsight
from pnsight import ExactMLP, MaskMLP
from pnsight import simulation as populations
from pnsight.errors import ModelError, QuantityError, QueryError
from pnsight.models.bound_networks.training_examples import feasible_examples, split_rows


@pytest.fixture(scope="module")
def study():
    return populations.random_population("index", 1, covariates=5).sample(
        experimental=20_000, observational=20_000, seed=1
    )


@pytest.fixture(scope="module")
def trained(study):
    return MaskMLP(min_rows=100, validation="queries", epochs=200, random_state=3).fit(study)


def test_examples_are_the_feasible_queries_with_enough_rows_in_both_tables(study):
    examples = feasible_examples(study, "mask", "pns").supported(300)
    answer = pnsight.PlugIn().fit(study).bounds(examples.codes)
    assert (answer.status == "ok").all()
    assert np.minimum(answer.support_experimental, answer.support_observational).min() >= 300
    np.testing.assert_allclose(examples.ends, np.stack([answer.lower, answer.upper], axis=1), atol=1e-12)


def test_examples_of_the_exact_space_fix_every_covariate(study):
    assert (feasible_examples(study, "exact", "pns").codes >= 0).all()


def test_splitting_rows_loses_and_repeats_none(study):
    rest, held_out = split_rows(study, 0.2, np.random.default_rng(0))
    np.testing.assert_array_equal(rest.counts + held_out.counts, study.counts)
    rows = study.counts.sum()
    assert abs(held_out.counts.sum() - 0.2 * rows) < 5 * np.sqrt(0.16 * rows)


def test_mask_mlp_learns_bounds_nearer_the_oracle_than_chance(study, trained):
    population = populations.random_population("index", 1, covariates=5)
    queries = pnsight.queries.lattice.all_queries(study.schema)
    truth = population.bounds(queries)
    error = np.abs(trained.raw_ends(queries) - np.stack([truth.lower, truth.upper], axis=1)).mean(axis=0)
    spread = [np.abs(end - end.mean()).mean() for end in (truth.lower, truth.upper)]
    assert (error < 0.6 * np.array(spread)).all()


def test_same_seed_same_answer_and_another_seed_another(study, trained):
    again = MaskMLP(min_rows=100, validation="queries", epochs=200, random_state=3).fit(study)
    other = MaskMLP(min_rows=100, validation="queries", epochs=200, random_state=4).fit(study)
    np.testing.assert_array_equal(trained.raw_ends(study.profiles), again.raw_ends(study.profiles))
    assert not np.array_equal(trained.raw_ends(study.profiles), other.raw_ends(study.profiles))


def test_a_stored_network_answers_the_same_without_loading_jax(study, trained, tmp_path):
    pnsight.save(trained, tmp_path / "model")
    asked = trained.bounds(["", "01XX1"])
    code = (
        "import sys, pnsight\n"
        f"answer = pnsight.load({str(tmp_path / 'model')!r}).bounds(['', '01XX1'])\n"
        "assert 'jax' not in sys.modules and 'sklearn' not in sys.modules\n"
        "print(*answer.lower, *answer.upper)"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    np.testing.assert_allclose([float(word) for word in printed.split()], [*asked.lower, *asked.upper], atol=1e-6)


def test_validation_by_rows_trains_on_fewer_rows_than_it_was_given(study):
    model = MaskMLP(min_rows=100, validation="rows", epochs=20).fit(study)
    assert model.examples_ < len(feasible_examples(study, "mask", "pns").supported(100))


def test_auto_tries_minimums_that_leave_enough_examples_and_keeps_the_best(study):
    model = MaskMLP(min_rows="auto", epochs=20).fit(study)
    assert model.min_rows_ == min(model.tried_, key=model.tried_.get)
    assert len(model.tried_) > 1
    told = model.explain()
    assert f"Learned from {model.examples_:,} queries with at least {model.min_rows_:,} rows" in told
    assert all(f"{error:.6f}" in told for error in model.tried_.values())
    assert f"epoch {model.best_epochs_[0]:,} (lower end)" in told


def test_auto_needs_validation_by_rows(study):
    with pytest.raises(ModelError, match="held-out rows"):
        MaskMLP(min_rows="auto", validation="queries").fit(study)


def test_any_scikit_learn_regressor_takes_the_networks_place(study):
    for regressor in (Ridge(), KNeighborsRegressor(3)):
        model = MaskMLP(min_rows="auto", regressor=regressor).fit(study)
        ends = model.raw_ends(study.profiles)
        assert ends.shape == (len(study.profiles), 2)
        assert ((ends >= 0) & (ends <= 1)).all()


def test_a_model_with_a_foreign_regressor_is_not_saved(study, tmp_path):
    model = MaskMLP(min_rows=100, regressor=Ridge()).fit(study)
    with pytest.raises(ModelError, match="regressor="):
        pnsight.save(model, tmp_path / "model")
    assert not (tmp_path / "model").exists()


class _Constant(Ridge):
    """Predicts the mean of its targets turned upside down, so that the ends cross."""

    def fit(self, inputs, targets):
        self.mean_ = 1 - targets.mean()
        return self

    def predict(self, inputs):
        return np.full(len(inputs), self.mean_)


def test_crossed_ends_are_withheld_unless_they_are_to_be_sorted(study):
    crossed = MaskMLP(min_rows=100, regressor=_Constant()).fit(study).bounds([""])
    assert crossed.status[0] == "crossed"
    assert np.isnan([crossed.lower[0], crossed.upper[0]]).all()
    repaired = MaskMLP(min_rows=100, regressor=_Constant(), repair="sort").fit(study).bounds([""])
    assert repaired.status[0] == "ok"
    assert repaired.lower[0] < repaired.upper[0]


def test_exact_mlp_refuses_open_queries(study):
    model = ExactMLP(min_rows=100, validation="queries", epochs=20).fit(study)
    assert model.bounds("01101").status[0] in ("ok", "crossed")
    with pytest.raises(QueryError, match="fix every covariate"):
        model.bounds("01X01")


def test_another_quantity_than_the_fitted_one_is_refused(trained):
    with pytest.raises(QuantityError, match="fitted for pns"):
        trained.bounds("", quantity="pn")


@pytest.mark.parametrize("asked", ["simultaneous", "median_unbiased"])
def test_what_goes_by_standard_errors_is_refused(trained, asked):
    with pytest.raises(QueryError, match=rf"\({asked}=True\) goes by how far bounds stray.*fit a plug-in"):
        trained.bounds("", **{asked: True})


def test_a_quantity_of_its_own_is_learned(study):
    model = MaskMLP(quantity="harm", min_rows=100, validation="queries", epochs=100).fit(study)
    assert model.bounds("").quantity == "harm"


def test_too_few_examples_say_how_many_there_are_and_where_there_would_be_enough(study):
    with pytest.raises(
        ModelError, match=r"only \d+ mask queries have 19000 rows.*enough with a minimum of (\d+)"
    ) as caught:
        MaskMLP(min_rows=19_000, validation="queries").fit(study)
    enough = int(str(caught.value).split("minimum of ")[1].split(" ")[0])
    assert len(feasible_examples(study, "mask", "pns").supported(enough)) >= 20
    assert len(feasible_examples(study, "mask", "pns").supported(enough + 1)) < 20


def test_a_tiny_study_is_refused_in_words():
    tiny = populations.random_population("tree", 1, covariates=3).sample(experimental=50, observational=50, seed=1)
    with pytest.raises(ModelError, match="too few rows"):
        MaskMLP().fit(tiny)


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ({"validation": "query"}, "'query'"),
        ({"repair": "Sort"}, "'Sort'"),
        ({"activation": "Mish"}, "'Mish'"),
        ({"min_rows": "300"}, "'300'"),
        ({"min_rows": 0}, "0"),
    ],
)
def test_a_setting_that_is_none_of_its_choices_is_refused(study, setting, named):
    with pytest.raises(ModelError, match=named):
        MaskMLP(**setting).fit(study)


def test_the_history_is_that_of_the_chosen_minimum(study):
    model = MaskMLP(min_rows="auto", epochs=20).fit(study)
    best = np.nanmin(model.history_.validation_mse, axis=0).mean()
    assert best == pytest.approx(model.tried_[model.min_rows_], rel=1e-4)
