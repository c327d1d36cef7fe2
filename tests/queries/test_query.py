"""Whatever a person writes becomes the same codes, and codes become text that reads back."""

from __future__ import annotations

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pnsight.data.schema import OPEN, Covariate, Schema
from pnsight.errors import QueryError
from pnsight.queries.query import Query, decode, encode, format_queries, split_names
from strategies import codes_of, names, schemas, short_levels

PEOPLE = Schema((Covariate("sex", ("Female", "Male")), Covariate("âge (ans)", ("0-39", "40-65", "66+"))))
DIGITS = Schema.binary(f"z{i}" for i in range(1, 11))


# --- text round trips -----------------------------------------------------------------------------------


@given(data=st.data(), schema=schemas())
@settings(max_examples=200)
def test_queries_read_back_as_they_were_written(data, schema):
    codes = data.draw(codes_of(schema))
    np.testing.assert_array_equal(encode(schema, format_queries(schema, codes)), codes)


@given(data=st.data(), schema=schemas(level=short_levels, least=1))
@settings(max_examples=200)
def test_queries_of_one_character_levels_read_back_as_they_were_written(data, schema):
    codes = data.draw(codes_of(schema))
    np.testing.assert_array_equal(encode(schema, format_queries(schema, codes)), codes)


@given(data=st.data(), schema=schemas())
def test_a_query_value_its_text_and_its_mapping_mean_the_same(data, schema):
    for row in data.draw(codes_of(schema)):
        query = decode(schema, row)
        for form in (query, dict(query.fixed), str(query)):
            np.testing.assert_array_equal(encode(schema, form)[0], row)


@given(parts=st.lists(names, min_size=1, max_size=4))
@example(parts=["a,b", "c\\", "d=e"])
def test_names_with_escaped_commas_split_back(parts):
    text = ",".join(part.replace("\\", "\\\\").replace(",", "\\,") for part in parts)
    assert split_names(text) == ([] if not text.strip() else parts)


@pytest.mark.parametrize("level", ["x", "\u3000", "\u00a0", "é", "漢", "'", "-"])
def test_a_level_of_one_character_is_never_taken_for_open_or_for_nothing(level):
    schema = Schema((Covariate("a", ("0", level)), Covariate("b", ("0", level))))
    codes = np.array([[1, OPEN], [OPEN, 1], [1, 1], [0, 1]], dtype=np.int32)
    np.testing.assert_array_equal(encode(schema, format_queries(schema, codes)), codes)


# --- the two forms --------------------------------------------------------------------------------------


def test_single_characters_make_the_short_form():
    codes = encode(DIGITS, "1101X01110")
    assert codes.tolist() == [[1, 1, 0, 1, OPEN, 0, 1, 1, 1, 0]]
    assert format_queries(DIGITS, codes) == ["1101X01110"]


def test_lower_case_x_is_open_too():
    assert encode(DIGITS, "xx01x0x1xx").tolist() == encode(DIGITS, "XX01X0X1XX").tolist()


def test_the_long_form_is_understood_where_the_short_one_is_printed():
    assert format_queries(DIGITS, encode(DIGITS, "z3=0,z1=1")) == ["1X0XXXXXXX"]


def test_levels_of_several_characters_make_the_long_form():
    assert not PEOPLE.single_character
    assert format_queries(PEOPLE, encode(PEOPLE, ["sex=Male", "âge (ans)=40-65,sex=Female", ""])) == [
        "sex=Male",
        "sex=Female,âge (ans)=40-65",
        "",
    ]


@pytest.mark.parametrize("level", ["X", ",", "=", "\\", " ", "ab"])
def test_a_level_that_would_confuse_the_short_form_makes_the_long_one(level):
    schema = Schema((Covariate("a", ("0", level)),))
    assert not schema.single_character
    assert encode(schema, format_queries(schema, np.array([[1]], np.int32))).tolist() == [[1]]


def test_separators_inside_names_and_levels_are_escaped():
    assert str(Query({"a,b": "c=d", "e\\f": "g"})) == r"a\,b=c\=d,e\\f=g"


@pytest.mark.parametrize("everyone", [None, "", "  ", {}, Query({})])
def test_nothing_asked_means_everyone(everyone):
    assert encode(PEOPLE, everyone).tolist() == [[OPEN, OPEN]]


def test_spaces_around_names_and_levels_are_forgiven():
    assert encode(PEOPLE, " sex = Male ").tolist() == [[1, OPEN]]


def test_a_repeated_but_agreeing_level_is_no_contradiction():
    assert encode(PEOPLE, "sex=Male,sex=Male").tolist() == [[1, OPEN]]


def test_without_covariates_there_is_one_query():
    nothing = Schema()
    assert (nothing.n_profiles, nothing.n_queries, nothing.names) == (1, 1, ())
    assert encode(nothing, ["", ""]).shape == (2, 0)
    assert format_queries(nothing, encode(nothing, ["", ""])) == ["", ""]


# --- from other values ----------------------------------------------------------------------------------

ROWS = {"sex": ["Female", None, "Male"], "âge (ans)": ["66+", "0-39", None], "weight": [1, 2, 3]}
ROW_CODES = [[0, 2], [OPEN, 0], [1, OPEN]]


