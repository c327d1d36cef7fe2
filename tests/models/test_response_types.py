"""The response-type model: answers that some population could have, whatever the study, and the same ones again."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import pnsight
import web_models
from cases import CASES, MEN, POOLED, WOMEN
from closed_forms import QUANTITIES
from laws import of_types, p_xy, p_y_do_x, p_y_do_x0
from noted import kinds
from pnsight import PlugIn, ResponseTypeModel
from pnsight import simulation as populations
from pnsight._progress import no_progress
from pnsight.data.law import Law
from pnsight.data.schema import OPEN, Covariate, Schema
from pnsight.data.study import Study
from pnsight.data.two_by_two import TWO_BY_TWO
from pnsight.errors import ModelError, QuantityError, QueryError
from pnsight.estimands import bounds, incompatibility
from pnsight.estimands.confidence import end_intervals
from pnsight.models.response_types.capacity import CONSTANT, Capacity
from pnsight.models.response_types.config import MAX_ENUMERATED_PROFILES, Effort
from pnsight.models.response_types.enumerated_profiles import EnumeratedProfiles
from pnsight.models.response_types.fit import FitProcedure
from pnsight.models.response_types.fit_summary import FitSummary
from pnsight.models.response_types.profile_inputs import Network
from pnsight.queries import lattice
from pnsight.queries.query import encode, format_queries
from quick_config import EFFORT, QUICK

ROUNDING = 1e-9
PEOPLE = ("observational", "experimental", "pooled")
POPULATION = populations.random_population("index", 1, covariates=3)
QUERIES = lattice.all_queries(POPULATION.schema)
INTERVALS = ("lower_low", "lower_high", "upper_low", "upper_high")


def study_of(schema, profiles, counts) -> Study:
    counts = np.array(counts, dtype=float)
    profiles = np.array(profiles, dtype=np.int32).reshape(len(counts), len(schema.names))
    return Study.from_tables(schema, profiles, counts[:, :4], counts[:, 4:] if counts.shape[1] == 8 else None)


def case_counts(case) -> list[int]:
    return [*case.experimental, *case.observational]


def levels(name, *names) -> Covariate:
    return Covariate(name, names)


def assert_answers_everything(model, queries=None, quantities=QUANTITIES):
    """Every query has both ends of every quantity, and each end lies within its interval."""
    queries = lattice.all_queries(model.schema) if queries is None else queries
    for quantity in quantities:
        answer = model.bounds(queries, quantity)
        assert set(answer.status) == {"ok"}, quantity
        assert (answer.lower >= 0).all()
        assert (answer.lower <= answer.upper).all()
        assert (answer.upper <= 1).all()
        low, high, upper_low, upper_high = (getattr(answer, name) for name in INTERVALS)
        assert not np.isnan([low, high, upper_low, upper_high]).any()
        assert (low <= answer.lower + ROUNDING).all()
        assert (answer.lower <= high + ROUNDING).all()
        assert (upper_low <= answer.upper + ROUNDING).all()
        assert (answer.upper <= upper_high + ROUNDING).all()
        assert min(low.min(), upper_low.min()) >= 0
        assert max(high.max(), upper_high.max()) <= 1


@pytest.fixture(scope="module")
def study():
    return POPULATION.sample(experimental=3000, observational=3000, seed=1)


@pytest.fixture(scope="module")
def model(study):
    return ResponseTypeModel(config=QUICK).fit(study)


@pytest.fixture(scope="module")
def bare(study):
    """Without intervals it does not know how far its laws may be off, so a query's own rows do not count again."""
    return ResponseTypeModel(intervals=False, config=QUICK).fit(study)


# --- answers --------------------------------------------------------------------------------------------


def test_every_query_has_bounds_on_every_quantity(model):
    assert_answers_everything(model)


@pytest.mark.parametrize("people", PEOPLE)
def test_bounds_are_the_formulas_at_the_models_law(people, study):
    fitted = ResponseTypeModel(population=people, intervals=False, config=QUICK).fit(study)
    law = fitted.law(QUERIES)
    assert incompatibility(law).max() <= ROUNDING
    for quantity in QUANTITIES:
        answer = fitted.bounds(QUERIES, quantity)
        lower, upper = bounds(law, quantity)
        np.testing.assert_allclose(answer.lower, lower, atol=ROUNDING)
        np.testing.assert_allclose(answer.upper, upper, atol=ROUNDING)
        np.testing.assert_array_equal(fitted.raw_ends(QUERIES, quantity), np.stack([lower, upper], axis=1))


def test_what_is_learned_of_a_query_is_the_mixture_of_its_profiles(bare):
    profiles = lattice.all_profiles(bare.schema)
    mass = bare.marginaliser_.masses[1]  # of the observational table
    inside = np.array([((query == OPEN) | (query == profiles)).all(axis=1) for query in QUERIES])
    weights = inside * mass / (inside @ mass)[:, None]
    mixed, law = bare.law(profiles).mix(weights), bare.law(QUERIES)
    # What is stored is in single precision, and adds up to one only so nearly.
    np.testing.assert_allclose(law.cells, mixed.cells, atol=1e-6)


