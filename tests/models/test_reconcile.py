"""A query's own rows: with many of them its law is theirs, with few the model's, and always one that can be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from laws import of_types
from pnsight.data.law import Law
from pnsight.data.structure import EXPERIMENTAL
from pnsight.data.two_by_two import TWO_BY_TWO
from pnsight.estimands import incompatibility
from pnsight.models.response_types.reconcile import Reconciled, reconcile
from strategies import coherent_laws

ALONE = TWO_BY_TWO.only([EXPERIMENTAL])
TRIAL = TWO_BY_TWO.columns_of(EXPERIMENTAL)
MODEL = of_types(np.array([[6, 8, 1, 5, 5, 9, 1, 5.0]]) / 40).cells
OWN = of_types(np.array([[8, 7, 2, 4, 6, 8, 1, 4.0]]) / 40).cells


def counted(own, law, rows, error=0.05) -> Reconciled:
    """The model's law `law` against rows (queries, groups) that show the shares `own`."""
    rows = np.broadcast_to(np.asarray(rows, float), (len(law), 3))
    residual = TWO_BY_TWO.for_cells(rows) * (own - law)
    return reconcile(law, np.full((len(law), 3), error), rows, residual, TWO_BY_TWO)


@st.composite
def settings(draw):
    """Laws of a model and of own rows, which need not be coherent, their rows, and errors of the model."""
    law = draw(coherent_laws()).cells
    rows = np.array([[draw(st.integers(0, 3000)) for _ in range(3)]], float)
    counts = np.concatenate(
        [draw(hnp.arrays(np.float64, (1, size), elements=st.integers(0, 20).map(float))) + 1e-9 for size in (2, 2, 4)],
        axis=1,
    )
    own = counts / TWO_BY_TWO.for_cells(TWO_BY_TWO.by_group(counts))
    return own, law, rows, draw(st.sampled_from([0.0, 1e-3, 0.03, 0.1, 1.0]))


# --- whose law it is ------------------------------------------------------------------------------------


def test_with_many_rows_the_law_is_theirs():
    found = counted(OWN, MODEL, 1e6)
    np.testing.assert_allclose(found.law, OWN, atol=1e-4)
    np.testing.assert_allclose(found.rows, 1e6)
    assert (found.own_weight > 0.99).all()


def test_with_few_rows_it_is_the_models():
    found = counted(OWN, MODEL, 20)
    np.testing.assert_allclose(found.law, MODEL, atol=1e-4)
    np.testing.assert_allclose(found.rows, 1 / 0.05**2)
    assert (found.own_weight < 0.01).all()


def test_without_rows_nothing_is_added():
    found = counted(OWN, MODEL, 0)
    np.testing.assert_allclose(found.law, MODEL, atol=1e-12)
    assert (found.own_weight == 0).all()
    np.testing.assert_allclose(found.rows, 400)


def test_each_group_goes_by_its_own_rows():
    """Many treated, few untreated and no registry rows."""
    found = counted(OWN, MODEL, [[100_000, 10, 0]])
    np.testing.assert_allclose(found.law[:, :2], OWN[:, :2], atol=1e-3)
    np.testing.assert_allclose(found.law[:, 2:], MODEL[:, 2:], atol=1e-3)
    np.testing.assert_allclose(found.rows, [[100_000, 400, 400]])


@given(given=settings())
def test_a_law_between_the_models_and_the_rows(given):
    """Share by share, where it can be: what no population has is moved."""
    own, law, rows, error = given
    found = counted(own, law, rows, error)
    by_cell = TWO_BY_TWO.for_cells(found.own_weight)
    mean = (1 - by_cell) * law + by_cell * own
    possible = incompatibility(Law(TWO_BY_TWO, mean)) <= 1e-9
    np.testing.assert_allclose(found.law[possible], mean[possible], atol=1e-7)


@given(given=settings())
def test_no_share_that_the_model_has_is_lost(given):
    """A quantity that conditions on an event keeps an answer, even if no own row shows the event."""
    own, law, rows, error = given
    found = counted(own, law, rows, error)
    assert (found.law[law > 0] > 0).all()


# --- laws that can be -----------------------------------------------------------------------------------


@given(given=settings())
def test_the_law_is_one_that_some_population_has(given):
    found = counted(*given)
    assert (found.law >= 0).all()
    np.testing.assert_allclose(TWO_BY_TWO.by_group(found.law), 1, atol=1e-9)
    assert incompatibility(Law(TWO_BY_TWO, found.law)).max() <= 1e-8


