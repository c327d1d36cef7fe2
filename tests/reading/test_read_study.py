"""The same study, counted the same, wherever its tables live."""

from __future__ import annotations

import datetime
from collections import Counter
from itertools import product

import numpy as np
import pandas
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pnsight
from engine_tables import ENGINES, as_csv
from laws import p_y_do_x, p_y_do_x0
from noted import rows_without_treatment_or_outcome
from pnsight import read_study
from pnsight.data.schema import label
from pnsight.errors import TableError
from pnsight.queries.query import encode

SEX, AGE, SMOKER, DOSE = "sexe déclaré", "Âge, en années", "smoker?", "dose"
COVARIATES = [SEX, AGE, SMOKER, DOSE]


def people(rows: int, seed: int, doses: tuple[int, ...]) -> dict[str, list]:
    """Columns with words, awkward words, booleans and numbers."""
    rng = np.random.default_rng(seed)
    return {
        SEX: rng.choice(["femme", "homme"], rows).tolist(),
        AGE: rng.choice(["<40", "40=65", 'über "65", oui'], rows).tolist(),
        SMOKER: [bool(value) for value in rng.integers(0, 2, rows)],
        DOSE: [int(value) for value in rng.choice(doses, rows)],
        "x": [int(value) for value in rng.integers(0, 2, rows)],
        "y": [bool(value) for value in rng.integers(0, 2, rows)],
    }


TRIAL, REGISTRY = people(300, 1, (2, 10)), people(400, 2, (2, 10, 50))


def as_floats(columns, path):
    return pandas.DataFrame(columns).astype({DOSE: float, "x": float, "y": float})


def by_profile(study) -> dict[tuple[str, ...], list[int]]:
    """Counts by the profile's levels, both tables side by side."""
    named = [tuple(c.levels[k] for c, k in zip(study.schema.covariates, row, strict=True)) for row in study.profiles]
    return dict(zip(named, study.counts.astype(int).tolist(), strict=True))


def counted_by_hand(*tables: dict[str, list], names=tuple(COVARIATES)) -> dict[tuple[str, ...], list[int]]:
    """One person at a time."""
    cells = [Counter() for _ in tables]
    for counter, columns in zip(cells, tables, strict=True):
        rows = zip(*(columns[name] for name in (*names, "x", "y")), strict=True)
        counter.update((tuple(map(label, row[:-2])), int(row[-2]), int(row[-1])) for row in rows)
    profiles = {profile for counter in cells for profile, _, _ in counter}
    order = list(product((1, 0), (1, 0)))
    return {p: [counter[p, x, y] for counter in cells for x, y in order] for p in profiles}


def study_of(trial, registry=None, **more):
    return read_study(trial, registry, treatment="x", outcome="y", **more)


# --- levels ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["CSV", "Parquet", "pandas", "SQL table"])
def test_levels_are_ordered_as_numbers_or_words(engine, tmp_path):
    trial, registry = (ENGINES[engine](t, tmp_path / name) for name, t in (("trial", TRIAL), ("registry", REGISTRY)))
    study = study_of(trial, registry)
    assert study.schema.names == tuple(COVARIATES)
    assert [c.levels for c in study.schema.covariates] == [
        ("femme", "homme"),
        ("40=65", "<40", 'über "65", oui'),
        ("false", "true"),
        ("2", "10", "50"),
    ]
    assert by_profile(study) == counted_by_hand(TRIAL, REGISTRY)
    assert (study.dropped, study.ignored, study.notes) == ({}, (), ())


def test_numbers_stored_as_floats_are_the_same_levels(tmp_path):
    study = study_of(as_floats(TRIAL, tmp_path), as_floats(REGISTRY, tmp_path))
    assert by_profile(study) == counted_by_hand(TRIAL, REGISTRY)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_two_tables_may_live_in_different_engines(engine, tmp_path):
    study = study_of(as_csv(TRIAL, tmp_path / "trial"), ENGINES[engine](REGISTRY, tmp_path / "registry"))
    assert by_profile(study) == counted_by_hand(TRIAL, REGISTRY)


