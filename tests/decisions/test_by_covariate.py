"""Decisions by covariate: who is treated how often, and how far that may be wrong."""

from __future__ import annotations

import numpy as np
import pytest

import pnsight
import web_models
from pnsight.decisions import decide, decisions_by
from pnsight.errors import QuantityError, QueryError
from pnsight.queries import lattice


@pytest.fixture(scope="module")
def model() -> pnsight.Model:
    return web_models.clinic()


@pytest.mark.parametrize("cautious", [True, False])
@pytest.mark.parametrize("threshold", [0.1, 0.2, 0.3])
def test_shares_are_those_of_the_profiles_decided_one_by_one(model, threshold, cautious):
    found = decisions_by(model, "sex", threshold=threshold, cautious=cautious).columns()
    profiles = lattice.all_profiles(model.schema)
    each, share = decide(model, profiles, threshold, cautious=cautious), model.shares(profiles)
    for row, level in enumerate(found["level"]):
        inside = profiles[:, 0] == row if level else np.ones(len(profiles), dtype=bool)
        assert found["people"][row] == pytest.approx(share[inside].sum())
        for word in ("treat", "not", "uncertain"):
            expected = share[inside & (each.decision == word)].sum() / share[inside].sum()
            assert found[word][row] == pytest.approx(expected)


def test_decisions_of_a_level_add_up_to_all_its_people(model):
    shares = decisions_by(model, "region", threshold=0.25).shares
    total = sum(shares[name] for name in ("treat", "not", "uncertain", "unanswered"))
    assert total == pytest.approx(np.ones(3))
    assert shares["people"][:-1].sum() == pytest.approx(shares["people"][-1])


def test_errors_are_the_bounds_of_those_decided_upon(model):
    found = decisions_by(model, "sex", threshold=0.0, cautious=False).columns()
    profiles = lattice.all_profiles(model.schema)
    share, helped, harmed = model.shares(profiles), model.bounds(profiles), model.bounds(profiles, "harm")
    assert found["treat"][-1] == pytest.approx(1.0)
    assert found["not_helped"][-1] == pytest.approx(1 - share @ helped.lower / share.sum())
    assert found["harmed"][-1] == pytest.approx(share @ harmed.upper / share.sum())
    assert found["missed"][-1] is None
    nobody = decisions_by(model, "sex", threshold=1.0, cautious=False).columns()
    assert nobody["missed"][-1] == pytest.approx(share @ helped.upper / share.sum())
    assert nobody["harmed"][-1] is None


def test_it_can_be_asked_of_some_people_only(model):
    some = decisions_by(model, "sex", "region=South", 0.2).columns()
    assert some["people"][-1] == pytest.approx(model.shares(model.schema.coded(np.array([[-1, -1, 1]])))[0])


def test_a_model_without_a_law_does_not_know_who_is_harmed():
    found = decisions_by(web_models.mask_mlp(), "sex", threshold=0.0)
    assert np.isnan(found.shares["harmed"]).all()


def test_mistakes_are_told(model):
    with pytest.raises(QueryError, match=r"no covariate is called 'sexx'.*Did you mean 'sex'"):
        decisions_by(model, "sexx")
    with pytest.raises(QuantityError, match="pn does not say whom to treat"):
        decisions_by(model, "sex", quantity="pn")
