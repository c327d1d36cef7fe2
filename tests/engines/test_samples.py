"""Of a long table in which nearly every row differs from all others, a bounded number of rows is drawn."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from engine_tables import ENGINES, as_postgres
from pnsight.data.reading.engine import GroupBy
from pnsight.data.reading.open_table import open_table

ROWS, MOST = 2000, 500
RNG = np.random.default_rng(7)
PEOPLE = {
    "town": [
        None if i % 19 == 0 else town for i, town in enumerate(RNG.choice(["Aix", "l'Isle", "Zoë"], ROWS).tolist())
    ],
    "child": [bool(value) for value in RNG.integers(0, 2, ROWS)],
    "height": [float(value) for value in RNG.normal(size=ROWS)],
}
KEYS = ("town", "child", "height")
BY_VALUE = ("Parquet", "Polars, lazy", "DuckDB", "PostgreSQL", "SQL table", "Ibis")
"""Engines that draw by the values of a row, in whichever order rows come."""


def table(engine, request, path, columns=PEOPLE):
    """The columns in an engine."""
    if engine == "Spark":
        path.mkdir()
        ENGINES["Parquet"](columns, path / "people")
        return open_table(request.getfixturevalue("spark").read.parquet(str(path / "people.parquet")), "people")
    build = partial(as_postgres, request.getfixturevalue("postgres")) if engine == "PostgreSQL" else ENGINES[engine]
    return open_table(build(columns, path), "people")


def heights(engine):
    """Who is there."""
    return sorted(engine.group_by(GroupBy(("height",)), lambda share: None).values["height"].tolist())


@pytest.mark.parametrize("engine", [*BY_VALUE, "pandas", "Arrow", "Dask", "Spark"])
def test_about_as_many_rows_are_drawn_as_asked_for_and_always_the_same(engine, request, tmp_path):
    found = table(engine, request, tmp_path / "people")
    drawn, rows = found.sampled(KEYS, MOST)
    again, _ = found.sampled(KEYS, MOST)
    assert rows == ROWS
    assert heights(drawn) == heights(again)
    assert abs(len(heights(drawn)) - MOST) < 4 * np.sqrt(MOST)
    assert set(heights(drawn)) <= set(PEOPLE["height"])


@pytest.mark.parametrize("engine", BY_VALUE)
def test_the_order_of_the_rows_does_not_matter(engine, request, tmp_path):
    backwards = {name: values[::-1] for name, values in PEOPLE.items()}
    drawn = [
        table(engine, request, tmp_path / name, columns).sampled(KEYS, MOST)[0]
        for name, columns in {"people": PEOPLE, "backwards": backwards}.items()
    ]
    assert heights(drawn[0]) == heights(drawn[1])


@pytest.mark.parametrize("engine", [*BY_VALUE, "pandas", "Dask"])
def test_all_rows_are_counted_where_they_are_not_too_many_or_many_are_alike(engine, request, tmp_path):
    found = table(engine, request, tmp_path / "people")
    assert found.sampled(KEYS, ROWS) is None
    assert found.sampled(("town", "child"), MOST) is None


@pytest.mark.parametrize("engine", BY_VALUE)
def test_rows_that_are_alike_are_drawn_together_if_asked_for(engine, request, tmp_path):
    ages = [float(i % 400) for i in range(ROWS)]
    found = table(engine, request, tmp_path / "people", {**PEOPLE, "age": ages})
    drawn, rows = found.sampled(("age",), MOST, alike=True)
    kept = drawn.group_by(GroupBy(("age",)), lambda share: None)
    assert rows == ROWS
    assert set(kept.rows) == {5}
    assert abs(len(kept.rows) - 100) < 4 * np.sqrt(100)
