"""`score`: a file of people in, the same with decisions out, whatever its rows hold."""

from __future__ import annotations

import csv
import os
import sqlite3

import pyarrow
import pyarrow.parquet
import pytest

import pnsight
from cases import write_sexes

ADDED = ["decision", "decision_cautious", "query", "lower", "upper"]


@pytest.fixture(scope="module")
def sexes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sexes")
    study = pnsight.read_study(*write_sexes(folder), treatment="x", outcome="y")
    pnsight.save(pnsight.PlugIn().fit(study), folder / "model")
    return folder / "model"


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text('name,sex,lower\n=ann,F,007\nbo,M,\n"c, d",,1\ne,Q,2\n', encoding="utf-8")
    return path


def read(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_csv_keeps_its_columns_and_the_order_of_its_rows(sexes, people, run, tmp_path):
    ended = run("score", sexes, people, "--threshold", 0.4, "--out", tmp_path / "out.csv")
    rows = read(tmp_path / "out.csv")
    assert list(rows[0])[:8] == ["name", "sex", "lower_given", *ADDED]
    assert list(rows[0])[-1] == "problem"
    assert [row["name"] for row in rows] == ["'=ann", "bo", "c, d", "e"]
    assert rows[0]["lower_given"] == "007"
    assert [row["decision"] for row in rows] == ["not", "treat", "uncertain", ""]
    assert [row["status"] for row in rows] == ["ok", "ok", "ok", "invalid"]
    assert rows[3]["problem"] == "covariate 'sex' has no level 'Q'; it has F, M."
    assert "4 rows scored: treat 1, not 1, uncertain 1, no decision 1" in ended.err
    assert "row 4: covariate 'sex' has no level 'Q'" in ended.err
    assert "lower is now lower_given" in ended.err
    assert not ended.out


@pytest.mark.parametrize("table", ["people.csv", "people*.csv", "*.csv"])
def test_the_table_of_people_is_never_replaced(table, sexes, people, attempt, tmp_path):
    before = people.read_bytes()
    ended = attempt("score", sexes, tmp_path / table, "--out", people)
    assert ended.code == 2
    assert "people.csv' is read from, and would be replaced; give --out another name." in ended.err
    assert people.read_bytes() == before


def test_parquet_comes_out_as_it_is_decided_elsewhere(sexes, people, run, tmp_path):
    run("score", sexes, people, "--threshold", 0.4, "--out", tmp_path / "out.parquet")
    found = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    decided = run("decide", sexes, "F", "M", "", "--threshold", 0.4, "--format", "csv").rows
    for name in ("lower", "upper", "lower_low", "upper_high", "support_experimental"):
        assert found[name].to_pylist()[:3] == [float(row[name]) for row in decided]
        assert found[name].to_pylist()[3] is None
    run("score", sexes, tmp_path / "out.parquet", "--format", "csv", "--out", tmp_path / "again.txt")
    assert [row["name"] for row in read(tmp_path / "again.txt")] == ["'=ann", "bo", "c, d", "e"]


def test_many_blocks_stay_in_order(sexes, run, tmp_path):
    rows = 300_000
    table = {"row": range(rows), "sex": ["F", "M", None] * (rows // 3)}
    pyarrow.parquet.write_table(pyarrow.table(table), tmp_path / "people.parquet", row_group_size=50_000)
    run("score", sexes, tmp_path / "people.parquet", "--threshold", 0.4, "--out", tmp_path / "out.parquet")
    found = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    assert found["row"].to_pylist() == list(range(rows))
    assert found["decision"].to_pylist() == ["not", "treat", "uncertain"] * (rows // 3)


def test_a_database_is_scored_too(sexes, run, tmp_path):
    with sqlite3.connect(tmp_path / "p.db") as connection:
        connection.execute('CREATE TABLE people ("sex" TEXT, age INTEGER, weight REAL)')
        connection.executemany("INSERT INTO people VALUES (?, ?, ?)", [("F", 3, None), (None, None, 2.5), ("Q", 1, 1)])
    connection.close()
    run("score", sexes, f"sqlite:///{tmp_path / 'p.db'}::people", "--out", tmp_path / "out.parquet")
    found = pyarrow.parquet.read_table(tmp_path / "out.parquet").to_pylist()
    assert [row["status"] for row in found] == ["ok", "ok", "invalid"]
    assert [(row["age"], row["weight"]) for row in found] == [(3, None), (None, 2.5), (1, 1.0)]


def test_payoffs_and_cost_decide_as_elsewhere(sexes, people, run, tmp_path):
    asked = ["--payoffs", "100,-60,0,-140", "--cost", "5"]
    run("score", sexes, people, *asked, "--out", tmp_path / "out.csv")
    decided = run("decide", sexes, "F", "M", "", *asked, "--format", "csv").rows
    assert [row["decision"] for row in read(tmp_path / "out.csv")][:3] == [row["decision"] for row in decided]


def test_a_table_without_rows_gives_one_without_rows(sexes, run, tmp_path):
    (tmp_path / "none.csv").write_text("sex\n")
    run("score", sexes, tmp_path / "none.csv", "--out", tmp_path / "out.csv")
    assert read(tmp_path / "out.csv") == []


def test_bytes_are_text_in_a_csv_and_no_formula_either(sexes, run, tmp_path):
    """Columns of a Parquet file may be bytes, which are no text to Arrow, and need not be UTF-8."""
    code = pyarrow.array([b"@SUM", b"abcd"], pyarrow.binary(4))
    columns = {"sex": ["F", "M"], "note": [b"=1+1", b"\xff, ok"], "code": code}
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "people.parquet")
    run("score", sexes, tmp_path / "people.parquet", "--threshold", 0.4, "--out", tmp_path / "out.csv")
    found = [(row["note"], row["code"]) for row in read(tmp_path / "out.csv")]
    assert found == [("'=1+1", "'@SUM"), ("\\xff, ok", "abcd")]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_on_a_disk_that_is_full_the_old_file_stays(kind, sexes, run_on_full_disk, tmp_path):
    (tmp_path / "people.csv").write_text("sex,id\n" + "".join(f"F,{number}\n" for number in range(2000)))
    (tmp_path / f"out.{kind}").write_text("as before")
    arguments = [sexes, tmp_path / "people.csv", "--threshold", 0.4, "--out", tmp_path / f"out.{kind}"]
    ended = run_on_full_disk("score", *arguments)
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert f"out.{kind}': " in ended.stderr
    assert "File too large" in ended.stderr
    assert (tmp_path / f"out.{kind}").read_text() == "as before"
    assert sorted(os.listdir(tmp_path)) == [f"out.{kind}", "people.csv"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["people.csv", "--out", "out.xlsx"], "ends in '.xlsx'"),
        (["nobody.csv", "--out", "out.csv"], "does not exist"),
        (["people.csv", "--out", "no/out.csv"], "folder that exists"),
        (["people.csv", "--threshold", "40", "--out", "out.csv"], "between 0 and 1"),
        (["broken.csv", "--out", "out.csv"], "cannot be read"),
        (["other.csv", "--out", "out.csv"], "none of them is a covariate"),
    ],
)
def test_mistakes_end_with_a_message_and_write_nothing(arguments, words, sexes, people, attempt, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.csv").write_text("sex,a\n" + "F,1\n" * 30_000 + "F,1,2,3\n")
    (tmp_path / "other.csv").write_text("age\n1\n")
    before = sorted(os.listdir(tmp_path))
    ended = attempt("score", sexes, *arguments)
    assert ended.code == 2
    assert words in ended.err
    assert sorted(os.listdir(tmp_path)) == before
