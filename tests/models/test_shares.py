"""The share of the people that a query describes, by each model's own law of the covariates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pnsight
from laws import p_xy, p_y_do_x, p_y_do_x0
from pnsight import simulation as populations
from pnsight.data.profiles import distinct_profiles
from pnsight.data.study import Study
from pnsight.errors import ModelError
from pnsight.queries import lattice
from pnsight.queries.query import encode
from quick_config import QUICK
from strategies import codes_of, studies

ROUNDING = 1e-6
PEOPLE = ("observational", "experimental", "pooled")


@given(study=studies(experiment_alone=None), data=st.data(), population=st.sampled_from(PEOPLE))
def test_the_plug_in_counts_the_people_of_a_table(study, data, population):
    codes = data.draw(codes_of(study.schema))
    tables = {
        "experimental": study.experimental,
        "observational": study.experimental if study.observational is None else study.observational,
        "pooled": study.counts,
    }
    rows = tables[population].sum(axis=1)
    covers = [((query == -1) | (query == study.profiles)).all(axis=1) for query in codes]
    expected = [rows[inside].sum() / max(rows.sum(), 1) for inside in covers]
    np.testing.assert_allclose(pnsight.PlugIn().fit(study).shares(codes, population), expected, atol=1e-12)


def test_a_plug_in_that_mixes_profiles_means_the_people_it_was_told():
    study = populations.get("mediator").sample(experimental=300, observational=200, seed=1)
    codes = lattice.all_profiles(study.schema)
    model = pnsight.PlugIn(mix="profiles", population="experimental").fit(study)
    np.testing.assert_array_equal(model.shares(codes), pnsight.PlugIn().fit(study).shares(codes, "experimental"))


def test_unknown_people_are_refused():
    study = populations.get("mediator").sample(experimental=300, observational=200, seed=1)
    with pytest.raises(ModelError, match="'nobody'"):
        pnsight.PlugIn().fit(study).shares(study.profiles, "nobody")


def few_covariates() -> Study:
    """Five of the mediator population's covariates."""
    study = populations.get("mediator").sample(experimental=3000, observational=2000, seed=1)
    schema = pnsight.Schema(study.schema.covariates[:5])
    profiles, place = distinct_profiles(schema, study.profiles[:, :5])
    counts = np.zeros((len(profiles), 8))
    np.add.at(counts, place, study.counts)
    return Study.from_tables(schema, profiles, counts[:, :4], counts[:, 4:])


@pytest.fixture(scope="module", params=["enumerated", "sampled"])
def fitted(request):
    """A response-type model that lists all profiles, or only those that have rows."""
    config = replace(QUICK, max_enumerated_profiles=1) if request.param == "sampled" else QUICK
    return pnsight.ResponseTypeModel(intervals=False, config=config).fit(few_covariates())


@pytest.mark.parametrize("population", PEOPLE)
def test_shares_of_the_response_type_model_add_up(fitted, population):
    everyone, exact = encode(fitted.schema, ""), lattice.all_profiles(fitted.schema)
    each = fitted.shares(exact, population)
    assert fitted.shares(everyone, population)[0] == pytest.approx(1, abs=ROUNDING)
    assert (each > 0).all()
    queries = lattice.all_queries(fitted.schema)
    added = lattice.sum_over(fitted.schema, queries, exact, each[:, None])[:, 0]
    np.testing.assert_allclose(fitted.shares(queries, population), added, atol=ROUNDING)


def test_the_pooled_people_are_those_of_both_tables(fitted):
    codes = lattice.all_queries(fitted.schema)
    observational, experimental, pooled = (fitted.shares(codes, population) for population in PEOPLE)
    np.testing.assert_allclose(pooled, 0.4 * observational + 0.6 * experimental, atol=ROUNDING)


def test_common_queries_have_about_the_share_of_their_rows(fitted):
    codes = lattice.queries_fixing_at_most(fitted.schema, 1)
    rows = pnsight.PlugIn().fit(few_covariates()).shares(codes)
    np.testing.assert_allclose(fitted.shares(codes), rows, atol=4 * np.sqrt(0.25 / 2000))


@pytest.mark.parametrize("query", ["", "z4=1", "z1=0,z3=1"])
def test_the_law_of_a_query_is_the_mean_of_its_parts_by_their_shares(fitted, query):
    """Where not all profiles are listed, draws stand for the smooth part of an open query, and are off by a little."""
    tolerance = ROUNDING if fitted.marginaliser_.representation == "enumerated" else 0.01
    whole = fitted.law(query)
    parts = [f"{query},z2={level}" if query else f"z2={level}" for level in (0, 1)]
    shares = fitted.shares(encode(fitted.schema, parts))
    mixed = fitted.law(parts).mix(shares[None] / shares.sum())
    np.testing.assert_allclose(p_y_do_x(mixed), p_y_do_x(whole), atol=tolerance)
    np.testing.assert_allclose(p_y_do_x0(mixed), p_y_do_x0(whole), atol=tolerance)
    np.testing.assert_allclose(p_xy(mixed), p_xy(whole), atol=tolerance)
