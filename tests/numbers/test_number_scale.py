"""Numbers and ranges as codes: what is written is read back, and a range holds what lies between its ends."""

from __future__ import annotations

import datetime
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pnsight.data.number_codes import LARGEST, NO_NUMBER, covers, high_ends, is_range, low_ends, of_numbers, pack
from pnsight.data.number_scale import Coding, NumberScale
from pnsight.data.schema import OPEN
from pnsight.errors import QueryError

AGES = NumberScale.of(np.arange(18.0, 99.0), np.ones(81))
WEIGHTS = NumberScale.of(np.linspace(40.05, 140.3, 400), np.ones(400))
DAYS = NumberScale.of(np.arange(400.0), np.ones(400), origin="2024-02-01")
SCALES = (AGES, WEIGHTS, DAYS)

numbers = st.floats(-1e6, 1e6, width=32)


def ends(text: str, scale: NumberScale = AGES) -> tuple[float, float]:
    code = np.array([scale.code(text)], dtype=np.int64)
    return float(low_ends(code)[0]), float(high_ends(code)[0])


@given(numbers, numbers, numbers)
def test_a_range_covers_the_numbers_between_its_ends_and_no_others(one, other, number):
    low, high = sorted((one, other))
    assert covers(pack(low, high), pack(number, number)) == (low <= number <= high)


@given(numbers, numbers)
def test_codes_of_numbers_are_no_codes_of_levels_and_not_open(one, other):
    code = pack(*sorted((one, other)))
    assert of_numbers(code)
    assert code != OPEN
    assert not of_numbers(np.arange(OPEN, 1000)).any()
    assert is_range(code) == (one != other)


FORMS = ("a", "a..b", "a..<b", ">=a", ">a", "<=a", "<a")


@given(st.sampled_from(SCALES[:2]), numbers, numbers, st.sampled_from(FORMS))
def test_what_is_written_is_read_back(scale, one, other, form):
    low, high = sorted((one, other))
    text = form.replace("a", scale.number_text(low)).replace("b", scale.number_text(high))
    try:
        code = scale.code(text)
    except QueryError:
        assert scale.whole or low == high  # nothing is between them
        return
    assert code is not None
    assert scale.code(scale.text(code)) == code


@given(st.integers(-3000, 3000), st.integers(0, 3000))
def test_dates_are_read_back(first, more):
    code = int(pack(float(first), float(first + more)))
    assert DAYS.code(DAYS.text(code)) == code


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("52", (52, 52)),
        ("40..65", (40, 65)),
        (" 40 .. 65 ", (40, 65)),
        ("40..<65", (40, 64)),
        (">=65", (65, LARGEST)),
        (">65", (66, LARGEST)),
        ("<40", (-LARGEST, 39)),
        ("<=40", (-LARGEST, 40)),
        ("-5..-2", (-5, -2)),
    ],
)
def test_forms_of_a_range(text, expected):
    assert ends(text) == expected


def test_an_open_end_of_decimals_is_just_beside_the_number():
    low, high = ends("24..<27.5", WEIGHTS)
    assert low == 24
    assert high < 27.5
    assert np.nextafter(np.float32(high), np.float32(np.inf)) == np.float32(27.5)


@pytest.mark.parametrize("value", ["old", "40-65", "40..", "..65", "=5", "nan", "inf", "1e99", True])
def test_what_is_no_number_has_no_code(value):
    assert AGES.code(value) is None


def test_an_empty_range_is_refused_with_what_to_do():
    with pytest.raises(QueryError, match="lower end first"):
        AGES.code("65..40")


def test_dates_and_their_text_are_one():
    day = datetime.date(2024, 3, 1)
    assert DAYS.code(day) == DAYS.code("2024-03-01") == int(pack(29.0, 29.0))


def test_groups_hold_everybody_once_and_have_readable_names():
    for scale in SCALES:
        people = pack(scale.knots, scale.knots)
        inside = np.stack([covers(code, people) for code in scale.group_codes])
        assert (inside.sum(axis=0) == 1).all()
        assert np.array_equal(inside.argmax(axis=0), scale.group_of(people))
        assert [scale.code(name) for name in scale.group_names] == scale.group_codes.tolist()
    assert AGES.group_names == ("<40", "40..59", "60..79", ">=80")