DAYS = [datetime.date(2024, 2, 28), datetime.date(2024, 2, 29), datetime.date(2024, 2, 28)]
VISITS = {"visit": DAYS, "x": [1, 0, 0], "y": [1, 0, 1]}


@pytest.mark.parametrize("engine", ["CSV", "Parquet", "pandas", "Polars", "Polars, lazy", "Arrow", "DuckDB"])
def test_a_date_is_the_same_level_in_every_engine(engine, tmp_path):
    study = study_of(ENGINES[engine](VISITS, tmp_path / "visits"))
    assert study.schema.covariates[0].levels == ("2024-02-28", "2024-02-29")


def test_a_date_stored_with_a_midnight_is_the_same_level():
    study = study_of(pandas.DataFrame({**VISITS, "visit": pandas.to_datetime(DAYS)}))
    assert study.schema.covariates[0].levels == ("2024-02-28", "2024-02-29")


@given(seed=st.integers(0, 10_000), rows=st.integers(2, 30))
@settings(max_examples=30)
def test_counts_of_random_tables_equal_a_count_by_hand(seed, rows):
    rng = np.random.default_rng(seed)
    tables = [{name: rng.integers(0, 3 if name in "ab" else 2, rows + 2).tolist() for name in "abxy"} for _ in range(2)]
    for columns in tables:
        columns["x"][:2] = [0, 1]
    study = study_of(*(polars.DataFrame(columns) for columns in tables))
    assert by_profile(study) == counted_by_hand(*tables, names=("a", "b"))


# --- columns --------------------------------------------------------------------------------------------


def test_columns_may_come_in_another_order():
    turned = dict(reversed(REGISTRY.items()))
    study = study_of(polars.DataFrame(TRIAL), polars.DataFrame(turned))
    assert by_profile(study) == counted_by_hand(TRIAL, REGISTRY)


def test_columns_of_one_table_only_are_not_used_and_reported():
    trial = {"site": ["a"] * 300, **TRIAL}
    registry = {**REGISTRY, "insurer": ["b"] * 400}
    study = study_of(polars.DataFrame(trial), polars.DataFrame(registry))
    assert study.ignored == ("site", "insurer")
    assert by_profile(study) == counted_by_hand(TRIAL, REGISTRY)


def test_named_covariates_are_used_in_the_order_they_are_named():
    study = study_of(polars.DataFrame(TRIAL), polars.DataFrame(REGISTRY), covariates=[DOSE, SEX])
    assert study.schema.names == (DOSE, SEX)
    assert by_profile(study) == counted_by_hand(TRIAL, REGISTRY, names=(DOSE, SEX))


def test_no_covariates_at_all_leaves_one_profile():
    study = study_of(polars.DataFrame(TRIAL), polars.DataFrame(REGISTRY), covariates=[])
    assert study.schema.names == ()
    assert by_profile(study) == counted_by_hand(TRIAL, REGISTRY, names=())


def test_tables_of_treatment_and_outcome_only_need_no_covariates_argument():
    bare = [{name: columns[name] for name in "xy"} for columns in (TRIAL, REGISTRY)]
    assert study_of(*map(polars.DataFrame, bare)).schema.names == ()


def test_an_experiment_alone_keeps_all_its_columns():
    study = study_of(polars.DataFrame(TRIAL))
    assert study.observational is None
    assert study.schema.names == tuple(COVARIATES)
    assert by_profile(study) == counted_by_hand(TRIAL)
    assert "300" in repr(study)


def test_a_level_of_one_table_only_is_a_level_of_the_study():
    study = study_of(polars.DataFrame(TRIAL), polars.DataFrame(REGISTRY))
    row = encode(study.schema, {DOSE: 50})
    counts = pnsight.PlugIn().fit(study).counts(row)[0]
    assert counts[:4].sum() == 0
    assert counts[4:].sum() == REGISTRY[DOSE].count(50)


