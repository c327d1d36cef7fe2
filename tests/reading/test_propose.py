"""What is proposed for tables of one's own: the right column and value where names tell, nothing where they do not."""

from __future__ import annotations

import numpy as np
import polars
import pytest

import pnsight
from pnsight.data.reading.likely_meaning import likely_true, words_of
from pnsight.data.reading.propose import propose_reading
from pnsight.errors import TableError

ROWS = 200
rng = np.random.default_rng(4)


def table(**more) -> polars.DataFrame:
    columns = {
        "Patient ID": np.arange(ROWS) + 7,
        "sex": rng.choice(["female", "male"], ROWS),
        "age": rng.integers(20, 90, ROWS),
        "country": ["Chile"] * ROWS,
        "visit": [f"2024-0{1 + k % 9}-{10 + k % 19}" for k in range(ROWS)],
        "score after": rng.integers(0, 50, ROWS),
        "arm": rng.choice(["drug", "standard care"], ROWS),
        "recovered": rng.choice(["recovered", "not"], ROWS),
    }
    return polars.DataFrame({**columns, **more})


@pytest.mark.parametrize(
    ("what", "column", "values", "expected"),
    [
        ("treatment", "arm", ["drug", "standard care"], "drug"),
        ("treatment", "arm", ["placebo", "semaglutide"], "semaglutide"),
        ("treatment", "arm", ["control", "treated"], "treated"),
        ("treatment", "drug", ["no", "yes"], "yes"),
        ("treatment", "training", ["maths", "vocabulary"], None),
        ("treatment", "arm", ["1", "2"], None),
        ("outcome", "result", ["not recovered", "recovered"], "recovered"),
        ("outcome", "recovered", ["0", "1"], "1"),
        ("outcome", "died", ["0", "1"], "0"),
        ("outcome", "death_30d", ["no", "yes"], "no"),
        ("outcome", "status", ["alive", "dead"], "alive"),
        ("outcome", "status", ["a", "b"], None),
    ],
)
def test_values_mean_what_their_words_say_or_nothing(what, column, values, expected):
    assert likely_true(what, column, values) == expected
    assert likely_true(what, column, values[::-1]) == expected


def test_names_are_split_into_words():
    assert words_of("mathPost_30d é") == ["math", "post", "30", "d", "é"]


def test_each_column_gets_its_role():
    found = propose_reading(table(), table(ward=["a", "b"] * 100))
    assert (found.treatment, found.treated) == ("arm", "drug")
    assert (found.outcome, found.success) == ("recovered", "recovered")
    assert found.used == ["sex", "age"]
    assert found.numbers == ["age"]
    assert dict(found.exclude) == {
        "Patient ID": "tells people apart",
        "country": "constant",
        "visit": "dates",
        "score after": "measured after treatment?",
        "ward": "only in the observational table",
    }
    assert found.unknown == {}


def test_what_is_proposed_is_what_read_study_takes(tmp_path):
    gaps = table(smoker=["yes", "no", None, "no"] * 50)
    words = propose_reading(gaps, gaps).options()
    options = dict(zip(words[::2], words[1::2], strict=True))
    assert options["--missing"] == "level"
    study = pnsight.read_study(
        gaps,
        gaps,
        treatment=options["--treatment"],
        outcome=options["--outcome"],
        treated=options["--treated"],
        success=options["--success"],
        exclude=options["--exclude"].split(","),
        numeric=options["--numeric"].split(","),
        missing="level",
    )
    assert study.schema.names == ("sex", "age", "smoker")


def test_a_death_is_not_a_success():
    found = propose_reading(
        table().rename({"recovered": "died"}).with_columns(died=polars.lit(1) * (polars.col("age") > 50))
    )
    assert (found.outcome, found.success) == ("died", "0")
    assert found.options()[-6:-2] == ["--success", "0", "--exclude", "Patient ID,country,visit,score after"]


def test_where_two_columns_are_as_likely_none_is_proposed():
    found = propose_reading(table().with_columns(treatment=polars.col("arm")))
    assert found.treatment is None
    assert found.unknown["--treatment"] == ["sex", "arm", "treatment"]


def test_many_numbers_stay_numbers_and_few_are_levels():
    found = propose_reading(table(visits=[k % 4 for k in range(ROWS)], weight=[50 + k % 25 for k in range(ROWS)]))
    assert found.numbers == ["age", "weight"]
    assert "visits" in found.used


def test_numbers_with_commas_and_dates_by_day_first_are_left_out():
    days = [f"{1 + k % 28:02d}.{1 + k % 12:02d}.2024" for k in range(ROWS)]
    found = propose_reading(table(weight=[f"{50 + k % 40},5" for k in range(ROWS)], seen=days))
    assert found.exclude["weight"] == "numbers with decimal commas; write them with points"
    assert found.exclude["seen"] == "dates"


def test_what_looks_like_a_missing_value_is_found():
    found = propose_reading(table(smoker=["yes", "no", "NA", "no"] * 50, grade=["none", "mild"] * 100))
    assert found.missing_markers() == {"smoker": "NA"}


def test_tables_without_rows_or_without_a_column_in_common_are_refused():
    with pytest.raises(TableError, match="the observational table has columns but no rows"):
        propose_reading(table(), table().head(0))
    with pytest.raises(TableError, match=r"no column in common: the experimental one has .*arm"):
        propose_reading(table(), polars.DataFrame({"a": [1, 0], "b": [1, 1]}))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"treatment": "amr"}, r"'amr'.*Did you mean 'arm'\?"),
        ({"treatment": "age"}, r"'age' holds .*expected two.*--arms of pnsight fit"),
        ({"treated": "drugs"}, r"no value 'drugs' as named by --treated.*Did you mean 'drug'\?"),
        ({"exclude": ["sxe"]}, r"--exclude.*'sxe'.*Did you mean 'sex'\?"),
    ],
)
def test_a_mistake_is_named(given, message):
    with pytest.raises(TableError, match=message):
        propose_reading(table(), **given)
