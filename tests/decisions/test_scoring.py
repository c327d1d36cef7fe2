"""Scoring: the same decisions as one person at a time, from every kind of frame, and no row that stops it."""

from __future__ import annotations

import dask.dataframe
import duckdb
import numpy as np
import pandas
import polars
import pyarrow
import pytest

import pnsight
from pnsight import simulation as populations
from pnsight.decisions.scorer import Scorer
from pnsight.errors import QueryError, TableError

THRESHOLD = 0.3
ROWS = 400


@pytest.fixture(scope="module")
def model():
    study = populations.get("mediator").sample(experimental=20_000, observational=20_000, seed=301)
    return pnsight.PlugIn().fit(study)


@pytest.fixture(scope="module")
def people(model):
    """Nine of ten covariates, with gaps, an unknown level, and columns that have names of answers."""
    rng = np.random.default_rng(302)
    columns = {
        name: [
            None if gap < 0.6 else str(level)
            for gap, level in zip(rng.random(ROWS), rng.integers(0, 2, ROWS), strict=True)
        ]
        for name in model.schema.names[:9]
    }
    columns["z2"][5] = "unheard of"
    return {"person": [f"p{i}" for i in range(ROWS)], **columns, "status": ["given"] * ROWS}


@pytest.fixture(scope="module")
def expected(model, people):
    """Each person asked about alone; nothing for whom cannot be read."""
    covariates = {name: people[name] for name in model.schema.names[:9]}
    asked = [dict(zip(covariates, row, strict=True)) for row in zip(*covariates.values(), strict=True)]
    asked[5] = {}
    found = pnsight.decide(model, asked, THRESHOLD).columns()
    return {**found, "decision": [word if i != 5 else "" for i, word in enumerate(found["decision"])]}


def check(rows, people, expected):
    """Rows as dictionaries say what they should, one for each person."""
    assert [row["person"] for row in rows] == people["person"]
    assert {row["status_given"] for row in rows} == {"given"}
    assert [row["decision"] for row in rows] == expected["decision"]
    for i, row in enumerate(rows):
        if i == 5:
            assert row["status"] == "invalid"
            assert row["problem"] == "covariate 'z2' has no level 'unheard of'; it has 0, 1."
            continue
        assert (row["query"], row["status"]) == (expected["query"][i], expected["status"][i])
        assert row["problem"] is None or row["problem"] != row["problem"]
        for name in ("lower", "upper", "lower_low", "upper_high", "support_experimental"):
            want, got = expected[name][i], row[name]
            assert (want is None and (got is None or np.isnan(got))) or got == want


