"""PostgreSQL: types that files lack, names that have to be quoted, and a user who may only read."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pandas
import pyarrow.parquet
import pytest

import pnsight
from pnsight.cli.main import main
from pnsight.data.reading.open_table import open_table
from pnsight.errors import TableError
from postgres_server import PASSWORDS, READER

TYPES = {
    "order": ("boolean", [True, False, None, True, False, True]),
    "Group": ("numeric(6,2)", [Decimal("1.50"), Decimal("2.00"), Decimal("1.50"), None, Decimal("2.00"), Decimal(7)]),
    "share": ("real", [0.1, 0.1, 0.5, 0.5, 0.1, 0.5]),
    "âge": ("smallint", [31, 52, 31, None, 52, 31]),
    "code": ("char(4)", ["a", "bb", "a", "bb", "a", "a"]),
    "on day": ("date", [datetime.date(2024, 2, 28 + i % 2) for i in range(6)]),
    "at": ("timestamp", [datetime.datetime(2024, 2, 28, 12 * (i % 2)) for i in range(6)]),
    'a "quoted" 100%': ("text", ["x", "", "y", None, " x ", "l'été"]),
    "user": ("integer", [1, 0, 1, 0, 1, 0]),
    "table": ("boolean", [True, False, False, True, True, False]),
    "dose": ("double precision", [1.0, 2.5, float("nan"), 3.0, None, 8.0]),
}
ROLES = {"treatment": "user", "outcome": "table", "missing": "level"}


@pytest.fixture(scope="module")
def typed(postgres):
    """The address of a table with a column of each type."""
    columns = {name: kind for name, (kind, _) in TYPES.items()}
    rows = list(zip(*(values for _, values in TYPES.values()), strict=True))
    postgres.create_table("Été 24", "select", columns, rows)
    return postgres.address("Été 24.select")


def as_frame():
    """The same in pandas; CSV, as which the rows are copied into the database, has no text without letters."""
    return pandas.DataFrame(
        {name: [value or None if value == "" else value for value in values] for name, (_, values) in TYPES.items()}
    )


def same_study(one, other):
    assert one.schema == other.schema
    assert one.profiles.tolist() == other.profiles.tolist()
    assert one.counts.tolist() == other.counts.tolist()


def test_every_type_is_read_as_from_a_data_frame(typed):
    names = [name for name in TYPES if name not in ("user", "table", "dose", "at")]
    found, expected = (pnsight.read_study(table, covariates=names, **ROLES) for table in (typed, as_frame()))
    same_study(found, expected)
    assert found.schema.covariate("Group").levels == ("1.5", "2", "7", "missing")


BANDS = {
    "numeric": {"Group": [0, 1.75, 60]},
    "numeric, equally many rows": {"Group": 2},
    "real": {"share": [0, 0.3, 1]},
    "smallint": {"âge": [0, 40, 60]},
    "boolean": {"order": [0, 1, 2]},
    "double precision": {"dose": [0, 2.5, 60]},
    "double precision, equally many rows": {"dose": 2},
}


@pytest.mark.parametrize("bands", BANDS.values(), ids=list(BANDS))
def test_numbers_of_every_type_are_cut_into_bands(typed, bands):
    found, expected = (
        pnsight.read_study(table, covariates=list(bands), bands=bands, **ROLES)
        for table in (typed, as_frame_of_floats())
    )
    same_study(found, expected)
    assert found.counts.sum() == len(TYPES["user"][1])


def as_frame_of_floats():
    """Numbers as pandas keeps them; it has no decimals."""
    return as_frame().astype({"Group": float, "order": float})


def test_words_are_not_numbers(typed):
    with pytest.raises(TableError, match="column 'code' of the experimental table holds 'a"):
        pnsight.read_study(typed, covariates=["code"], bands={"code": 2}, **ROLES)


def test_a_table_that_is_not_there_is_told_by_those_of_its_schema(postgres, typed):
    with pytest.raises(TableError, match=r"no table 'Été 24\.selct'; it has Été 24\.select\. Did you mean"):
        open_table(postgres.address("Été 24.selct"), "experimental")


def test_a_schema_that_may_not_be_read_is_told_without_the_password(postgres):
    postgres.execute("CREATE SCHEMA hidden", "CREATE TABLE hidden.people (x int, y int)")
    with pytest.raises(TableError, match="permission denied") as refused:
        pnsight.read_study(postgres.address("hidden.people"), treatment="x", outcome="y")
    assert PASSWORDS[READER] not in str(refused.value)


def test_whoever_reads_cannot_write(postgres):
    postgres.execute("CREATE SEQUENCE turns", f"GRANT ALL ON SEQUENCE turns TO {READER}")
    with pytest.raises(TableError, match=r"says: cannot execute nextval\(\) in a read-only transaction"):
        pnsight.read_study(postgres.address("SELECT nextval('turns') AS x, 1 AS y"), treatment="x", outcome="y")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model of one covariate with a name that has to be quoted, and its folder."""
    people = pandas.DataFrame({"Group": ["1.5", "2"] * 400, "user": [0, 0, 1, 1] * 200, "table": [0, 1, 1, 1, 0] * 160})
    folder = tmp_path_factory.mktemp("model") / "model"
    pnsight.save(pnsight.PlugIn().fit(pnsight.read_study(people, treatment="user", outcome="table")), folder)
    return folder


def test_people_are_scored_by_who_may_only_read(model, typed, tmp_path):
    with pytest.raises(SystemExit) as ended:
        main(["score", str(model), typed, "--threshold", "0.3", "--out", str(tmp_path / "out.parquet")])
    assert not ended.value.code
    found = pyarrow.parquet.read_table(tmp_path / "out.parquet").to_pydict()
    expected = pnsight.score(pnsight.load(model), as_frame(), 0.3).to_dict("list")
    assert list(found) == list(expected)
    assert found["decision"] == expected["decision"]
    assert found["status"][5] == "invalid"
    assert found["Group"] == [None if value is None else float(value) for value in TYPES["Group"][1]]
    assert found["order"] == TYPES["order"][1]
    assert found["on day"] == TYPES["on day"][1]


def test_a_large_table_comes_in_blocks_with_a_cursor_of_the_server(postgres):
    blocks = list(
        open_table(postgres.address("SELECT n, n % 7 AS week FROM generate_series(1, 2500) AS n"), "x").batches(1000)
    )
    assert [block.num_rows for block in blocks] == [1000, 1000, 500]
    assert [number for block in blocks for number in block.column("n").to_pylist()] == list(range(1, 2501))