def test_treatment_and_outcome_may_have_any_name(tmp_path):
    renamed = [{"le médicament": t["x"], "guéri, ou pas": t["y"], SEX: t[SEX]} for t in (TRIAL, REGISTRY)]
    paths = [as_csv(table, tmp_path / name) for name, table in zip(("a", "b"), renamed, strict=True)]
    study = read_study(*paths, treatment="le médicament", outcome="guéri, ou pas")
    assert by_profile(study) == counted_by_hand(TRIAL, REGISTRY, names=(SEX,))
    assert (study.treatment, study.outcome) == ("le médicament", "guéri, ou pas")


@pytest.mark.parametrize("name", ['5" pipe', "a.b", "it's", "%s {0}", "select"])
@pytest.mark.parametrize("engine", ["CSV", "Parquet", "DuckDB", "Polars"])
def test_a_column_may_be_called_anything(engine, name, tmp_path):
    table = {name: ["a", "b", "a"], "x": [1, 0, 0], "y": [1, 0, 1]}
    study = study_of(ENGINES[engine](table, tmp_path / "odd"))
    assert study.schema.names == (name,)
    assert study.counts.sum() == 3


# --- coding ---------------------------------------------------------------------------------------------

CODED = {"x": ["drug", "placebo", "drug", "placebo"], "y": [1, 2, 2, 2]}


def test_other_codings_are_named_by_the_value_that_means_true():
    study = study_of(polars.DataFrame(CODED), treated="drug", success=2)
    assert study.experimental.tolist() == [[1, 1, 2, 0]]
    assert (study.treated, study.success) == ("drug", "2")
    study = study_of(polars.DataFrame(CODED), treated="placebo", success="1")
    assert study.experimental.tolist() == [[0, 2, 1, 1]]


def test_naming_the_value_turns_zero_and_one_round():
    study = study_of(polars.DataFrame({"x": [0, 0, 1], "y": [1, 0, 1]}), treated=0)
    assert study.experimental.tolist() == [[1, 1, 1, 0]]


@pytest.mark.parametrize(
    "values", [[True, False], ["True", "False"], ["true", "FALSE"], [1, 0], ["1", "0"], [1.0, 0.0]]
)
def test_usual_codings_need_no_naming(values):
    frame = pandas.DataFrame({"x": values * 2, "y": [values[0], values[0], values[1], values[0]]})
    assert study_of(frame).experimental.tolist() == [[1, 1, 2, 0]]


@pytest.mark.parametrize(
    ("coding", "message"), [([1, 2], r"holds 1 \(\d+ rows\), 2 \(\d+ rows\); expected 0/1"), ([3, 4], r"holds 3 \(")]
)
@pytest.mark.parametrize(("column", "option"), [("x", "treated"), ("y", "success")])
def test_a_coding_by_other_numbers_is_refused_not_guessed(coding, message, column, option):
    table = {"x": [1, 0, 1, 0], "y": [1, 0, 0, 1], column: coding * 2}
    with pytest.raises(TableError, match=rf"column '{column}' {message}.*--{option} \({option}=\)"):
        study_of(polars.DataFrame(table))


def test_what_is_wrong_with_treatment_and_outcome_is_said_at_once_with_the_values_counted():
    table = {"x": ["drug", "standard care", "drug"], "y": ["recovered", "not recovered", "recovered"]}
    said = (
        r"'x' holds drug \(2 rows\), standard care \(1 row\); .* --treated \(treated=\), perhaps --treated drug\. "
        r"Also, outcome column 'y' holds not recovered \(1 row\), recovered \(2 rows\); .*"
        r"perhaps --success recovered\.$"
    )
    with pytest.raises(TableError, match=said):
        study_of(polars.DataFrame(table))


def test_columns_can_be_left_out_by_name():
    table = polars.DataFrame({"id": [1, 2], "sex": ["F", "M"], "x": [1, 0], "y": [1, 0]})
    assert study_of(table, exclude=["id"]).schema.names == ("sex",)
    assert study_of(table, exclude=[" id", "sex"]).schema.names == ()


