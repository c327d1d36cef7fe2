"""Tables of resumable sweeps: what is in a file, summarised."""

from __future__ import annotations

import pytest

from pnsight_experiments import policy_values, second_opinion, validate_oracle
from pnsight_experiments.resumable import append, read


def _policy(policy: str, **values: float) -> dict[str, str]:
    usual = {"best": 0.6, "truth": 0.58, "usual": 0.5, "value": 0.59, "low": 0.57, "high": 0.61}
    numbers = {**usual, "gain_low": 0.07, "gain_high": 0.11, **values}
    return {
        "population": "mediator",
        "rows": "1000",
        "seed": "1",
        "policy": policy,
        **{name: str(value) for name, value in numbers.items()},
    }


def test_lines_are_added_together_and_read_as_they_were(tmp_path):
    file = tmp_path / "lines.csv"
    append(file, {"a": 1, "b": "x"}, {"a": 2, "b": "y"})
    append(file, {"a": 3, "b": "z"})
    assert read(file) == [{"a": "1", "b": "x"}, {"a": "2", "b": "y"}, {"a": "3", "b": "z"}]


def test_a_file_that_is_not_there_has_no_lines(tmp_path):
    assert read(tmp_path / "none.csv") == []


def test_policies_are_summarised_by_population_and_policy():
    rows = [_policy("covariates"), _policy("covariates", value=0.55, low=0.52, high=0.56)]
    found = policy_values.table_columns(rows)
    assert found["policy"] == ["covariates", "all"]
    assert found["error"] == ["0.0200", "0.0200"]
    assert found["holds the rule's"] == ["1 of 2", "1 of 2"]
    assert found["holds the best"] == ["1 of 2", "1 of 2"]


def test_claims_count_learned_rules_alone_and_those_that_are_worse():
    rows = [
        _policy("covariates"),
        _policy("covariates", truth=0.49),
        _policy("covariates-and-choice", truth=0.49, gain_low=-0.01),
        _policy("treat-all", truth=0.4),
    ]
    found = policy_values.claims(rows)
    assert found["rules"] == ["2", "3"]
    assert found["truly worse"] == ["1", "2"]


def test_validation_is_a_mean_over_splits_and_over_all():
    row = {"rows": "1000", "true_square": "0.0009", "expected_error": "0.01", "seconds": "5", "coverage": "0.9"}
    rows = [
        {"population": name, "split": "0", **row, "true_coverage": share, "square": square}
        for name, share, square in (
            ("mediator", "0.8", "0.0009"),
            ("mediator", "0.8", "-0.0001"),
            ("tree:1", "1.0", "0"),
        )
    ]
    found = validate_oracle.table_columns(rows)
    assert found["population"] == ["mediator", "tree:1", "all"]
    assert found["coverage, true"] == ["80.0%", "100.0%", "86.7%"]
    assert found["error, true"] == ["0.0300"] * 3
    assert found["error, held-out rows"][0].startswith("0.0200 (0.0000-")
    assert found["error, held-out rows"][1:] == ["0.0000", "0.0163"]


@pytest.mark.parametrize(
    "table", [policy_values.table_columns, validate_oracle.table_columns, second_opinion.table_columns]
)
def test_nothing_measured_is_an_empty_table(table):
    assert table([]) == {}


def test_a_second_opinion_holds_if_both_ends_are_within_its_interval():
    row = dict.fromkeys(second_opinion.NUMBERS, "0.2") | {"true_upper": "0.4", "model_high": "0.3", "high": "0.5"}
    found = second_opinion.table_columns(
        [{"model": "no network", "population": "tree:1", **row, "agreement": "model tighter"}]
    )
    assert found["population"] == ["tree:1", "all"]
    assert found["model: coverage"] == ["0.000", "0.000"]
    assert found["second opinion: coverage"] == ["1.000", "1.000"]
    assert found["model tighter"] == ["1.000", "1.000"]
