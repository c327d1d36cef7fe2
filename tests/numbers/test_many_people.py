"""Very many people with numbers: found, compared and written together as one by one."""

from __future__ import annotations

import numpy as np
import pyarrow
import pytest

import pnsight
from numeric_tables import COLUMNS, tables
from pnsight.data import profiles
from pnsight.data.number_codes import NO_NUMBER, pack
from pnsight.data.number_scale import NumberScale
from pnsight.data.schema import OPEN, Covariate, Schema
from pnsight.decisions.scorer import Scorer
from pnsight.models.response_types import near_people, profile_inputs
from pnsight.models.response_types.near_people import NEAR, NearPeople
from pnsight.models.response_types.profile_inputs import ProfileInputs
from pnsight.queries.query import decode, format_queries, texts_when_needed
from pnsight.queries.query_texts import query_texts
from quick_config import QUICK

SHAPE = (4, 4, 2, 70, 4, 3)
"""Levels of six covariates, more together than a word has bits."""


def drawn(seed: int, rows: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.integers(0, levels, rows) for levels in SHAPE]).astype(np.int32)


def differing(queries: np.ndarray, people: np.ndarray) -> np.ndarray:
    """In how many of the covariates that a query fixes the nearest person differs."""
    fixed = queries != OPEN
    return ((queries[:, None] != people) & fixed[:, None]).sum(axis=2).min(axis=1)


