"""The benchmark of numbers against bands, on a small scale."""

from __future__ import annotations

import numpy as np

from pnsight_experiments import numeric_accuracy
from pnsight_experiments.resumable import append, read
from quick_config import QUICK


def test_numbers_and_bands_are_measured_on_the_same_people(tmp_path, monkeypatch):
    asked = numeric_accuracy.questions("smooth", 1, people=20, ranges=3)
    monkeypatch.setattr(numeric_accuracy, "questions", lambda kind, seed: asked)
    rows = list(numeric_accuracy.measure("smooth", 1, 300, ["numeric", "bands4"], QUICK))
    assert [row["method"] for row in rows] == ["numeric", "bands4"]
    for row in rows:
        assert 0 < row["people_error"] < 0.5
        assert 0 < row["ranges_error"] < 0.5
        append(tmp_path / "found.csv", row)
    assert 0 <= rows[0]["people_coverage"] <= 1
    assert np.isnan(rows[1]["people_coverage"])
    table = numeric_accuracy.table_columns(read(tmp_path / "found.csv"))
    assert table["method"] == ["numeric", "bands4"] * 2
    ours, theirs = (row["people_error"] for row in rows)
    assert table["people_ratio"] == ["1.00", f"{ours / theirs:.2f}"] * 2


def test_the_truth_of_a_person_is_that_of_the_population():
    asked = numeric_accuracy.questions("stepped", 2, people=5, ranges=2)
    assert len(asked.people) == 5
    lower, upper = numeric_accuracy.true_ends(asked.ranges_law)
    assert (lower <= upper).all()