@pytest.mark.parametrize(
    "frame",
    [
        pandas.DataFrame(ROWS),
        pandas.DataFrame(ROWS).assign(sex=pandas.Series(["Female", float("nan"), "Male"], dtype=object)),
        pandas.DataFrame(ROWS).assign(sex=pandas.Categorical(ROWS["sex"])),
        pandas.DataFrame(ROWS).convert_dtypes(),
        polars.DataFrame(ROWS),
        polars.DataFrame(ROWS).with_columns(polars.col("sex").cast(polars.Categorical)),
        pyarrow.table(ROWS),
    ],
    ids=["pandas", "pandas NaN", "pandas categorical", "pandas nullable", "polars", "polars categorical", "arrow"],
)
def test_a_frame_is_one_query_a_row_with_missing_values_open(frame):
    assert encode(PEOPLE, frame).tolist() == ROW_CODES


@pytest.mark.parametrize(
    "column", [[1.0, None, 0.0], pandas.array([1, None, 0], dtype="Int64"), ["1", "X", "0"], ["1", "", "0"]]
)
def test_numbers_in_a_frame_find_their_level_and_x_or_blank_is_open(column):
    assert encode(DIGITS, pandas.DataFrame({"z2": column}))[:, 1].tolist() == [1, OPEN, 0]


def test_columns_come_in_any_order_and_other_columns_are_passed_over():
    frame = pandas.DataFrame({"weight": [1], "âge (ans)": ["66+"], "sex": ["Male"]})
    assert encode(PEOPLE, frame).tolist() == [[1, 2]]


def test_a_list_may_mix_text_mappings_and_query_values():
    asked = ["sex=Male", {"sex": "Female"}, Query({"âge (ans)": "66+"}), None]
    assert encode(PEOPLE, asked).tolist() == [[1, OPEN], [0, OPEN], [OPEN, 2], [OPEN, OPEN]]
    assert encode(PEOPLE, np.array(["sex=Male"])).tolist() == [[1, OPEN]]
    assert encode(PEOPLE, []).shape == (0, 2)


@pytest.mark.parametrize("missing", [None, float("nan"), np.nan, pandas.NA, pandas.NaT, ""])
def test_a_missing_level_in_a_mapping_is_open(missing):
    assert encode(PEOPLE, {"sex": missing, "âge (ans)": "66+"}).tolist() == [[OPEN, 2]]


def test_codes_pass_through_one_row_or_many():
    assert encode(PEOPLE, np.array([1, OPEN])).tolist() == [[1, OPEN]]
    assert encode(PEOPLE, np.array([[0, 2], [1, 0]], dtype=np.int64)).dtype == np.int32


# --- mistakes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("sex=Femal", r"covariate 'sex' has no level 'Femal'; it has Female, Male\. Did you mean 'Female'\?"),
        ("sx=Male", r"no covariate is called 'sx'; the covariates are sex, âge \(ans\)\. Did you mean 'sex'\?"),
        ("sex=Male,sex=Female", r"fixes 'sex' to both 'Male' and 'Female'"),
        ("sex=Male, sex=Female", r"fixes 'sex' to both 'Male' and 'Female'"),
        ("sex", r"'sex' is not of the form name=level; write for example 'sex=Female,âge \(ans\)=0-39'"),
        ("sex=Male=Female", r"'sex=Male=Female' is not of the form name=level"),
        ("sex=Male,", r"'' is not of the form name=level"),
        (3, r"a query must be text .* not int 3"),
        ({"sx": "Male"}, r"no covariate is called 'sx'"),
        ({"sex": "Mael"}, r"no level 'Mael'.*Did you mean 'Male'\?"),
        (np.array([[0, 3]]), r"codes must be -1 \(open\) or the position of a level"),
        (np.array([[-2, 0]]), r"codes must be -1 \(open\) or the position of a level"),
        (np.array([[0, 0, 0]]), r"query codes have 3 columns, expected 2"),
        (pandas.DataFrame({"height": [1]}), r"columns height, but none of them is a covariate.*sex, âge \(ans\)"),
        (pandas.DataFrame({"Sex": ["Male"], "âge (ans)": ["66+"]}), r"column 'Sex'; write it 'sex'"),
        (pandas.DataFrame({"sex ": ["Male"], "âge (ans)": ["66+"]}), r"column 'sex '; write it 'sex'"),
        (pandas.DataFrame({"sex": ["Male", None, "Mael"]}), r"row 3: .* no level 'Mael'.*Did you mean 'Male'\?"),
    ],
)
def test_a_mistaken_query_is_refused_by_name(query, message):
    with pytest.raises(QueryError, match=message):
        encode(PEOPLE, query)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("110", r"'110' has 3 characters, but there are 10 covariates \(z1, z2,"),
        ("11010011100", r"has 11 characters"),
        ("2101001110", r"covariate 'z1' has no level '2'; it has 0, 1"),
    ],
)
def test_a_mistaken_short_query_is_refused_by_name(query, message):
    with pytest.raises(QueryError, match=message):
        encode(DIGITS, query)


def test_asking_for_a_covariate_where_there_is_none_says_so():
    with pytest.raises(QueryError, match="no covariate is called 'sex'; there are no covariates"):
        encode(Schema(), "sex=F")


def test_a_long_list_of_levels_is_cut_short_in_the_message():
    many = Schema((Covariate("town", tuple(f"town {i}" for i in range(30))),))
    with pytest.raises(QueryError, match="town 11 and 18 more"):
        encode(many, "town=nowhere at all")
