"""Answers: they print, convert and never show ends that cross."""

from __future__ import annotations

import numpy as np
import pytest

from pnsight import simulation as populations
from pnsight.estimands.resolve import resolve_crossed_bounds
from pnsight.queries.bound_table import BoundTable, plain_counts

CONTRACT = [
    "query",
    "lower",
    "upper",
    "lower_low",
    "lower_high",
    "upper_low",
    "upper_high",
    "support_experimental",
    "support_observational",
    "status",
    "basis",
    "value_low",
    "value_high",
    "trial_lower",
    "trial_upper",
]


def table(rows: int = 3, **more) -> BoundTable:
    lower, upper, status = resolve_crossed_bounds(np.linspace(0, 0.9, rows), np.linspace(0.5, 0.4, rows))
    queries = [f"<a>={i}" for i in range(rows)]
    return BoundTable("pns", queries, lower, upper, np.arange(rows) + 10.0, np.full(rows, 2.5), status, **more)


def test_columns_are_the_contracts_in_order():
    columns = table().columns()
    assert list(columns) == CONTRACT
    assert columns["query"] == ["<a>=0", "<a>=1", "<a>=2"]
    assert columns["lower"] == [0.0, 0.45, None]
    assert columns["upper"][:2] == [0.5, pytest.approx(0.45)]
    assert columns["lower_low"] == [None, None, None]
    assert columns["support_experimental"] == [10, 11, 12]
    assert columns["support_observational"] == [2.5, 2.5, 2.5]
    assert columns["status"] == ["ok", "ok", "incoherent"]
    assert columns["basis"] == ["", "", ""]
    assert columns["value_low"] == columns["trial_upper"] == [None, None, None]


def test_intervals_are_shown_where_a_model_gives_them():
    assert table(lower_low=np.array([0.1, 0.2, np.nan])).columns()["lower_low"] == [0.1, 0.2, None]


def test_the_callers_own_columns_come_first():
    columns = table(kept={"person": ["Ann", "Bob", "Cid"]}).columns()
    assert list(columns) == ["person", *CONTRACT]


def test_it_converts_to_every_frame():
    answer = table()
    frames = [answer.to_pandas(), answer.to_polars(), answer.to_arrow().to_pandas()]
    for frame in frames:
        assert list(frame.columns) == CONTRACT
        assert list(frame["query"]) == ["<a>=0", "<a>=1", "<a>=2"]
        assert len(frame) == len(answer) == 3
    assert answer.to_polars()["lower"].null_count() == 1
    assert answer.to_arrow()["upper"].null_count == 1
    assert answer.to_pandas()["lower"].isna().sum() == 1


def test_it_prints_the_first_rows_and_counts_the_rest():
    text = repr(table(25))
    assert text.splitlines()[0] == "bounds on pns"
    assert text.endswith("... 5 more rows")
    assert "<a>=19" in text
    assert "<a>=20" not in text


def test_a_reader_is_spared_columns_that_are_wholly_empty():
    plain, some = table(), table(trial_lower=np.array([np.nan, 0.1, np.nan]), basis=np.array(["rows", "model", ""]))
    assert repr(plain).splitlines()[1].split() == [
        *["query", "lower", "upper", "support_experimental", "support_observational", "status"]
    ]
    assert repr(some).splitlines()[1].split()[-3:] == ["status", "basis", "trial_lower"]
    assert "lower_low" not in plain._repr_html_()
    assert list(plain.to_pandas().columns) == CONTRACT


def test_html_escapes_what_people_called_things():
    shown = table(25)._repr_html_()
    assert "&lt;a&gt;=0" in shown
    assert "<a>" not in shown
    assert "5 more rows" in shown
    assert shown.count("<tr>") == 21


def test_the_oracles_unlimited_support_prints_too():
    answer = populations.get("direct").bounds("")
    for text in (repr(answer), answer._repr_html_()):
        assert "XXXXXXXXXX" in text
        assert "inf" in text


def test_some_answers_are_taken_with_all_that_belongs_to_them():
    whole = table(lower_low=np.array([0.1, 0.2, np.nan]), kept={"person": ["Ann", "Bob", "Cid"]}, level=0.9)
    some = whole.take(np.array([2, 0]))
    assert some.columns() == {name: [values[2], values[0]] for name, values in whole.columns().items()}
    assert some.level == 0.9


def test_counts_too_large_for_an_integer_stay_numbers():
    assert plain_counts(np.array([10.0, 2.0**53])) == [10, 2**53]
    assert plain_counts(np.array([10.0, 1e20])) == [10.0, 1e20]
