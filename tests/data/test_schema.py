"""A schema codes levels for the learners, and gives a value the same level however it is stored."""

from __future__ import annotations

import datetime

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pnsight.data.schema import OPEN, Schema, label, sort_levels
from pnsight.queries.query import encode
from strategies import codes_of, levels, schemas

DIGITS = Schema.binary(f"z{i}" for i in range(1, 11))


# --- one-hot --------------------------------------------------------------------------------------------


@given(data=st.data(), schema=schemas())
@settings(max_examples=60)
def test_one_hot_has_a_channel_a_level_and_one_for_open(data, schema):
    codes = data.draw(codes_of(schema))
    encoded = schema.one_hot(codes)
    assert encoded.shape == (len(codes), sum(size + 1 for size in schema.shape))
    assert encoded.dtype == np.float32
    start = 0
    for j, size in enumerate(schema.shape):
        block = encoded[:, start : start + size + 1]
        np.testing.assert_array_equal(block.sum(axis=1), 1)
        np.testing.assert_array_equal(block.argmax(axis=1), np.where(codes[:, j] == OPEN, size, codes[:, j]))
        start += size + 1


def test_the_papers_input_has_thirty_channels():
    assert DIGITS.one_hot(encode(DIGITS, "1101X01110")).shape == (1, 30)


@given(data=st.data(), schema=schemas())
@settings(max_examples=60)
def test_effect_coding_distinguishes_profiles_without_a_column_for_what_never_varies(data, schema):
    codes = data.draw(codes_of(schema, lowest=0))
    coded = schema.effect_coding(codes)
    widths = [{1: 0, 2: 1}.get(size, size) for size in schema.shape]
    assert coded.shape == (len(codes), sum(widths))
    assert coded.dtype == np.float32
    assert set(np.unique(coded)) <= {-1, 1}
    start = 0
    for j, (size, width) in enumerate(zip(schema.shape, widths, strict=True)):
        block = coded[:, start : start + width]
        if size == 2:
            np.testing.assert_array_equal(block[:, 0], 2 * codes[:, j] - 1)
        if size > 2:
            np.testing.assert_array_equal(block.argmax(axis=1), codes[:, j])
            np.testing.assert_array_equal((block == 1).sum(axis=1), 1)
        start += width


# --- labels ---------------------------------------------------------------------------------------------


@given(number=st.integers(-(2**53), 2**53))
def test_a_whole_number_is_one_level_however_it_is_stored(number):
    forms = [number, float(number), str(number), f"{number}.0", f"{number}.00", np.int64(number), np.float64(number)]
    assert {label(form) for form in forms} == {str(number)}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (np.True_, "true"),
        ("True", "true"),
        ("TRUE", "true"),
        ("true", "true"),
        (False, "false"),
        (np.False_, "false"),
        ("FALSE", "false"),
        (0.5, "0.5"),
        (np.float64(0.1), "0.1"),
        ("Île-de-France", "Île-de-France"),
        ("a.0", "a.0"),
        (datetime.date(2024, 2, 29), "2024-02-29"),
    ],
)
def test_label(value, text):
    assert label(value) == text


@pytest.mark.parametrize("missing", [None, float("nan"), np.float32("nan"), pandas.NA, pandas.NaT, ""])
def test_missing_values_have_no_label(missing):
    assert label(missing) is None


@given(level=levels)
def test_a_label_is_its_own_label(level):
    assert label(level) == level


def test_levels_are_ordered_as_numbers_or_else_as_words():
    assert sort_levels(["10", "9", "-1", "9"]) == ("-1", "9", "10")
    assert sort_levels(["10", "9", "b"]) == ("10", "9", "b")
