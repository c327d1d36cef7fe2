"""A bounded sample of distinct rows: the same from every engine, in whichever order rows come."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from engine_tables import ENGINES, as_postgres
from pnsight.data.reading.engine import GroupBy
from pnsight.data.reading.open_table import open_table
from pnsight.data.reading.row_sample import draw_places

ROWS = 400
RNG = np.random.default_rng(7)
PEOPLE = {
    "town": [
        None if i % 19 == 0 else town for i, town in enumerate(RNG.choice(["Aix", "l'Isle", "Zoë"], ROWS).tolist())
    ],
    "child": [bool(value) for value in RNG.integers(0, 2, ROWS)],
    "visits": [int(value) for value in RNG.integers(0, 40, ROWS)],
    "weight": [int(value) for value in RNG.integers(0, 4, ROWS)],
}
KEYS = ("town", "child", "visits")
EVERY = [*(name for name in ENGINES if name in ("Parquet", "pandas", "Polars, lazy", "DuckDB", "Dask")), "PostgreSQL"]


def builder(engine, request):
    """What makes a table of an engine from columns and a path."""
    return partial(as_postgres, request.getfixturevalue("postgres")) if engine == "PostgreSQL" else ENGINES[engine]


def drawn(columns, build, path, limit, seed, weight="weight"):
    found = open_table(build(columns, path), "people").sample_rows(GroupBy(KEYS, weight=weight), limit, seed)
    values = ([None if value != value else value for value in found.values[name].tolist()] for name in KEYS)
    keys = zip(*values, strict=True)  # what pandas misses is not a number
    return {row: totals for row, *totals in zip(keys, found.rows, found.lines, strict=True)}


def by_hand(limit, seed):
    """Distinct rows in the order of their hashes, with weights and people who have some."""
    totals = {}
    for *row, weight in zip(*PEOPLE.values(), strict=True):
        rows, lines = totals.get(tuple(row), (0.0, 0.0))
        totals[tuple(row)] = (rows + weight, lines + (weight > 0))
    distinct = sorted(totals, key=str)
    return {distinct[i]: list(totals[distinct[i]]) for i in draw_places(list(zip(*distinct, strict=True)), limit, seed)}


@pytest.mark.parametrize("engine", EVERY)
def test_a_sample_is_the_same_from_every_engine_and_order(engine, request, tmp_path):
    build = builder(engine, request)
    backwards = {name: values[::-1] for name, values in PEOPLE.items()}
    expected = by_hand(25, seed=3)
    assert drawn(PEOPLE, build, tmp_path / "people", 25, 3) == expected
    assert drawn(backwards, build, tmp_path / "backwards", 25, 3) == expected


def test_SQLite_draws_in_one_pass_what_others_draw_by_their_own_hash(tmp_path):
    whole = {**PEOPLE, "child": [int(value) for value in PEOPLE["child"]]}
    found = drawn(whole, ENGINES["SQL table"], tmp_path / "people", 25, 3)
    again = drawn({name: values[::-1] for name, values in whole.items()}, ENGINES["SQL table"], tmp_path / "b", 25, 3)
    assert found == again == drawn(whole, ENGINES["DuckDB"], tmp_path / "c", 25, 3)


def test_a_larger_sample_holds_a_smaller_one_and_another_seed_gives_another():
    small, large, other = by_hand(20, 1), by_hand(50, 1), by_hand(20, 2)
    assert list(large)[:20] == list(small)
    assert set(other) != set(small)
    assert len(by_hand(10_000, 1)) == len(by_hand(100_000, 2))


def test_every_distinct_row_is_drawn_as_often_as_any_other():
    rows, limit, seeds = 60, 15, 800
    times = np.zeros(rows)
    for seed in range(seeds):
        times[draw_places([list(range(rows))], limit, seed)] += 1
    expected, spread = seeds * limit / rows, np.sqrt(seeds * limit / rows * (1 - limit / rows))
    assert np.abs(times - expected).max() < 4.5 * spread  # of 60 numbers, one in 2,500 such tests would go further