def test_to_what_is_learned_a_query_adds_what_its_own_rows_show(model, bare):
    """The more rows, the nearer its law is to theirs: that of everyone, with 1,500 an arm, more than that of profiles.

    The model goes by what people chose, so the trial's rows are compared with it at their own profiles.
    """
    np.testing.assert_allclose(model._model_law(QUERIES, np.array([0.0, 1.0])), bare.law(QUERIES).cells, atol=1e-12)
    moved = np.abs(model.law(QUERIES).cells - bare.law(QUERIES).cells).sum(axis=1)
    assert moved.max() > 1e-3
    everyone = encode(model.schema, "")
    shares = model.counts(everyone)[0, 4:] / model.counts(everyone)[0, 4:].sum()
    # Three thousand rows of the registry: half of a standard error of a share.
    np.testing.assert_allclose(model.law(everyone).cells[0, 4:], shares, atol=0.5 * 0.5 / np.sqrt(3000))


def test_the_people_of_every_table_add_up_to_one(model):
    assert model.marginaliser_.masses.shape == (2, 8)
    np.testing.assert_allclose(model.marginaliser_.masses.sum(axis=1), 1, atol=1e-12)


def test_a_model_keeps_an_estimate_and_its_errors_and_no_simulated_study(model):
    _, arrays = model.state()
    assert {name: array.shape for name, array in arrays.items()} == {
        "profile_types": (8, 8),
        "masses": (2, 8),
        "profile_errors": (8, 3),
    }


def test_where_a_profile_has_many_rows_they_win_over_the_networks():
    """With a constant rung alone, only its own rows can tell a profile from another: ten thousand an arm here, so that
    a share is known to .005. Four such errors are allowed: counts that no population has are moved, too."""
    config = replace(QUICK, effort=replace(EFFORT, capacities=(CONSTANT,)))
    study = sampled(Schema.binary("abc"), 10_000)
    profiles = lattice.all_profiles(study.schema)
    law, plug_in = (
        ResponseTypeModel(intervals=False, config=config).fit(study).law(profiles),
        PlugIn().fit(study).law(profiles),
    )
    assert np.ptp(p_y_do_x(plug_in)) > 0.2
    np.testing.assert_allclose(p_y_do_x(law), p_y_do_x(plug_in), atol=0.02)
    np.testing.assert_allclose(p_y_do_x0(law), p_y_do_x0(plug_in), atol=0.02)
    np.testing.assert_allclose(p_xy(law), p_xy(plug_in), atol=0.02)


def test_the_support_is_the_rows_of_the_study(model, study):
    answer, plug_in = model.bounds(QUERIES), PlugIn().fit(study).bounds(QUERIES)
    np.testing.assert_array_equal(answer.support_experimental, plug_in.support_experimental)
    np.testing.assert_array_equal(answer.support_observational, plug_in.support_observational)
    assert answer.queries == plug_in.queries


def test_answers_are_nearer_the_truth_than_the_plug_ins_where_rows_are_few():
    """Two hundred rows for 27 queries: where the plug-in has no answer or a crossed one, it is not even counted."""
    small = POPULATION.sample(experimental=100, observational=100, seed=3)
    truth = POPULATION.bounds(QUERIES)
    ours, theirs = ResponseTypeModel(config=QUICK).fit(small), PlugIn().fit(small)
    assert_answers_everything(ours)
    answer, plain = ours.bounds(QUERIES), theirs.bounds(QUERIES)
    known = plain.status == "ok"
    for end in ("lower", "upper"):
        off, plain_off = (np.abs(getattr(table, end) - getattr(truth, end)) for table in (answer, plain))
        assert off[known].mean() < plain_off[known].mean()


def test_with_many_rows_the_answers_are_near_the_oracles():
    many = POPULATION.sample(experimental=200_000, observational=200_000, seed=2)
    answer, truth = (
        ResponseTypeModel(intervals=False, config=QUICK).fit(many).bounds(QUERIES),
        POPULATION.bounds(QUERIES),
    )
    # 100,000 rows an arm and eight profiles: about .005 of sampling error; the rest is what small networks miss.
    assert np.abs(answer.lower - truth.lower).mean() < 0.02
    assert np.abs(answer.upper - truth.upper).mean() < 0.02


# --- intervals ------------------------------------------------------------------------------------------


def test_intervals_widen_with_the_level(model):
    tables = [model.bounds(QUERIES, level=level) for level in (1e-9, 0.5, 0.9, 0.99)]
    for narrow, wide in pairwise(tables):
        assert narrow.level < wide.level
        assert (wide.lower_low <= narrow.lower_low).all()
        assert (narrow.lower_high <= wide.lower_high).all()
        assert (wide.upper_low <= narrow.upper_low).all()
        assert (narrow.upper_high <= wide.upper_high).all()
        assert (wide.upper_high - wide.upper_low).sum() > (narrow.upper_high - narrow.upper_low).sum()
        np.testing.assert_array_equal(narrow.lower, wide.lower)
    np.testing.assert_allclose(tables[0].lower_low, tables[0].lower_high, atol=1e-8)


def test_intervals_of_twenty_times_the_rows_are_narrower(model):
    more = ResponseTypeModel(config=QUICK).fit(POPULATION.sample(experimental=60_000, observational=60_000, seed=1))
    wide, narrow = (fitted.bounds(QUERIES) for fitted in (model, more))
    assert (narrow.upper_high - narrow.upper_low).mean() < (wide.upper_high - wide.upper_low).mean()


def test_without_intervals_the_ends_come_without_them(bare):
    answer = bare.bounds(QUERIES)
    assert answer.level is None
    assert [getattr(answer, name) for name in (*INTERVALS, "value_low", "value_high")] == [None] * 6
    assert all(answer.columns()[name] == [None] * len(QUERIES) for name in INTERVALS)


