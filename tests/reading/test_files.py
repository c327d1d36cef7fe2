"""Tables in many files, and files that look like patterns."""

from __future__ import annotations

import gzip

import pandas
import polars
import pytest

import pnsight
from cases import write_csv
from engine_tables import as_parquet
from pnsight.data.reading.duckdb_progress import report_progress
from pnsight.data.reading.files import new_connection
from pnsight.errors import TableError

LINES = [f"{z},{x},{y}" for z in "ab" for x in (0, 1) for y in (0, 1)]


def rows_of(path, **options):
    return int(pnsight.read_study(path, treatment="x", outcome="y", **options).experimental.sum())


def test_a_pattern_stands_for_all_files_it_matches(tmp_path):
    for month in ("2024-01", "2024-02", "2025-01"):
        write_csv(tmp_path / f"{month}.csv", "z,x,y", LINES)
    assert rows_of(tmp_path / "2024-*.csv") == 16
    assert rows_of(str(tmp_path / "202?-01.csv")) == 16
    assert rows_of(tmp_path / "202[5-9]-*.csv") == 8


def test_two_stars_look_in_folders_below(tmp_path):
    for year in ("2024", "2025"):
        (tmp_path / year).mkdir()
        as_parquet({"z": ["a", "b"], "x": [0, 1], "y": [1, 1]}, tmp_path / year / "part")
    assert rows_of(tmp_path / "**" / "*.parquet") == 4


def test_a_file_of_exactly_that_name_wins_over_the_pattern(tmp_path):
    write_csv(tmp_path / "trial-*.csv", "z,x,y", LINES)
    write_csv(tmp_path / "trial-1.csv", "z,x,y", LINES * 2)
    assert rows_of(tmp_path / "trial-*.csv") == 8


@pytest.mark.parametrize("name", ["it's [1]", "50% off", "né"])
def test_a_file_may_be_called_anything(name, tmp_path):
    assert rows_of(as_parquet({"z": ["a", "b"], "x": [0, 1], "y": [1, 1]}, tmp_path / name)) == 2


def test_files_of_one_table_may_have_their_columns_in_another_order(tmp_path):
    write_csv(tmp_path / "part-1.csv", "z,x,y", ["a,0,1", "a,1,1"])
    write_csv(tmp_path / "part-2.csv", "y,z,x", ["1,a,0", "1,a,1"])
    study = pnsight.read_study(tmp_path / "part-*.csv", treatment="x", outcome="y")
    assert study.experimental.tolist() == [[2, 0, 2, 0]]


def test_compressed_and_plain_files_may_be_mixed(tmp_path):
    text = "z,x,y\n" + "\n".join(LINES) + "\n"
    (tmp_path / "part-1.csv").write_text(text)
    (tmp_path / "part-2.csv.gz").write_bytes(gzip.compress(text.encode()))
    assert rows_of(tmp_path / "part-*") == 16


@pytest.mark.parametrize("kept", [0.3, 0.7, 0.99])
def test_a_compressed_file_that_is_cut_short_is_never_counted(kept, tmp_path):
    whole = gzip.compress(("z,x,y\n" + "\n".join(LINES * 5000) + "\n").encode())
    (tmp_path / "trial.csv.gz").write_bytes(whole[: int(kept * len(whole))])
    with pytest.raises(TableError, match=r"trial\.csv\.gz' cannot be read: .*end-of-stream"):
        rows_of(tmp_path / "trial.csv.gz")


def test_a_file_of_queries_may_be_many(tmp_path):
    for part, levels in (("1", ["a", ""]), ("2", ["b"])):
        write_csv(tmp_path / f"queries-{part}.csv", "z", levels)
    assert pnsight.data.reading.read_columns(tmp_path / "queries-*.csv", "query") == {"z": ["a", None, "b"]}


def test_a_long_count_tells_how_far_it_is():
    connection, shares = new_connection(), []
    with report_progress(connection, shares.append):
        rows = connection.sql("SELECT (range * 7919) % 100003 AS a FROM range(8000000)")
        assert len(rows.aggregate("a, count(*) AS n", "a").fetchnumpy()["n"]) == 100003
    assert all(0 <= share <= 1 for share in shares)
    assert shares == sorted(shares)


def test_counting_reports_each_table_and_ends_at_the_end(tmp_path):
    told = []
    frame = pandas.DataFrame({"x": [0, 1], "y": [1, 1]})
    path = write_csv(tmp_path / "trial.csv", "x,y", ["0,1", "1,1"])
    pnsight.read_study(path, frame, treatment="x", outcome="y", progress=lambda *step: told.append(step))
    assert told[0] == (0, 200, "counting the experimental table")
    assert told[-1] == (200, 200, "counting the observational table")
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)


def test_a_lazy_table_that_is_not_there_is_an_error_of_the_table(tmp_path):
    with pytest.raises(TableError, match="the experimental table cannot be read: No such file"):
        rows_of(polars.scan_parquet(tmp_path / "nowhere.parquet"))
