"""Names of columns and levels are anybody's: none becomes a formula in a spreadsheet, or a command to a terminal."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pnsight._foreign_text import as_spreadsheet_cell, printable, printable_cell, without_apostrophe
from pnsight._tabular import Tabular
from pnsight._text import csv_text
from pnsight._text_table import format_table
from pnsight.data.schema import Covariate, Schema
from pnsight.queries.query import encode_columns

FORMULAS = (
    "=1+1",
    "=cmd|' /C calc'!A0",
    "@SUM(A1)",
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "-10 to 0",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    "＝1+1",
    "--1",
)
PLAIN = ("", "a=b", "a", "-", "+", "@", "-0.5", "+3", "-1e-05", "-12%", "-1,000", "1-2", "'quoted'", "-.5", " =1")


@pytest.mark.parametrize("text", FORMULAS)
def test_text_that_would_be_a_formula_follows_an_apostrophe(text):
    assert as_spreadsheet_cell(text) == f"'{text}"
    assert without_apostrophe(f"'{text}") == text


@pytest.mark.parametrize("text", PLAIN)
def test_other_text_and_numbers_stay_as_they_are(text):
    assert as_spreadsheet_cell(text) == text
    assert without_apostrophe(text) == text


@pytest.mark.parametrize("value", [-0.5, -3, float("-inf"), None, True, np.float64(-1.5)])
def test_what_is_no_text_is_never_changed(value):
    assert as_spreadsheet_cell(value) is value


@given(st.text())
def test_whatever_the_text_it_can_be_had_again_and_is_changed_once(text):
    cell = as_spreadsheet_cell(text)
    assert as_spreadsheet_cell(cell) == cell
    assert cell == text or without_apostrophe(cell) == text


def test_a_csv_has_no_formula_in_its_names_and_cells_and_all_of_its_numbers():
    text = csv_text({"=name": ["=1+1", "b"], "lower": [-0.25, None]})
    assert list(csv.reader(io.StringIO(text))) == [["'=name", "lower"], ["'=1+1", "-0.25"], ["b", ""]]


def test_names_and_levels_are_known_again_in_a_file_that_pnsight_wrote():
    schema = Schema((Covariate("-age", ("-10 to 0", "0 to 10")), Covariate("test", ("-", "+"))))
    columns = {"-age": ["-10 to 0", "0 to 10"], "test": ["-", "+"]}
    written = list(csv.DictReader(io.StringIO(csv_text(columns))))
    assert list(written[0].values()) == ["'-10 to 0", "-"]
    again = {name: [row[name] for row in written] for name in written[0]}
    np.testing.assert_array_equal(encode_columns(schema, again), encode_columns(schema, columns))


def test_a_level_that_has_an_apostrophe_of_its_own_is_that_level():
    schema = Schema((Covariate("z", ("=1", "'=1")),))
    assert encode_columns(schema, {"z": ["=1", "'=1"]}).tolist() == [[0], [1]]


# --- terminals --------------------------------------------------------------------------------------------

NASTY = "\x1b[2Jgone\x07\x9b31m\x00\u202eright"
SHOWN = "\\x1b[2Jgone\\x07\\x9b31m\\x00\\u202eright"


def test_control_codes_are_shown_and_lines_stay_lines():
    assert printable(f"a\t{NASTY}\r\n") == f"a\t{SHOWN}\\r\n"
    assert printable("déjà vu, 日本語, 👩‍⚕️") == "déjà vu, 日本語, 👩‍⚕️"


def test_a_cell_is_one_line():
    assert printable_cell("a\tb\nc") == "a\\tb\\nc"


@given(st.text())
def test_nothing_is_left_that_a_terminal_obeys(text):
    assert printable_cell(printable(text)).isprintable() or not text.isprintable()
    assert not set(printable(text)) & {chr(code) for code in (*range(9), *range(11, 32), *range(127, 160))}


def test_a_table_shows_control_codes_in_names_and_cells_and_stays_aligned():
    lines = format_table({"a\x1b": ["x", "\x1b[31mred"], "b": [1.0, 2.0]}).splitlines()
    assert lines[0].startswith("a\\x1b")
    assert lines[3].startswith("\\x1b[31mred  ")
    assert len({line.index(digit) for line, digit in zip(lines[2:], ("1.0", "2"), strict=True)}) <= 2


def test_answers_in_a_python_session_show_them_too():
    class Answers(Tabular):
        notes = ()
        caption = "answers"

        def columns(self):
            return {"query": ["\x1b[2J"]}

    assert "\x1b" not in repr(Answers())


@pytest.mark.parametrize(
    ("cell", "numeric"),
    [
        ("1,234", True),
        ("-0.5", True),
        ("12%", True),
        ("1e-05", True),
        (".5", True),
        ("1,", False),
        ("-", False),
        ("5.", False),
        ("1" * 200_000 + "x", False),
    ],
)
def test_numbers_stand_to_the_right_however_long_they_are(cell, numeric):
    shown = format_table({"a" * (len(cell) + 1): [cell]}).splitlines()[2]
    assert shown.startswith(" ") == numeric