def test_the_interval_of_the_value_reaches_beyond_both_ends(model):
    """But less far than those of the ends, which each have two sides."""
    answer = model.bounds(QUERIES)
    assert (answer.value_low <= answer.lower).all()
    assert (answer.upper <= answer.value_high).all()
    assert (answer.lower_low <= answer.value_low + ROUNDING).all()
    assert (answer.value_high <= answer.upper_high + ROUNDING).all()


def test_intervals_that_hold_together_are_wider(model):
    one, all_ = (model.answer(QUERIES, replace(model.estimand(), simultaneous=together)) for together in (False, True))
    assert (all_.lower_low <= one.lower_low).all()
    assert (one.upper_high <= all_.upper_high).all()
    assert (all_.upper_high - all_.lower_low).sum() > (one.upper_high - one.lower_low).sum()


def independent_responses(a, b) -> np.ndarray:
    """Types of people nobody of whom chooses the treatment, shape (8,): Y treated and untreated are independent."""
    return np.array([(1 - b) * (1 - a), (1 - b) * a, b * (1 - a), b * a, 0, 0, 0, 0])


def by_hand(error, inflation=1.5) -> ResponseTypeModel:
    """An experiment alone of 200 rows, P(y_x) = .4 and P(y_x') = .2, and a model of it with this relative error."""
    model = ResponseTypeModel()
    model.study_ = study_of(Schema(), [[]], [[40, 60, 20, 80]])
    types = np.array([independent_responses(0.4, 0.2)], np.float32)
    errors = np.full((1, 2), error, np.float32)
    model.marginaliser_ = EnumeratedProfiles(Schema(), types, np.ones((1, 1)), errors)
    model.fit_summary_ = FitSummary((), np.inf, (), 4, inflation, (), (0.9, 0.9), no_network=False)
    return model


CLOSE = 0.05
"""How near the errors of 64 drawn laws come to those of the delta method."""


@pytest.mark.parametrize("error", [0.01, 0.2])
def test_an_interval_by_hand(error):
    """The lower end is a - b, the upper a. A hundred rows an arm: however sure a model is of itself or unsure, everyone
    is known as well as by all rows, and not better."""
    answer = by_hand(error).bounds("", level=0.9)
    lower, upper = (1.644854 * np.sqrt(variance / 100) for variance in (0.4 * 0.6 + 0.2 * 0.8, 0.4 * 0.6))
    found = [answer.lower[0], answer.upper[0], *(getattr(answer, name)[0] for name in INTERVALS)]
    expected = [0.2, 0.4, 0.2 - lower, 0.2 + lower, 0.4 - upper, 0.4 + upper]
    assert found == pytest.approx(expected, abs=CLOSE * lower)
    assert answer.level == 0.9


def test_what_fits_stray_by_hand():
    """Draws as large as the relative error of each arm, before it was inflated."""
    law, strays = by_hand(0.1, inflation=1.5).simulated(np.zeros((1, 0), np.int32))
    np.testing.assert_allclose(law, [[0.4, 0.6, 0.2, 0.8]], atol=1e-6)
    assert strays.shape == (64, 1, 4)
    # A standard deviation of 64 draws is known to one in sqrt(128).
    expected = 0.1 / 1.5 * np.sqrt(law[0] * (1 - law[0]))
    np.testing.assert_allclose(strays[:, 0].std(axis=0), expected, rtol=3 / np.sqrt(128))


SMOOTH = [[600, 400, 200, 800, 350, 250, 50, 350]]
"""Counts without covariates whose lower end is a - b and whose upper end is a, by several standard errors."""


def test_without_covariates_half_widths_are_those_of_the_closed_form_whatever_the_seed():
    lower, upper = (1.644854 * np.sqrt(variance / 1000) for variance in (0.6 * 0.4 + 0.2 * 0.8, 0.6 * 0.4))
    found = []
    for seed in range(10):
        answer = ResponseTypeModel(random_state=seed, config=QUICK).fit(study_of(Schema(), [[]], SMOOTH)).bounds("")
        found.append([*(getattr(answer, name)[0] for name in INTERVALS), answer.lower[0], answer.upper[0]])
    expected = [0.4 - lower, 0.4 + lower, 0.6 - upper, 0.6 + upper, 0.4, 0.6]
    np.testing.assert_allclose(found[0], expected, atol=CLOSE * upper)
    np.testing.assert_allclose(found, [found[0]] * 10, atol=1e-5)


@pytest.mark.slow
def test_half_widths_with_covariates_hardly_depend_on_the_seed(study, model):
    """The coefficient of variation over fits that differ in their seed alone, for everyone and the largest groups."""
    queries = QUERIES[(QUERIES != OPEN).sum(axis=1) <= 1]
    widths = []
    for fitted in (model, *(ResponseTypeModel(random_state=seed, config=QUICK).fit(study) for seed in (1, 2))):
        answer = fitted.bounds(queries)
        widths.append(answer.upper_high - answer.upper_low)
    assert (np.std(widths, axis=0, ddof=1) / np.mean(widths, axis=0)).max() < 0.1


def test_intervals_of_large_groups_are_hardly_wider_than_those_of_their_own_rows(study, model):
    """Everyone, and groups that fix one covariate, have a thousand rows or so in either table."""
    queries = QUERIES[(QUERIES != OPEN).sum(axis=1) <= 1]
    counts = model.counts(queries)
    own = end_intervals(model.estimand(), Law.from_counts(counts, TWO_BY_TWO), TWO_BY_TWO.by_group(counts))
    ours = model.bounds(queries)
    for end in ("lower", "upper"):
        low, high = ours.interval(end)
        plain = getattr(own, f"{end}_high") - getattr(own, f"{end}_low")
        assert (high - low <= 1.3 * plain + 1e-9).all()
        assert np.abs(getattr(ours, end) - getattr(PlugIn().fit(study).bounds(queries), end)).max() < 0.03


