"""Queries with numbers: text, mappings and tables mean the same, and sums over people are those of brute force."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pnsight.data.number_codes import low_ends, pack
from pnsight.data.number_scale import NumberScale
from pnsight.data.schema import OPEN, Covariate, Schema
from pnsight.errors import QueryError
from pnsight.queries import lattice
from pnsight.queries.query import decode, encode, format_queries

AGES = NumberScale.of(np.arange(18.0, 99.0), np.ones(81))
BMI = NumberScale.of(np.linspace(15, 50, 300), np.ones(300))
SCHEMA = Schema((Covariate.numeric("age", AGES), Covariate("sex", ("f", "m")), Covariate.numeric("a=b,<c", BMI)))


@st.composite
def queries(draw: st.DrawFn) -> list[int]:
    """Codes of a query: numbers, ranges, one-sided ones, levels, or open."""

    def number(scale: NumberScale) -> int:
        low, high = sorted(draw(st.lists(st.integers(0, 120), min_size=2, max_size=2)))
        texts = (f"{low}", f"{low}..{high}", f">={low}", f">{low}", f"<{high}", f"<={high}", f"{low}..<{high + 1}")
        code = scale.code(draw(st.sampled_from(texts)))
        assert code is not None
        return OPEN if draw(st.booleans()) else code

    return [number(AGES), draw(st.integers(OPEN, 1)), number(BMI)]


@given(st.lists(queries(), min_size=1, max_size=5))
def test_queries_are_read_back_from_their_text_and_as_mappings(rows):
    codes = np.array(rows, dtype=np.int64)
    assert np.array_equal(encode(SCHEMA, format_queries(SCHEMA, codes)), codes)
    assert np.array_equal(encode(SCHEMA, [dict(decode(SCHEMA, row).fixed) for row in codes]), codes)
    assert np.array_equal(encode(SCHEMA, codes), codes)


@given(st.lists(queries(), min_size=1, max_size=6), st.integers(0, 2**32 - 1))
def test_sums_over_ranges_are_those_of_comparing_everybody(rows, seed):
    rng, asked = np.random.default_rng(seed), np.array(rows, dtype=np.int64)
    age, bmi = rng.integers(18, 99, 50).astype(float), rng.integers(10, 60, 50).astype(float)
    people = np.column_stack([pack(age, age), rng.integers(0, 2, 50), pack(bmi, bmi)])
    people, where = np.unique(people, axis=0, return_inverse=True)
    values = np.bincount(where.ravel(), rng.random(50))[:, None]
    expected = [sum(values[i, 0] for i in range(len(people)) if _fits(query, people[i])) for query in asked]
    assert np.allclose(lattice.sum_over(SCHEMA, asked, people, values)[:, 0], expected)
    assert np.allclose(lattice.membership_matrix(asked, people) @ values[:, 0], expected)


def _fits(query: np.ndarray, person: np.ndarray) -> bool:
    for j, (code, own) in enumerate(zip(query, person, strict=True)):
        if code == OPEN:
            continue
        if j in SCHEMA.numeric:
            low, high = np.array([code]).view(np.float32)
            if not low <= low_ends(np.array([own]))[0] <= high:
                return False
        elif code != own:
            return False
    return True


def test_all_groups_together_are_everybody():
    codes = lattice.all_queries(SCHEMA)
    assert len(codes) == SCHEMA.n_queries == 5 * 3 * 5
    age = np.arange(18.0, 99.0)
    people = np.column_stack([pack(age, age), np.zeros(81, dtype=np.int64), pack(age / 2, age / 2)])
    one_by_one = lattice.membership_matrix(codes, people).sum(axis=1)
    assert np.array_equal(lattice.sum_over(SCHEMA, codes, people, np.ones((81, 1)))[:, 0], one_by_one)


def test_two_conditions_on_a_number_mean_both():
    assert np.array_equal(encode(SCHEMA, "age>=40,age<65"), encode(SCHEMA, "age=40..64"))
    with pytest.raises(QueryError, match="no number of 'age' is both"):
        encode(SCHEMA, "age>=65,age<40")


def test_a_table_of_queries_may_mix_numbers_ranges_and_open():
    table = pd.DataFrame({"age": ["52", "40..65", None, ">=65"], "sex": ["f", None, "m", None]})
    texts = format_queries(SCHEMA, encode(SCHEMA, table))
    assert texts == ["age=52,sex=f", "age=40..65", "sex=m", "age>=65"]
    assert format_queries(SCHEMA, encode(SCHEMA, pd.DataFrame({"age": [52.0, np.nan]}))) == ["age=52", ""]


def test_what_is_neither_number_nor_range_is_refused_with_what_was_seen():
    with pytest.raises(QueryError, match=r"it is a number, seen from 18 to 98; .*age=18\.\.98"):
        encode(SCHEMA, "age=old")


def test_words_for_readers():
    assert decode(SCHEMA, encode(SCHEMA, "age>=65,sex=f")[0]).words == "age >= 65, sex = f"
    assert decode(SCHEMA, encode(SCHEMA, "age=40..65")[0]).words == "age = 40..65"


LEVELS = Schema((Covariate("grade", ("1", "2", "3")), Covariate("sex", ("female", "male"))))


@pytest.mark.parametrize("text", ["grade>=2", "grade<2", "grade > 1,sex=male", "grade=1..2", "grade=1..<2"])
def test_a_range_of_levels_is_refused_as_such(text):
    with pytest.raises(QueryError, match=r"^covariate 'grade' has levels, .* one of 1, 2, 3, or .* --numeric grade"):
        encode(LEVELS, text)


def test_of_levels_that_are_words_nobody_is_told_to_leave_them_as_numbers():
    with pytest.raises(QueryError, match=r"^covariate 'sex' has levels, and a range is of numbers; .* female, male\.$"):
        encode(LEVELS, "sex>female")


def test_of_a_value_that_is_refused_the_beginning_is_shown():
    with pytest.raises(QueryError, match=r"'age' cannot be '10+\d+\.\.\.': it is a number") as refused:
        encode(SCHEMA, {"age": 1e300})
    assert len(str(refused.value)) < 250


def test_columns_of_a_table_of_queries_may_be_named_by_numbers():
    table = pd.DataFrame({0: ["ann", "bo"], "age": [52, 60]})
    assert np.array_equal(encode(SCHEMA, table), encode(SCHEMA, ["age=52", "age=60"]))
