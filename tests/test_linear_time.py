"""Texts from strangers are read in time that grows with their length alone.

Each is so long that reading it in time that grows with the square of its length would take an hour.
"""

from __future__ import annotations

import faulthandler
from collections.abc import Iterator

import pytest

from pnsight._text_table import format_table
from pnsight.data.schema import OPEN, Covariate, Schema
from pnsight.errors import LimitError, QueryError, TableError, did_you_mean
from pnsight.queries.query import encode, split_unescaped, unescape
from pnsight.web.people import read_table
from pnsight.web.views.groups import Group

LONG = 300_000


@pytest.fixture(autouse=True)
def _ended_if_stuck() -> Iterator[None]:
    """End the program after two minutes: a regular expression that is stuck does not let pytest's own limit do that."""
    faulthandler.dump_traceback_later(120, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


AGE = Covariate("age", ("18-40", "40-95"), edges=(18.0, 40.0, 95.0))


@pytest.mark.parametrize("text", ["1" * LONG + "x", "1" * LONG + ".", "1." + "1" * LONG + "e", "-" + "1" * LONG])
def test_a_long_row_of_digits_is_a_number_of_a_band_or_not(text):
    with pytest.raises(QueryError, match="covariate 'age' "):
        AGE.code(text)
    assert AGE.find(text) is None


@pytest.mark.parametrize(
    ("value", "code"), [("52", 1), (" 18. ", 0), (".5e2", 1), (95, 1), ("40-95", 1), ("", OPEN), (None, OPEN)]
)
def test_numbers_find_their_band_as_before(value, code):
    assert AGE.code(value) == AGE.find(value) == code


@pytest.mark.parametrize("value", ["17", "1e3", "e2", ".", "4 0", "nan", "--40"])
def test_what_has_no_band_is_found_nowhere(value):
    assert AGE.find(value) is None
    with pytest.raises(QueryError):
        AGE.code(value)


def test_a_long_query_is_split_whatever_it_escapes():
    assert split_unescaped("a" * LONG + "\\\nb,c", ",") == ["a" * LONG + "\\\nb", "c"]
    assert split_unescaped("\\" * LONG, ",") == ["\\" * LONG]
    assert split_unescaped("a\\,b,c\\", ",") == ["a\\,b", "c\\"]
    assert unescape("a\\\nb") == "a\nb"


def test_a_query_of_many_pieces_among_many_covariates():
    schema = Schema.binary(f"z{k}" for k in range(2000))
    assert encode(schema, ",".join(["z1999=1"] * 20_000))[0, -1] == 1


def test_a_column_of_long_rows_of_digits_is_aligned():
    assert format_table({"number": ["1" * LONG + "x"]}).endswith("x")
    cells = ["12", "1,200", "-1.5", ".5", "1.20000e-05", "12%"]
    assert format_table({"n": cells}).splitlines()[2:] == [cell.rjust(11).rstrip() for cell in cells]
    assert format_table({"n": ["1,", "-", "1.", "e5"]}).splitlines()[2:] == ["1,", "-", "1.", "e5"]


def test_words_are_looked_for_among_long_rows_of_spaces():
    group = Group(("sex = male",), "", None, "", False, "", None, {}, {})
    assert not group.mentions("sex" + " " * LONG + "male y")
    assert group.mentions("male" + " " * LONG + "sex  =   male")


def test_no_suggestion_is_looked_for_where_a_word_is_long():
    assert did_you_mean("ab" * LONG, ["ab" * (LONG - 1)]) == ""
    assert did_you_mean("mael", ["male"]) == " Did you mean 'male'?"
    assert did_you_mean("MALE", ["male", "female"]) == " Did you mean 'male'?"


def test_a_table_of_many_columns_is_refused_by_their_number():
    with pytest.raises(LimitError, match="300,000 columns; at most 10,000"):
        read_table(",".join(f"c{k}" for k in range(LONG)).encode())


def test_a_table_that_is_uneven_throughout_names_its_columns_once():
    table = ",".join(f"c{k}" for k in range(10_000)) + "\n" + "1\n" * 100_000
    with pytest.raises(TableError, match=r"501 or more rows are too short; row 1 .* has 1 value for 10000 columns: c0"):
        read_table(table.encode())


def test_rows_that_are_uneven_are_flagged_while_that_is_cheap():
    table = ",".join(f"c{k}" for k in range(10)) + "\n" + "1\n" * 100_000
    assert len(read_table(table.encode()).problems) == 100_000
