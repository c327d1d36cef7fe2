"""Dual bounds: the refined bounds where the law is known, never tighter by any other choice of vertices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from laws import asking, of_types
from pnsight.data.law import Law
from pnsight.data.structure import OBSERVATIONAL, Structure
from pnsight.data.two_by_two import TWO_BY_TWO
from pnsight.estimands import Estimand
from pnsight.estimands.dual_bounds import CrossFit, dual_bounds
from pnsight.estimands.linear_program import lp_bounds
from pnsight.estimands.raking import rake
from strategies import type_shares
from structures import STRUCTURES, random_law

EXACT = 1e-9
PARTS = 3
FEW = settings(max_examples=20)  # each example solves two programs a profile
ROWS = 10_000.0


def registry(structure: Structure) -> np.ndarray:
    asked = np.zeros(structure.n_cells, dtype=bool)
    asked[structure.columns_of(OBSERVATIONAL)] = True
    return asked


def exact_rows(law: Law, taught: np.ndarray, people: np.ndarray, arms: np.ndarray | None = None) -> CrossFit:
    """Rows in exactly the shares of the law, one fold; the arms have a covariate mix of their own if it is given."""
    asked, mix = registry(law.structure), people if arms is None else arms
    counts = law.cells * np.where(asked, people[:, None], mix[:, None])
    features = np.eye(len(law))[:, 1:]
    return CrossFit(law.structure, counts[None], taught[None], asked, features, np.ones(law.structure.n_cells))


def refined_by_program(law: Law, people: np.ndarray, estimand: Estimand) -> tuple[float, float]:
    """The mean of the profiles' own bounds, each by linear programming."""
    ends = np.array([lp_bounds(law, estimand, row) for row in range(len(law))])
    lower, upper = people @ ends / people.sum()
    return float(lower), float(upper)


def mixes(parts: int = PARTS) -> st.SearchStrategy[np.ndarray]:
    return st.lists(st.integers(1, 9), min_size=parts, max_size=parts).map(lambda mix: ROWS * np.array(mix, float))


@pytest.mark.parametrize("quantity", ["pns", "harm", "effect"])
@FEW
@given(types=type_shares(rows=PARTS), people=mixes(), arms=mixes())
def test_with_the_true_law_they_are_the_refined_bounds(quantity, types, people, arms):
    law, question = of_types(types), asking(quantity)
    found = dual_bounds(question.compiled(TWO_BY_TWO), exact_rows(law, law.cells, people, arms))
    assert (found.lower, found.upper) == pytest.approx(refined_by_program(law, people, question), abs=1e-7)


@pytest.mark.parametrize("quantity", ["pn", "ps"])
@given(types=type_shares(rows=PARTS), people=mixes())
def test_so_they_are_of_a_quantity_that_conditions_on_an_event(quantity, types, people):
    law, question = of_types(types), asking(quantity, refine="covariates")
    terms = people @ question.profile_terms(law) / people.sum()
    assume(terms[2] > 0.01)
    lower, upper = question.bounds_from_mean_terms(terms[None], TWO_BY_TWO)
    found = dual_bounds(question.compiled(TWO_BY_TWO), exact_rows(law, law.cells, people))
    assert (found.lower, found.upper) == pytest.approx((lower[0], upper[0]), abs=EXACT)


@FEW
@given(types=type_shares(rows=PARTS), wrong=type_shares(rows=PARTS), people=mixes())
def test_with_any_other_law_they_are_never_tighter(types, wrong, people):
    law, question = of_types(types), asking("pns")
    found = dual_bounds(question.compiled(TWO_BY_TWO), exact_rows(law, of_types(wrong).cells, people))
    lower, upper = refined_by_program(law, people, question)
    assert found.lower <= lower + 1e-7
    assert found.upper >= upper - 1e-7


@given(types=type_shares(rows=PARTS), wrong=type_shares(rows=PARTS), people=mixes(), arms=mixes())
def test_arms_with_a_mix_of_their_own_are_weighted_to_the_people_asked_about(types, wrong, people, arms):
    """With an indicator of every profile the weights are the true ratio, so a wrong law costs nothing but vertices."""
    law, question = of_types(types), asking("pns")
    compiled, taught = question.compiled(TWO_BY_TWO), of_types(wrong).cells
    shifted = dual_bounds(compiled, exact_rows(law, taught, people, arms))
    alike = dual_bounds(compiled, exact_rows(law, taught, people))
    assert (shifted.lower, shifted.upper) == pytest.approx((alike.lower, alike.upper), abs=1e-6)


