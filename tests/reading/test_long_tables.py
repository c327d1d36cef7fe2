"""A table with more distinct profiles than can be counted is drawn from, and never refused where that is possible."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pnsight.data.reading.column_roles import assign_roles
from pnsight.data.reading.long_tables import count_or_draw
from pnsight.data.reading.open_table import open_table
from pnsight.data.reading.sql_engine import SqlEngine
from pnsight.errors import LimitError

PROFILES, ROWS, MOST_GROUPS = 300, 6000, 600
RNG = np.random.default_rng(3)
TABLE = pd.DataFrame(
    {
        "ward": RNG.integers(0, PROFILES, ROWS),
        "x": RNG.integers(0, 2, ROWS),
        "y": RNG.integers(0, 2, ROWS),
        "home": RNG.integers(0, 1500, ROWS),
    }
)
SOURCES = {
    "Parquet": lambda table, folder: _file(table, folder / "people.parquet"),
    "pandas": lambda table, folder: table,
    "Polars": lambda table, folder: pl.from_pandas(table),
    "SQLite": lambda table, folder: _database(table, folder / "people.db"),
}


def _file(table, path):
    table.to_parquet(path)
    return path


def _database(table, path):
    with closing(sqlite3.connect(path)) as base:
        table.to_sql("people", base)
    return f"sqlite:///{path}::people"


def count(source, most_groups=MOST_GROUPS, most=1000, **roles):
    """The table counted by ward, arm and outcome, or drawn from."""
    table = open_table(source, "experimental")
    named = {"weight": None, "assignment": None, "survey_weight": None, "cluster": None, **roles}
    found = assign_roles([table], "x", "y", ["ward"], *named.values())
    return count_or_draw(table, found, {}, most, lambda share: None, most_groups)


def wards(found):
    """How many people of each ward there are."""
    return found.covariates["ward"].rows_by_label(found.rows)


@pytest.mark.parametrize("source", SOURCES)
def test_too_many_profiles_are_drawn_from_and_that_is_said(source, tmp_path):
    people = SOURCES[source](TABLE, tmp_path)
    (first, notes), (second, _) = count(people), count(people)
    assert wards(first) == wards(second)
    (note,) = notes
    assert note.kind == "groups_sampled"
    assert note.values == {"table": "experimental", "drawn": 300, "of": ROWS, "groups": MOST_GROUPS}
    assert abs(first.rows.sum() - 300) < 4 * 20 * np.sqrt(300 / 20)  # wards of twenty are drawn


@pytest.mark.parametrize("source", ["Parquet", "Polars", "SQLite"])
def test_people_of_one_profile_are_drawn_together(source, tmp_path):
    found, _ = count(SOURCES[source](TABLE, tmp_path))
    whole = TABLE.groupby("ward").size()
    assert wards(found)
    assert all(rows == whole[int(ward)] for ward, rows in wards(found).items())


def test_clusters_are_drawn_whole(tmp_path):
    found, _ = count(_file(TABLE, tmp_path / "people.parquet"), cluster="home")
    by_home = found.cluster.rows_by_label(found.rows)
    whole = TABLE.groupby("home").size()
    assert by_home
    assert all(rows == whole[int(home)] for home, rows in by_home.items())


def test_a_table_with_fewer_profiles_is_counted_whole(tmp_path):
    found, notes = count(TABLE, most_groups=5000)
    assert (found.rows.sum(), notes) == (ROWS, [])


def test_an_engine_that_cannot_draw_says_what_to_leave_out(tmp_path, monkeypatch):
    """As of other databases, which have no hash."""
    monkeypatch.setattr(SqlEngine, "sampled", lambda *_, **__: None)
    with pytest.raises(LimitError, match=r"distinct profiles or more; the columns with most levels are ward \(300\)"):
        count(_database(TABLE, tmp_path / "people.db"))
