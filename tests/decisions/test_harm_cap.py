"""A cap on harm: no more of those treated are harmed than allowed, and no other choice of people gains more."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import pnsight
from pnsight.decisions import select
from pnsight.decisions.harm_cap import spend_with_cap
from pnsight.errors import QueryError
from pnsight.queries import lattice
from strategies import studies

shares = st.integers(0, 20).map(lambda n: n / 20)


@settings(max_examples=20)
@given(study=studies(experiment_alone=None), budget=shares, cap=shares)
def test_no_more_are_harmed_than_allowed(study, budget, cap):
    model = pnsight.PlugIn().fit(study)
    assume(not model.contradicted(lattice.all_profiles(study.schema)).all())
    found = select(model, budget, max_harm=cap)
    assert found.totals()["spent"] <= budget + 1e-7
    assert found.treated @ np.nan_to_num(found.harm, nan=1.0) <= cap * found.treated.sum() + 1e-7
    each = select(model, budget, max_harm_each=cap)
    assert (each.harm[each.treated > 0] <= cap).all()
    plain = select(model, budget)
    assert each.totals()["guaranteed"] <= found.totals()["guaranteed"] + 1e-7
    assert found.totals()["guaranteed"] <= plain.totals()["guaranteed"] + 1e-7


@settings(max_examples=20)
@given(study=studies(experiment_alone=None), budget=shares)
def test_a_cap_that_everybody_keeps_changes_nothing(study, budget):
    model = pnsight.PlugIn().fit(study)
    assume(not model.contradicted(lattice.all_profiles(study.schema)).all())
    found, plain = select(model, budget, max_harm=1.0), select(model, budget)
    assert found.totals()["guaranteed"] == pytest.approx(plain.totals()["guaranteed"], abs=1e-7)


@given(
    numbers=st.lists(st.tuples(*[st.integers(1, 9)] * 4), min_size=1, max_size=4), budget=st.integers(0, 30), cap=shares
)
def test_no_mixture_on_a_grid_gains_more(numbers, budget, cap):
    gain, price, crowd, tenths = np.array(numbers, dtype=float).T
    harm = tenths / 10
    found = spend_with_cap(gain, price, crowd, budget, harm, cap)
    grid = np.stack(np.meshgrid(*(np.linspace(0, each, 4) for each in crowd)), axis=-1).reshape(-1, len(crowd))
    allowed = (grid @ price <= budget) & (grid @ (harm - cap) <= 0)
    assert found @ price <= budget + 1e-7
    assert found @ gain >= (grid[allowed] @ gain).max(initial=0.0) - 1e-6


def test_who_may_be_harmed_too_much_is_said(fitted):
    found = select(fitted, 0.5, max_harm_each=0.02)
    assert found.harmed_share() <= 0.02
    left_out = [note.values for note in found.notes if note.kind == "not_considered"]
    assert any(each["why"] == "too_much_harm" for each in left_out)
    assert "harmed" in found.caption
    assert "harm_upper" in found.columns()


def test_the_curve_keeps_the_cap(fitted):
    capped, plain = select(fitted, 1.0, max_harm=0.1), select(fitted, 1.0)
    curve = capped.curve()
    assert curve["spent"][0] == 0
    assert max(curve["guaranteed"]) <= plain.totals()["guaranteed"] + 1e-9
    assert curve["guaranteed"][-1] == pytest.approx(capped.totals()["guaranteed"])


def test_with_caution_the_interval_of_harm_has_to_keep_it(fitted):
    plain, careful = (select(fitted, 0.5, max_harm_each=0.2, cautious=how) for how in (False, True))
    assert careful.totals()["treated"] <= plain.totals()["treated"] + 1e-12


def test_a_percentage_is_refused_with_a_hint(fitted):
    with pytest.raises(QueryError, match=r"from 0 to 1.*0\.02"):
        select(fitted, 0.5, max_harm=2)
