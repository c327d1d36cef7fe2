"""A second opinion: holds where the model is wrong, agrees where it is right, and says where there is none."""

from __future__ import annotations

import numpy as np
import pytest

import pnsight
from boastful import Boastful
from cases import half_contradicted, write_csv
from noted import kinds
from pnsight import simulation as populations
from pnsight.data.study import Study
from pnsight.decisions.second_opinion import AGREE, TIGHTER, second_opinion
from pnsight.decisions.validation import deal_study
from pnsight.errors import QueryError

ROWS = 40_000


class Swapped(pnsight.PlugIn):
    """A plug-in that takes the arms of the experiment for each other."""

    def fit(self, study: Study, progress=None):
        counts = study.counts.copy()
        counts[:, :4] = counts[:, [2, 3, 0, 1]]
        found = super().fit(study.with_counts(counts))
        found.keep_warnings(())
        return found


@pytest.fixture(scope="module")
def population():
    return populations.random_population("index", 3, covariates=4)


@pytest.fixture(scope="module")
def study(population) -> Study:
    return population.sample(ROWS, ROWS, seed=2)


@pytest.fixture(scope="module")
def found(study):
    return second_opinion(pnsight.PlugIn().fit(study))


def test_large_groups_are_asked_about_and_their_true_refined_bounds_are_within(found, population):
    truth = population.bounds(list(found.queries), "pns", refine="covariates")
    assert found.queries[0] == "XXXX"
    assert len(found) > 4
    assert (found.low <= truth.lower + 1e-12).mean() > 0.8
    assert (found.high >= truth.upper - 1e-12).mean() > 0.8
    assert np.abs(found.lower - truth.lower).max() < 4 * found.lower_error.max()


def test_it_agrees_with_a_model_that_is_right(found):
    assert set(found.agreement) == {AGREE}
    assert "opinions_agree" in kinds(found.notes)


def test_it_holds_where_the_model_is_wrong_and_says_that_they_differ(study, population):
    """A model that swaps the arms of what it is taught says wrong things; its vertices are wrong too, and still valid.

    Its rows are those of the study: only the law that it makes of them is another.
    """
    model = Swapped().fit(study)
    model.study_ = study  # asked about the rows as they are
    found = second_opinion(model, "")
    truth = population.bounds("", "pns", refine="covariates")
    assert found.low[0] <= truth.lower[0]
    assert truth.upper[0] <= found.high[0]


def test_a_model_that_claims_too_much_is_found_out(study, population):
    found, truth = second_opinion(Boastful().fit(study), ""), population.bounds("", "pns", refine="covariates")
    assert found.model_low[0] > truth.lower[0]
    assert found.low[0] <= truth.lower[0] <= truth.upper[0] <= found.high[0]
    assert list(found.agreement) == [TIGHTER]
    assert "opinions_differ" in kinds(found.notes)


@pytest.mark.parametrize("whose", ["observational", "experimental", "pooled"])
def test_it_is_about_the_people_that_are_asked_about(study, whose, population):
    model = pnsight.PlugIn(mix="profiles", population=whose).fit(study)
    found = second_opinion(model, "z1=1")
    truth = population.bounds("z1=1", "pns", refine="covariates")  # both tables mix the covariates alike
    assert abs(found.lower[0] - truth.lower[0]) < 4 * found.lower_error[0]
    assert abs(found.upper[0] - truth.upper[0]) < 4 * found.upper_error[0]


def test_folds_leave_nothing_out_and_no_row_twice(study):
    np.testing.assert_array_equal(np.sum(deal_study(study, 4, 1), axis=0), study.counts)


def test_of_clusters_whole_ones_are_left_out(tmp_path):
    lines = [f"v{k // 5},{k % 2},{(k * 7) % 3 % 2},{k // 5}" for k in range(200)]
    tables = [write_csv(tmp_path / f"{name}.csv", "village,x,y,site", iter(lines)) for name in ("trial", "registry")]
    study = pnsight.read_study(*tables, treatment="x", outcome="y", covariates=["village"], cluster="site")
    for part in deal_study(study, 4, 7):
        held, whole = part.sum(axis=1), study.counts.sum(axis=1)
        assert ((held == 0) | (held == whole)).all()


def test_of_few_rows_there_is_none():
    model = pnsight.PlugIn().fit(populations.get("mediator").sample(400, 400, seed=1))
    found = second_opinion(model)
    assert found.queries == ("XXXXXXXXXX",)
    assert np.isnan([found.lower[0], found.high[0]]).all()
    assert list(found.agreement) == [""]
    assert kinds(found.notes)[-1] == "opinion_needs_rows"


def test_ends_never_cross_and_where_the_tables_contradict_each_other_there_is_none():
    """Of the two towns one is contradicted; in the other all bounds are points, which two estimates miss each way."""
    found = second_opinion(pnsight.PlugIn().fit(half_contradicted()))
    sound = [query == "town=Ain" for query in found.queries]
    assert sum(sound) == 1
    np.testing.assert_array_equal(np.isnan(found.lower), np.logical_not(sound))
    assert found.low[sound] <= found.lower[sound] <= found.upper[sound] <= found.high[sound]
    assert list(found.agreement[sound]) == [AGREE]
    assert "opinion_contradicted" in kinds(found.notes)


def test_more_arms_have_one_too():
    population = populations.get("three-doses")
    model = pnsight.PlugIn().fit(population.sample(20_000, 20_000, seed=1))
    contrast = ":".join(model.structure.description.arms[::2][::-1])
    found = second_opinion(model, "", contrast=contrast)
    truth = population.bounds("", "pns", refine="covariates", contrast=contrast)
    assert found.low[0] <= truth.lower[0]
    assert truth.upper[0] <= found.high[0]


def test_what_has_none_is_refused(study):
    model = pnsight.PlugIn().fit(study)
    with pytest.raises(QueryError, match="at least 2"):
        second_opinion(model, folds=1)
    with pytest.raises(QueryError, match="without assumptions"):
        second_opinion(model, assume="monotone")
    with pytest.raises(QueryError, match="withheld"):
        second_opinion(pnsight.suppress(model, 5))
