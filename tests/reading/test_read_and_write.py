"""Files in, files out."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

from pnsight.data.reading import read_columns, write_parquet
from pnsight.errors import OutputError, TableError


def test_a_written_table_reads_back(tmp_path):
    columns = {
        "words": ["a", None, "é, ü"],
        "whole": [1, 2, 3],
        "numbers": [0.5, None, 2],
        "array": np.array([1, 0, 1], np.int8),
    }
    write_parquet(columns, tmp_path / "t.parquet")
    frame = pandas.read_parquet(tmp_path / "t.parquet")
    assert frame["words"].isna().tolist() == [False, True, False]
    assert frame["words"][2] == "é, ü"
    assert frame["whole"].tolist() == [1, 2, 3]
    assert frame["numbers"].isna().tolist() == [False, True, False]
    assert frame["array"].tolist() == [1, 0, 1]
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]


def test_a_table_without_rows_reads_back_without_rows(tmp_path):
    write_parquet({"a": [], "b": []}, tmp_path / "t.parquet")
    assert read_columns(tmp_path / "t.parquet", "query") == {"a": [], "b": []}


def test_a_blank_line_of_a_single_column_is_a_missing_value(tmp_path):
    (tmp_path / "t.csv").write_text("sex\nF\n\nM\n", encoding="utf-8")
    assert read_columns(tmp_path / "t.csv", "query") == {"sex": ["F", None, "M"]}


def test_a_place_that_cannot_be_written_is_named_and_nothing_is_left_behind(tmp_path):
    with pytest.raises(OutputError, match=r"cannot write '.*nowhere/t\.parquet'"):
        write_parquet({"a": [1]}, tmp_path / "nowhere" / "t.parquet")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", b"", "is empty; it needs a header line and rows"),
        ("empty.parquet", b"", "is empty"),
        ("t.xlsx", b"PK", "has an unknown ending; expected one of .csv"),
        ("damaged.parquet", b"PAR1 and then nothing of the kind", "cannot be read"),
        ("latin.csv", "sex,x\né,1\n".encode("latin-1"), "cannot be read"),
    ],
)
def test_an_unreadable_file_is_refused_by_name(name, content, message, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError, match=rf"the query table '.*{name}' {message}"):
        read_columns(tmp_path / name, "query")


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path):
    with pytest.raises(TableError, match=r"nowhere\.csv' does not exist"):
        read_columns(tmp_path / "nowhere.csv", "query")
    with pytest.raises(TableError, match=r"is a folder"):
        read_columns(tmp_path, "query")
