"""A model to hand on is fitted to a study without small counts, and knows nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from rare_people import WAYS, rare_tables, read

import pnsight
from noted import kinds, rows_without
from pnsight import MaskMLP, PlugIn, ResponseTypeModel
from pnsight import simulation as populations
from pnsight.data.study import Study
from pnsight.errors import ModelError, QueryError
from pnsight.models.suppression import fit_suppressed, suppress
from pnsight.queries import lattice
from quick_config import QUICK
from stored_models import arrays_of, description_of
from strategies import studies


@st.composite
def counted_studies(draw) -> Study:
    """Studies with counts on both sides of ten, and someone whose cells are all large."""
    study = draw(studies(experiment_alone=None))
    counts = draw(hnp.arrays(np.float64, study.counts.shape, elements=st.integers(0, 40).map(float)))
    counts[: 1 + len(counts) // 2] += 100
    return study.with_counts(counts)


def is_small(counts, min_cell=10):
    return (np.asarray(counts) > 1e-9) & (np.asarray(counts) < min_cell)


def all_it_says(model) -> np.ndarray:
    codes = lattice.all_queries(model.schema)
    answers = [model.bounds(codes, quantity) for quantity in ("pns", "harm")]
    ends = [end for answer in answers for end in (answer.lower, answer.upper, answer.lower_low, answer.upper_high)]
    return np.stack([*ends, model.shares(codes), *(answer.support_experimental for answer in answers)])


# --- fitted again -----------------------------------------------------------------------------------------


MODELS = {
    "plug-in": lambda: PlugIn(quantity="harm", mix="profiles", population="pooled"),
    "response types": lambda: ResponseTypeModel(config=QUICK, random_state=3, population="experimental"),
}


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("way", ["unweighted", "all at once"])
def test_it_is_the_same_model_fitted_to_what_is_left(kind, way):
    study = read(rare_tables(1), **WAYS[way])
    model = MODELS[kind]().fit(study)
    told = suppress(model, 10)
    fresh = MODELS[kind]().fit(suppress(study, 10))
    np.testing.assert_array_equal(all_it_says(told), all_it_says(fresh))
    assert told.parameters() == model.parameters()
    assert told.warnings == fresh.warnings
    assert told.explain() == fresh.explain()
    assert model.study.withheld is None


def test_a_bound_regressor_is_trained_again():
    study = read(rare_tables(1, rows=4000))
    model = MaskMLP(epochs=2, min_rows=30, validation="queries").fit(study)
    told = suppress(model, 10)
    codes = lattice.all_queries(told.schema)
    fresh = MaskMLP(epochs=2, min_rows=30, validation="queries").fit(suppress(study, 10))
    np.testing.assert_array_equal(told.raw_ends(codes), fresh.raw_ends(codes))
    assert told.examples_ < model.examples_


@pytest.mark.parametrize("way", WAYS)
def test_a_stored_model_knows_all_it_takes_to_be_fitted_again(way, tmp_path):
    """People, weights and clusters survive storing."""
    model = PlugIn().fit(read(rare_tables(1), **WAYS[way]))
    pnsight.save(model, tmp_path)
    told, direct = suppress(pnsight.load(tmp_path), 10), suppress(model, 10)
    np.testing.assert_array_equal(all_it_says(told), all_it_says(direct))
    assert told.study.design == direct.study.design
    if direct.study.design is not None:
        np.testing.assert_array_equal(told.study.design.folds, direct.study.design.folds)


def test_progress_is_reported_as_it_is_fitted_again():
    steps = []
    model = ResponseTypeModel(config=QUICK, intervals=False).fit(read(rare_tables(1)))
    suppress(model, 10, lambda done, total, note: steps.append((done, total)))
    assert steps
    assert steps[-1][0] <= steps[-1][1]


def test_a_model_that_withholds_as_much_is_used_as_it_is():
    told = suppress(PlugIn().fit(read(rare_tables(1))), 10)
    assert suppress(told, 10) is told
    assert suppress(told, 5) is told
    with pytest.raises(QueryError, match="those below 10 already are"):
        suppress(told, 20)


@pytest.mark.parametrize("given", [1, 0, -3, 2.5, True, "10"])
def test_a_limit_that_makes_no_sense_is_refused(given):
    model = PlugIn().fit(read(rare_tables(1)))
    for found in (model, model.study):
        with pytest.raises(QueryError, match="whole number of at least 2"):
            suppress(found, given)


@pytest.mark.parametrize("kind", MODELS)
def test_where_nothing_is_left_it_is_told_what_to_do(kind):
    study = read(rare_tables(1))
    with pytest.raises(
        ModelError, match=r"nothing is left of the 800 experimental rows, 1,600 observational rows.*coarser"
    ):
        fit_suppressed(MODELS[kind](), study, 10_000)


def test_where_nothing_is_left_of_one_table_a_model_that_needs_both_says_so():
    study = read(rare_tables(1))
    thinned = study.with_tables(observational=np.minimum(study.observational, 3))
    with pytest.raises(ModelError, match=r"nothing is left of the [\d,]+ observational rows: "):
        fit_suppressed(ResponseTypeModel(config=QUICK), thinned, 10)
    left = fit_suppressed(PlugIn(), thinned, 10)
    assert left.bounds("").status.tolist() == ["undefined"]


# --- answers ----------------------------------------------------------------------------------------------


def test_the_plug_in_answers_from_what_is_left_and_says_so():
    study = populations.get("mediator").sample(5_000, 5_000, seed=1)
    model = suppress(PlugIn().fit(study), 10)
    codes = lattice.all_queries(model.schema)[::50]
    answer = model.bounds(codes)
    assert answer.notes[:2] == model.study.withheld.notes
    assert kinds(answer.notes[:2]) == ["counts_withheld", "people_with_counts_only"]
    assert not is_small(np.concatenate([answer.support_experimental, answer.support_observational])).any()
    assert (model.bounds(lattice.all_profiles(model.schema)).status == "undefined").any()


def test_every_kind_of_answer_carries_the_notes():
    model = suppress(PlugIn().fit(read(rare_tables(1))), 10)
    found = [
        model.bounds(""),
        pnsight.decisions.decide(model, ""),
        pnsight.ask(model, ""),
        pnsight.decisions.left_open(model, "sex=male"),
        pnsight.rank(model),
        pnsight.select(model, 0.1),
    ]
    for answer in found:
        assert set(model.study.withheld.notes) <= set(answer.notes), type(answer)


def test_people_unlike_all_who_are_left_are_extrapolated_to():
    """The model has seen nobody like them, and does not say that it has."""
    study = read(rare_tables(3, rows=2000))
    told = suppress(ResponseTypeModel(config=QUICK).fit(study), 10)
    assert set(told.bounds(lattice.all_profiles(told.schema)).basis) <= {"rows", "model", "extrapolated"}
    answered = told.bounds(lattice.all_queries(told.schema))
    assert (answered.status == "ok").all()
    shares = told.shares(lattice.all_profiles(told.schema))
    assert shares.sum() == pytest.approx(1, abs=1e-6)


# --- on disk --------------------------------------------------------------------------------------------


def folder_of(model, tmp_path):
    pnsight.save(model, tmp_path / "model")
    return description_of(tmp_path / "model"), arrays_of(tmp_path / "model")


@given(counted_studies())
def test_no_small_count_is_in_the_folder_of_a_plug_in(tmp_path_factory, study):
    assume(suppress(study, 10).counts.any())
    study.dropped[rows_without("y")] = 4
    description, arrays = folder_of(suppress(PlugIn().fit(study), 10), tmp_path_factory.mktemp("exported"))
    assert set(arrays) == {"profiles", "counts"}
    assert not is_small(arrays["counts"]).any()
    assert description["study"]["dropped"] == []
    assert not is_small([*description["study"]["withheld"]["rows"], *description["study"]["withheld"]["left"]]).any()


@pytest.mark.parametrize("way", WAYS)
def test_nothing_about_single_rows_is_in_the_folder(way, tmp_path):
    description, arrays = folder_of(suppress(PlugIn().fit(read(rare_tables(1), **WAYS[way])), 10), tmp_path)
    assert set(arrays) == {"profiles", "counts"}
    for table in (description["study"].get("design") or {"tables": []})["tables"]:
        assert table["largest_weight"] is None


def test_a_model_without_small_counts_survives_storing(tmp_path):
    told = suppress(ResponseTypeModel(config=QUICK).fit(read(rare_tables(1))), 10)
    pnsight.save(told, tmp_path)
    loaded = pnsight.load(tmp_path)
    np.testing.assert_array_equal(all_it_says(loaded), all_it_says(told))
    assert loaded.study.withheld == told.study.withheld
    assert loaded.bounds("").notes == told.bounds("").notes