FRAMES = {
    "pandas": (pandas.DataFrame, lambda found: found.to_dict("records")),
    "Polars": (polars.DataFrame, lambda found: found.to_dicts()),
    "Polars, lazy": (polars.LazyFrame, lambda found: found.collect().to_dicts()),
    "Arrow": (pyarrow.table, lambda found: found.to_pylist()),
    "Dask": (
        lambda columns: dask.dataframe.from_pandas(pandas.DataFrame(columns), npartitions=3),
        lambda found: found.compute().to_dict("records"),
    ),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_each_kind_of_frame_comes_back_with_decisions(kind, model, people, expected):
    make, rows = FRAMES[kind]
    frame = make(people)
    found = pnsight.score(model, frame, THRESHOLD)
    assert type(found) is type(frame)
    check(rows(found), people, expected)


def test_a_duckdb_relation_comes_back_as_one_that_can_be_read_again(model, people, expected):
    with duckdb.connect() as connection:
        connection.register("people", pyarrow.table(people))
        found = pnsight.score(model, connection.table("people"), THRESHOLD)
        again = pnsight.score(model, found.project("* EXCLUDE (status_given)"), THRESHOLD)
        assert "status_given" in again.columns
        for relation in (found, found):
            rows = relation.to_arrow_table().to_pylist()
            check(sorted(rows, key=lambda row: int(row["person"][1:])), people, expected)


def test_a_pandas_frame_keeps_its_index_and_its_types(model, people):
    frame = pandas.DataFrame(people, index=range(7, 7 + ROWS)).astype({"z1": "category"})
    found = pnsight.score(model, frame, THRESHOLD)
    assert list(found.index) == list(frame.index)
    assert found["z1"].dtype == frame["z1"].dtype


def test_values_of_several_kinds_in_one_column_are_read(model):
    frame = pandas.DataFrame({"z1": [1, "1", 1.0, True, None]})
    found = pnsight.score(model, frame)
    assert list(found["status"]) == ["ok", "ok", "ok", "invalid", "ok"]
    assert found["query"][0] == found["query"][1] == found["query"][2] == "1XXXXXXXXX"


def test_people_who_are_equal_are_computed_once(model, people, monkeypatch):
    asked = []
    scorer = Scorer(model, THRESHOLD)
    answer = scorer._answer
    monkeypatch.setattr(scorer, "_answer", lambda codes: asked.append(len(codes)) or answer(codes))
    table = pyarrow.table({"z1": people["z1"], "z3": people["z3"]})
    columns = {name: table[name] for name in table.column_names}
    first = scorer.score(columns, ROWS)
    assert asked == [9]
    assert scorer.score(columns, ROWS).equals(first)
    assert asked == [9]


def test_answers_do_not_depend_on_how_many_are_remembered(model, people):
    table = pyarrow.table({name: people[name] for name in model.schema.names[:9]})
    columns = {name: table[name] for name in table.column_names}
    whole = Scorer(model, THRESHOLD).score(columns, ROWS)
    forgetful = Scorer(model, THRESHOLD, most_remembered=10)
    parts = [
        forgetful.score({name: values.slice(begin, 50) for name, values in columns.items()}, 50)
        for begin in range(0, ROWS, 50)
    ]
    assert pyarrow.concat_tables(parts).equals(whole)
    assert len(forgetful._keys) <= 50


def test_nobody_is_scored_too(model):
    found = pnsight.score(model, pyarrow.table({"z1": pyarrow.array([], pyarrow.string())}))
    assert found.num_rows == 0
    assert found.column_names[:4] == ["z1", "decision", "decision_cautious", "query"]


def test_a_model_of_complete_profiles_says_whom_it_cannot_answer():
    study = populations.get("mediator").sample(experimental=3000, observational=3000, seed=303)
    exact = pnsight.ExactMLP(min_rows=10, validation="queries", epochs=2).fit(study)
    frame = pandas.DataFrame({name: ["1", "0"] for name in exact.schema.names})
    frame.loc[1, "z4"] = None
    found = pnsight.score(exact, frame)
    assert found["status"][0] != "invalid"
    assert found["status"][1] == "invalid"
    assert "every covariate" in found["problem"][1]


def test_what_cannot_be_scored_is_refused(model):
    with pytest.raises(QueryError, match="none of them is a covariate"):
        pnsight.score(model, pandas.DataFrame({"age": [1]}))
    with pytest.raises(QueryError, match="write it 'z1'"):
        pnsight.score(model, pandas.DataFrame({"Z1": [1], "z2": [1]}))
    with pytest.raises(QueryError, match="simultaneous"):
        pnsight.score(model, pandas.DataFrame({"z1": [1]}), simultaneous=True)
    with pytest.raises(TableError, match="is a str"):
        pnsight.score(model, "people.csv")


def test_two_columns_of_one_name_are_refused(model):
    twice = pandas.DataFrame([[1, 0, 1]], columns=["z1", "z4", "z4"])
    with pytest.raises(TableError, match="the table of people has more than one column called 'z4'"):
        pnsight.score(model, twice)
    with pytest.raises(TableError, match="the table of queries has more than one column called 'z4'"):
        model.bounds(twice)


def test_a_table_without_columns_is_refused(model):
    with pytest.raises(QueryError, match=r"the columns \(none\), but none of them is a covariate"):
        pnsight.score(model, pandas.DataFrame())
