"""Policies: what usual care and rules bring, in known populations and in tables; and when it is left to people."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pnsight
from cases import MEN, WOMEN, Case
from noted import kinds, values
from pnsight import simulation as populations
from pnsight.data.labels import Labels
from pnsight.data.law import Law
from pnsight.data.schema import Covariate, Schema
from pnsight.data.study import Study
from pnsight.data.two_by_two import TWO_BY_TWO
from pnsight.decisions import POLICIES, policies, policy_values
from pnsight.decisions.policies import option_values
from pnsight.errors import ModelError, PnsightError, QuantityError, QueryError
from pnsight.queries import lattice
from strategies import studies, type_shares
from truth import probability

SEXES = Schema((Covariate("sex", ("F", "M")),))


def sexes(times: int = 1) -> Study:
    tables = (
        times * np.array([getattr(case, name) for case in (WOMEN, MEN)], dtype=float)
        for name in ("experimental", "observational")
    )
    return Study.from_tables(SEXES, np.array([[0], [1]], dtype=np.int32), *tables)


@pytest.fixture(scope="module")
def both() -> pnsight.PlugIn:
    return pnsight.PlugIn().fit(sexes())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("interaction:101", (0.5500, 0.4562, 0.5178, 0.5412, 0.5613)),
        ("mediator", (0.6654, 0.7929, 0.5472, 0.7929, 0.7929)),
    ],
)
def test_policies_of_known_populations(name, expected):
    population = populations.get(name)
    profiles = lattice.all_profiles(population.schema)
    mass, types = population.mixture(profiles)
    found = policy_values(Law.from_types(types, population.structure), mass)
    assert tuple(found) == POLICIES
    assert tuple(found.values()) == pytest.approx(expected, abs=5e-5)


@given(shares=type_shares())
def test_every_option_has_the_value_that_the_response_types_give_it(shares):
    own, opposite = (lambda x, y0, y1: y1 if x else y0), (lambda x, y0, y1: y0 if x else y1)
    treated, untreated = (lambda x, y0, y1: y1), (lambda x, y0, y1: y0)
    expected = [probability(shares[0], rule) for rule in (own, treated, untreated, opposite)]
    assert option_values(Law.from_types(shares, TWO_BY_TWO))[0] == pytest.approx(expected, abs=1e-12)


@given(shares=type_shares(rows=3), weights=st.lists(st.integers(1, 9), min_size=3, max_size=3))
def test_no_rule_by_covariates_and_choice_is_better_than_the_best_one(shares, weights):
    share = np.array(weights) / sum(weights)
    found = policy_values(Law.from_types(shares, TWO_BY_TWO), share)
    best = 0.0
    for row, part in zip(shares, share, strict=True):
        by_choice = [
            max(probability(row, lambda x, y0, y1, c=choice, t=treat: x == c and (y1 if t else y0)) for treat in (0, 1))
            for choice in (0, 1)
        ]
        best += part * sum(by_choice)
    assert found["covariates-and-choice"] == pytest.approx(best, abs=1e-12)
    assert found["covariates-and-choice"] >= max(found.values()) - 1e-12
    assert found["covariates"] >= max(found["treat-all"], found["treat-none"]) - 1e-12


def test_women_and_men(both):
    found = policies(both, ["sex=F", "sex=M"])
    women, men = ({name: found.of(name, row) for name in POLICIES} for row in (0, 1))
    assert [women[name]["value"] for name in POLICIES] == pytest.approx([0.399, 0.489, 0.21, 0.489, 0.489], abs=1e-6)
    assert [men[name]["value"] for name in POLICIES] == pytest.approx([0.7, 0.49, 0.21, 0.49, 0.7], abs=1e-6)
    assert women["covariates-and-choice"]["overruled_to_treat"] == pytest.approx(0.3)
    assert men["covariates-and-choice"]["overruled_to_treat"] == men["covariates-and-choice"]["overruled_to_not"] == 0
    assert men["treat-none"]["overruled_to_not"] == pytest.approx(0.7)
    assert men["covariates"]["gain_high"] < 0
    note = values(found.notes, "usual_care_beats_rule")
    assert (note["queries"], note["of"], note["query"], note["surely"]) == (1, 2, "M", True)


def test_everyone_is_the_mean_of_the_profiles(both):
    found = policies(both)
    assert found.of("usual-care")["value"] == pytest.approx(0.5495)
    assert found.of("covariates-and-choice")["value"] == pytest.approx((0.489 + 0.7) / 2, abs=1e-6)
    assert found.of("covariates-and-choice")["treated"] == pytest.approx((1 + 0.7) / 2)


@settings(max_examples=25)
@given(study=studies(experiment_alone=False))
def test_values_are_shares_and_intervals_hold_them(study):
    try:
        found = policies(pnsight.PlugIn().fit(study))
    except PnsightError:
        return  # the tables contradict each other, or an arm is empty
    for name in POLICIES:
        numbers = found.of(name)
        if numbers["value"] is not None:
            assert 0 <= numbers["low"] <= numbers["value"] <= numbers["high"] <= 1
            assert numbers["gain_low"] <= numbers["gain"] <= numbers["gain_high"]
            assert 0 <= numbers["treated"] <= 1 + 1e-9
    usual = found.of("usual-care")
    assert usual["gain"] in (0, None)


def test_intervals_hold_the_truth_as_often_as_they_say():
    """Two profiles, one of which is better treated by a hair; 90% of the studies, less three deviations."""
    law = Law.from_counts(sexes().counts, TWO_BY_TWO)
    truth = policy_values(law, np.array([0.5, 0.5]))
    rng, studies_drawn, hits = np.random.default_rng(5), 200, dict.fromkeys(POLICIES, 0)
    gains = dict.fromkeys(POLICIES, 0)
    for _ in range(studies_drawn):
        women = rng.binomial(1200, 0.5)
        counts = np.zeros((2, 8))
        for row, registry in enumerate((women, 1200 - women)):
            counts[row] = np.concatenate(
                [
                    rng.multinomial(300, law.cells[row, :2]),
                    rng.multinomial(300, law.cells[row, 2:4]),
                    rng.multinomial(registry, law.cells[row, 4:]),
                ]
            )
        model = pnsight.PlugIn(mix="profiles").fit(sexes().with_counts(counts))
        model.keep_warnings(())
        found = policies(model)
        for name in POLICIES:
            numbers = found.of(name)
            hits[name] += numbers["low"] <= truth[name] <= numbers["high"]
            gains[name] += numbers["gain_low"] <= truth[name] - truth["usual-care"] <= numbers["gain_high"]
    least = 0.9 - 3 * np.sqrt(0.9 * 0.1 / studies_drawn)
    assert min(hits.values()) / studies_drawn >= least
    assert min(gains.values()) / studies_drawn >= least


def test_a_rule_chosen_by_noise_does_not_look_better_than_it_is():
    """Nothing differs between 200 profiles and arms: the best rule is worth nothing, and is not said to be."""
    schema = Schema((Covariate("z", tuple(map(str, range(200)))),))
    profiles = np.arange(200, dtype=np.int32)[:, None]
    rng, gains, high = np.random.default_rng(3), [], 0
    for _ in range(20):
        trial = np.concatenate([rng.multinomial(40, [0.5, 0.5], 200), rng.multinomial(40, [0.5, 0.5], 200)], axis=1)
        registry = rng.multinomial(80, [0.25] * 4, 200)
        model = pnsight.PlugIn().fit(Study.from_tables(schema, profiles, trial.astype(float), registry.astype(float)))
        model.keep_warnings(())
        numbers = policies(model).of("covariates")
        gains.append(numbers["gain"])
        high += numbers["gain_low"] > 0
    assert np.mean(gains) < 0.01  # without the correction about 0.06
    assert high <= 4  # one-sided at 90%: one in twenty expected


def test_a_response_type_model_agrees_with_its_own_law(fitted):
    found = policies(fitted)
    law = fitted.law("")
    assert [found.of(name)["value"] for name in POLICIES[:3]] == pytest.approx(option_values(law)[0][:3].tolist())
    assert found.of("covariates-and-choice")["gain"] >= found.of("covariates")["gain"] - 1e-9
    pooled = policies(fitted, population="pooled")
    assert pooled.of("treat-all")["value"] == pytest.approx(found.of("treat-all")["value"], abs=0.02)


def test_without_intervals_there_are_values_only(without_intervals):
    found = policies(without_intervals)
    assert found.level is None
    assert found.of("covariates")["low"] is None
    assert found.of("covariates")["value"] is not None


def test_what_cannot_be_compared_is_refused(both):
    alone = pnsight.PlugIn().fit(sexes().with_tables(observational=None))
    with pytest.raises(ModelError, match="an experiment alone does not show"):
        policies(alone)
    with pytest.raises(QueryError, match="confidence"):
        policies(both, level=95)
    with pytest.raises(QueryError, match="population"):
        policies(both, population="pooled")


# --- treat, do not, or leave it to them -----------------------------------------------------------------


def test_women_are_treated_and_it_is_left_to_men(both):
    found = pnsight.decide(both, ["sex=F", "sex=M", ""], leave=True)
    assert list(found.decision) == list(found.decision_cautious) == ["treat", "leave", "leave"]
    assert found.columns()["usual"] == pytest.approx([0.399, 0.7, 0.5495])
    assert found.words()[1].startswith("M: leave it to them: 0.700 respond if they choose for themselves")
    assert values(found.notes, "choices_counted") == {
        "treat": 1,
        "not_": 0,
        "leave": 2,
        "uncertain": 0,
        "unanswered": 0,
    }


def test_a_threshold_is_by_how_many_more_must_respond_than_under_usual_care(both):
    assert list(pnsight.decide(both, "sex=F", 0.08, leave=True).decision) == ["treat"]
    assert list(pnsight.decide(both, "sex=F", 0.08, leave=True).decision_cautious) == ["uncertain"]
    assert list(pnsight.decide(both, "sex=F", 0.1, leave=True).decision) == ["leave"]


@settings(max_examples=25)
@given(shares=type_shares())
def test_the_decision_has_most_respond(shares):
    law = Law.from_types(shares, TWO_BY_TWO)
    counts = 10_000 * law.cells
    study = Study.from_tables(Schema(), np.zeros((1, 0), np.int32), counts[:, :4], counts[:, 4:])
    found = pnsight.decide(pnsight.PlugIn().fit(study), leave=True)
    chosen = {"leave": 0, "treat": 1, "not": 2}[str(found.decision[0])]
    best = option_values(law)[0][:3]
    assert best[chosen] == pytest.approx(best.max(), abs=1e-9)


def test_what_does_not_go_with_leaving_it_to_them_is_refused(both):
    with pytest.raises(QuantityError, match="pns is asked for too"):
        pnsight.decide(both, quantity="pns", leave=True)
    with pytest.raises(QuantityError, match="assume"):
        pnsight.decide(both, leave=True, assume="monotone")
    with pytest.raises(QueryError, match="from 0 to 1"):
        pnsight.decide(both, threshold=50, leave=True)


# --- what is said where usual care is better ------------------------------------------------------------


def test_decisions_rankings_and_budgets_say_when_usual_care_is_better(both):
    decided = pnsight.decide(both, ["sex=F", "sex=M"], 0.2)
    assert values(decided.notes, "usual_care_better") == {
        "groups": 1,
        "of": 2,
        "query": "M",
        "group": "sex = M",
        "treat": True,
        "fewer": pytest.approx(0.21),
    }
    labels = Labels({"sex": "Sex"}, {"sex": {"M": "men"}})
    labelled = pnsight.PlugIn().fit(both.study.with_labels(labels))
    said = pnsight.decide(labelled, ["sex=F", "sex=M"], 0.2).notes
    assert values(said, "usual_care_better")["group"] == "Sex = men"
    assert "usual_care_better" in kinds(pnsight.rank(both).notes)
    assert "usual_care_better" in kinds(pnsight.select(both, 0.5).notes)
    women = pnsight.decide(both, "sex=F", 0.2)
    assert "usual_care_better" not in kinds(women.notes)
    assert "usual_care_better" not in kinds(pnsight.decide(both, "sex=M", 0.2, trial_alone=True).notes)


def test_few_rows_are_no_reason_to_say_so():
    few = Case((5, 5, 2, 8), (10, 4, 4, 2), {})
    model = pnsight.PlugIn().fit(few.study())
    found = pnsight.decide(model, threshold=0.1)
    assert found.decision[0] == "treat"
    assert "usual_care_better" not in kinds(found.notes)
