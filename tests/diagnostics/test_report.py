"""The whole check: its verdicts, its report, and its data."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError

import pytest
from check_power import contradicting_study
from hypothesis import given
from hypothesis import strategies as st

import pnsight
from pnsight import simulation as populations
from pnsight.diagnostics.run_check import LOOKS
from strategies import relabelled, studies

PARTS = ["support", "balance", "shift", "coherence", "overlap", "coding", "columns"]


@pytest.fixture(scope="module")
def good() -> pnsight.Check:
    return pnsight.check(populations.get("mediator").sample(100_000, 100_000, seed=1))


@pytest.fixture(scope="module")
def bad() -> pnsight.Check:
    return pnsight.check(contradicting_study(0.1, 100_000, 1, others=2)[1])


def test_good_tables_are_usable(good):
    assert good.ok
    assert list(good.verdicts) == PARTS
    assert {verdict.status for verdict in good.verdicts.values()} == {"ok"}
    assert (good.verdict, good.warnings) == ("usable", ())
    assert good.details()["verdict"] == "usable"
    assert str(good).startswith("Usable.\n")


def test_contradicting_tables_are_not(bad):
    where = contradicting_study(0.1, 100_000, 1, others=2)[0]
    assert not bad.ok
    assert bad.verdict == bad.details()["verdict"] == "not usable"
    assert {note.kind for note in bad.warnings} >= {"no_population_fits", "contradiction"}
    assert bad.details()["warnings"] == [note.plain() for note in bad.warnings]
    assert bad.verdicts["coherence"].status == "failed"
    assert bad.conclusion.values["failed"] == ("coherence",)
    assert bad.summary.startswith("Not usable as it is: coherence failed")
    assert where in str(bad)
    assert bad.details()["coherence"]["named"][0]["query"] == where
    said = bad.details()["verdicts"]["coherence"]
    assert (said["status"], said["text"]) == ("failed", bad.verdicts["coherence"].text)
    assert said["notes"] == [note.plain() for note in bad.verdicts["coherence"].notes]


def test_a_warning_leaves_the_tables_usable():
    found = pnsight.check(populations.get("mediator").sample(2_000, 2_000, seed=1))
    assert found.ok
    assert found.conclusion.values == {"failed": (), "warned": ("support",)}
    assert found.summary == "Usable, with 1 warning (support)."
    assert found.verdict == "usable with warnings"
    assert [note.kind for note in found.warnings] == ["support"]


def test_an_experiment_alone_has_the_parts_that_apply(good):
    study = populations.get("mediator").sample(100_000, 1, seed=1).with_tables(observational=None)
    found = pnsight.check(study)
    assert list(found.verdicts) == ["support", "balance", "overlap", "columns"]
    assert found.ok
    assert set(found.looks()["part"]) == {"balance"}
    assert found.details()["coherence"] is None


def test_looks_hold_every_test_once(good):
    columns = good.looks()
    assert tuple(columns) == LOOKS
    parts = columns["part"]
    assert (parts.count("balance"), parts.count("shift")) == (11, 11)
    assert parts.count("coherence") == len(good.coherence.queries)
    pairs = list(zip(*(columns[name] for name in ("part", "look", "comparison")), strict=True))
    assert len(set(pairs)) == len(pairs)
    assert {status for status, part in zip(columns["status"], parts, strict=True) if part == "coherence"} == {"ok"}


def test_broken_looks_are_marked(bad):
    columns = bad.looks()
    rows = zip(columns["adjusted"], columns["status"], columns["part"], strict=True)
    broken = [adjusted < 0.05 for adjusted, status, part in rows if part == "coherence" and status == "broken"]
    assert broken
    assert all(broken)


def test_the_report_fits_a_terminal_but_for_tables(good):
    assert max(map(len, str(good).splitlines())) <= 100


def test_a_check_cannot_be_changed(good):
    with pytest.raises(FrozenInstanceError):
        good.shift = None


@given(study=studies(experiment_alone=None))
def test_any_study_can_be_checked(study):
    """Absent profiles, empty arms, empty tables and covariates of one level included."""
    found = pnsight.check(study)
    assert str(found).startswith(("Usable", "Not usable"))
    assert json.loads(json.dumps(found.details()))["ok"] == found.ok
    assert {len(values) for values in found.looks().values()} == {len(found.looks()["part"])}


@given(study=studies())
def test_the_same_study_gives_the_same_check(study):
    assert json.dumps(pnsight.check(study).details()) == json.dumps(pnsight.check(study).details())


@given(study=studies(most=3, experiment_alone=None), data=st.data())
def test_order_of_covariates_and_names_of_levels_do_not_matter(study, data):
    study = study.with_counts(study.counts * 40)
    other, _ = data.draw(relabelled(study))
    before, after = pnsight.check(study), pnsight.check(other)
    assert {name: found.status for name, found in before.verdicts.items()} == {
        name: found.status for name, found in after.verdicts.items()
    }
    assert after.support == before.support
    for part in ("balance", "shift"):
        first, second = before.details()[part], after.details()[part]
        assert (first is None) == (second is None)
        if first is not None:
            names = [record["covariate"] for record in second["covariates"]]
            for record in first["covariates"]:
                same = second["covariates"][names.index(record["covariate"])]
                for name in ("difference", "total_variation", "p_value"):
                    assert same[name] == pytest.approx(record[name], nan_ok=True)
