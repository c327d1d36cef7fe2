"""Small counts: none is left, none can be found by subtraction, and a model without them still answers."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas
import pytest
from cluster_trials import household_trial
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors.numpy import load_file

import pnsight
from noted import kinds, rows_without
from pnsight import MaskMLP, PlugIn, ResponseTypeModel
from pnsight import simulation as populations
from pnsight.data.schema import Schema
from pnsight.data.study import Study, Withheld
from pnsight.data.two_by_two import TWO_BY_TWO
from pnsight.errors import QueryError
from pnsight.models.response_types.enumerated_profiles import EnumeratedProfiles
from pnsight.models.response_types.replace_counts import CountReplacement, EmpiricalPart
from pnsight.models.response_types.shrinkage import map_estimate, prior_mode_from_map
from pnsight.models.suppression import suppress
from pnsight.notes import Note
from pnsight.queries import lattice
from quick_config import QUICK
from strategies import studies, type_shares


@st.composite
def counted_studies(draw) -> Study:
    """Studies with counts on both sides of ten, some of them weighted."""
    study = draw(studies(experiment_alone=None))
    number = st.integers(0, 40).map(float) | st.sampled_from([0.5, 9.5, 10.5])
    return study.with_counts(draw(hnp.arrays(np.float64, study.counts.shape, elements=number)))


def tables(study: Study) -> list[np.ndarray]:
    return [study.experimental] if study.observational is None else [study.experimental, study.observational]


def is_small(counts, min_cell=10):
    return (np.asarray(counts) > 1e-9) & (np.asarray(counts) < min_cell)


# --- studies --------------------------------------------------------------------------------------------


@given(counted_studies(), st.sampled_from([2, 5, 10, 30]))
def test_no_sum_of_what_is_left_is_small_nor_any_difference_of_nested_sums(study, min_cell):
    left = suppress(study, min_cell)
    queries = lattice.all_queries(study.schema)
    sums = lattice.sum_over(study.schema, queries, left.profiles, left.counts)
    assert not is_small(sums, min_cell).any()
    place = {query.tobytes(): row for row, query in enumerate(queries)}
    for row, query in enumerate(queries):
        for parent in lattice.query_and_parents(query)[1:]:
            assert not is_small(sums[place[parent.tobytes()]] - sums[row], min_cell).any()


@given(counted_studies())
def test_a_profile_is_left_as_it_was_or_taken_out_of_a_table_whole(study):
    left = suppress(study, 10)
    after = lattice.sum_over(study.schema, study.profiles, left.profiles, left.counts)
    for before, kept in zip(tables(study), np.split(after, after.shape[1] // 4, axis=1), strict=True):
        same, gone = (kept == before).all(axis=1), (kept == 0).all(axis=1)
        assert (same | gone).all()
        assert gone[is_small(before).any(axis=1)].all()
    assert left.schema == study.schema
    assert left.counts.any(axis=1).all()


@given(counted_studies())
def test_what_is_withheld_of_a_cell_is_not_small_unless_that_is_all_there_is(study):
    left = suppress(study, 10)
    for before, after in zip(tables(study), tables(left), strict=True):
        withheld = before.sum(axis=0) - after.sum(axis=0)
        assert (~is_small(withheld) | (after.sum(axis=0) == 0)).all()


@given(counted_studies())
def test_no_more_is_withheld_than_that_takes(study):
    """Beyond profiles with a small cell, only while their own total of some cell is small."""
    left = suppress(study, 10)
    after = lattice.sum_over(study.schema, study.profiles, left.profiles, left.counts)
    for before, kept in zip(tables(study), np.split(after, after.shape[1] // 4, axis=1), strict=True):
        small = is_small(before).any(axis=1)
        more = (kept.sum(axis=1) == 0) & (before.sum(axis=1) > 0) & ~small
        assert more.sum() <= is_small(before[small].sum(axis=0)).sum()


@given(counted_studies())
def test_the_record_adds_up_and_is_not_small_itself(study):
    left = suppress(study, 10)
    assert left.withheld is not None
    for before, after, rows, profiles in zip(
        tables(study), tables(left), left.withheld.rows, left.withheld.profiles, strict=False
    ):
        gone = before.sum() - after.sum()
        assert rows == (max(gone, 10.0) if gone else 0.0)
        assert profiles == (before.any(axis=1)).sum() - (after.any(axis=1)).sum()


@given(counted_studies())
def test_withholding_again_withholds_nothing_more(study):
    once = suppress(study, 10)
    for again in (suppress(once, 10), suppress(once, 5)):
        assert again.withheld == once.withheld
        np.testing.assert_array_equal(again.counts, once.counts)


def test_a_higher_limit_adds_to_the_record():
    study = populations.get("mediator").sample(2_000, 2_000, seed=1)
    twice, at_once = suppress(suppress(study, 5), 20), suppress(study, 20)
    assert twice.withheld.min_cell == 20
    assert twice.withheld.rows == at_once.withheld.rows
    np.testing.assert_array_equal(twice.counts, at_once.counts)


def test_few_rows_left_out_while_counting_are_told_without_their_number():
    study = replace(
        populations.get("mediator").sample(500, 500, seed=1), dropped={rows_without("y"): 3, rows_without("x"): 12}
    )
    left = suppress(study, 10)
    assert left.dropped == {rows_without("x"): 12}
    assert left.notes == (Note("few_rows_left_out", {"reason": rows_without("y").plain(), "min_cell": 10}),)
    assert str(left.notes[0]) == "experimental rows without y: fewer than 10 were left out"


def test_weighted_counts_are_small_if_few_heavy_rows_could_make_them():
    """Twelve counted rows may be two people who count six each."""
    weights = [6.0] * 2 + [1.0] * 38 + [6.0] * 40
    table = pandas.DataFrame({"town": ["a"] * 40 + ["b"] * 40, "x": [1] * 2 + [0, 1] * 39, "y": [1, 1, *[0, 1] * 39]})
    study = pnsight.read_study(table.assign(w=weights), treatment="x", outcome="y", survey_weight="w")
    heaviest = study.design.tables[0].largest_weight
    assert heaviest == pytest.approx(6 / np.mean(weights))
    left = suppress(study, 10)
    assert (left.counts[left.counts > 0] >= 10 * heaviest).all()


def test_a_design_is_handed_on_without_folds_and_small_numbers():
    trial = household_trial(400, seed=1)
    trial.loc[:2, "household"] = None
    study = pnsight.read_study(trial, treatment="x", outcome="y", cluster="household", covariates=["sex"])
    assert study.design.tables[0].unclustered == 3
    left = suppress(study, 10)
    assert left.design.folds is None
    assert left.design.row_worth == study.design.row_worth
    assert (left.design.tables[0].unclustered, left.design.tables[0].largest_cluster) == (0, 10)
    (note,) = [note for note in left.notes if note.kind == "rows_worth"]
    assert note.values["unclustered"] == 0
    few = suppress(study, 10_000)
    assert few.design.tables == ()
    assert few.notes == ()


@pytest.mark.parametrize(
    ("withheld", "told"),
    [
        (Withheld(10), "counts below 10 are withheld: there were none"),
        (Withheld(10, (1234.0, 0.0), (1, 0)), "counts below 10 are withheld: 1,234 experimental rows of 1 profile"),
        (
            Withheld(5, (5.0, 60.5), (2, 3)),
            "at most 5 experimental rows of 2 profiles and 60.5 observational rows of 3",
        ),
    ],
)
def test_the_note_tells_what_is_withheld(withheld, told):
    assert told in str(withheld.note)


@pytest.mark.parametrize("given", [1, 0, -3, 2.5, True, "10"])
def test_a_limit_that_makes_no_sense_is_refused(given):
    study = populations.get("mediator").sample(500, 500, seed=1)
    with pytest.raises(QueryError, match="whole number of at least 2"):
        suppress(study, given)


# --- models ---------------------------------------------------------------------------------------------


def test_the_plug_in_answers_from_what_is_left_and_says_so():
    study = populations.get("mediator").sample(5_000, 5_000, seed=1)
    model = suppress(PlugIn().fit(study), 10)
    fresh = PlugIn().fit(suppress(study, 10))
    codes = lattice.all_queries(study.schema)[::50]
    answer = model.bounds(codes)
    assert answer.columns() == fresh.bounds(codes).columns()
    assert answer.notes == (model.study.withheld.note, Note("people_with_counts_only"))
    assert not is_small(np.concatenate([answer.support_experimental, answer.support_observational])).any()
    assert (model.bounds(study.profiles).status == "undefined").any()


def test_every_kind_of_answer_carries_the_note():
    study = populations.get("mediator").sample(5_000, 5_000, seed=1)
    model = suppress(PlugIn().fit(study), 10)
    found = [
        model.bounds(""),
        pnsight.decisions.decide(model, ""),
        pnsight.ask(model, ""),
        pnsight.decisions.left_open(model, "z1=1"),
        pnsight.rank(model),
        pnsight.select(model, 0.1),
    ]
    for answer in found:
        assert model.study.withheld.note in answer.notes, type(answer)


def test_a_bound_regressor_keeps_its_networks_and_shows_what_is_left():
    study = populations.random_population("index", 1, covariates=3).sample(20_000, 20_000, seed=1)
    model = MaskMLP(epochs=2, min_rows=100).fit(study)
    shown = suppress(model, 1_500)
    before, after = model.bounds(lattice.all_queries(study.schema)), shown.bounds(lattice.all_queries(study.schema))
    np.testing.assert_array_equal(before.lower, after.lower)
    assert after.support_experimental.min() == 0
    assert after.notes[0] == shown.study.withheld.note


@pytest.fixture(scope="module", params=["enumerated", "sampled"])
def shrunk(request) -> ResponseTypeModel:
    """A model that goes by its profiles' own rows in its laws as in its covariates."""
    study = populations.random_population("index", 1, covariates=4).sample(1_500, 2_000, seed=3)
    config = replace(
        QUICK,
        latent_classes=replace(QUICK.latent_classes, empirical_weights=(0.6,)),
        max_enumerated_profiles=1 if request.param == "sampled" else QUICK.max_enumerated_profiles,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pnsight.models.response_types.fit.choose_prior_rows", lambda *_: (30.0, {30.0: -1.0}))
        model = ResponseTypeModel(config=config).fit(study)
    assert model.marginaliser_.representation == request.param
    return model


def all_it_says(model) -> np.ndarray:
    codes = lattice.all_queries(model.schema)
    answers = [model.bounds(codes, quantity) for quantity in ("pns", "harm")]
    ends = [end for answer in answers for end in (answer.lower, answer.upper, answer.lower_low, answer.upper_high)]
    return np.stack([*ends, model.shares(codes), model.shares(codes, "experimental")])


def test_a_model_that_sees_its_own_study_again_says_what_it_said(shrunk):
    np.testing.assert_allclose(all_it_says(shrunk.with_study(shrunk.study)), all_it_says(shrunk), atol=2e-5)


def test_a_model_that_unsees_rows_and_sees_them_again_says_what_it_said(shrunk):
    """But for its intervals, which come from studies that were simulated."""
    few = shrunk.study.with_counts(np.where(np.arange(len(shrunk.study.profiles))[:, None] < 3, 1, shrunk.study.counts))
    other = shrunk.with_study(few)
    assert np.abs(all_it_says(other) - all_it_says(shrunk)).max() > 0.01
    back = other.with_study(shrunk.study)
    codes = lattice.all_queries(shrunk.schema)
    np.testing.assert_allclose(back.law(codes).cells, shrunk.law(codes).cells, atol=1e-4)
    np.testing.assert_allclose(back.shares(codes), shrunk.shares(codes), atol=1e-6)


def test_how_many_rows_a_withheld_profile_had_makes_no_difference(shrunk):
    """Rows that move from one withheld profile to another change nothing that the model says."""
    study, limit = shrunk.study, 12
    hidden = np.flatnonzero((lattice.sum_over(study.schema, study.profiles, *_left(study, limit)) == 0).all(axis=1))
    first, second = hidden[0], hidden[1]
    moved = study.counts.copy()
    moved[first], moved[second] = study.counts[second], study.counts[first]
    assert not np.array_equal(moved, study.counts)
    other = shrunk.with_study(study.with_counts(moved))
    assert np.abs(all_it_says(other)[-2:] - all_it_says(shrunk)[-2:]).max() > 1e-3
    told, told_of_other = suppress(shrunk, limit), suppress(other, limit)
    codes = lattice.all_queries(shrunk.schema)
    np.testing.assert_allclose(told.law(codes).cells, told_of_other.law(codes).cells, atol=1e-4)
    np.testing.assert_allclose(told.shares(codes), told_of_other.shares(codes), atol=1e-6)


def _left(study, limit):
    left = suppress(study, limit)
    return left.profiles, left.counts


def test_shares_of_people_still_add_up(shrunk):
    for limit in (5, 12, 100_000):
        told = suppress(shrunk, limit)
        for people in ("observational", "experimental", "pooled"):
            assert told.shares(lattice.all_profiles(told.schema), people).sum() == pytest.approx(1, abs=1e-5)


def test_a_withheld_profile_whose_smooth_mass_is_lost_in_rounding_is_still_answered():
    """Of 1e-30 nothing is left when the counted mass has been added and taken off again."""
    schema = Schema.binary("a")
    before = np.repeat([[1.0], [100_000.0]], 8, axis=1)
    counted = before[:, :4].sum(axis=1) / before[:, :4].sum()
    masses = 0.5 * np.array([1e-30, 1 - 1e-30]) + 0.5 * counted
    marginaliser = EnumeratedProfiles(schema, np.full((2, 8), 1 / 8, np.float32), masses[None], np.ones((2, 3)))
    profiles = lattice.all_profiles(schema)
    replacement = CountReplacement(before, before * [[0], [1]], np.inf, [EmpiricalPart(0.5, pooled=False)], TWO_BY_TWO)
    found = marginaliser.replace_counts(replacement, profiles)
    np.testing.assert_allclose(found.types(profiles, np.ones(1)), 1 / 8)
    assert found.shares(profiles, np.ones(1))[0] < 1e-12


def test_a_model_of_which_everything_is_withheld_still_answers(shrunk):
    told = suppress(shrunk, 100_000)
    answer = told.bounds(lattice.all_queries(told.schema))
    assert len(told.study.profiles) == 0
    assert (answer.status == "ok").all()
    assert not answer.support_experimental.any()
    for assume in ("monotone", "exogenous"):
        lower = told.bounds(lattice.all_profiles(told.schema), assume=assume).lower
        assert not np.isnan(lower).any()


@pytest.mark.parametrize("representation", ["enumerated", "sampled"])
def test_random_effects_of_which_everything_is_withheld_still_answer(representation):
    """A hundred rows, of which no network makes anything."""
    study = populations.random_population("index", 1, covariates=3).sample(100, 100, seed=1)
    few = 1 if representation == "sampled" else QUICK.max_enumerated_profiles
    model = ResponseTypeModel(config=replace(QUICK, max_enumerated_profiles=few)).fit(study)
    assert model.fit_summary_.no_network
    told, codes = suppress(model, 100_000), lattice.all_queries(study.schema)
    answer = told.bounds(codes)
    assert (answer.status == "ok").all()
    assert kinds(answer.notes)[-1] == "random_effects"
    assert (answer.lower_low < answer.upper_high).all()


@given(type_shares(rows=3), hnp.arrays(np.float64, (3, 8), elements=st.integers(0, 50).map(float)))
def test_shrinking_can_be_undone(prior_mode, counts):
    prior_mode = (prior_mode + 0.01) / 1.08
    shrunk = map_estimate(prior_mode, counts, 30.0, TWO_BY_TWO)
    np.testing.assert_allclose(prior_mode_from_map(shrunk, counts, 30.0, TWO_BY_TWO), prior_mode, atol=1e-4)


# --- on disk --------------------------------------------------------------------------------------------


def folder_of(model, tmp_path):
    pnsight.save(model, tmp_path / "model")
    description = json.loads((tmp_path / "model" / "model.json").read_text(encoding="utf-8"))
    return description, load_file(tmp_path / "model" / description["arrays"])


@given(counted_studies())
def test_no_small_count_is_in_the_folder_of_a_plug_in(tmp_path_factory, study):
    study = replace(study, dropped={rows_without("y"): 4})
    description, arrays = folder_of(suppress(PlugIn().fit(study), 10), tmp_path_factory.mktemp("exported"))
    assert set(arrays) == {"profiles", "counts"}
    assert not is_small(arrays["counts"]).any()
    assert description["study"]["dropped"] == []
    assert not any("found" in warning["values"] for warning in description["warnings"])
    assert not is_small(description["study"]["withheld"]["rows"]).any()


def test_a_model_without_small_counts_survives_storing(shrunk, tmp_path):
    told = suppress(shrunk, 12)
    description, arrays = folder_of(told, tmp_path)
    assert not is_small(arrays["counts"], 12).any()
    if description["learned"]["representation"] == "sampled":
        assert arrays["model.empirical"].shape[1] == len(told.study.profiles)
    loaded = pnsight.load(tmp_path / "model")
    np.testing.assert_array_equal(all_it_says(loaded), all_it_says(told))
    assert loaded.study.withheld == told.study.withheld
    assert loaded.bounds("").notes == told.bounds("").notes
    assert description["study"]["withheld"]["min_cell"] == 12