@pytest.mark.parametrize("queries", [5, 300])
def test_somebody_is_near_who_differs_in_few_covariates(queries):
    people, asked = np.unique(drawn(1, 120), axis=0), drawn(2, queries)
    asked[::3, 1] = OPEN
    asked[1::3, [0, 3]] = OPEN
    may_differ = np.maximum(1, (asked != OPEN).sum(axis=1) // NEAR)
    expected = differing(asked, people) <= may_differ
    assert 0 < expected.sum() < len(expected)
    assert np.array_equal(NearPeople(people, SHAPE).somebody(asked), expected)


def test_of_very_many_queries_it_is_found_out_once_who_is_near(monkeypatch):
    people, asked = np.unique(drawn(1, 120), axis=0), drawn(2, 300)
    asked[::3, 1] = OPEN
    one_by_one = NearPeople(people, SHAPE).somebody(asked)
    monkeypatch.setattr(near_people, "_CELLS_PER_QUERY", 1_000_000)
    together = NearPeople(people, SHAPE)
    whole = (asked != OPEN).all(axis=1)
    assert np.array_equal(together.somebody(asked), one_by_one)
    assert "_everywhere" in vars(together)
    assert 0 < one_by_one[whole].sum() < whole.sum()
    assert np.array_equal(together.somebody(asked[whole]), one_by_one[whole])


def numbers(seed: int, rows: int) -> np.ndarray:
    return pack(*[np.random.default_rng(seed).normal(size=(rows, 3))] * 2)


SCALES = [NumberScale.of(np.linspace(-3, 3, 50), np.ones(50))] * 3
SCHEMA = Schema(tuple(Covariate.numeric(name, scale) for name, scale in zip("abc", SCALES, strict=True)))


def test_people_are_found_among_others_and_nobody_else_is():
    present, others = numbers(1, 500), numbers(2, 500)
    lookup = profiles.ProfileLookup(SCHEMA, present)
    assert np.array_equal(lookup.find(present[::-1]), np.arange(500)[::-1])
    assert (lookup.find(others) == -1).all()


def test_people_with_the_same_hash_are_told_apart(monkeypatch):
    hash_rows = profiles.hash_rows
    monkeypatch.setattr(
        profiles, "hash_rows", lambda codes, salt: hash_rows(codes, salt) % (10 if salt == 0 else 2**40)
    )
    present, others = numbers(1, 500), numbers(2, 500)
    lookup = profiles.ProfileLookup(SCHEMA, present)
    assert np.array_equal(lookup.find(present), np.arange(500))
    monkeypatch.setattr(profiles, "hash_rows", lambda codes, salt: hash_rows(present[: len(codes)], salt) % 2**40)
    assert (lookup.find(others) == -1).all()


def test_texts_of_many_people_are_those_of_each():
    codes = numbers(3, 5000)
    odd = [0.0, 1.0, -2.0, 1e-5, 3e-4, 123456.7, 1e7, 1.5e20, -0.001, 0.1]
    codes[: len(odd), 0] = pack(odd, odd)
    codes[7, 1] = OPEN
    assert format_queries(SCHEMA, codes) == [str(decode(SCHEMA, row)) for row in codes]
    codes[3, 2] = pack(-1.0, 1.0)
    assert format_queries(SCHEMA, codes) == [str(decode(SCHEMA, row)) for row in codes]


LEVELS = Covariate("a,b", ("x=1", "y"))
DATES = NumberScale.of(np.arange(40.0), np.ones(40), origin="2024-01-31")
GAPS = NumberScale.of(np.append(np.arange(30.0), np.nan), np.ones(31))


@pytest.mark.parametrize("ranges", [False, True])
def test_a_column_of_texts_is_what_is_written_of_each_query(ranges):
    covariates = (LEVELS, Covariate.numeric("c=d", SCALES[0]), Covariate.numeric("day", DATES))
    schema = Schema((*covariates, Covariate.numeric("gaps", GAPS)))
    rng = np.random.default_rng(6)
    odd = np.array([0.0, 1.0, -2.0, 1e-5, 3e-4, 123456.7, 1e7, 1.5e20, -0.001, 0.1, 2.5, -17.125], dtype=np.float32)
    days, gaps = rng.integers(0, 40, 12), rng.integers(0, 30, 12)
    codes = np.column_stack([rng.integers(0, 2, 12), pack(odd, odd), pack(days, days), pack(gaps, gaps)])
    codes[3, 3] = pack(NO_NUMBER, NO_NUMBER)
    codes[[0, 1, 5], [0, 1, 2]] = OPEN
    codes[7] = OPEN
    if ranges:
        codes[2, 1] = pack(-1.0, 1.0)
    assert query_texts(schema, codes).to_pylist() == format_queries(schema, codes)
    assert query_texts(schema, codes[:0]).to_pylist() == []


def test_a_column_of_short_texts_and_of_none():
    yes_no = Schema((Covariate("a", ("0", "1")), Covariate("b", ("0", "1"))))
    assert query_texts(yes_no, np.array([[0, OPEN], [1, 1]])).to_pylist() == ["0X", "11"]
    assert query_texts(Schema(()), np.empty((2, 0), np.int32)).to_pylist() == ["", ""]


def test_texts_of_very_many_queries_wait_until_they_are_looked_at():
    codes = numbers(4, 5000)
    texts = texts_when_needed(SCHEMA, codes)
    assert not isinstance(texts, list)
    assert isinstance(texts_when_needed(SCHEMA, codes[:9]), list)
    assert len(texts) == 5000
    assert list(texts) == format_queries(SCHEMA, codes)
    assert texts[-1] == str(decode(SCHEMA, codes[-1]))


def test_networks_say_the_same_of_people_some_at_a_time(model, monkeypatch):
    networks = model.marginaliser_.networks
    inputs = ProfileInputs(model.schema, model.study.profiles)
    assert inputs.shape == inputs[:].shape
    together = inputs.mean_types(networks)
    monkeypatch.setattr(profile_inputs, "_AT_ONCE", 100)
    assert np.array_equal(inputs.mean_types(networks), together)
    assert np.array_equal(ProfileInputs(model.schema, inputs.profiles[7:]).mean_types(networks), together[7:])
    assert inputs[[5, 2]].tolist() == inputs[:][[5, 2]].tolist()


def test_a_missing_number_among_many_is_called_missing():
    scale = NumberScale.of(np.append(np.arange(30.0), np.nan), np.ones(31))
    codes = np.append(pack(*[np.linspace(0, 30, 5000)] * 2), pack(NO_NUMBER, NO_NUMBER))
    assert scale.texts(codes) == [scale.text(int(code)) for code in codes]


@pytest.fixture(scope="module")
def model() -> pnsight.ResponseTypeModel:
    study = pnsight.read_study(*tables(), **COLUMNS)
    return pnsight.ResponseTypeModel(config=QUICK, random_state=3, intervals=False).fit(study)


def test_a_model_without_intervals_is_stored_and_read(model, tmp_path):
    pnsight.save(model, tmp_path / "model")
    again, queries = pnsight.load(tmp_path / "model"), ["", "age=52", "age=40..65,sex=m"]
    assert np.array_equal(again.bounds(queries).lower, model.bounds(queries).lower)
    assert again.bounds(queries).level is None


def test_people_who_hardly_recur_are_scored_without_being_remembered(model):
    rng = np.random.default_rng(5)
    people = {"age": rng.integers(20, 90, 300), "weight": rng.normal(75, 9, 300), "sex": rng.choice(["f", "m"], 300)}
    columns = {name: pyarrow.array(values) for name, values in people.items()}
    scorer = Scorer(model)
    found = scorer.score(columns, 300)
    asked = [dict(zip(people, row, strict=True)) for row in zip(*people.values(), strict=True)]
    expected = pnsight.decide(model, asked).columns()
    assert not len(scorer._keys)
    for name in ("query", "decision", "lower", "upper", "basis"):
        assert found[name].to_pylist() == expected[name]


def test_people_are_answered_alike_in_any_blocks(model):
    rng = np.random.default_rng(8)
    people = {"age": rng.integers(20, 90, 700), "weight": rng.normal(75, 9, 700), "sex": rng.choice(["f", "m"], 700)}
    columns = {name: pyarrow.array(values) for name, values in people.items()}
    together = Scorer(model).score(columns, 700)
    for begin, rows in ((0, 333), (1, 699), (650, 50)):
        part = Scorer(model).score({name: values.slice(begin, rows) for name, values in columns.items()}, rows)
        assert part.combine_chunks().equals(together.combine_chunks().slice(begin, rows))
