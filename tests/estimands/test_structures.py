"""Any structure: compiled bounds are those of the linear program, hold the truth, and reduce to two by two."""

from __future__ import annotations

import numpy as np
import pytest

from pnsight.data.arms_and_outcomes import arms_and_outcomes
from pnsight.data.law import Law
from pnsight.data.structure import EXPERIMENTAL
from pnsight.data.two_by_two import TWO_BY_TWO
from pnsight.errors import AssumptionError, QuantityError
from pnsight.estimands.compiled import coherence_terms
from pnsight.estimands.contrast import read_contrast
from pnsight.estimands.estimand import Estimand, usual_estimand
from pnsight.estimands.linear_program import lp_bounds
from pnsight.estimands.nearest_law import nearest_law
from structures import STRUCTURES, random_law

ORDERED = [name for name in STRUCTURES if name != "no order"]
CONTRAST = {
    "three arms": "high:placebo",
    "an arm that is not tried": "high:low",
    "three arms, three grades": "low:high",
}
SHOWN = ("pn", "ps", "pd", "pe")
BY_CHOICE = ("ett", "etu", "treated-if-untreated", "untreated-if-treated")
CHOSEN = (*SHOWN, *BY_CHOICE)
"""Quantities that condition on what people showed, on what they chose, and on either."""
QUANTITIES = ("pns", "harm", "effect", *CHOSEN)


def asked(name, quantity, **options):
    return Estimand.parse(quantity, contrast=CONTRAST.get(name), **options).of_structure(STRUCTURES[name])


def agree(estimand, law, types, row=0):
    (lower,), (upper,) = (end[[row]] for end in estimand.bounds_at(law))
    np.testing.assert_allclose((lower, upper), lp_bounds(law, estimand, row), atol=1e-7)
    truth = estimand.truth(types, law.structure)[row]
    assert lower - 1e-9 <= truth <= upper + 1e-9


@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("name", ORDERED)
def test_bounds_of_any_structure_are_those_of_the_linear_program_and_hold_the_truth(name, quantity):
    structure = STRUCTURES[name]
    if quantity in CHOSEN and structure.tables == (EXPERIMENTAL,):
        with pytest.raises(QuantityError, match="conditions on what people chose"):
            asked(name, quantity).compiled(structure)
        return
    if quantity in ("pd", "pe") and structure.description.missing == "worst-case":
        return  # what people show is not always known
    estimand = asked(name, quantity)
    if quantity in SHOWN and structure.description.missing == "worst-case":
        with pytest.raises(QuantityError, match="conditions on outcomes that people show"):
            estimand.compiled(structure)
        return
    types, law = random_law(structure, seed=7, rows=4)
    for row in range(4):
        agree(estimand, law, types, row)


@pytest.mark.parametrize("name", ["survival", "recovery"])
@pytest.mark.parametrize("quantity", ["pns", "pn", "harm", "benefit"])
@pytest.mark.parametrize("at", [0, 1])
def test_at_a_horizon_times_are_two_outcomes(name, quantity, at):
    structure = STRUCTURES[name]
    described = structure.description
    horizon = described.horizons[at]
    payoffs = (100, -60, 0, -140) if quantity == "benefit" else None
    estimand = asked(name, quantity, horizon=horizon, payoffs=payoffs)
    types, law = random_law(structure, seed=3, rows=3)
    agree(estimand, law, types)
    binary = _at_horizon(law, at, described.event_is_bad)
    plain = Estimand.parse(quantity, payoffs=payoffs)
    np.testing.assert_allclose(estimand.bounds_at(law), plain.bounds_at(binary), atol=1e-12)


def _at_horizon(law, at, event_is_bad):
    """The law of two outcomes: whether the event has been spared, or reached, at a horizon."""
    structure = law.structure
    later = np.arange(len(structure.description.outcomes)) > at
    better = later if event_is_bad else ~later
    number = len(later)

    def split(columns):
        good = law.cells[:, columns.start : columns.stop][:, better].sum(axis=1)
        return good, law.cells[:, columns].sum(axis=1) - good

    control, treated = (split(structure.group_slices[k]) for k in (0, 1))
    first = structure.group_slices[2].start
    chose0, chose1 = (split(slice(first + k * number, first + (k + 1) * number)) for k in (0, 1))
    return Law(TWO_BY_TWO, np.stack([*treated, *control, *chose1, *chose0], axis=1))


