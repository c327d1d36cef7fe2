"""The sweep over other structures: what it measures, that it goes on where it stopped, and what its table shows."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

from pnsight.queries.bound_table import BoundTable
from pnsight.simulation import TRIAL_KINDS, random_trial
from pnsight_experiments import structure_accuracy
from pnsight_experiments.resumable import read
from pnsight_experiments.structure_accuracy import QUESTIONS, crossed, measure, seeds, settings, table_columns
from quick_config import QUICK


@pytest.fixture(scope="module")
def lines():
    return list(measure("noncompliance", 1, 1500, QUICK, covariates=4, refereed=20))


def test_every_kind_of_trial_is_asked_something_that_its_population_can_answer():
    assert tuple(QUESTIONS) == TRIAL_KINDS
    for kind, questions in QUESTIONS.items():
        for options in questions.values():
            assert random_trial(kind, 1).bounds("", **options).status.tolist() == ["ok"]


def test_a_part_of_the_sweep_is_a_smaller_sweep():
    assert list(settings(["a", "b"], range(1, 3))) == [("a", 1), ("b", 1), ("a", 2), ("b", 2)]


def test_a_line_holds_scores_of_both_models_and_nothing_crosses(lines):
    assert [line["question"] for line in lines] == ["pns", "effect"]
    for line in lines:
        assert (line["crossed"], line["all_answered"]) == (0, 1.0)
        assert line["referee"] < 1e-8
        assert 0 <= line["plug_in_exact_answered"] < 1
        for space in ("exact", "all"):
            assert 0.5 < line[f"{space}_lower"] <= 1
            assert line[f"{space}_upper_error"] < 0.3
        assert min(line["fit_seconds"], line["two_by_two_seconds"], line["answering_seconds"]) > 0


def test_ends_that_cross_and_intervals_that_do_not_hold_their_ends_are_counted():
    codes = ["XX"] * 3
    ends = {"lower": np.array([0.2, 0.5, 0.2]), "upper": np.array([0.4, 0.4, 0.4])}
    intervals = {
        "lower_low": ends["lower"] - 0.1,
        "lower_high": ends["lower"] + 0.1,
        "upper_low": ends["upper"] - 0.1,
        "upper_high": np.array([0.5, 0.5, 0.3]),
    }
    rows = np.ones(3)
    table = BoundTable("pns", codes, ends["lower"], ends["upper"], rows, rows, np.array(["ok"] * 3))
    assert crossed(replace(table, **intervals, level=0.9)) == 2


def test_the_table_has_a_line_for_each_kind_and_question(lines):
    rows = [{name: str(value) for name, value in line.items()} for line in lines]
    again = [{**row, "population": "noncompliance:2", "exact_lower": "1.0"} for row in rows]
    found = table_columns([*rows, *again])
    assert found["question"] == ["pns", "effect"]
    assert found["samples"] == ["2", "2"]
    assert found["fit, of 2 x 2"][0] == f"{lines[0]['fit_seconds'] / lines[0]['two_by_two_seconds']:.2f}"
    assert seeds([*rows, *again]) == "1 to 2"
    assert table_columns([]) == {}


def test_started_again_it_goes_on_where_it_stopped(lines, tmp_path, monkeypatch, capsys):
    out, asked = tmp_path / "found.csv", []

    def measured(kind, seed, rows):
        asked.append((kind, seed))
        yield from lines if seed == 1 else ()

    monkeypatch.setattr(structure_accuracy, "measure", measured)
    arguments = ["structure_accuracy", "--out", str(out), "--rows", "1500", "--kinds", "noncompliance"]
    for last in (1, 2):
        monkeypatch.setattr(sys, "argv", [*arguments, "--seeds", f"1-{last}"])
        structure_accuracy.main()
    assert asked == [("noncompliance", 1), ("noncompliance", 2)]
    assert len(read(out)) == len(lines)
    monkeypatch.setattr(sys, "argv", [*arguments, "--show"])
    structure_accuracy.main()
    assert "noncompliance" in capsys.readouterr().out
