"""Whom the experiment covers, and where it has one arm only."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

import pnsight
from noted import kinds, values
from pnsight import simulation as populations
from pnsight.diagnostics import study_warnings
from pnsight.diagnostics.overlap import overlap_of

TOWNS = ["a", "b", "c", "d", "e"]


def people(rows: int, seed: int, shares=None, **more) -> pandas.DataFrame:
    rng = np.random.default_rng(seed)
    table = pandas.DataFrame(
        {
            "town": rng.choice(TOWNS, rows, p=shares),
            "sex": rng.choice(["F", "M"], rows),
            "x": rng.integers(0, 2, rows),
            "y": rng.integers(0, 2, rows),
        }
    )
    return table.assign(**more)


def read(*tables, **how) -> pnsight.Study:
    return pnsight.read_study(*tables, treatment="x", outcome="y", **how)


@pytest.mark.parametrize("rows", [(300, 300), (2_000, 50_000), (50_000, 2_000)])
@pytest.mark.parametrize("name", ["mediator", "tree-dependent:1", "index:2"])
def test_tables_of_the_same_people_overlap(name, rows):
    found = overlap_of(populations.get(name).sample(*rows, seed=1))
    assert (found.verdict.status, found.uncovered, found.groups) == ("ok", 0, ())


def test_people_whom_the_experiment_hardly_has_are_named_with_their_share():
    study = read(people(4_000, 1, [0.33, 0.33, 0.33, 0.01, 0]), people(20_000, 2))
    found = overlap_of(study)
    assert found.uncovered == pytest.approx(0.4, abs=0.02)
    assert {one.group for one in found.groups} == {"town=d", "town=e"}
    said = values(found.verdict.notes, "hardly_covered")
    assert said["share"] == found.uncovered
    assert kinds(study_warnings(study)) == ["hardly_covered"]


def test_a_combination_that_is_hardly_covered_is_named_once():
    trial = people(6_000, 3)
    trial = trial[(trial["town"] != "e") | (trial["sex"] == "M")]
    found = overlap_of(read(trial, people(6_000, 4)))
    assert [one.group for one in found.groups] == ["town=e, sex=F"]
    assert found.uncovered == pytest.approx(0.1, abs=0.02)


def test_few_rows_are_not_taken_for_no_overlap():
    """A level that a hundredth of people have is absent from a hundred rows by chance."""
    shares = [0.33, 0.33, 0.32, 0.01, 0.01]
    assert overlap_of(read(people(100, 5, shares), people(50_000, 6, shares))).uncovered == 0


def test_tables_of_different_times_are_told():
    found = overlap_of(read(people(900, 7, year=1975), people(9_000, 8, year=1978)))
    assert found.hardly_shared == (("year", 0.0),)
    assert found.uncovered == 1
    assert kinds(found.notes) == ["values_hardly_shared", "hardly_covered"]


def test_a_level_with_one_arm_in_the_experiment_is_warned_of_and_in_the_other_table_mentioned():
    trial, registry = people(4_000, 9), people(4_000, 10)
    one_armed = trial.assign(x=np.where(trial["town"] == "c", 1, trial["x"]))
    found = overlap_of(read(one_armed, registry)).verdict
    assert found.status == "warning"
    assert values(found.notes, "one_armed")["levels"] == ({"level": "town=c", "arm": "treated"},)
    chosen = registry.assign(x=np.where(registry["sex"] == "F", 0, registry["x"]))
    found = overlap_of(read(trial, chosen)).verdict
    assert found.status == "ok"
    assert found.notes[-1].severity == "info"
    assert found.notes[-1].values["levels"] == ({"level": "sex=F", "arm": "untreated"},)
    alone = overlap_of(read(one_armed))
    assert alone.verdict.status == "warning"
    assert overlap_of(read(trial)).verdict.text == "both arms have people at every level that many have."


def test_nobody_is_covered_or_not_without_covariates():
    assert overlap_of(read(people(50, 1), people(50, 2), covariates=[])).verdict.status == "ok"
