"""Compiled bounds: the closed forms found again, complete, tight, and the known inequalities of coherence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st
from scipy.optimize import linprog

import closed_forms
from laws import asking, of_types
from pnsight.data.arms_and_outcomes import arms_and_outcomes
from pnsight.data.law import Law
from pnsight.data.structure import Variable, build_structure
from pnsight.data.two_by_two import EXPERIMENT_ALONE, TWO_BY_TWO, two_by_two_law
from pnsight.errors import LimitError, QuantityError
from pnsight.estimands import QUANTITIES, bounds, coherence_terms, compile_bounds, incompatibility
from pnsight.estimands.compiled import identified_terms
from pnsight.estimands.expressions import evaluate
from pnsight.estimands.linear_program import ResponseTypeLP
from strategies import any_laws, type_shares

SAME = 1e-12
PAYOFFS = st.tuples(*[st.one_of(st.integers(-200, 200), st.floats(-1e3, 1e3).map(lambda x: round(x, 3)))] * 4)


def noncompliance(registry: bool):
    """Assigned, taken and outcome: D(0), D(1), Y(0), Y(1), and X, what people choose, where there is a registry."""
    binary = ("0", "1")
    variables = [Variable(name, binary) for name in ("D0", "D1", "Y0", "Y1", *(("X",) if registry else ()))]

    def assigned(z: int):
        return {
            f"d{d}y{y}_z{z}": (lambda p, d=d, y=y, z=z: (p[f"D{z}"] == d) & (p[f"Y{d}"] == y))
            for d in (0, 1)
            for y in (0, 1)
        }

    groups = {("experimental", f"z{z}"): assigned(z) for z in (0, 1)}
    if registry:
        groups["observational", "registry"] = {
            f"x{x}y{y}": (lambda p, x=x, y=y: (p["X"] == x) & (p[f"Y{x}"] == y)) for x in (0, 1) for y in (0, 1)
        }
    return build_structure(variables, groups)


def arms(number: int, outcomes: int):
    return arms_and_outcomes([f"x{k}" for k in range(number)], [f"y{j}" for j in range(outcomes)])


STRUCTURES = {
    "two arms": (lambda: TWO_BY_TWO, "Y1 == 1 and Y0 == 0", 8, 4, 4, 8),
    "three arms": (lambda: arms(3, 2), "Y0 == 0 and Y2 == 1", 24, 4, 4, 12),
    "three arms, three outcomes": (lambda: arms(3, 3), "Y2 > Y0", 81, 9, 9, 18),
    "five outcomes": (lambda: arms(2, 5), "Y1 > Y0", 50, 25, 25, 20),
    "survival in six intervals": (lambda: arms(2, 6), "Y1 > Y0", 72, 36, 36, 24),
    "survival in ten intervals": (lambda: arms(2, 10), "Y0 <= 5 and Y1 > 5", 200, 4, 4, 40),
    "noncompliance with a registry": (lambda: noncompliance(True), "Y1 == 1 and Y0 == 0", 32, 19, 9, 48),
}


@pytest.mark.parametrize("quantity", closed_forms.QUANTITIES)
@given(law=st.one_of(any_laws(), type_shares(rows=4).map(of_types)))
def test_compiled_bounds_are_the_closed_forms_whether_or_not_a_population_has_the_law(quantity, law):
    found, expected = bounds(law, quantity), closed_forms.QUANTITIES[quantity](law)
    known = closed_forms.given(law, quantity) > 1e-3
    np.testing.assert_allclose(np.array(found)[:, known], np.array(expected)[:, known], atol=SAME / 1e-3, rtol=0)
    whole = closed_forms.given(law, quantity) > 0.1
    np.testing.assert_allclose(np.array(found)[:, whole], np.array(expected)[:, whole], atol=10 * SAME, rtol=0)


@pytest.mark.parametrize("quantity", ["pns", "harm"])
@given(law=any_laws())
def test_an_experiment_alone_has_its_closed_forms_too(quantity, law):
    alone = law.only("experimental")
    np.testing.assert_allclose(bounds(alone, quantity), closed_forms.QUANTITIES[quantity](alone), atol=SAME, rtol=0)


@given(law=any_laws(), payoffs=PAYOFFS)
@limits(max_examples=60)
def test_the_benefit_has_its_closed_form_for_any_payoffs(law, payoffs):
    scale = max(1.0, *map(abs, payoffs))
    expected = closed_forms.benefit(law, payoffs)
    np.testing.assert_allclose(bounds(law, payoffs=payoffs), expected, atol=10 * SAME * scale, rtol=0)


def test_coherence_is_tian_and_pearls_inequalities_and_nothing_else():
    found = coherence_terms(TWO_BY_TWO)
    names = [cell.name for cell in TWO_BY_TWO.cells]
    said = {
        frozenset((name, value) for name, value in zip(names, row, strict=True) if value)
        for row, constant in zip(found.coefficients, found.constant, strict=True)
        if constant == 0
    }
    pairs = {("y_x", "x,y"), ("y'_x", "x,y'"), ("y_x'", "x',y"), ("y'_x'", "x',y'")}
    edges = {frozenset({(arm, 1.0), (cell, -1.0)}) for arm, cell in pairs}
    assert said == edges | {frozenset({(cell, 1.0)}) for _, cell in pairs}
    assert len(found.constant) == 8


@given(law=any_laws())
def test_incompatibility_is_the_worst_violation(law):
    a, b = (law.p(name)[0] for name in ("y_x", "y_x'"))
    xy, xn, x0y, x0n = law.table("observational")[0]
    worst = max(0.0, xy - a, a - (1 - xn), x0y - b, b - (1 - x0n))
    assert incompatibility(law)[0] == pytest.approx(worst, abs=SAME)


@pytest.mark.parametrize("name", STRUCTURES)
def test_each_structure_compiles_to_as_many_terms_as_exact_enumeration_found(name):
    make, statement, types, lower, upper, coherence = STRUCTURES[name]
    structure = make()
    found = compile_bounds(structure, evaluate(statement, structure.people))
    assert structure.n_types == types
    assert (len(found.lower.constant), len(found.upper.constant)) == (lower, upper)
    assert len(found.coherence.constant) == coherence


@pytest.mark.parametrize("name", STRUCTURES)
def test_compiled_bounds_are_those_of_the_linear_program_and_attained(name):
    make, statement, *_ = STRUCTURES[name]
    structure = make()
    value = evaluate(statement, structure.people)
    compiled = compile_bounds(structure, value)
    rng = np.random.default_rng(7)
    types = rng.dirichlet(np.full(structure.n_types, 0.2), size=12)
    types[::3] = np.eye(structure.n_types)[rng.integers(structure.n_types, size=4)]  # laws at a corner
    law = Law.from_types(types, structure)
    lower, upper = compiled.bounds(law)
    assert incompatibility(law).max() <= 1e-9
    everyone = np.ones(structure.n_types)
    for row in range(len(law)):
        populations = ResponseTypeLP(structure, law.cells[row], everyone > 0)
        ends = populations.extremes(np.asarray(value, dtype=float), everyone)
        np.testing.assert_allclose((lower[row], upper[row]), ends, atol=1e-8)


@pytest.mark.parametrize("name", STRUCTURES)
def test_a_law_is_coherent_iff_some_population_has_it(name):
    structure = STRUCTURES[name][0]()
    rng = np.random.default_rng(3)
    types = rng.dirichlet(np.full(structure.n_types, 0.3), size=10)
    mixed = Law.from_types(types, structure)
    cells = mixed.cells.copy()
    for some in structure.group_slices:  # groups of different populations rarely agree
        cells[:, some] = mixed.cells[rng.permutation(10)][:, some]
    incompatible = incompatibility(Law(structure, cells)) > 1e-9
    matrix = np.vstack([np.ones((1, structure.n_types)), structure.incidence])
    solved = [linprog(np.zeros(structure.n_types), A_eq=matrix, b_eq=np.append(1.0, row)).status for row in cells]
    np.testing.assert_array_equal(incompatible, np.array(solved) == 2)


def test_published_bounds_for_noncompliance():
    """Balke and Pearl's lipid trial and the vitamin A trial: effect, PNS and harm."""
    structure = noncompliance(registry=False)
    trials = {
        "lipid": ([0.919, 0.081, 0, 0, 0.315, 0.073, 0.139, 0.473], (0.392, 0.780), (0.465, 0.788), (0, 0.081)),
        "vitamin": (
            [0.0064, 0.9936, 0, 0, 0.0028, 0.1972, 0.0010, 0.7990],
            (-0.1946, 0.0054),
            (0.0026, 0.0064),
            (0, 0.1982),
        ),
    }
    for cells, *expected in trials.values():
        law = Law(structure, np.array([cells]))
        for statement, ends in zip(("Y1 - Y0", "Y1 > Y0", "Y0 > Y1"), expected, strict=True):
            found = compile_bounds(structure, evaluate(statement, structure.people)).bounds(law)
            np.testing.assert_allclose(np.ravel(found), ends, atol=1e-9)