def test_time_gained_is_identified_and_the_difference_of_the_mean_times():
    structure = STRUCTURES["survival"]
    estimand = Estimand.parse("time").of_structure(structure)
    assert estimand.horizon == 365
    assert estimand.span == (-365, 365)
    types, law = random_law(structure, seed=1)
    lower, upper = estimand.bounds_at(law)
    np.testing.assert_allclose(lower, upper)
    np.testing.assert_allclose(lower, estimand.truth(types, structure))
    good = Estimand.parse("time").of_structure(STRUCTURES["recovery"])
    types, law = random_law(STRUCTURES["recovery"], seed=1)
    shares = law.table(EXPERIMENTAL)[0]
    assert good.bounds_at(law)[0][0] == pytest.approx((shares[:3] - shares[3:]) @ [15, 60, 90])


@pytest.mark.parametrize("name", ["noncompliance", "noncompliance alone"])
@pytest.mark.parametrize("assume", ["no-defiers", "one-sided"])
@pytest.mark.parametrize("quantity", ["pns", "harm", "effect"])
@pytest.mark.parametrize("among", ["everyone", "compliers"])
def test_bounds_under_assumptions_about_compliance_are_those_of_the_linear_program(name, assume, quantity, among):
    structure = STRUCTURES[name]
    estimand = asked(name, quantity, assume=assume, among=among)
    types, law = random_law(structure, seed=5, rows=3, possible=estimand.possible(structure))
    for row in range(3):
        agree(estimand, law, types, row)


def test_the_effect_among_compliers_is_identified_without_defiers():
    structure = STRUCTURES["noncompliance alone"]
    estimand = asked("noncompliance alone", "effect", assume="no-defiers", among="compliers")
    types, law = random_law(structure, seed=2, possible=estimand.possible(structure))
    lower, upper = estimand.bounds_at(law)
    z0, z1 = law.cells[0, :4], law.cells[0, 4:8]
    wald = ((z1[1] + z1[3]) - (z0[1] + z0[3])) / ((z1[2] + z1[3]) - (z0[2] + z0[3]))
    np.testing.assert_allclose([lower[0], upper[0]], wald, atol=1e-10)
    np.testing.assert_allclose(estimand.truth(types, structure), wald, atol=1e-10)


@pytest.mark.parametrize("name", ["three grades", "three arms", "survival"])
def test_monotone_bounds_of_any_structure_are_those_of_the_linear_program(name):
    structure = STRUCTURES[name]
    for quantity in ("pns", "effect"):
        estimand = asked(name, quantity, assume="monotone")
        types, law = random_law(structure, seed=9, rows=2, possible=estimand.possible(structure))
        agree(estimand, law, types)
        assert estimand.truth(types, structure)[0] == pytest.approx(
            asked(name, "pns").truth(types, structure)[0]
        )  # nobody is harmed


def test_a_law_that_contradicts_an_assumption_by_noise_is_moved_to_the_nearest_that_does_not():
    structure = STRUCTURES["noncompliance alone"]
    estimand = asked("noncompliance alone", "effect", assume="no-defiers")
    possible = estimand.possible(structure)
    _, law = random_law(structure, seed=4, rows=30)
    rows = np.full(2, 500.0)
    moved = nearest_law(law, possible, rows)
    terms = coherence_terms(structure, tuple(possible.tolist()))
    assert (terms(law) < -1e-3).any()
    assert (terms(moved) > -1e-4).all()
    kept = (terms(law) >= 0).all(axis=0)
    np.testing.assert_array_equal(moved.cells[kept], law.cells[kept])


def test_two_outcomes_with_arms_by_name_are_two_by_two():
    """Of the quantities by order, those with two outcomes are the literature's."""
    structure = arms_and_outcomes(("0", "1"), ("0", "1"))
    types, law = random_law(structure, seed=11, rows=5)
    plain = Law.from_types(types, TWO_BY_TWO)
    for quantity in QUANTITIES:
        np.testing.assert_allclose(
            Estimand.parse(quantity).bounds_at(law), Estimand.parse(quantity).bounds_at(plain), atol=1e-12
        )


def test_pns_is_made_of_pn_and_ps_with_any_number_of_grades():
    structure = STRUCTURES["three grades"]
    types, _ = random_law(structure, seed=6)
    parts = {name: Estimand.parse(name) for name in ("pns", "pn", "ps")}
    chance = {name: types @ one.given(structure) for name, one in parts.items()}
    truth = {name: one.truth(types, structure) for name, one in parts.items()}
    np.testing.assert_allclose(truth["pns"], chance["pn"] * truth["pn"] + chance["ps"] * truth["ps"])


