"""Files that engines like to guess about: what is in them is counted, or they are refused."""

import gzip
import os
import tracemalloc

import pandas
import pytest

import pnsight
from pnsight.errors import OutputError, TableError
from pnsight.queries.query import format_queries


def rows_of(path, **options):
    return int(pnsight.read_study(path, treatment="x", outcome="y", **options).experimental.sum())


def lines(levels, repeats=10):
    return "z,x,y\n" + "".join(f"{z},{x},{y}\n" for z in levels for x in (0, 1) for y in (0, 1)) * repeats


def test_a_level_that_starts_with_a_hash_is_no_comment(tmp_path):
    path = tmp_path / "trial.csv"
    path.write_text(lines(["#1", "#2", "3"]))
    assert rows_of(path) == 120


def test_lines_above_the_header_are_not_passed_over(tmp_path):
    path = tmp_path / "trial.csv"
    path.write_text("Trial of 2020\n" + lines(["a", "b"]))
    with pytest.raises(TableError):
        rows_of(path)


@pytest.mark.parametrize("name", ["trial[1].csv", "a*.csv", "b?.csv"])
def test_a_name_with_wildcards_is_one_file(tmp_path, name):
    (tmp_path / name).write_text(lines(["a"]))
    for other in ("trial1.csv", "ab.csv", "bc.csv"):
        (tmp_path / other).write_text(lines(["b", "c"]))
    assert rows_of(tmp_path / name) == 40


@pytest.mark.parametrize("header", ["drug,drug,x,y", "Drug,drug,x,y"])
def test_two_columns_of_one_name_are_refused(tmp_path, header):
    path = tmp_path / "trial.csv"
    path.write_text(f"{header}\na,b,0,1\na,b,1,1\n")
    with pytest.raises(TableError, match="more than one column"):
        rows_of(path)
    with gzip.open(tmp_path / "trial.csv.gz", "wt") as file:
        file.write(path.read_text())
    with pytest.raises(TableError, match="more than one column"):
        rows_of(tmp_path / "trial.csv.gz")


def test_two_columns_of_one_name_in_a_frame_are_refused():
    frame = pandas.DataFrame([["a", "b", 0, 1], ["a", "b", 1, 1]], columns=["z", "z", "x", "y"])
    with pytest.raises(TableError, match="more than one column"):
        rows_of(frame)


def test_a_column_name_that_is_not_text_is_refused():
    with pytest.raises(TableError, match="must be text"):
        rows_of(pandas.DataFrame({"x": [0, 1], "y": [0, 1], 7: [1, 1]}))


def test_a_column_of_lists_is_named():
    with pytest.raises(TableError, match=r"tags.*lists"):
        rows_of(pandas.DataFrame({"x": [0, 1], "y": [0, 1], "tags": [["a"], ["b"]]}))


def test_codes_that_differ_only_by_a_trailing_zero_stay_apart(tmp_path):
    path = tmp_path / "trial.csv"
    path.write_text(lines(["250", "250.0", "250.00"]))
    study = pnsight.read_study(path, treatment="x", outcome="y")
    assert set(study.schema.covariates[0].levels) == {"250", "250.0", "250.00"}


def test_codes_that_stay_apart_in_one_table_do_so_in_the_other(tmp_path):
    for name, levels in (("trial.csv", ["250", "250.0"]), ("registry.csv", ["250.0", "300"])):
        (tmp_path / name).write_text(lines(levels))
    study = pnsight.read_study(tmp_path / "trial.csv", tmp_path / "registry.csv", treatment="x", outcome="y")
    assert set(study.schema.covariates[0].levels) == {"250", "250.0", "300"}
    rows = dict(zip(format_queries(study.schema, study.profiles), study.observational.sum(axis=1), strict=True))
    assert {level: rows.get(f"{study.schema.names[0]}={level}", 0) > 0 for level in ("250", "250.0", "300")} == {
        "250": False,
        "250.0": True,
        "300": True,
    }


def test_numbers_written_as_decimals_are_the_same_levels_in_both_tables(tmp_path):
    for name, levels in (("trial.csv", ["1.0", "2.0"]), ("registry.csv", ["1", "2"])):
        (tmp_path / name).write_text(lines(levels))
    study = pnsight.read_study(tmp_path / "trial.csv", tmp_path / "registry.csv", treatment="x", outcome="y")
    assert study.schema.covariates[0].levels == ("1", "2")


def test_single_precision_numbers_have_their_shortest_name():
    frame = pandas.DataFrame({"x": [0, 1], "y": [0, 1], "dose": pandas.Series([0.1, 0.1], dtype="float32")})
    assert pnsight.read_study(frame, treatment="x", outcome="y").schema.covariates[0].levels == ("0.1",)


def test_spaces_around_a_level_do_not_make_another(tmp_path):
    path = tmp_path / "trial.csv"
    path.write_text(lines(["F", "F "]))
    assert pnsight.read_study(path, treatment="x", outcome="y").schema.covariates[0].levels == ("F",)


def test_levels_named_nan_or_inf_have_an_order_of_their_own():
    from pnsight.data.schema import sort_levels

    assert sort_levels(["nan", "10", "9"]) == ("10", "9", "nan")
    assert sort_levels(["10", "9", "-1.5"]) == ("-1.5", "9", "10")