@pytest.mark.parametrize("name", ["three arms", "three grades", "an arm that is not tried", "noncompliance"])
@pytest.mark.parametrize("seed", range(3))
def test_other_structures_have_them_too(name, seed):
    structure = STRUCTURES[name]
    contrast = "high:placebo" if len(structure.description.arms) > 2 else None
    question = Estimand.parse("pns", contrast=contrast).of_structure(structure)
    _, law = random_law(structure, seed, rows=PARTS)
    people = ROWS * np.arange(1.0, 1 + PARTS)
    compiled = question.compiled(structure)
    found = dual_bounds(compiled, exact_rows(law, law.cells, people, people[::-1]))
    lower, upper = refined_by_program(law, people, question)
    assert (found.lower, found.upper) == pytest.approx((lower, upper), abs=1e-7)
    _, wrong = random_law(structure, seed + 100, rows=PARTS)
    other = dual_bounds(compiled, exact_rows(law, wrong.cells, people))
    assert other.lower <= lower + 1e-7
    assert other.upper >= upper - 1e-7


def test_the_error_is_that_of_repeated_studies():
    """Rows drawn again and again from known laws, with wrong laws taught and arms of another mix: a sandwich holds."""
    rng = np.random.default_rng(5)
    law, wrong = (random_law(TWO_BY_TWO, seed, rows=6)[1] for seed in (1, 2))
    features = np.stack([np.arange(6) % 2, np.arange(6) // 2 == 1, np.arange(6) // 2 == 2], axis=1).astype(float)
    people = np.array([0.1, 0.2, 0.15, 0.25, 0.2, 0.1])
    arms = people * np.exp(features @ [0.6, -0.4, 0.5])
    asked, compiled = registry(TWO_BY_TWO), asking("pns").compiled(TWO_BY_TWO)
    found = []
    for _ in range(400):
        counts = np.concatenate(
            [
                rng.multinomial(2000, ((mix / mix.sum())[:, None] * law.cells[:, some]).ravel()).reshape(6, -1)
                for mix, some in zip((arms, arms, people), TWO_BY_TWO.group_slices, strict=True)
            ],
            axis=1,
        ).astype(float)
        given_rows = CrossFit(TWO_BY_TWO, counts[None], wrong.cells[None], asked, features, np.ones(8))
        found.append(dual_bounds(compiled, given_rows))
    exact = dual_bounds(compiled, exact_rows(law, wrong.cells, ROWS * people))
    for end in ("lower", "upper"):
        values, errors = (np.array([getattr(each, name) for each in found]) for name in (end, f"{end}_error"))
        assert errors.mean() == pytest.approx(values.std(), rel=4 / np.sqrt(2 * len(found)))
        assert values.mean() == pytest.approx(getattr(exact, end), abs=4 * values.std() / np.sqrt(len(found)))


def test_rows_that_are_worth_less_have_a_larger_error():
    _, law = random_law(TWO_BY_TWO, 3, rows=PARTS)
    rows = exact_rows(law, law.cells, np.full(PARTS, 1000.0))
    half = CrossFit(**{**vars(rows), "worth": np.full(8, 0.5)})
    compiled = asking("pns").compiled(TWO_BY_TWO)
    assert dual_bounds(compiled, half).lower_error == pytest.approx(
        np.sqrt(2) * dual_bounds(compiled, rows).lower_error
    )


# --- raking ---------------------------------------------------------------------------------------------


@given(rows=mixes(), wanted=mixes())
def test_raked_rows_have_the_mix_that_is_wanted(rows, wanted):
    features = np.eye(PARTS)[:, 1:]
    weights = rake(rows, features, wanted @ features / wanted.sum())
    assert rows @ weights == pytest.approx(rows.sum())
    assert rows * weights / rows.sum() == pytest.approx(wanted / wanted.sum(), abs=1e-7)


def test_rows_that_have_the_mix_keep_equal_weights():
    features = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    rows = np.array([3.0, 4.0, 5.0])
    assert rake(rows, features, rows @ features / rows.sum()) == pytest.approx(np.ones(3))


def test_a_mix_that_no_weights_give_is_refused():
    assert rake(np.array([3.0, 4.0, 0.0]), np.eye(3)[:, 1:], np.array([0.3, 0.5])) is None


def test_an_arm_without_people_like_those_asked_about_gives_no_bounds():
    _, law = random_law(TWO_BY_TWO, 3, rows=2)
    rows = exact_rows(law, law.cells, np.array([5000.0, 5000.0]), np.array([10_000.0, 0.0]))
    assert dual_bounds(asking("pns").compiled(TWO_BY_TWO), rows) is None
    uneven = exact_rows(law, law.cells, np.array([500.0, 9500.0]), np.array([10_000.0, 20.0]))
    assert dual_bounds(asking("pns").compiled(TWO_BY_TWO), uneven) is None