def test_the_worst_case_is_no_narrower_than_any_outcome_the_missing_may_have():
    structure = STRUCTURES["missing, worst case"]
    plain = arms_and_outcomes(("placebo", "drug"), ("no", "yes"))
    estimand = Estimand.parse("pns")
    types, law = random_law(structure, seed=8, rows=3)
    lower, upper = estimand.bounds_at(law)
    full = Law.from_types(np.stack([types @ _same(structure, plain)])[0], plain)
    inner_lower, inner_upper = estimand.bounds_at(full)
    assert (lower <= inner_lower + 1e-9).all()
    assert (upper >= inner_upper - 1e-9).all()


def _same(structure, plain):
    """Which types of a structure, with and without what is missing, are the same people, shape (types, types)."""
    rows = [np.all(plain.types == kind[: plain.types.shape[1]], axis=1) for kind in structure.types]
    return np.array(rows, dtype=float)


@pytest.mark.parametrize("given", ["high", "high:high", "high:low:placebo", ("high",)])
def test_a_contrast_is_two_different_arms(given):
    with pytest.raises(QuantityError, match="expected two different arms, as in --contrast high:placebo"):
        read_contrast(given)


def test_a_contrast_is_needed_with_more_arms_than_two_and_names_arms():
    structure = STRUCTURES["three arms"]
    with pytest.raises(QuantityError, match="say which one is compared with which, as in --contrast high:placebo"):
        Estimand.parse("pns").of_structure(structure)
    with pytest.raises(QuantityError, match=r"the arms are placebo, low, high. Did you mean 'high'\?"):
        Estimand.parse("pns", contrast="hihg:placebo").of_structure(structure)


def test_what_does_not_go_together_is_refused():
    three, noncompliance = STRUCTURES["three grades"], STRUCTURES["noncompliance alone"]
    with pytest.raises(
        QuantityError, match="asks which outcome is better, but the outcomes none, mild, severe have no"
    ):
        Estimand.parse("pns").of_structure(STRUCTURES["no order"])
    with pytest.raises(QuantityError, match="horizon 30; it has none"):
        Estimand.parse("pns", horizon=30).of_structure(three)
    with pytest.raises(QuantityError, match="its horizons are 30, 90, 365"):
        Estimand.parse("pns", horizon=60).of_structure(STRUCTURES["survival"])
    with pytest.raises(QuantityError, match="no times to an event"):
        Estimand.parse("time").of_structure(three)
    with pytest.raises(QuantityError, match="horizon 30; it has none"):
        Estimand.parse(statement="Y[drug] == mild", horizon=30).of_structure(three)
    with pytest.raises(QuantityError, match=r"say the time in the statement, as in T\[arm\] > 90"):
        Estimand.parse(statement="T[drug] > 90", horizon=90).of_structure(STRUCTURES["survival"])
    with pytest.raises(AssumptionError, match=r"'monotone' was assumed, .* none, mild, severe have no order"):
        Estimand.parse(statement="Y[drug] == mild", assume="monotone").of_structure(STRUCTURES["no order"])
    with pytest.raises(QuantityError, match="in the worst case a missing one may be any"):
        Estimand.parse("pn").compiled(STRUCTURES["missing, worst case"])
    conditioned = Estimand.parse(statement="Y[drug] == mild", given="X == drug")
    with pytest.raises(QuantityError, match="the statement is conditioned on what people chose"):
        conditioned.compiled(STRUCTURES["experiment alone, three grades"])
    with pytest.raises(QuantityError, match="but nobody was assigned an arm"):
        Estimand.parse("pns", among="compliers").of_structure(three)
    with pytest.raises(AssumptionError, match="about people who do not take what they are assigned"):
        Estimand.parse("pns", assume="no-defiers").of_structure(three)
    with pytest.raises(AssumptionError, match="two arms and two outcomes only"):
        Estimand.parse("pns", assume="exogenous").of_structure(three)
    with pytest.raises(QuantityError, match="add --assume no-defiers"):
        Estimand.parse("pns", among="compliers").compiled(noncompliance)
    with pytest.raises(QuantityError, match="among is 'defiers'"):
        Estimand.parse("pns", among="defiers")


@pytest.mark.parametrize("name", STRUCTURES)
def test_every_structure_has_something_that_is_usually_asked(name):
    structure = STRUCTURES[name]
    _, law = random_law(structure, seed=0)
    lower, upper = usual_estimand(structure).bounds_at(law)
    assert (lower <= upper + 1e-9).all()