@given(given=settings())
def test_the_shares_of_the_trial_are_not_moved_to_make_it_so(given):
    own, law, rows, error = given
    found = counted(own, law, rows, error)
    by_cell = TWO_BY_TWO.for_cells(found.own_weight)
    mean = (1 - by_cell) * law + by_cell * own
    np.testing.assert_allclose(found.law[:, TRIAL], mean[:, TRIAL], atol=1e-3)


def test_an_experiment_alone_is_always_possible():
    rows = np.array([[1e6, 10.0]])
    residual = ALONE.for_cells(rows) * (OWN - MODEL)[:, TRIAL]
    found = reconcile(MODEL[:, TRIAL], np.full((1, 2), 0.05), rows, residual, ALONE)
    np.testing.assert_allclose(found.law[:, :2], OWN[:, :2], atol=1e-3)
    np.testing.assert_allclose(found.law[:, 2:], MODEL[:, 2:4], atol=1e-3)


def test_no_query_has_no_law():
    found = counted(OWN[:0], MODEL[:0], np.zeros((0, 3)))
    assert [part.shape for part in found] == [(0, 8), (0, 3), (0, 3)]


# --- how many rows it is worth --------------------------------------------------------------------------


@given(given=settings())
def test_a_law_is_never_worth_less_than_its_own_rows(given):
    own, law, rows, error = given
    assert (counted(own, law, rows, error).rows >= rows * (1 - 1e-12)).all()


@given(given=settings())
def test_where_own_rows_agree_it_is_worth_whichever_knows_more(given):
    _, law, rows, error = given
    found = counted(law, law, rows, error)
    np.testing.assert_allclose(found.rows, np.maximum(rows, 1 / max(error, 1e-12) ** 2), rtol=1e-9)


@pytest.mark.parametrize("error", [0.01, 0.05, 0.2])
def test_the_more_own_rows_the_more_they_count_and_the_more_it_is_worth(error):
    """Shares that agree with the model to within their noise."""
    each = [counted(MODEL, MODEL, rows, error) for rows in (0, 1, 10, 99, 100, 1000, 10_000, 1e6)]
    weights, worth = (np.array([getattr(found, name)[0] for found in each]) for name in ("own_weight", "rows"))
    assert (np.diff(weights, axis=0) >= 0).all()
    assert (np.diff(weights[1:], axis=0) > 0).all()
    assert (np.diff(worth, axis=0) >= 0).all()


@pytest.mark.parametrize("rows", [200, 5000])
def test_the_larger_the_models_error_the_more_own_rows_count(rows):
    """They agree with the model to within their noise."""
    each = [counted(MODEL, MODEL, rows, error) for error in (1e-3, 0.01, 0.1, 1.0)]
    weights, worth = (np.array([getattr(found, name)[0] for found in each]) for name in ("own_weight", "rows"))
    assert (np.diff(weights, axis=0) > 0).all()
    assert (np.diff(worth, axis=0) <= 0).all()


def test_rows_that_contradict_a_sure_model_are_believed():
    """A thousand rows an arm that are ten standard errors off what a model says that claims to be worth a million."""
    law = of_types(np.full((1, 8), 1 / 8)).cells
    own = law + 10 * np.sqrt(0.25 / 1000) * np.array([1, -1, 1, -1, 0, 0, 0, 0])
    agreeing, contradicting = counted(law, law, 1000, error=1e-3), counted(own, law, 1000, error=1e-3)
    np.testing.assert_allclose(agreeing.rows, 1e6)
    np.testing.assert_allclose(contradicting.rows, [[1000, 1000, 1e6]])
    assert (contradicting.own_weight[:, :2] > 0.9).all()
    np.testing.assert_allclose(contradicting.law[:, TRIAL], own[:, TRIAL], atol=0.02)


def test_a_few_rows_do_not_make_a_model_doubtful():
    """Ninety-nine rows, of which every one responds, say less about a model than they seem to."""
    own = MODEL.copy()
    own[:, :2] = [1.0, 0.0]
    found = counted(own, MODEL, 99, error=1e-3)
    np.testing.assert_allclose(found.rows, 1e6)
    np.testing.assert_allclose(found.law, MODEL, atol=1e-3)