def test_three_treatments_and_three_outcomes_as_published():
    doses = Law(arms(3, 2), np.array([[0.8, 0.2, 0.5, 0.5, 0.3, 0.7, 0.25, 0.05, 0.1, 0.2, 0.1, 0.3]]))
    grades = Law(arms(2, 3), np.array([[0.5, 0.3, 0.2, 0.2, 0.3, 0.5, 0.3, 0.1, 0.1, 0.1, 0.1, 0.3]]))
    for law, statement, expected in (
        (doses, "Y0 == 0 and Y2 == 1", (0.5, 0.7)),
        (doses, "Y0 == 0 and Y1 == 1 and Y2 == 1", (0, 0.5)),
        (doses, "Y0 == 0 and Y1 == 0 and Y2 == 1", (0, 0.5)),
        (grades, "Y0 == 0 and Y1 == 2", (0, 0.4)),
        (grades, "Y1 > Y0", (0.4, 0.8)),
    ):
        found = compile_bounds(law.structure, evaluate(statement, law.structure.people)).bounds(law)
        np.testing.assert_allclose(np.ravel(found), expected, atol=1e-9)


@pytest.mark.parametrize("quantity", closed_forms.QUANTITIES)
def test_where_nobody_is_harmed_both_ends_are_one_formula(quantity):
    assert asking(quantity, assume="monotone").compiled(TWO_BY_TWO).is_point
    assert not asking(quantity).compiled(TWO_BY_TWO).is_point