def test_laws_are_of_plausible_capacities_and_fits_have_the_capacities_of_the_estimate(study, monkeypatch):
    fitting = FitProcedure(study, QUICK, 0, True, no_progress)
    asked = []

    def note(sources, pairs, stage):
        asked.append([(len(sources), *pair) for pair in pairs])
        return [Network(((np.full((8, 3), len(asked), np.float32), np.zeros(8, np.float32)),))] * len(pairs)

    selected = fitting._select()._replace(weights=np.array([0.0, 1.0]), plausible=np.array([0, 1]), prior_rows=np.inf)
    monkeypatch.setattr(fitting, "_train", note)
    studies = list(fitting._simulate(selected))
    laws, fits = asked
    assert laws == [(1, 0, 0), (1, 0, 0), (1, 0, 1), (1, 0, 1)]  # half of the four studies each
    assert fits == [(4, source, 1) for source in range(4) for _ in range(2)]
    assert [study_.law.layers[0][0][0, 0] for study_ in studies] == [1] * 4
    assert [fit.layers[0][0][0, 0] for study_ in studies for fit in study_.fits] == [2] * 8
    assert all((one.counts != other.counts).any() for one, other in pairwise(studies))


def test_held_out_scores_count_a_profile_by_the_root_of_its_rows(study):
    fitting = FitProcedure(study, QUICK, 0, True, no_progress)
    rows = fitting.counts.sum(axis=1)
    even = np.full((2, len(rows), 8), 1 / 8)
    part = np.floor(fitting.counts / 4)
    cells = np.log(even[0] @ TWO_BY_TWO.incidence.T)
    expected = (part * cells).sum(axis=1) / np.sqrt(rows)
    np.testing.assert_allclose(fitting._scores([even], [part]), [expected, expected])


def test_of_very_many_profiles_less_is_trained(study):
    few = Effort(EFFORT.capacities, folds=2, networks=2, simulations=3)
    config = replace(QUICK, many_profiles=4, effort_if_many=few)
    assert FitProcedure(study, config, 0, True, no_progress).simulations == 3
    model = ResponseTypeModel(config=config).fit(study)
    assert model.fit_summary_.networks == 2
    assert_answers_everything(model)


def test_errors_that_do_not_fit_the_tables_are_refused(model):
    data, arrays = model.state()
    with pytest.raises(ValueError, match=r"learned\.decay has 2 numbers; expected 3, one for each group"):
        ResponseTypeModel().restore(model.study, {**data, "decay": data["decay"][:2]}, arrays)
    with pytest.raises(ValueError, match=r"learned\.decay has 3 numbers; expected 0"):
        ResponseTypeModel().restore(model.study, {**data, "interval_inflation": None}, arrays)
    with pytest.raises(ValueError, match=r"learned\.covariates describes 1 tables"):
        ResponseTypeModel().restore(model.study, {**data, "covariates": data["covariates"][:1]}, arrays)
    with pytest.raises(ValueError, match=r"learned\.networks is 0"):
        ResponseTypeModel().restore(model.study, {**data, "networks": 0}, arrays)
    with pytest.raises(ValueError, match="do not fit covariates of 8"):
        ResponseTypeModel().restore(model.study, data, {name: array[:-1] for name, array in arrays.items()})


def test_simulated_studies_have_the_rows_of_this_one_and_the_outcomes_of_the_law(study):
    fitting = FitProcedure(study, QUICK, 0, True, no_progress)
    law = np.tile([0.8, 0.2, 0.3, 0.7, 0.4, 0.3, 0.2, 0.1], (8, 1))
    drawn = fitting._draw_counts(law).sum(axis=0)
    rows = study.counts.sum(axis=0)
    for start, stop in ((0, 2), (2, 4), (4, 8)):
        arm = rows[start:stop].sum()
        assert drawn[start:stop].sum() == arm
        share = law[0, start:stop]
        assert (np.abs(drawn[start:stop] - arm * share) <= 5 * np.sqrt(arm * share * (1 - share))).all()


# --- where no network tells people apart ----------------------------------------------------------------

_TWO = replace(EFFORT, capacities=(CONSTANT, Capacity(0, 32, 2.0)))
FEW_CAPACITIES = replace(QUICK, effort=_TWO, effort_if_few=_TWO)


@pytest.fixture(scope="module")
def small():
    """Six hundred rows of people who differ: too few for held-out rows to tell."""
    study = populations.random_population("tree", 202, covariates=3).sample(experimental=300, observational=300, seed=2)
    return ResponseTypeModel(random_state=2, config=FEW_CAPACITIES).fit(study)


def test_where_no_network_tells_profiles_apart_random_effects_take_its_place(small):
    assert small.fit_summary_.no_network
    assert [each.weight for each in small.fit_summary_.capacities] == [1.0, 0.0]
    assert "No network told people apart better than chance" in small.explain()
    assert_answers_everything(small)


def test_what_they_say_of_profiles_differs_and_is_less_sure_than_what_everyone_shows(small):
    assert np.ptp(small.law(lattice.all_profiles(small.schema)).cells, axis=0).max() > 0.02
    everyone, profiles = small.bounds(""), small.bounds(lattice.all_profiles(small.schema))
    assert (profiles.upper_high - profiles.upper_low).mean() > 1.5 * (everyone.upper_high - everyone.upper_low)[0]
    assert kinds(small.bounds("").notes) == ["random_effects"]