def test_a_registry_coded_otherwise_than_the_trial_is_refused():
    trial, registry = {"x": [1, 0], "y": [1, 0]}, {"x": [1, 2], "y": [1, 0]}
    said = r"treatment column 'x' holds 0, 1 in the experimental table and 1, 2 in the observational table"
    with pytest.raises(TableError, match=said):
        study_of(polars.DataFrame(trial), polars.DataFrame(registry))


# --- what is missing ------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["CSV", "Parquet", "pandas", "Polars", "Polars, lazy", "Arrow", "DuckDB"])
def test_rows_without_outcome_leave_both_numerator_and_denominator_and_are_reported(engine, tmp_path):
    """30% of the outcomes missing: of the seven that are known three are successes."""
    table = {"x": [1] * 10 + [0] * 10, "y": [1, 1, 1, 0, 0, 0, 0, None, None, None] * 2}
    study = study_of(ENGINES[engine](table, tmp_path / "trial"), ENGINES[engine](table, tmp_path / "registry"))
    assert study.experimental.tolist() == [[3, 4, 3, 4]]
    assert study.dropped == {
        rows_without_treatment_or_outcome(): 6,
        rows_without_treatment_or_outcome("observational"): 6,
    }
    law = pnsight.PlugIn().fit(study).law()
    assert (p_y_do_x(law)[0], p_y_do_x0(law)[0]) == (3 / 7, 3 / 7)


def test_rows_without_treatment_are_dropped_and_reported_too():
    study = study_of(polars.DataFrame({"x": [1, 0, None], "y": [1, 0, 1]}))
    assert study.experimental.tolist() == [[1, 0, 0, 1]]
    assert study.dropped == {rows_without_treatment_or_outcome(): 1}


def test_not_a_number_is_missing_too():
    study = study_of(polars.DataFrame({"x": [1, 0, 1], "y": [1.0, 0.0, float("nan")]}))
    assert study.dropped == {rows_without_treatment_or_outcome(): 1}


def test_a_missing_covariate_is_refused_with_the_number_of_rows():
    table = {"sex": ["F", None, None, "M"], "x": [1, 0, 1, 0], "y": [1, 0, 1, None]}
    with pytest.raises(TableError, match=r"covariate 'sex' has no value in 2 rows of the experimental table"):
        study_of(polars.DataFrame(table))


def test_a_covariate_missing_only_in_dropped_rows_is_no_obstacle():
    table = {"sex": ["F", "M", None], "x": [1, 0, 1], "y": [1, 0, None]}
    assert study_of(polars.DataFrame(table)).experimental.sum() == 2


# --- CSV, as files are found ----------------------------------------------------------------------------


def write(path, text: str):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffsex,x,y\nF,1,1\nM,0,0\n",
        "sex,x,y\r\nF,1,1\r\nM,0,0\r\n",
        "sex,x,y\nF,1,1\nM,0,0",
        "sex;x;y\nF;1;1\nM;0;0\n",
        '"sex","x","y"\n"F","1","1"\n"M","0","0"\n',
    ],
    ids=["byte order mark", "Windows lines", "no last newline", "semicolons", "all quoted"],
)
def test_usual_kinds_of_csv_are_understood(text, tmp_path):
    study = study_of(write(tmp_path / "trial.csv", text))
    assert by_profile(study) == {("F",): [1, 0, 0, 0], ("M",): [0, 0, 0, 1]}


def test_a_quoted_level_may_first_appear_after_any_number_of_rows(tmp_path):
    text = "town,x,y\n" + "Lyon,1,1\nNice,0,0\n" * 15_000 + '"Paris, 1er",1,0\n'
    study = study_of(write(tmp_path / "trial.csv", text))
    assert by_profile(study)["Paris, 1er",] == [0, 1, 0, 0]


