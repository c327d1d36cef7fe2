"""Validation on held-out rows: what it says of a model is what is true of it, where that is known."""

from __future__ import annotations

import numpy as np
import pytest

import pnsight
from cases import WOMEN, write_csv
from noted import kinds
from pnsight import simulation as populations
from pnsight.data.study import Study
from pnsight.decisions.validation import hold_out, supported_groups, validate
from pnsight.errors import ModelError, QueryError

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
    return validate(study, pnsight.PlugIn(), splits=4, subgroups=["z1=1"])


def test_the_error_of_bounds_is_about_that_against_the_truth(found, study, population):
    held = hold_out(study, 4, 0)
    model = pnsight.PlugIn().fit(study.with_counts(study.counts - held))
    groups = supported_groups(study.with_counts(held), 0)
    truth, said = population.bounds(groups), model.bounds(groups)
    error = np.sqrt(np.mean(np.concatenate([said.lower - truth.lower, said.upper - truth.upper]) ** 2))
    assert len(groups) > 20
    assert found.value("plug-in", "error of bounds") == pytest.approx(error, abs=0.006)
    assert found.value("plug-in", "error that the model expects") == pytest.approx(error, abs=0.006)


def test_intervals_that_hold_are_found_to_hold(found):
    assert 0.8 <= found.value("plug-in", "coverage of intervals") <= 1


def test_predicted_and_observed_shares_agree(found):
    columns = found.calibration
    away = (np.array(columns["predicted"]) - np.array(columns["observed"])) / np.array(columns["error"])
    whole = np.array([tenth is None for tenth in columns["tenth"]])
    assert set(columns["group"]) == {"everyone", "1XXX"}
    assert np.abs(away[whole]).max() < 4
    assert np.array(columns["rows"])[whole].max() == pytest.approx(ROWS / 4, rel=0.1)
    assert found.value("plug-in", "calibration error") < 0.02


def test_the_rule_is_worth_what_it_is_in_the_population(found, population):
    mass, types = population.mixture(pnsight.queries.lattice.all_profiles(population.schema))
    law = pnsight.Law.from_types(types, population.structure)
    treated, untreated = law.p("y_x"), law.p("y_x'")
    columns = found.summary_columns
    numbers = zip(columns["value"], columns["low"], columns["high"], strict=True)
    rows = dict(zip(columns["measure"], numbers, strict=True))
    for measure, truth in (
        ("value of rule", mass @ np.maximum(treated, untreated)),
        ("value of treating all", mass @ treated),
        ("value of treating none", mass @ untreated),
    ):
        value, low, high = rows[measure]
        assert abs(value - truth) < 2.5 * (high - low) / 2
    assert rows["qini"][1] > 0


def test_a_model_that_is_wrong_is_found_out(study):
    found = validate(study, Swapped(), splits=1)
    assert found.value("plug-in", "error of bounds") > 0.03
    assert found.value("plug-in", "coverage of intervals") < 0.5
    assert found.value("plug-in", "calibration error") > 0.03
    assert found.value("plug-in", "qini") < 0


def test_clusters_are_held_out_whole(tmp_path):
    lines = [f"v{k // 5},{k % 2},{(k * 7) % 3 % 2},{k // 5}" for k in range(200)]
    tables = [write_csv(tmp_path / f"{name}.csv", "village,x,y,site", iter(lines)) for name in ("trial", "registry")]
    study = pnsight.read_study(*tables, treatment="x", outcome="y", covariates=["village"], cluster="site")
    held = hold_out(study, 4, 7).sum(axis=1)
    whole = study.counts.sum(axis=1)
    assert ((held == 0) | (held == whole)).all()
    assert 0 < held.sum() < whole.sum()
    assert not np.array_equal(held, hold_out(study, 4, 8).sum(axis=1))


def test_few_rows_are_said_to_be_too_few():
    found = validate(WOMEN.study(), pnsight.PlugIn(), splits=1)
    assert kinds(found.notes) == ["validation_without_groups"]


def test_what_cannot_be_validated_is_refused(study):
    with pytest.raises(QueryError, match=r"at most 0\.5"):
        validate(study, pnsight.PlugIn(), held_out=0.9)
    with pytest.raises(QueryError, match="at least 1"):
        validate(study, pnsight.PlugIn(), splits=0)
    with pytest.raises(QueryError, match="observational table"):
        validate(study.with_tables(observational=None), pnsight.PlugIn())
    with pytest.raises(QueryError, match="withheld"):
        validate(pnsight.suppress(pnsight.PlugIn().fit(study), 5).study, pnsight.PlugIn())
    with pytest.raises(ModelError, match="two arms and two outcomes"):
        validate(populations.get("three-doses").sample(500, 500, seed=1), pnsight.PlugIn())


def test_hardly_any_held_out_rows_raise_no_warning(recwarn):
    study = populations.get("mediator").sample(300, 300, seed=1)
    found = validate(study, pnsight.PlugIn(), 2, held_out=0.005)
    assert found.models == ("plug-in",)
    assert recwarn.list == []
