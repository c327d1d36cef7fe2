"""Which columns are left as numbers, and what is made of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import pnsight
from numeric_tables import COLUMNS, tables
from pnsight.data.number_codes import low_ends
from pnsight.data.reading.grouped_table import LabelColumn
from pnsight.data.schema import label
from pnsight.errors import TableError

FLAGS = {"x": [0, 1] * 30, "y": [0, 0, 1, 1] * 15}


def read(trial: pd.DataFrame, registry: pd.DataFrame, **options: object) -> pnsight.Study:
    return pnsight.read_study(trial, registry, **COLUMNS, **options)  # type: ignore[arg-type]


def numbers(study: pnsight.Study) -> list[str]:
    return [study.schema.names[j] for j in study.schema.numeric]


def test_columns_of_many_numbers_are_numbers_and_that_is_said():
    study = read(*tables())
    assert numbers(study) == ["age", "weight"]
    assert any(note.kind == "numeric_covariates" for note in study.notes)
    assert study.profiles.dtype == np.int64
    assert study.counts.sum() == 1600


def test_bands_win_and_nothing_is_a_number_on_request():
    banded = read(*tables(), bands={"age": [0, 40, 65, 120], "weight": 3})
    assert not banded.schema.numeric
    assert banded.profiles.dtype == np.int32
    assert numbers(read(*tables(), bands={"weight": 3})) == ["age"]
    assert numbers(read(*tables(), numeric="none", covariates=["age", "sex"])) == []
    assert numbers(read(*tables(), numeric=["weight"], covariates=["weight", "sex"])) == ["weight"]


def test_the_numbers_are_those_of_the_tables():
    trial, registry = tables()
    study = read(trial, registry)
    counts = study.counts.sum(axis=1)
    for name in ("age", "weight"):
        column = low_ends(study.profiles[:, study.schema.names.index(name)])
        expected = np.concatenate([trial[name], registry[name]]).astype(np.float32)
        assert np.array_equal(np.sort(np.repeat(column, counts.astype(int))), np.sort(expected))


def test_files_and_frames_of_every_kind_give_the_same_study(tmp_path):
    trial, registry = tables(200)
    trial.to_csv(tmp_path / "trial.csv", index=False)
    registry.to_parquet(tmp_path / "registry.parquet")
    first = read(trial, registry)
    for other in (
        read(tmp_path / "trial.csv", tmp_path / "registry.parquet"),  # type: ignore[arg-type]
        read(pl.from_pandas(trial), pl.from_pandas(registry)),  # type: ignore[arg-type]
    ):
        assert other.schema == first.schema
        assert np.array_equal(other.profiles, first.profiles)
        assert np.array_equal(other.counts, first.counts)


def test_few_numbers_stay_levels():
    trial, registry = (table.assign(age=table.age // 5) for table in tables())
    assert numbers(read(trial, registry)) == ["weight"]


def test_dates_become_days_when_they_are_named():
    trial, registry = tables(300)
    days = pd.Timestamp("2023-01-01") + pd.to_timedelta(np.arange(300), unit="D")
    trial, registry = (table.assign(visit=days.strftime("%Y-%m-%d")) for table in (trial, registry))
    study = read(trial, registry, numeric=["visit"], covariates=["visit", "sex"])
    (scale,) = study.schema.numeric.values()
    assert scale.origin == "2023-01-01"
    assert (scale.low, scale.high) == (0, 299)
    assert study.schema.covariates[0].levels[0].startswith("<2023-")


def test_a_column_that_numbers_people_is_refused_unless_it_is_named():
    trial, registry = tables(300)
    trial, registry = trial.assign(id=range(300)), registry.assign(id=range(300, 600))
    with pytest.raises(TableError, match=r"names people.*--numeric id"):
        read(trial, registry)
    assert "id" in numbers(read(trial, registry, numeric=["id"], covariates=["id", "sex"]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"numeric": ["agee"]}, "Did you mean 'age'"),
        ({"numeric": ["sex"]}, "which holds '[fm]'.*; expected numbers"),
        ({"numeric": ["age"], "bands": {"age": 3}}, "named by --numeric and by --bands"),
        ({"most_rows": 0}, "most_rows is 0"),
    ],
)
def test_what_does_not_go_together_is_refused(options, message):
    with pytest.raises(TableError, match=message):
        read(*tables(100), **options)


def test_missing_numbers_are_an_error_dropped_or_a_level():
    trial, registry = tables(300)
    trial.loc[:9, "weight"] = np.nan
    with pytest.raises(TableError, match="'weight' has no value in 10 rows"):
        read(trial, registry)
    assert read(trial, registry, missing="drop").counts.sum() == 590
    study = read(trial, registry, missing="level")
    assert study.schema.covariate("weight").levels[-1] == "missing"
    assert study.counts.sum() == 600


@pytest.mark.parametrize("kind", ["files", "frames"])
def test_of_long_tables_always_the_same_rows_are_drawn_and_that_is_said(kind, tmp_path):
    trial, registry = tables(4000)
    if kind == "files":
        for name, table in (("trial", trial), ("registry", registry)):
            table.to_parquet(tmp_path / f"{name}.parquet")
        trial, registry = tmp_path / "trial.parquet", tmp_path / "registry.parquet"
    first, second = (read(trial, registry, most_rows=1000) for _ in range(2))
    assert np.array_equal(first.profiles, second.profiles)
    assert np.array_equal(first.counts, second.counts)
    assert all(abs(rows - 1000) < 200 for rows in first.table_rows)
    assert [note.values["of"] for note in first.notes if note.kind == "table_sampled"] == [4000, 4000]


def test_a_long_table_of_few_profiles_is_counted_whole():
    trial, registry = tables(4000)
    assert read(trial, registry, covariates=["sex", "age"], most_rows=1000).counts.sum() == 8000


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64])
def test_numbers_keep_their_labels_though_none_is_written_before_it_is_asked_for(kind):
    values = np.array([3, -2, 0.5, 3, 40], dtype=kind)
    column = LabelColumn.from_values(values, "a", "experimental")
    assert [column.labels[place] for place in column.place] == [label(value) for value in values]
    assert sorted(column.present(), key=float) == [label(value) for value in np.unique(values)]
    assert column.take(values > 0).present_numbers().tolist() == np.unique(values[values > 0]).tolist()
    assert not column.missing().any()
    assert column.rename_labels({None: "missing"}) is column


def test_a_number_that_is_missing_has_no_label():
    column = LabelColumn.from_values(np.array([1.5, np.nan, 2.0]), "a", "experimental")
    assert column.missing().tolist() == [False, True, False]
    assert column.present() == ["1.5", "2"]
    assert column.present_numbers().tolist() == [1.5, 2.0]
    assert column.rename_labels({None: "missing"}).present() == ["1.5", "2", "missing"]


def test_columns_of_other_types_of_numbers_are_one_covariate():
    trial, registry = (pd.DataFrame({"a": np.arange(60) / 10, **FLAGS}) for _ in range(2))
    narrow = registry.astype({"a": np.float32})
    wide, mixed = (pnsight.read_study(trial, other, treatment="x", outcome="y") for other in (registry, narrow))
    assert wide.schema == mixed.schema
    assert np.array_equal(wide.profiles, mixed.profiles)


def test_a_column_with_something_that_is_not_finite_has_levels():
    table = pd.DataFrame({"a": [*(np.arange(59) / 10), np.inf], **FLAGS})
    study = pnsight.read_study(table, table, treatment="x", outcome="y")
    assert not study.schema.numeric
    assert study.schema.shape == (60,)


@pytest.mark.parametrize("change", [lambda age: 2**53 + age, lambda age: age * 1e-300])
def test_numbers_that_seven_digits_do_not_tell_apart_are_refused(change):
    with pytest.raises(TableError, match=r"'age' holds \d+ numbers that are all alike in their first seven digits"):
        read(*(table.assign(age=change(table.age)) for table in tables()))


def test_what_is_no_number_is_named_once():
    with pytest.raises(TableError, match=r"names 'sex', which holds '[fm]', '[fm]'; expected numbers"):
        read(*tables(), numeric=["sex"])


@pytest.mark.parametrize("given", [None, 3, [3]])
def test_what_is_not_a_name_is_refused(given):
    with pytest.raises(TableError, match=r"names (None|3), which is not a covariate; give auto, none, or some of age"):
        read(*tables(), numeric=given)


def test_whoever_names_some_numbers_is_told_to_name_the_others():
    with pytest.raises(TableError, match=r"'weight' has \d+ levels.* name 'weight' among those of --numeric"):
        read(*tables(300), numeric=["age"])


def test_numbers_that_are_alike_as_floating_point_numbers_are_refused_too():
    far = np.uint64(2**64 - 200)
    with pytest.raises(TableError, match=r"'age' holds \d+ numbers that are all alike in their first seven digits"):
        read(*(table.assign(age=table.age.astype("uint64") + far) for table in tables()))