def test_apostrophes_are_letters(tmp_path):
    text = "name,x,y\n" + "'t Hooft,1,1\nO'Brien,0,0\nJones',0,1\n" * 4
    study = study_of(write(tmp_path / "trial.csv", text))
    assert set(study.schema.covariates[0].levels) == {"'t Hooft", "O'Brien", "Jones'"}


@pytest.mark.parametrize("bad", ["F,1\n", "F,1,1,1\n"], ids=["too few values", "too many values"])
def test_a_row_of_another_length_is_an_error_never_a_dropped_row(bad, tmp_path):
    text = "sex,x,y\n" + "F,1,1\nM,0,0\n" * 20 + bad + "F,1,1\nM,0,0\n" * 20
    with pytest.raises(TableError) as refused:
        study_of(write(tmp_path / "trial.csv", text))
    assert "has no column" not in str(refused.value)  # it has: the row is what is wrong


# --- mistakes -------------------------------------------------------------------------------------------

GOOD = polars.DataFrame({"sex": ["F", "M"], "drug": [1, 0], "well": [1, 0]})


def refuses(message, trial=GOOD, registry=GOOD, **more):
    arguments = {"treatment": "drug", "outcome": "well", **more}
    with pytest.raises(TableError, match=message):
        read_study(trial, registry, **arguments)


def test_what_is_not_a_table_is_named():
    refuses(r"the experimental table is a list; give a path to a CSV or Parquet file", trial=[1, 2])
    refuses(r"the observational table is a int", registry=3)


def test_a_missing_column_is_named_with_the_nearest_one():
    refuses(
        r"experimental table has no column 'drgu'; its columns are sex, drug, well\. Did you mean 'drug'\?",
        treatment="drgu",
    )
    refuses(r"observational table has no column 'well'", registry=GOOD.rename({"well": "fine"}))
    refuses(r"no column 'height'", covariates=["height"])


def test_one_column_cannot_play_two_parts():
    refuses(r"treatment and outcome are both column 'drug'", outcome="drug")
    refuses(r"column 'drug' is treatment or outcome and cannot be a covariate", covariates=["drug"])
    refuses(r"covariate 'sex' is named twice", covariates=["sex", "sex"])


def test_tables_without_a_shared_covariate_are_refused():
    other = GOOD.rename({"sex": "gender"})
    refuses(
        r"share no column: the experimental table has sex; the observational table has gender.*covariates=\[\]",
        registry=other,
    )


def test_a_table_without_rows_is_refused():
    refuses(r"the experimental table has no rows", trial=GOOD.clear())
    refuses(r"the observational table has no rows", registry=GOOD.clear())


def test_a_table_without_usable_rows_is_refused():
    blank = GOOD.with_columns(polars.lit(None, dtype=polars.Int64).alias("well"))
    refuses(r"the observational table has no rows with both treatment and outcome", registry=blank)


@pytest.mark.parametrize(("present", "absent"), [(1, "untreated"), (0, "treated")])
def test_an_experiment_without_one_arm_is_refused(present, absent):
    refuses(rf"has 2 rows but none is {absent} \(column 'drug'\)", trial=GOOD.with_columns(drug=polars.lit(present)))


def test_a_registry_without_one_arm_is_an_answer():
    study = read_study(GOOD, GOOD.with_columns(drug=polars.lit(1)), treatment="drug", outcome="well")
    assert study.observational.sum(axis=0).tolist() == [1, 1, 0, 0]


def test_a_treatment_of_three_values_is_refused_with_the_values():
    three = polars.DataFrame({"sex": ["F"] * 3, "drug": ["a", "b", "c"], "well": [1, 0, 1]})
    refuses(
        r"treatment column 'drug' holds 3 values, a \(2 rows\), b \(2 rows\), c \(2 rows\); expected two",
        trial=three,
        registry=three,
    )


def test_a_named_value_that_does_not_occur_is_refused():
    refuses(
        r"outcome column 'well' has no value 'yes' as named by --success; it holds 0 \(\d+ rows\), 1 \(", success="yes"
    )