def refused(path, content):
    """What is said of a file with that content."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(TableError) as refusal:
        rows_of(path)
    assert path.name in str(refusal.value)
    return str(refusal.value)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_in_any_one_way(tmp_path, end):
    (tmp_path / "trial.csv").write_bytes(lines(["a", "b"]).replace("\n", end).encode())
    assert rows_of(tmp_path / "trial.csv") == 80


@pytest.mark.parametrize("place", [0, 3, 200])
def test_a_file_with_nul_bytes_is_no_text(tmp_path, place):
    text = lines(["a", "b"])
    assert "NUL" in refused(tmp_path / "trial.csv", f"{text[:place]}\0{text[place:]}")


def test_a_header_may_be_long(tmp_path):
    (tmp_path / "trial.csv").write_text(f"x,y,{'a' * 70_000},{'b' * 70_000}\n0,1,1,1\n1,1,1,1\n")
    assert rows_of(tmp_path / "trial.csv", covariates=[]) == 2


def test_a_file_that_is_not_in_utf_8_is_told_so(tmp_path):
    complaint = refused(tmp_path / "trial.csv", lines(["é", "b"]).encode("latin-1"))
    assert "not in UTF-8; save it from the spreadsheet as" in complaint
    assert "iconv -f LATIN1 -t UTF-8 FILE > NEW_FILE" in complaint


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([f"{k},5" for k in range(30)], "Write the numbers with a point, not with a comma."),
        (["NA", *map(str, range(700))], "If 'NA' stands for a missing value, leave the field empty."),
    ],
)
def test_what_keeps_numbers_from_being_read_is_named(tmp_path, values, said):
    rows = "".join(f'"{value}",{k % 2},{k // 2 % 2}\n' for k, value in enumerate(values))
    (tmp_path / "trial.csv").write_text("age,x,y\n" + rows)
    with pytest.raises(TableError, match=said):
        pnsight.read_study(tmp_path / "trial.csv", treatment="x", outcome="y")


def test_an_outcome_with_a_sign_for_missing_values_is_explained(tmp_path):
    (tmp_path / "trial.csv").write_text("x,y\n0,1\n1,0\n1,NA\n0,0\n")
    with pytest.raises(TableError, match="If 'NA' stands for a missing value, leave the field empty"):
        rows_of(tmp_path / "trial.csv", covariates=[])


ODD_TEXT = {
    "quote": (lines(["a"]) + '"a,1,1\n' + 'b,"1",1\n' * 20, "quotation mark in line 42 is not closed"),
    "line ends": (lines(["a"]) + lines(["b"]).replace("\n", "\r\n")[7:], "lines end in different ways"),
    "gzip": (gzip.compress(lines(["a"]).encode()), "compressed by gzip; end its name in .csv.gz"),
    "zip": (b"PK\x03\x04" + bytes(100), "spreadsheet"),
    "old Excel": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), "in the format of Excel 97"),
    "PDF": (b"%PDF-1.7\n" + bytes(100), "it is a PDF"),
    "web page": ("\n<!DOCTYPE html>\n<html><body>Sign in</body></html>\n", "it is a web page"),
    "blank line": ("\n" + lines(["a"]), "begins with a blank line"),
    "line of blanks": ("  \n" + lines(["a"]), "begins with a blank line"),
}


@pytest.mark.parametrize("odd", ODD_TEXT)
def test_what_keeps_a_text_from_being_read_is_named(tmp_path, odd):
    content, said = ODD_TEXT[odd]
    complaint = refused(tmp_path / "trial.csv", content)
    assert said in complaint
    assert "UTF-8" not in complaint


@pytest.mark.parametrize(("before", "line"), [(b"", 1), (b"x,y\n0,1\n", 3), (b"x,y\r\n0,1\r\n", 3)])
def test_an_endless_line_in_a_compressed_file_is_refused_without_holding_it(tmp_path, before, line):
    content = gzip.compress(before + b"a" * (32 << 20), compresslevel=1)
    tracemalloc.start()
    complaint = refused(tmp_path / "trial.csv.gz", content)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert f"the row in line {line} has more than 2,097,152 bytes; expected" in complaint
    assert peak < 8 << 20


def test_a_row_of_many_quoted_lines_may_not_be_endless_either(tmp_path):
    content = lines(["a"]) + '"' + ("a" * 1023 + "\n") * 3000 + '",0,1\n' + lines(["b"])
    assert "the row in line 42 has more than 2,097,152 bytes" in refused(tmp_path / "trial.csv", content.encode())


def test_a_line_may_be_long(tmp_path):
    path = tmp_path / "trial.csv"
    path.write_text(lines(["a", "b" * 2_000_000], repeats=1))
    assert rows_of(path) == 8


def test_a_parquet_file_called_csv_is_told_so(tmp_path):
    pandas.DataFrame({"x": [0, 1], "y": [0, 1]}).to_parquet(tmp_path / "table")
    assert "Parquet" in refused(tmp_path / "trial.csv", (tmp_path / "table").read_bytes())


@pytest.mark.parametrize("asked", ["name", "pattern"])
def test_a_file_whose_name_is_not_in_utf_8_is_refused(tmp_path, asked):
    name = os.fsdecode(b"caf\xe9.csv")
    (tmp_path / name).write_text(lines(["a"]))
    with pytest.raises(TableError, match=r"caf.udce9\.csv' has a name that is not in UTF-8"):
        rows_of(tmp_path / (name if asked == "name" else "*.csv"))


def test_parquet_is_not_written_to_a_name_that_is_not_in_utf_8(tmp_path):
    with pytest.raises(OutputError, match="not in UTF-8"):
        pnsight.data.reading.write_parquet({"x": [1]}, tmp_path / os.fsdecode(b"caf\xe9.parquet"))
    assert not list(tmp_path.iterdir())


def test_blanks_around_the_name_of_a_covariate_count_only_where_a_column_has_them():
    frame = pandas.DataFrame({"x": [0, 1], "y": [0, 1], "a": ["p", "p"], "b": ["q", "q"], " c": ["r", "r"]})
    study = pnsight.read_study(frame, treatment="x", outcome="y", covariates=["a", " b ", " c"])
    assert study.schema.names == ("a", "b", " c")