def test_where_rows_show_no_difference_answers_say_that_they_are_the_same_for_everyone():
    """Two hundred rows an arm and profile, in the same proportions everywhere."""
    counts = np.array([[80, 120, 60, 140, 60, 40, 40, 60]])
    model = ResponseTypeModel(config=QUICK).fit(
        study_of(Schema.binary("ab"), lattice.all_profiles(Schema.binary("ab")), counts.repeat(4, axis=0))
    )
    assert model.fit_summary_.no_network
    answer = model.bounds(["", "a=1", "11"])
    assert kinds(answer.notes) == ["same_for_everyone"]
    assert np.ptp(answer.lower) < 0.01


def test_where_a_network_tells_people_apart_or_nobody_could_there_is_no_such_caveat(model):
    assert not model.fit_summary_.no_network
    assert model.caveats == ()
    alone = ResponseTypeModel(config=QUICK).fit(study_of(Schema(), [[]], SMOOTH))
    assert alone.fit_summary_.no_network
    assert alone.caveats == ()


def test_random_effects_answer_without_intervals_too(small):
    bare = ResponseTypeModel(random_state=2, intervals=False, config=FEW_CAPACITIES).fit(small.study)
    assert bare.fit_summary_.no_network
    assert bare.fit_summary_.decay == ()
    np.testing.assert_allclose(bare.law(QUERIES).cells, small._model_law(QUERIES, np.array([0.0, 1.0])), atol=1e-9)


# --- what an answer rests on ----------------------------------------------------------------------------


def test_an_answer_rests_on_its_rows_where_they_are_most_of_what_is_known(model):
    answer = model.bounds(["", "X1X", "010"])
    assert answer.basis.tolist()[0] == "rows"
    assert set(model.bounds(QUERIES).basis) <= {"rows", "model"}


def test_an_answer_rests_on_the_model_where_others_taught_more():
    """One row an arm and profile: what is known of a profile comes from the others."""
    model = ResponseTypeModel(config=QUICK).fit(sampled(Schema.binary("abc"), 1))
    assert set(model.bounds(lattice.all_profiles(model.schema)).basis) == {"model"}


def test_who_is_unlike_everyone_in_a_table_is_extrapolated_to():
    """Everybody is old and ill: the young and well differ in two of the two that are asked about; others in one."""
    schema = Schema((levels("age", "old", "young"), levels("health", "ill", "well")))
    model = ResponseTypeModel(config=QUICK).fit(sampled(schema, 200, present=slice(0, 1)))
    answer = model.bounds(["age=old,health=ill", "age=old,health=well", "age=young,health=well", "age=young", ""])
    assert answer.basis.tolist() == ["rows", "model", "extrapolated", "model", "rows"]
    assert (answer.status == "ok").all()


def test_without_intervals_nothing_says_that_rows_are_most_of_what_is_known(bare):
    assert set(bare.bounds(QUERIES).basis) == {"model"}


# --- cases with known answers ---------------------------------------------------------------------------


SEX = Schema((levels("sex", "F", "M"),))


@pytest.fixture(scope="module")
def sexes():
    return ResponseTypeModel(config=QUICK).fit(study_of(SEX, [[0], [1]], [case_counts(WOMEN), case_counts(MEN)]))


@pytest.mark.parametrize(
    ("query", "quantity", "lower", "upper"),
    [
        *(("F", quantity, *ends) for quantity, ends in WOMEN.expected.items() if quantity in ("pns", "harm")),
        *(("M", quantity, *ends) for quantity, ends in MEN.expected.items() if quantity in ("pns", "harm")),
        ("", "pns", *POOLED.expected["pns"]),
    ],
)
def test_mueller_and_pearls_women_and_men(query, quantity, lower, upper, sexes):
    """A thousand rows an arm and two thousand choices: a - b has a standard error of .022, P(y) - b and a - P(y) of
    .017. The model does not hit the counts to the digit, since it holds them for a sample; two errors are allowed."""
    answer = sexes.bounds(query, quantity)
    assert answer.status.tolist() == ["ok"]
    assert answer.lower[0] == pytest.approx(lower, abs=0.045)
    assert answer.upper[0] == pytest.approx(upper, abs=0.045)


@pytest.mark.parametrize(("name", "quantity"), [("pooled", "pns"), ("drug", "pns"), ("drug", "harm"), ("drug", "pe")])
def test_a_study_without_covariates_is_its_pooled_law(name, quantity):
    case = CASES[name]
    model = ResponseTypeModel(config=QUICK).fit(study_of(Schema(), [[]], [case_counts(case)]))
    answer, (lower, upper) = model.bounds("", quantity), case.expected[quantity]
    law, rows = case.law(), sum(case.experimental) / 2
    allowed = np.sqrt((p_y_do_x(law) * (1 - p_y_do_x(law)) + p_y_do_x0(law) * (1 - p_y_do_x0(law))) / rows)[
        0
    ]  # one standard error of a - b
    assert answer.lower[0] == pytest.approx(lower, abs=allowed)
    assert answer.upper[0] == pytest.approx(upper, abs=allowed)
    assert_answers_everything(model)


