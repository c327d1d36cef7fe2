"""The benchmark of numbers against bands, on a small scale."""

from __future__ import annotations

import numpy as np

from pnsight.data.two_by_two import TWO_BY_TWO
from pnsight.simulation.numeric_populations import numeric_population
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


def test_who_is_told_the_terms_answers_for_people_and_the_efficient_estimator_for_ranges(tmp_path, monkeypatch):
    asked = numeric_accuracy.questions("stepped", 1, people=20, ranges=3)
    monkeypatch.setattr(numeric_accuracy, "questions", lambda kind, seed: asked)
    for row in numeric_accuracy.measure("stepped", 1, 300, ["numeric", "told", "efficient"], QUICK):
        append(tmp_path / "found.csv", row)
    table = numeric_accuracy.table_columns(read(tmp_path / "found.csv"))
    assert table["method"][:3] == ["numeric", "told", "efficient"]
    answered = [
        (people != "", ranges != "")
        for people, ranges in zip(table["people_ratio"], table["ranges_ratio"], strict=True)
    ]
    assert answered[:3] == [(True, True), (True, False), (False, True)]


def test_of_people_who_are_all_alike_the_efficient_estimator_has_their_shares():
    population, rows = numeric_population("stepped", 1), 10_000
    person = population.covariates.draw(np.random.default_rng(3), 1)[0]
    ranges = {name: (value, value) for name, value in zip(population.covariates.names, person, strict=True)}
    mass = population.types_within(ranges).mass
    variance = numeric_accuracy._efficient_variance(population, rows, ranges)
    cells = population.law_at(person).cells[0]
    for group, columns in zip(TWO_BY_TWO.groups, TWO_BY_TWO.group_slices, strict=True):
        people = rows * mass / (2 if group.table == "experimental" else 1)
        sampling = (np.diag(cells[columns]) - np.outer(cells[columns], cells[columns])) / people
        np.testing.assert_allclose(variance[columns, columns], sampling, rtol=1e-6, atol=1e-12 / people)


def test_errors_of_the_efficient_estimator_are_those_of_outcomes_adjusted_for_covariates():
    """Here the estimator is told what the covariates say of each outcome, which is what makes it efficient."""
    population, rows = numeric_population("smooth-dependent", 2), 4_000
    variance = numeric_accuracy._efficient_variance(population, rows, {})
    truth, errors = population.types_within({}).mean, []
    expected = TWO_BY_TWO.cell_probabilities(truth[None])[0]
    treated = numeric_accuracy.places(TWO_BY_TWO, "experimental")[1, 1]
    for seed in range(200):
        trial, other = ({k: np.asarray(v) for k, v in t.items()} for t in population.tables(rows, rows, seed))
        share = [
            population.law_at(np.stack([t[name] for name in population.covariates.names], axis=1)).cells[:, treated]
            for t in (trial, other)
        ]
        adjusted = 2 * (trial["x"] == 1) * (trial["y"] - share[0])
        errors.append(adjusted.mean() + np.concatenate(share).mean() - expected[treated])
    assert abs(np.var(errors) / variance[treated, treated] - 1) < 4 * np.sqrt(2 / len(errors))