def test_a_range_over_several_groups_has_none():
    assert AGES.group_of(np.array([AGES.code("30..45"), AGES.code("41..45")], dtype=np.int64)).tolist() == [-1, 1]


@given(st.lists(st.floats(-100, 100, width=16), min_size=3, max_size=60))
def test_ranks_rise_from_nobody_below_to_everybody(values):
    scale = NumberScale.of(np.array(values), np.ones(len(values)))
    ranks = scale.rank(np.sort(values))
    assert (np.diff(ranks) >= -1e-12).all()
    assert ranks.min() > 0
    assert ranks.max() <= 1


def test_a_missing_number_is_in_no_range_and_marked_for_networks():
    scale = NumberScale.of(np.array([1.0, 2, 3, np.nan]), np.ones(4))
    missing = np.array([scale.code("missing"), scale.code("2")], dtype=np.int64)
    assert missing[0] == int(pack(NO_NUMBER, NO_NUMBER))
    assert scale.text(int(missing[0])) == "missing"
    assert not covers(np.int64(scale.code(">=1")), missing[:1]).any()
    for coding in get_args(Coding):
        *columns, marked = scale.inputs(missing, coding)
        assert all(column[0] == 0 for column in columns)
        assert marked.tolist() == [1, -1]


def test_networks_see_how_far_a_number_is_through_eighths_and_which_twentieths_it_has_passed():
    numbers = np.arange(4001.0)
    scale, asked = NumberScale.of(numbers, np.ones(4001)), np.array([1000.0, 2100.0, 3000.0])
    score, *pieces = scale.inputs(pack(asked, asked), "piecewise")
    np.testing.assert_allclose(score, [-0.6745, 0.0627, 0.6745], atol=2e-3)  # normal quantiles of .25, .525 and .75
    np.testing.assert_allclose(np.array(pieces).sum(axis=0), [-4, 0.4, 4], atol=2e-3)  # each goes from -1 to 1
    score_too, *passed = scale.inputs(pack(asked, asked) + 0, "stepped")
    assert np.array_equal(score_too, score)
    assert (np.array(passed)[:, 1] > 0).sum() == 10


@pytest.mark.parametrize("coding", get_args(Coding))
def test_no_input_of_networks_falls_as_the_number_rises(coding):
    scale = NumberScale.of(np.random.default_rng(3).lognormal(size=500), np.ones(500))
    numbers = np.linspace(0, 9, 300)
    for column in scale.inputs(pack(numbers, numbers), coding):
        assert (np.diff(column) >= 0).all()


def test_numbers_outside_those_seen_are_as_the_nearest():
    for coding in get_args(Coding):
        for found in AGES.inputs(pack([0.0, 18.0, 98.0, 500.0], [0.0, 18.0, 98.0, 500.0]), coding):
            assert found[0] == found[1]
            assert found[2] == found[3]


@pytest.mark.parametrize(("number", "text"), [(1e30, "1e+30"), (-2.5e20, "-2.5e+20"), (1e12, "1000000000000")])
def test_very_large_numbers_are_written_with_an_exponent_and_read_back(number, text):
    assert WEIGHTS.number_text(float(np.float32(number))) == text
    assert ends(text, WEIGHTS) == (np.float32(number), np.float32(number))


@pytest.mark.parametrize("missing", [False, True])
def test_where_all_have_one_number_that_is_the_group(missing):
    numbers = np.array([7.0, np.nan] if missing else [7.0])
    scale = NumberScale.of(numbers, np.ones(len(numbers)))
    assert scale.group_names == (("7", "missing") if missing else ("7",))
    assert scale.group_of(scale.group_codes).tolist() == list(range(len(numbers)))


def test_a_range_between_two_whole_numbers_is_refused_for_that():
    with pytest.raises(QueryError, match=r"'52\.2\.\.52\.8' holds no whole number, and all numbers seen are whole"):
        AGES.code("52.2..52.8")
    with pytest.raises(QueryError, match=r"'65\.\.40' is empty"):
        WEIGHTS.code("65..40")


def test_a_date_is_not_a_number_of_days():
    assert DAYS.code(300) is None
    assert DAYS.code(300.5) is None
    assert DAYS.code(datetime.date(2024, 3, 1)) == DAYS.code("2024-03-01") is not None
    assert DAYS.code(np.datetime64("2024-03-01")) == DAYS.code("2024-03-01")
    assert AGES.code(np.datetime64("2024-03-01")) is None