def test_an_arm_without_rows_leaves_what_does_not_need_it():
    law = two_by_two_law(np.array([np.nan]), np.array([0.3]), np.array([[0.3, 0.2, 0.2, 0.3]]))
    assert np.isnan(np.ravel(bounds(law, "pns"))).all()
    assert not np.isnan(np.ravel(bounds(law, "pn"))).any()


def test_what_the_tables_identify_is_found_and_what_not_is_not():
    people = TWO_BY_TWO.people
    assert identified_terms(TWO_BY_TWO, people["Y"] == 1) is not None
    assert identified_terms(TWO_BY_TWO, (people["Y0"] == 0) & (people["Y1"] == 1)) is None
    assert identified_terms(EXPERIMENT_ALONE, people["Y"] == 1) is None
    for quantity in QUANTITIES.values():
        if quantity.given is not None:
            with pytest.raises(QuantityError, match="an experiment alone does not show"):
                asking(quantity.name).compiled(EXPERIMENT_ALONE)


def test_a_structure_too_large_to_compile_says_so():
    large = arms(4, 4)
    with pytest.raises(LimitError, match="1,024 response types"):
        compile_bounds(large, large.people["Y0"] == 1)


def test_a_formula_is_compiled_once():
    pns = evaluate("Y1 == 1 and Y0 == 0", TWO_BY_TWO.people)
    assert compile_bounds(TWO_BY_TWO, pns) is compile_bounds(TWO_BY_TWO, pns)