def test_an_experiment_alone_gives_the_wider_bounds():
    trial = study_of(SEX, [[0], [1]], [WOMEN.experimental, MEN.experimental])
    model = ResponseTypeModel(config=QUICK).fit(trial)
    law = model.law(["", "F", "M"])
    assert p_xy(law) is None
    # Shares of a thousand rows: two standard errors.
    np.testing.assert_allclose(p_y_do_x(law), [0.4895, 0.489, 0.49], atol=0.032)
    np.testing.assert_allclose(p_y_do_x0(law), [0.21, 0.21, 0.21], atol=0.026)
    answer = model.bounds(["", "F", "M"])
    np.testing.assert_allclose(answer.lower, np.maximum(0, p_y_do_x(law) - p_y_do_x0(law)), atol=ROUNDING)
    np.testing.assert_allclose(answer.upper, np.minimum(p_y_do_x(law), 1 - p_y_do_x0(law)), atol=ROUNDING)
    assert answer.support_observational.tolist() == [0, 0, 0]
    assert_answers_everything(model, quantities=("pns", "harm"))


@pytest.mark.parametrize("quantity", ["pn", "ps", "pd", "pe"])
def test_an_experiment_alone_refuses_what_conditions_on_choice(quantity):
    model = ResponseTypeModel(intervals=False, config=QUICK).fit(study_of(Schema(), [[]], [WOMEN.experimental]))
    with pytest.raises(QuantityError, match=f"^{quantity} conditions on what people chose"):
        model.bounds("", quantity)


# --- studies of every kind ------------------------------------------------------------------------------


def sampled(schema, rows, seed=0, present=slice(None)) -> Study:
    """Rows of random types at some of the schema's profiles."""
    rng = np.random.default_rng(seed)
    profiles = lattice.all_profiles(schema)[present]
    cells = rng.dirichlet(np.full(8, 2.0), size=len(profiles)) @ TWO_BY_TWO.incidence.T
    counts = [rng.multinomial(rows, c / c.sum(axis=1, keepdims=True)) for c in np.split(cells, [2, 4], axis=1)]
    return study_of(schema, profiles, np.concatenate(counts, axis=1))


AGE = levels("age", "young", "middle", "old")


STUDIES = {
    "three levels": sampled(Schema((AGE,)), 60),
    "many levels": sampled(Schema((AGE, levels("town", "Ain", "Brest", "Caen", "Dax"))), 15),
    "one constant": sampled(Schema((AGE, levels("country", "France"))), 60),
    "only a constant": sampled(Schema((levels("country", "France"),)), 60),
    "all rows in one profile": sampled(Schema.binary("abc"), 80, present=slice(5, 6)),
    "one row an arm": sampled(Schema.binary("abc"), 1),
}


@pytest.mark.parametrize("kind", STUDIES)
def test_a_study_of_any_kind_is_answered(kind):
    model = ResponseTypeModel(config=QUICK).fit(STUDIES[kind])
    assert isinstance(model.marginaliser_, EnumeratedProfiles)
    assert_answers_everything(model)


def test_a_constant_covariate_makes_no_difference():
    schema = Schema((AGE, levels("country", "France")))
    model = ResponseTypeModel(config=QUICK).fit(sampled(schema, 60))
    fixed, left_open = model.bounds(["age=old,country=France", "country=France"]), model.bounds(["age=old", ""])
    np.testing.assert_allclose(fixed.lower, left_open.lower, atol=ROUNDING)
    np.testing.assert_allclose(fixed.upper, left_open.upper, atol=ROUNDING)


def test_where_all_rows_have_one_profile_its_answer_is_near_their_plug_in():
    rows = 4000
    study = sampled(Schema.binary("abc"), rows, present=slice(5, 6))
    everyone, same = (
        ResponseTypeModel(config=QUICK).fit(study).bounds(["", "101"]),
        PlugIn().fit(study).bounds(["", "101"]),
    )
    assert same.status.tolist() == ["ok", "ok"]
    allowed = 4 * 0.5 / np.sqrt(rows)  # an end is a sum of up to four frequencies of so many rows
    for ours, theirs in ((everyone.lower, same.lower), (everyone.upper, same.upper)):
        assert ours[1] == pytest.approx(theirs[1], abs=allowed)


# --- whose people ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def younger_trial():
    """A treatment that helps the young: two thirds of the trial are young, two thirds of the registry are old."""
    helped, unmoved = np.array([2, 8, 1, 1, 2, 8, 1, 1.0]) / 24, np.array([8, 1, 1, 4, 6, 1, 1, 6.0]) / 28
    types = np.stack([helped, (helped + unmoved) / 2, unmoved])
    shares = {"experimental": np.array([0.66, 0.24, 0.1]), "observational": np.array([0.1, 0.24, 0.66])}
    cells, rows = types @ TWO_BY_TWO.incidence.T, {"experimental": 3000, "observational": 6000}
    counts = np.concatenate(
        [
            rows["experimental"] / 2 * shares["experimental"][:, None] * cells[:, :4],
            rows["observational"] * shares["observational"][:, None] * cells[:, 4:],
        ],
        axis=1,
    )
    study = study_of(Schema((AGE,)), [[0], [1], [2]], np.round(counts))
    shares["pooled"] = (3000 * shares["experimental"] + 6000 * shares["observational"]) / 9000
    truth = {people: np.ravel(bounds(of_types((mix @ types)[None]))) for people, mix in shares.items()}
    return study, truth


@pytest.mark.parametrize("people", PEOPLE)
def test_an_open_covariate_is_averaged_over_the_people_asked_for(people, younger_trial):
    study, truth = younger_trial
    chosen_at_fit = ResponseTypeModel(population=people, intervals=False, config=QUICK).fit(study)
    chosen_at_query = ResponseTypeModel(intervals=False, config=QUICK).fit(study)
    answer = chosen_at_query.bounds("", population=people)
    assert (answer.lower, answer.upper) == (chosen_at_fit.bounds("").lower, chosen_at_fit.bounds("").upper)
    assert np.ravel(chosen_at_fit.raw_ends(np.array([[OPEN]], np.int32))).tolist() == [*answer.lower, *answer.upper]
    off = {whose: np.abs(ends - [*answer.lower, *answer.upper]).sum() for whose, ends in truth.items()}
    assert min(off, key=off.get) == people


