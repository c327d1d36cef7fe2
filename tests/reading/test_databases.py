"""Tables of SQL databases, by address."""

from __future__ import annotations

import sqlite3
import sys
from types import ModuleType

import pytest

import pnsight
from engine_tables import as_database
from pnsight.data.reading.open_table import open_table
from pnsight.data.reading.sql_engine import SqlSource, sql_address
from pnsight.errors import TableError

PEOPLE = {"sex": ["F", "M", "F", "M"], "x": [0, 1, 1, 0], "y": [1, 1, 0, 0]}


@pytest.fixture
def url(tmp_path):
    address, _ = as_database(PEOPLE, tmp_path / "trial").split("::")
    return address


def study_of(source, **more):
    return pnsight.read_study(source, treatment="x", outcome="y", **more)


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("sqlite:///trial.db::people", SqlSource("sqlite:///trial.db", table="people")),
        ("postgresql://me@host:5432/b::ward.people", SqlSource("postgresql://me@host:5432/b", table="ward.people")),
        ("postgresql://[::1]/base::people", SqlSource("postgresql://[::1]/base", table="people")),
        ("sqlite:///t.db:: select x::int from p ", SqlSource("sqlite:///t.db", query="select x::int from p")),
        (
            "sqlite:///t.db::WITH p AS (SELECT 1) TABLE p",
            SqlSource("sqlite:///t.db", query="WITH p AS (SELECT 1) TABLE p"),
        ),
        ("sqlite:///t.db::selected", SqlSource("sqlite:///t.db", table="selected")),
        ("trial.csv", None),
        ("folder/a::b.csv", None),
    ],
)
def test_an_address_is_a_url_and_a_table_or_query(text, source):
    assert sql_address(text) == source


def test_a_table_and_a_query_give_the_same_study(url):
    by_table, by_query = (
        pnsight.data.reading.sql(url, table="people"),
        pnsight.data.reading.sql(url, query="SELECT * FROM people;"),
    )
    for study in (study_of(by_table), study_of(by_query), study_of(f"{url}::people")):
        assert study.schema.covariates[0].levels == ("F", "M")
        assert study.experimental.tolist() == [[0, 1, 1, 0], [1, 0, 0, 1]]


def test_colons_in_a_query_are_the_users(url):
    query = "SELECT sex || ':x' AS sex, x, y FROM people WHERE ':y' <> sex"
    assert study_of(pnsight.data.reading.sql(url, query=query)).schema.covariates[0].levels == ("F:x", "M:x")


def test_a_view_and_a_table_with_a_dot_in_its_name_are_found(url, tmp_path):
    with sqlite3.connect(tmp_path / "trial.db") as connection:
        connection.execute("CREATE VIEW women AS SELECT x, y FROM people WHERE sex = 'F'")
        connection.execute('CREATE TABLE "v1.people" AS SELECT * FROM people')
    connection.close()
    assert study_of(f"{url}::women").experimental.sum() == 2
    assert study_of(f"{url}::v1.people").experimental.sum() == 4
    assert study_of(f"{url}::main.people").experimental.sum() == 4


def test_queries_may_come_from_a_database(url):
    assert pnsight.data.reading.read_columns(f"{url}::SELECT sex FROM people LIMIT 2", "query") == {"sex": ["F", "M"]}


def test_an_empty_table_is_refused(url):
    with pytest.raises(TableError, match="the experimental table has no rows"):
        study_of(f"{url}::SELECT * FROM people WHERE x > 1")


def test_a_database_is_never_made(tmp_path):
    with pytest.raises(TableError, match="there is no file"):
        study_of(f"sqlite:///{tmp_path}/new.db::people")
    assert list(tmp_path.iterdir()) == []


WITH_PASSWORD = [
    "mysql+pymysql://me:hush@host/base",
    "mysql+pymysql://me:a@hush@host/base",
    "mysql+pymysql://me:a/hush@host/base",
    "mysql+pymysql://me:a[hush@host/base",
    "mysql+pymysql://me:a::hush@host/base",
    "mysql+pymysql://me:hush@host:port/base",
    "mysql+pymysql:/me:hush@host/base",
    "mysql+pymysql://host/base?user=me&password=hush",
    "mysql+pymysql://host/base?odbc_connect=UID=me;PWD=hush;",
    "nothing://me:a@hush@host/base",
    "sqlite://me:hush@/nowhere.db",
]


@pytest.fixture(params=["no driver", "a driver", "a driver that raises what it likes"])
def driver(request, monkeypatch):
    """No driver of MySQL, or one that repeats all that it was given when it cannot connect."""
    if request.param == "no driver":
        monkeypatch.setitem(sys.modules, "pymysql", None)
        return
    module = ModuleType("pymysql")
    module.Error = type("Error", (Exception,), {})
    module.paramstyle, module.__version__ = "pyformat", "1.0"

    def connect(**given):
        raise (module.Error if request.param == "a driver" else TypeError)(f"cannot connect with {given}")

    module.connect = connect
    monkeypatch.setitem(sys.modules, "pymysql", module)


@pytest.mark.parametrize("url", WITH_PASSWORD)
def test_a_password_is_never_shown(url, driver):
    source = pnsight.data.reading.sql(url, table="people")
    assert "hush" not in repr(source)
    for wrong in (source, f"{url}::people", url):
        with pytest.raises(TableError) as refused:
            study_of(wrong)
        assert "hush" not in str(refused.value)


def test_a_table_of_a_database_does_not_show_its_url(url):
    assert "sqlite" not in repr(open_table(f"{url}?timeout=5::people", "experimental"))


def test_a_model_does_not_store_where_its_tables_came_from(url, tmp_path):
    pnsight.save(pnsight.PlugIn().fit(study_of(f"{url}?timeout=5::people")), tmp_path / "model")
    stored = b"".join(path.read_bytes() for path in (tmp_path / "model").iterdir())
    assert b"sqlite" not in stored
    assert b"trial" not in stored


@pytest.mark.parametrize("given", [{}, {"table": "people", "query": "SELECT 1"}])
def test_one_of_table_and_query_is_needed(given):
    with pytest.raises(TableError, match="give one of the two"):
        pnsight.data.reading.sql("sqlite:///trial.db", **given)


def test_without_sqlalchemy_the_extra_is_named(url, monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(TableError, match=r"pip install 'pnsight\[sql\]'"):
        study_of(f"{url}::people")
