"""Whether data contradict an assumption: populations of which it is true pass, others are refused with figures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from check_power import Truth
from hypothesis import given
from hypothesis import strategies as st

import pnsight
from cases import MEN, WOMEN
from laws import empirical_law, of_types, p_xy, p_y_do_x, p_y_do_x0
from pnsight import simulation as populations
from pnsight.data.schema import Covariate, Schema
from pnsight.data.two_by_two import TWO_BY_TWO
from pnsight.diagnostics import AssumptionTest, assumptions_of
from pnsight.diagnostics.assumption_tests import implied
from pnsight.errors import AssumptionError
from pnsight.notes import Note
from pnsight.queries import lattice
from pnsight.queries.query import encode

SEXES = Schema((Covariate("sex", ("F", "M")),))
RANDOM = [f"{kind}:{seed}" for kind in populations.KINDS for seed in range(1, 4)]
FAMILYWISE_ALPHA = 0.05
HARMED = (TWO_BY_TWO.types[:, 1] == 1) & (TWO_BY_TWO.types[:, 2] == 0)


def sexes(*cases) -> pnsight.Study:
    counts = [np.array([getattr(case, table) for case in cases], float) for table in ("experimental", "observational")]
    return pnsight.Study.from_tables(SEXES, lattice.all_profiles(SEXES), *counts)


def unharmed(name: str) -> populations.Population:
    """The population with everyone who would be harmed made an always-taker."""
    known = populations.get(name)

    def responses(z, h):
        shares = known.responses(z, h).copy()
        shares[:, :, 3] += shares[:, :, 2]
        shares[:, :, 2] = 0
        return shares

    return replace(known, responses=responses)


def drawn_by_lot(name: str) -> populations.Population:
    """The population with a choice that hidden causes have no part in: the mean of what they would make of it."""
    known = populations.get(name)

    def choice(z, h):
        states = np.array(list(np.ndindex(*[2] * len(known.hidden))), dtype=np.int32)
        weight = np.prod(np.where(states == 1, known.hidden, 1 - known.hidden), axis=1)
        return np.repeat((known.choice(z, states) @ weight)[:, None], len(h), axis=1)

    return replace(known, choice=choice)


def sampled_test(population: populations.Population, assume: str, rows: int = 100_000) -> AssumptionTest:
    return assumptions_of(population.sample(rows, rows, seed=1), assume)


# --- populations of which it is true, and of which it is not ------------------------------------------------


def test_the_edited_populations_are_what_they_are_called():
    for name in RANDOM[:3]:
        queries = lattice.all_profiles(populations.get(name).schema)[::50]
        assert unharmed(name).true_value(queries, "harm").max() == 0
        law = drawn_by_lot(name).law(queries)
        xy, xy0, x0y, x0y0 = p_xy(law).T
        np.testing.assert_allclose(p_y_do_x(law), xy / (xy + xy0))
        np.testing.assert_allclose(p_y_do_x0(law), x0y / (x0y + x0y0))
        assert populations.get(name).true_value("", "harm")[0] > 0.05


def refusal(refused) -> Note:
    """What an `AssumptionError` says, as data."""
    (note,) = refused.value.args
    assert note.kind == "assumption_contradicted"
    return note


@pytest.mark.parametrize("name", RANDOM)
def test_a_population_in_which_nobody_is_harmed_passes(name):
    note = sampled_test(unharmed(name), "monotone").note(encode(populations.get(name).schema, ""))
    assert (note.kind, note.values["assumed"]) == ("assumption_not_contradicted", ("monotone",))
    assert note.values["subgroups"] > 1
    assert note.values["comparisons"] >= note.values["subgroups"]
    assert 0 < note.values["detectable"] < 1


@pytest.mark.parametrize("name", RANDOM)
def test_a_population_whose_choice_has_no_hidden_cause_passes(name):
    assert not sampled_test(drawn_by_lot(name), "exogenous").contradicted


@pytest.mark.parametrize("name", RANDOM[:6])
def test_a_population_of_which_both_are_true_passes_both(name):
    both = replace(unharmed(name), choice=drawn_by_lot(name).choice)
    assert not sampled_test(both, "monotone,exogenous").contradicted


@pytest.mark.parametrize(
    ("name", "assume", "true"),
    [
        ("mediator", "monotone", True),
        ("direct-positive", "monotone", True),
        ("direct", "monotone", False),
        ("covariate", "monotone", False),
        ("confounder", "monotone", False),
        ("covariate", "exogenous", True),
        ("direct", "exogenous", True),
        ("mediator", "exogenous", False),
        ("confounder", "exogenous", False),
    ],
)
def test_the_catalog(name, assume, true):
    """200,000 rows a table; `confounder` hides little, so it takes that many."""
    found = sampled_test(populations.get(name), assume, rows=200_000)
    assert found.contradicted is not true


def test_harm_that_shows_is_refused_with_its_subgroup_figures_and_p_value():
    study = sexes(WOMEN, MEN)
    found = assumptions_of(study, "monotone")
    with pytest.raises(AssumptionError) as refused:
        found.note(encode(study.schema, ""))
    note = refusal(refused)
    assert (note.values["assumed"], note.values["implies"]) == (("monotone",), "P(y) <= P(y_x)")
    shown = note.values["found"]
    assert shown["group"] == "sex=M"
    assert shown["left"] == {"text": "P(y)", "where": "observational", "value": pytest.approx(0.7)}
    assert shown["right"] == {"text": "P(y_x)", "where": "experimental", "value": pytest.approx(0.49)}
    assert 0.1 < shown["low"] < shown["excess"] == pytest.approx(0.21)
    assert note.values["comparisons"] == 9
    assert note.values["adjusted"] == found.found.adjusted[found.found.reported[0]] < 1e-20


def test_people_whom_the_contradiction_is_not_about_may_be_asked_about():
    study = sexes(WOMEN, MEN)
    found = assumptions_of(study, "monotone")
    assert found.note(encode(study.schema, "F")) == Note(
        "assumption_contradicted_elsewhere",
        {"assumed": ["monotone"], "subgroups": 3, "comparisons": 9, "elsewhere": ["sex=M"]},
        "warning",
    )
    for concerned in ("M", ""):
        with pytest.raises(AssumptionError):
            found.note(encode(study.schema, concerned))


def test_choice_that_says_how_people_respond_is_refused_whichever_way_it_errs():
    """Cases A to C have treated people who respond more, and less, often than in the trial."""
    for case, larger in ((WOMEN, "P(y_x) <= P(y|x)"), (MEN, "P(y|x) <= P(y_x)")):
        found = assumptions_of(sexes(case, case), "exogenous").found
        broken = {str(inequality) for inequality, flag in zip(found.inequalities, found.broken, strict=True) if flag}
        assert larger in broken


def test_more_contradictions_than_are_named_refuse_everything():
    """Six towns of men, beside one of so many women that everyone together shows no harm."""
    schema = Schema((Covariate("town", tuple("abcdefg")),))
    towns = [(WOMEN, 30), *[(MEN, 1)] * 6]
    counts = [
        np.array([np.array(getattr(case, table)) * times for case, times in towns], float)
        for table in ("experimental", "observational")
    ]
    study = pnsight.Study.from_tables(schema, lattice.all_profiles(schema), *counts)
    found = assumptions_of(study, "monotone")
    assert len(found.found.reported) == 5
    assert not found.found.all_reported
    with pytest.raises(AssumptionError) as refused:
        found.note(encode(study.schema, "a"))
    assert refusal(refused).values["more"]
    assert "Also: " in str(refused.value)
    assert "more subgroups" in str(refused.value)


# --- no false alarms ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mass", "allocation"),
    [(((0.8, 0.2), (0.2, 0.8)), (0.5, 0.5)), (((0.5, 0.5), (0.5, 0.5)), (0.8, 0.2))],
    ids=["covariate shift", "stratified allocation"],
)
@pytest.mark.parametrize("assume", ["monotone", "exogenous", "monotone,exogenous"])
def test_another_mix_or_allocation_of_profiles_is_no_contradiction(mass, allocation, assume):
    """The young mostly choose and mostly respond, whatever they choose; pooled, both assumptions look wrong."""
    schema = Schema((Covariate("age", ("young", "old")),))
    responds, chooses = np.array([0.9, 0.1]), np.array([0.8, 0.2])
    types = np.zeros((2, 8))
    types[:, 0], types[:, 3] = (1 - chooses) * (1 - responds), (1 - chooses) * responds
    types[:, 4], types[:, 7] = chooses * (1 - responds), chooses * responds
    study = Truth(schema, types, np.array(mass), np.array(allocation)).draw(np.random.default_rng(3), 200_000)
    pooled = empirical_law(*np.split(study.counts.sum(axis=0, keepdims=True), 2, axis=1))
    xy, xy0, _, _ = p_xy(pooled)[0]
    assert max(abs(p_y_do_x(pooled)[0] - p_y_do_x0(pooled)[0]), abs(p_y_do_x(pooled)[0] - xy / (xy + xy0))) > 0.1
    assert not assumptions_of(study, assume).contradicted


def test_at_the_very_edge_alarms_are_as_rare_as_claimed():
    """No effect and no confounding: every inequality is an equality, in each of twelve profiles."""
    rng = np.random.default_rng(7)
    schema = Schema((Covariate("town", tuple("abcdefghijkl")),))
    alarms, studies = 0, 100
    for _ in range(studies):
        responds, chooses = rng.uniform(0.1, 0.9, size=(2, 12))
        types = np.zeros((12, 8))
        for kind, (x, y0, y1) in enumerate(TWO_BY_TWO.types):
            if y0 == y1:
                types[:, kind] = np.where(x, chooses, 1 - chooses) * np.where(y0, responds, 1 - responds)
        truth = Truth(schema, types, rng.dirichlet(np.ones(12), size=2), rng.uniform(0.2, 0.8, 12))
        alarms += assumptions_of(truth.draw(rng, 5_000), "monotone,exogenous").contradicted
    assert alarms <= studies * FAMILYWISE_ALPHA + 3 * np.sqrt(studies * FAMILYWISE_ALPHA)


# --- what is implied ----------------------------------------------------------------------------------------


@given(seed=st.integers(0, 1000))
def test_what_is_implied_holds_of_every_population_of_which_it_is_assumed(seed):
    """Expected counts, so that an inequality is broken only if it is wrong."""
    rng = np.random.default_rng(seed)
    free = rng.dirichlet(np.ones(8))
    monotone = np.where(HARMED, 0, free) / np.where(HARMED, 0, free).sum()

    def by_lot(types):
        return np.outer(types.reshape(2, 4).sum(axis=1), types.reshape(2, 4).sum(axis=0)).ravel()

    truths = {("monotone",): monotone, ("exogenous",): by_lot(free), ("monotone", "exogenous"): by_lot(monotone)}
    for assume, types in truths.items():
        law = of_types(types[None])
        counts = 1e4 * np.concatenate(
            [[p_y_do_x(law)[0], 1 - p_y_do_x(law)[0], p_y_do_x0(law)[0], 1 - p_y_do_x0(law)[0]], p_xy(law)[0]]
        )
        for inequality in implied(assume):
            left, right = (
                sum(counts[TWO_BY_TWO.column(cell)] for cell in side.counted)
                / sum(counts[TWO_BY_TWO.column(cell)] for cell in side.among)
                for side in (inequality.left, inequality.right)
            )
            assert left <= right + 1e-12, str(inequality)


def test_a_contradiction_for_everyone_is_said_to_be_profile_by_profile_and_leaves_nobody_to_ask_about():
    """The shares compared are those of one mix of profiles: a reader who adds up rows finds others."""
    study = sexes(MEN, MEN)
    with pytest.raises(AssumptionError) as refused:
        assumptions_of(study, "monotone").note(encode(study.schema, "sex=F"))
    note = refusal(refused)
    assert (note.values["found"]["group"], note.values["found"]["pooled"]) == ("everyone", True)
    assert note.values["found"]["left"] == {"text": "P(y)", "where": "observational", "value": pytest.approx(0.7)}
    assert not note.values["others_may_be_asked"]


def test_what_is_implied_in_words():
    assert list(map(str, implied(("monotone",)))) == ["P(y_x') <= P(y_x)", "P(y) <= P(y_x)", "P(y_x') <= P(y)"]
    assert list(map(str, implied(("monotone",), experiment_alone=True))) == ["P(y_x') <= P(y_x)"]
    assert len(implied(("exogenous",))) == 4
    assert len(implied(("monotone", "exogenous"))) == 8


def test_an_experiment_alone_can_contradict_that_nobody_is_harmed():
    study = pnsight.Study.from_tables(Schema(), np.zeros((1, 0), np.int32), np.array([[200.0, 800, 300, 700]]), None)
    with pytest.raises(AssumptionError) as refused:
        assumptions_of(study, "monotone").note(encode(study.schema, ""))
    shown = refusal(refused).values["found"]
    assert (shown["group"], shown["pooled"]) == ("everyone", False)
    assert shown["left"] == {"text": "P(y_x')", "where": "experimental", "value": pytest.approx(0.3)}
    assert shown["right"] == {"text": "P(y_x)", "where": "experimental", "value": pytest.approx(0.2)}


def test_an_experiment_alone_says_nothing_of_choice():
    study = sexes(WOMEN, MEN).with_tables(observational=None)
    with pytest.raises(AssumptionError, match="'exogenous' was assumed, of which an experiment alone shows nothing"):
        assumptions_of(study, "exogenous")


def test_tables_without_a_profile_in_common_leave_an_assumption_untested():
    counts = [np.array([[0.0, 0, 0, 0], [9, 9, 0, 0]]), np.array([[9.0, 9, 9, 9], [0, 0, 0, 0]])]
    study = pnsight.Study.from_tables(SEXES, lattice.all_profiles(SEXES), *counts)
    note = assumptions_of(study, "exogenous").note(encode(SEXES, ""))
    assert note == Note("assumption_untestable", {"assumed": ["exogenous"]})