def test_an_exact_query_is_about_the_same_people_in_either_table(younger_trial):
    study, _ = younger_trial
    model = ResponseTypeModel(intervals=False, config=QUICK).fit(study)
    lower = [model.bounds(["age=young", "age=old"], population=people).lower for people in PEOPLE]
    np.testing.assert_allclose(lower[0], lower[1], atol=ROUNDING)
    np.testing.assert_allclose(lower[0], lower[2], atol=ROUNDING)


# --- mistakes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "error", "named"),
    [
        ({"population": "trial"}, ModelError, "'trial'; expected observational, experimental, pooled"),
        ({"quantity": "pnss"}, QuantityError, "'pnss'; known: pns, pn"),
    ],
)
def test_a_setting_that_is_none_of_its_fit_summary_is_refused(given, error, named, study, model):
    with pytest.raises(error, match=named):
        ResponseTypeModel(**given, config=QUICK).fit(study)
    with pytest.raises(error, match=named):
        model.bounds("", **given)


def test_an_experiment_alone_is_not_asked_about_the_people_of_a_registry():
    fitted = web_models.alone()
    for population in ("observational", "pooled"):
        for ask in (fitted.bounds, fitted.shares):
            with pytest.raises(QueryError, match=f"{population!r} was given, but .* only those of the experimental"):
                ask(encode(fitted.schema, ""), population=population)
    assert fitted.bounds("", population="experimental").columns() == fitted.bounds("").columns()


@pytest.mark.parametrize("level", [-0.1, 0, 1e-300, 1, np.nextafter(1, 0), float("nan")])
def test_a_level_that_no_interval_can_have_is_refused(level, model):
    with pytest.raises(QueryError, match="give a number between 0 and 1"):
        model.bounds("", level=level)


@pytest.mark.parametrize(("cells", "lacking"), [((0, 1), "treated"), ((2, 3), "untreated")])
def test_a_trial_without_one_of_its_arms_is_refused(cells, lacking, study):
    counts = study.counts.copy()
    counts[:, cells] = 0
    with pytest.raises(ModelError, match=f"the experimental table has no {lacking} row"):
        ResponseTypeModel(config=QUICK).fit(study.with_counts(counts))


@pytest.mark.parametrize(
    ("cells", "named"), [((0, 1), "treated"), ((2, 3), "untreated"), ((4, 5, 6, 7), "observational")]
)
def test_weights_that_stand_for_less_than_one_row_are_refused_with_what_to_do(cells, named, study):
    counts = study.counts.copy()
    counts[:, cells] *= 0.5 / counts[:, cells].sum()
    with pytest.raises(ModelError, match=f"weights of the {named} rows add up to 0.5.*Divide the weights"):
        ResponseTypeModel(config=QUICK).fit(study.with_counts(counts))


def test_weights_that_add_up_to_one_row_are_fitted(study):
    counts = study.counts.copy()
    for cells in (slice(2), slice(2, 4), slice(4, 8)):
        counts[:, cells] /= counts[:, cells].sum()
    assert_answers_everything(ResponseTypeModel(config=QUICK).fit(study.with_counts(counts)))


def test_an_observational_table_without_rows_is_refused(study):
    empty = study.with_tables(observational=np.zeros_like(study.observational))
    with pytest.raises(ModelError, match="the observational table has no row; leave it out"):
        ResponseTypeModel(config=QUICK).fit(empty)


@pytest.mark.parametrize(
    "ask", [lambda model: model.bounds(""), lambda model: model.law(""), lambda model: model.explain()]
)
def test_a_model_that_is_not_fitted_says_so(ask):
    with pytest.raises(ModelError, match=r"this ResponseTypeModel is not fitted yet; call fit\(study\) first"):
        ask(ResponseTypeModel())


# --- the same again -------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_answers_and_another_seed_others(study, model):
    again, other = (
        ResponseTypeModel(random_state=seed, config=QUICK).fit(study).bounds(QUERIES).columns() for seed in (0, 1)
    )
    assert model.bounds(QUERIES).columns() == again
    assert model.bounds(QUERIES).columns()["lower"] != other["lower"]


def test_the_explanation_names_what_was_chosen(model):
    text = model.explain()
    chosen = model.fit_summary_
    assert [words for words, _, _ in chosen.capacities] == ["the same for everyone", "2 indices, 8 units, decay 0.05"]
    assert sum(weight for _, _, weight in chosen.capacities) == pytest.approx(1)
    assert "2 indices, 8 units, decay 0.05" in text
    assert "Shrinkage: " in text
    assert "Covariates of the experimental table: " in text
    assert "Covariates of the observational table: " in text
    assert f"times {chosen.interval_inflation:.2f}" in text
    assert chosen.networks == 3


def test_without_intervals_the_explanation_has_none(study):
    assert "Intervals" not in ResponseTypeModel(intervals=False, config=QUICK).fit(study).explain()


def test_progress_goes_through_the_stages_to_the_end(study):
    told = []
    ResponseTypeModel(config=QUICK).fit(study, progress=lambda *news: told.append(news))
    shares = [done / total for done, total, _ in told if total]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert [note for _, _, note in told if "fitting to all rows" in note]
    assert told[-1][2] == "finding the intervals"


# --- stored ---------------------------------------------------------------------------------------------


