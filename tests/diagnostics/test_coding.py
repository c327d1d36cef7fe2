"""Tables that mean different things by the same values."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

import pnsight
from noted import kinds, values
from pnsight import simulation as populations
from pnsight.diagnostics import coherence_of, study_warnings
from pnsight.diagnostics.coding import coding_of
from pnsight.errors import TableError
from pnsight.notes import Note


def tables(a=0.3, b=0.2, rows=4_000, seed=1) -> tuple[pandas.DataFrame, pandas.DataFrame]:
    """A trial, and a registry in which people choose by the toss of a coin."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(2):
        x = rng.integers(0, 2, rows)
        found.append(pandas.DataFrame({"x": x, "y": (rng.random(rows) < np.where(x == 1, a, b)).astype(int)}))
    return found[0], found[1]


def read(trial, registry, **how) -> pnsight.Study:
    return pnsight.read_study(trial, registry, treatment="x", outcome="y", **how)


@pytest.mark.parametrize("name", ["mediator", "tree-dependent:1", "index:2", "covariate"])
def test_tables_that_are_coded_alike_are_not_suspected(name):
    for seed in range(5):
        found = coding_of(populations.get(name).sample(2_000, 5_000, seed=seed))
        assert (found.verdict.status, found.notes) == ("ok", ())


def test_an_outcome_the_other_way_round_is_suspected_where_recoding_removes_the_contradiction():
    trial, registry = tables()
    study = read(trial, registry.assign(y=1 - registry["y"]))
    assert coherence_of(study).reported
    assert coding_of(study).recoding == ("outcome",)
    assert coding_of(read(trial, registry)).recoding == ()
    found = pnsight.check(study)
    assert found.verdict == "not usable"
    assert "recoding_fits" in kinds(found.warnings)
    assert kinds(study_warnings(study)) == ["tables_contradict"]


def test_a_treatment_the_other_way_round_is_suspected_likewise():
    rng = np.random.default_rng(2)
    trial, registry = tables(0.9, 0.5)
    x = (rng.random(len(registry)) < 0.8).astype(int)
    registry = registry.assign(x=x, y=(rng.random(len(x)) < np.where(x == 1, 0.9, 0.5)).astype(int))
    assert coding_of(read(trial, registry.assign(x=1 - x))).recoding == ("treatment",)


def test_a_contradiction_that_recoding_does_not_explain_is_not_blamed_on_it():
    """The trial of job training beside a survey: more of the untreated work there than the trial allows for."""
    counts = np.array([[230.0, 67, 296, 129]]), np.array([[230.0, 67, 13820, 2172]])
    study = pnsight.Study.from_tables(pnsight.data.schema.Schema(), np.zeros((1, 0), np.int32), *counts)
    assert coherence_of(study).reported
    assert coding_of(study).recoding == ()


def test_shares_that_mirror_each_other_are_suspected_without_a_contradiction_too():
    trial, registry = tables(0.34, 0.34)
    study = read(trial, registry.assign(y=1 - registry["y"]))
    assert not coherence_of(study).reported
    assert kinds(coding_of(study).notes) == ["responses_mirrored"]
    assert kinds(study_warnings(study)) == ["responses_mirrored"]
    assert coding_of(read(*tables(0.45, 0.45))).mirrored is None


def test_a_table_where_all_have_the_same_outcome_is_suspected_where_the_other_varies():
    trial, registry = tables(0.5, 0.5)
    found = coding_of(read(trial, registry.assign(y=1)))
    assert values(found.notes, "outcome_constant") == {"table": "observational", "responds": True}
    rare = tables(0.001, 0.001, rows=2_000)
    assert coding_of(read(rare[0], rare[1].assign(y=0))).constant == ()


def test_values_that_differ_between_tables_are_refused_by_table():
    trial, registry = tables(rows=50)
    words = registry.assign(y=np.where(registry["y"] == 1, "yes", "no"))
    with pytest.raises(TableError) as refused:
        read(trial, words)
    assert str(refused.value) == (
        "outcome column 'y' holds 0, 1 in the experimental table and no, yes in the observational table; expected the "
        "same two values in both. Code it alike, as 0 and 1."
    )


def test_truth_values_beside_numbers_are_read_and_told():
    trial, registry = tables(rows=50)
    study = read(trial, registry.assign(y=registry["y"] == 1))
    assert Note("coded_differently", {"column": "y"}) in study.notes
    np.testing.assert_array_equal(study.counts, read(trial, registry).counts)
