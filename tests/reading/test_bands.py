"""Numbers cut into bands: edges learned once, a number finds its band, an edge belongs to the band above it."""

from __future__ import annotations

import math
import re

import numpy as np
import pandas
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pnsight
from engine_tables import as_csv, as_database
from noted import rows_without
from pnsight.data.schema import OPEN, Covariate, Schema, band_labels, whole_band_labels
from pnsight.errors import QueryError, TableError
from pnsight.notes import Note
from pnsight.queries.query import encode, format_queries

EDGES = (0.0, 40.0, 65.0, 120.0)
AGE = Covariate("age", band_labels(EDGES), EDGES)


def table(ages, **more):
    rows = len(ages)
    return pandas.DataFrame({"age": ages, "x": np.arange(rows) % 2, "y": np.arange(rows) // 2 % 2, **more})


def study_of(*tables, bands, **more):
    return pnsight.read_study(*tables, treatment="x", outcome="y", covariates=["age"], bands={"age": bands}, **more)


def rows_by_band(study, counts=None):
    totals = (study.counts if counts is None else counts).sum(axis=1)
    levels = study.schema.covariates[0].levels
    return {levels[code]: rows for (code,), rows in zip(study.profiles, totals.tolist(), strict=True)}


# --- which band ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "band"),
    [(0, "0-40"), (39.999, "0-40"), (40, "40-65"), (64, "40-65"), (65, "65-120"), (120, "65-120")],
)
def test_an_edge_belongs_to_the_band_above_it_and_the_last_edge_to_the_last_band(number, band):
    assert AGE.levels[AGE.code(number)] == band
    assert rows_by_band(study_of(table([number, number, 0.5, 0.5]), bands=EDGES))[band] == (4 if band == "0-40" else 2)


@pytest.mark.parametrize("value", [52, 52.0, "52", " 52.0 ", "5.2e1", np.int64(52), np.float32(52), "40-65"])
def test_a_number_finds_its_band_however_it_is_written(value):
    assert AGE.levels[AGE.code(value)] == "40-65"


@pytest.mark.parametrize("query", ["age=52", {"age": 52}, [{"age": 52}], ["age=40-65"]])
def test_a_query_may_name_a_number(query):
    schema = Schema((AGE,))
    assert format_queries(schema, encode(schema, query)) == ["age=40-65"]


def test_a_frame_of_queries_may_hold_numbers_and_nothing():
    schema = Schema((AGE,))
    for frame in (pandas.DataFrame({"age": [52.0, None, 70.5]}), polars.DataFrame({"age": [52.0, None, 70.5]})):
        assert encode(schema, frame).ravel().tolist() == [1, OPEN, 2]


@pytest.mark.parametrize("value", [-1, 121, "130", 1e9])
def test_a_number_outside_the_edges_is_refused(value):
    with pytest.raises(QueryError, match=r"covariate 'age' cannot be .*: its bands go from 0 to 120; give a number"):
        AGE.code(value)


def test_what_is_no_number_is_refused_with_the_bands():
    with pytest.raises(QueryError, match=r"no level 'old'; it has 0-40, 40-65, 65-120, or give a number"):
        AGE.code("old")


@pytest.mark.parametrize(
    ("edges", "labels"),
    [
        ((0, 40, 65), ("0-40", "40-65")),
        ((-math.inf, 40, math.inf), ("under-40", "40+")),
        ((-10, -5, 0.5), ("-10--5", "-5-0.5")),
        ((0, 1e-7, 0.1), ("0-1e-07", "1e-07-0.1")),
    ],
)
def test_band_labels_hold_no_comma_and_read_back(edges, labels):
    assert band_labels(edges) == labels
    schema = Schema((Covariate("a", labels, tuple(map(float, edges))),))
    assert encode(schema, format_queries(schema, np.array([[0], [1]], np.int32))).tolist() == [[0], [1]]


@given(
    edges=st.lists(st.integers(-50, 50), min_size=2, max_size=6, unique=True).map(sorted),
    numbers=st.lists(st.floats(-50, 50), min_size=2, max_size=20),
)
@settings(max_examples=50)
def test_counting_and_asking_agree_on_the_band(edges, numbers):
    inside = [number for number in numbers if edges[0] <= number <= edges[-1]] or [edges[0]]
    study = study_of(table(inside * 2), bands=edges)
    (covariate,) = study.schema.covariates
    expected = np.bincount([covariate.code(number) for number in inside * 2], minlength=len(covariate.levels))
    found = rows_by_band(study)
    assert [found.get(level, 0) for level in covariate.levels] == expected.tolist()


# --- quantiles -------------------------------------------------------------------------------------------


@given(
    first=st.lists(st.one_of(st.integers(0, 9), st.floats(-1e6, 1e6)), min_size=2, max_size=40),
    second=st.lists(st.one_of(st.integers(0, 9), st.floats(-1e6, 1e6)), min_size=2, max_size=40),
    bands=st.integers(2, 6),
)
@settings(max_examples=80)
def test_quantile_edges_are_those_of_both_tables_sorted(first, second, bands):
    numbers = np.sort(np.array(first + second, float))
    expected = {float(numbers[k * len(numbers) // bands]) for k in range(1, bands)} - {float(numbers[0])}
    if not expected:
        with pytest.raises(TableError, match="too many rows share the number"):
            study_of(table(first), table(second), bands=bands)
        return
    (covariate,) = study_of(table(first), table(second), bands=bands).schema.covariates
    assert covariate.edges == (-math.inf, *sorted(expected), math.inf)


def test_equal_parts_of_a_long_and_skewed_column():
    ages = np.exp(np.random.default_rng(1).normal(0, 4, 10_000))
    study = study_of(table(ages), bands=4)
    assert list(rows_by_band(study).values()) == [2500] * 4
    assert study.notes == ()


def test_quantile_bands_are_open_at_both_ends():
    study = study_of(table(list(range(100))), bands=4)
    (covariate,) = study.schema.covariates
    assert covariate.levels == ("under-25", "25-49", "50-74", "75+")
    assert [covariate.code(number) for number in (-1e9, 25, 1e9)] == [0, 1, 3]


def test_fewer_bands_than_asked_are_reported():
    study = study_of(table([1] * 60 + list(range(2, 42))), bands=4)
    assert len(study.schema.covariates[0].levels) == 2
    assert study.notes == (Note("fewer_bands", {"covariate": "age", "found": 2, "wanted": 4}),)


def test_weights_count_in_the_quantiles():
    heavy = table([10, 20, 30, 40], w=[1, 1, 1, 97])
    with pytest.raises(TableError, match="too many rows share the number 10"):
        study_of(heavy.assign(w=[97, 1, 1, 1]), bands=2, weight="w")
    (covariate,) = study_of(heavy, bands=2, weight="w").schema.covariates
    assert covariate.edges == (-math.inf, 40, math.inf)


# --- whole numbers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edges", "names"),
    [
        ((1, 2, 3, 8), ("1", "2", "3-8")),
        ((0, 40, 65, 120), ("0-39", "40-64", "65-120")),
        ((-math.inf, 2, 3, math.inf), ("under-2", "2", "3+")),
        ((17.5, 39.5, 64.5), ("18-39", "40-64")),
        ((-math.inf, 39.5, math.inf), ("under-40", "40+")),
        ((1.2, 1.7, 3), ("1.2-1.7", "2-3")),
    ],
)
def test_bands_of_whole_numbers_say_what_they_hold(edges, names):
    assert whole_band_labels(edges) == names


@given(st.lists(st.integers(-20, 20).map(lambda k: k / 2), min_size=3, max_size=7, unique=True).map(sorted))
def test_every_whole_number_is_in_the_band_that_names_it_and_old_names_stay(edges):
    plain = Covariate("n", band_labels(edges), tuple(edges))
    whole = plain.with_whole_bands()
    assert len(set(whole.levels)) == len(edges) - 1
    for number in range(math.ceil(edges[0]), math.floor(edges[-1]) + 1):
        low, high = re.fullmatch(r"(-?\d+)(?:-(-?\d+))?", whole.levels[whole.code(number)]).groups()
        assert int(low) <= number <= int(high or low)
    for code, (by_edges, name) in enumerate(zip(plain.levels, whole.levels, strict=True)):
        assert (whole.code(by_edges), whole.code(name)) == (code, code)


def test_a_column_with_one_fraction_in_either_table_is_named_by_its_edges():
    assert study_of(table([20, 50]), table([20, 64.5]), bands=EDGES).schema.covariates[0].levels == AGE.levels
    study = study_of(table([20, 50]), table([20, None]), bands=EDGES, missing="level")
    assert study.schema.covariates[0].levels == ("0-39", "40-64", "65-120", "missing")


def test_a_query_by_the_edges_finds_the_band_of_whole_numbers():
    study = study_of(table([20, 50]), bands=EDGES)
    assert format_queries(study.schema, encode(study.schema, ["age=40-65", "age=64", "age=40-64"])) == ["age=40-64"] * 3


# --- data ------------------------------------------------------------------------------------------------


def test_outer_edges_may_be_infinite():
    study = study_of(table([-500, 20, 50, 500]), bands=[-math.inf, 40, math.inf])
    assert rows_by_band(study) == {"under-40": 2, "40+": 2}


def test_a_number_outside_the_edges_is_refused_with_the_table_it_is_in():
    with pytest.raises(
        TableError, match=r"'age' holds 130 in the observational table, outside its bands from 0 to 120"
    ):
        study_of(table([20, 50]), table([20, 130]), bands=EDGES)


def test_a_band_without_rows_is_still_a_level():
    study = study_of(table([20, 30]), bands=EDGES)
    assert study.schema.covariates[0].levels == ("0-39", "40-64", "65-120")
    assert pnsight.PlugIn().fit(study).bounds("age=100").status.tolist() == ["undefined"]


def test_missing_numbers_are_missing_not_a_band():
    ages = [20, None, float("nan"), 50]
    with pytest.raises(TableError, match="covariate 'age' has no value in 2 rows of the experimental table"):
        study_of(table(ages), bands=EDGES)
    assert rows_by_band(study_of(table(ages), bands=EDGES, missing="level")) == {"0-39": 1, "40-64": 1, "missing": 2}
    dropped = study_of(table(ages), bands=EDGES, missing="drop")
    assert rows_by_band(dropped) == {"0-39": 1, "40-64": 1}
    assert dropped.dropped == {rows_without("age"): 2}


def test_numbers_in_text_files_and_databases_are_numbers(tmp_path):
    columns = {"age": [9, 10, 100, None], "x": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
    for written in (as_csv(columns, tmp_path / "trial"), as_database(columns, tmp_path / "trial")):
        assert rows_by_band(study_of(written, bands=[0, 10, 100], missing="drop")) == {"0-9": 1, "10-100": 2}


def test_a_column_of_words_is_not_cut():
    with pytest.raises(TableError, match="column 'age' of the experimental table holds values of type String"):
        study_of(polars.DataFrame({"age": ["20", "30"], "x": [0, 1], "y": [0, 1]}), bands=2)


@pytest.mark.parametrize("bands", [1, 0, 101, [5], [], [3, 2], [1, 1], [1, float("nan"), 3]])
def test_bands_that_make_no_sense_are_refused(bands):
    with pytest.raises(TableError, match=r"'age' (is to be cut into|has the edges)"):
        study_of(table([1, 2, 3]), bands=bands)


def test_a_saved_model_keeps_its_edges(tmp_path):
    ages = table(list(range(100)))
    for bands in (4, EDGES):
        model = pnsight.PlugIn().fit(study_of(ages, bands=bands))
        pnsight.save(model, tmp_path / "model")
        loaded = pnsight.load(tmp_path / "model")
        assert loaded.schema == model.schema
        assert loaded.bounds("age=52").columns() == model.bounds("age=52").columns()