def assert_saved_and_loaded_alike(model, queries, folder, quantities=QUANTITIES):
    pnsight.save(model, folder)
    loaded = pnsight.load(folder)
    assert isinstance(loaded, ResponseTypeModel)
    assert loaded.parameters() == model.parameters()
    assert loaded.fit_summary_ == model.fit_summary_
    assert loaded.explain() == model.explain()
    for quantity in quantities:
        for people in model.capabilities.populations:
            before, after = (
                fitted.bounds(queries, quantity, level=0.8, population=people).columns() for fitted in (model, loaded)
            )
            assert before == after


@pytest.mark.parametrize(
    "settings", [{}, {"intervals": False, "quantity": "pn", "population": "pooled", "random_state": 7}]
)
def test_a_loaded_model_answers_to_the_last_digit_as_the_saved_one(settings, study, tmp_path):
    assert_saved_and_loaded_alike(ResponseTypeModel(**settings, config=QUICK).fit(study), QUERIES, tmp_path / "model")


def test_an_experiment_alone_and_a_study_without_covariates_are_stored_too(tmp_path):
    model = ResponseTypeModel(config=QUICK).fit(study_of(Schema(), [[]], [WOMEN.experimental]))
    assert_saved_and_loaded_alike(model, None, tmp_path / "model", ("pns", "harm"))


def test_a_stored_model_answers_the_same_without_loading_jax(model, tmp_path):
    pnsight.save(model, tmp_path / "model")
    asked = model.bounds(["", "01X"], "pn")
    code = (
        "import sys, pnsight\n"
        f"answer = pnsight.load({str(tmp_path / 'model')!r}).bounds(['', '01X'], 'pn')\n"
        "assert 'jax' not in sys.modules and 'sklearn' not in sys.modules\n"
        "print(*map(float, [*answer.lower, *answer.upper, *answer.upper_high]))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert [float(word) for word in printed.split()] == [*asked.lower, *asked.upper, *asked.upper_high]


# --- more profiles than can be listed -------------------------------------------------------------------


@pytest.fixture(scope="module")
def wide():
    """Fifteen covariates, six hundred rows."""
    population = populations.random_population("index", 1, covariates=15)
    return ResponseTypeModel(config=QUICK).fit(population.sample(experimental=300, observational=300, seed=1))


def test_profiles_too_many_to_list_are_counted_and_drawn(wide):
    assert wide.schema.n_profiles == 2 * MAX_ENUMERATED_PROFILES
    assert wide.marginaliser_.representation == "sampled"
    queries = [
        "",
        "1" + "X" * 14,
        "X" * 10 + "01010",
        "0" * 15,
        format_queries(wide.schema, wide.study.profiles[:1])[0],
    ]
    assert_answers_everything(wide, queries)
    assert incompatibility(wide.law(queries)).max() <= 1e-12


def test_a_model_of_many_profiles_is_stored_too(wide, tmp_path):
    queries = ["", "1" + "X" * 14, "0" * 15, format_queries(wide.schema, wide.study.profiles[:1])[0]]
    assert_saved_and_loaded_alike(wide, queries, tmp_path / "model", ("pns", "ps"))


@pytest.fixture(scope="module", params=[10.0, np.inf], ids=["own rows count", "networks alone"])
def both_ways(request, study):
    """The same study with its eight profiles listed, and held to be too many."""
    prior_rows = request.param
    with pytest.MonkeyPatch.context() as patch:
        chosen = prior_rows, {prior_rows: 0.0}
        patch.setattr("pnsight.models.response_types.fit.choose_prior_rows", lambda *_: chosen)
        listed = ResponseTypeModel(config=QUICK).fit(study)
        drawn = ResponseTypeModel(config=replace(QUICK, max_enumerated_profiles=4)).fit(study)
    found = [model.marginaliser_.representation for model in (listed, drawn)]
    assert found == ["enumerated", "sampled"]
    return listed, drawn


def test_listed_and_drawn_profiles_teach_the_same(both_ways):
    """Draws that spread evenly are off by about one in their number, here 1024. A profile takes none: it is off by the
    rounding of types in single precision alone. A query's rows are left out, by which those counted stand for more."""
    listed, drawn = (model.marginaliser_ for model in both_ways)
    profiles, weights = lattice.all_profiles(POPULATION.schema), np.array([0.0, 1.0])
    without_rows = replace(drawn, table_rows=np.zeros(2))
    np.testing.assert_allclose(without_rows.types(QUERIES, weights), listed.types(QUERIES, weights), atol=0.002)
    np.testing.assert_allclose(drawn.types(profiles, weights), listed.types(profiles, weights), atol=1e-5)
    np.testing.assert_allclose(drawn.shares(QUERIES, weights), listed.shares(QUERIES, weights), atol=1e-6)


def test_listed_and_drawn_profiles_are_as_uncertain_on_average(both_ways):
    """Of many profiles only the mean error is kept, here of the eight that have rows."""
    listed, drawn = (model.marginaliser_ for model in both_ways)
    mean = np.sqrt((listed.profile_errors**2).mean(axis=0))
    np.testing.assert_allclose(drawn.group_errors[0], mean, rtol=0.02)


def test_listed_and_drawn_profiles_answer_alike(both_ways):
    """To a small part of the intervals, within which the answers to open queries may differ by how rows count."""
    listed, drawn = (model.bounds(QUERIES) for model in both_ways)
    for end in ("lower", "upper"):
        low, high = listed.interval(end)
        off = np.abs(getattr(drawn, end) - getattr(listed, end))
        assert (off <= 0.25 * (high - low) + 0.002).all()
