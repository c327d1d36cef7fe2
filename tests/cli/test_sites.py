"""Several sites on the command line: counts instead of rows, added up, and what is said of what is withheld."""

from __future__ import annotations

import numpy as np
import pandas
import pyarrow.parquet
import pytest

import pnsight
from quick_config import QUICK

ROLES = {"trial": "experimental", "registry": "observational"}
COLUMNS = ("--treatment", "drug", "--outcome", "well", "--bands", "age=18,40,65,90", "--missing", "level")


def people(rows, seed, towns):
    rng = np.random.default_rng(seed)
    sex, drug = rng.integers(0, 2, rows), rng.integers(0, 2, rows)
    town = rng.choice(towns, rows)
    return pandas.DataFrame(
        {
            "town": np.where(rng.random(rows) < 0.02, None, town),
            "sex": np.array(["f", "m"])[sex],
            "age": rng.integers(18, 91, rows),
            "drug": drug,
            "well": (rng.random(rows) < 0.3 + 0.2 * drug * sex).astype(int),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two tables of two sites, of which one has a town that the other has not; and all rows in one place."""
    place = tmp_path_factory.mktemp("sites")
    sites = {"north": ["Aix", "Brest"], "south": ["Brest", "Cluny"]}
    for number, (table, rows) in enumerate({"trial": 900, "registry": 1500}.items()):
        parts = [people(rows, 10 * number + place, towns) for place, towns in enumerate(sites.values())]
        for site, part in zip(sites, parts, strict=True):
            part.to_csv(place / f"{site}_{table}.csv", index=False)
        pandas.concat(parts).to_csv(place / f"all_{table}.csv", index=False)
    return place


@pytest.fixture
def counted(folder, run, monkeypatch):
    """Count every table of every site, with some options, and give the arguments for both roles."""
    monkeypatch.chdir(folder)

    def count(ending, *options):
        for site in ("north", "south"):
            for table, role in ROLES.items():
                out = f"{site}_{table}{ending}.parquet"
                run("count", f"{site}_{table}.csv", "--role", role, *COLUMNS, *options, "--out", out)
        return [f"north_{table}{ending}.parquet,south_{table}{ending}.parquet" for table in ROLES]

    return count


def test_counts_of_two_sites_give_the_study_of_all_their_rows(counted, folder, run):
    arguments = counted("")
    run("fit", *arguments, "--model", "plug-in", "--out", "added")
    run("fit", "all_trial.csv", "all_registry.csv", *COLUMNS, "--model", "plug-in", "--out", "pooled")
    added, pooled = (pnsight.load(folder / name) for name in ("added", "pooled"))
    assert added.study.schema == pooled.study.schema
    np.testing.assert_array_equal(added.study.profiles, pooled.study.profiles)
    np.testing.assert_array_equal(added.study.counts, pooled.study.counts)
    asked = ("--space", "mask", "--format", "csv")
    assert run("query", "added", *asked).out == run("query", "pooled", *asked).out


def test_bands_are_called_by_their_edges_if_a_site_has_parts_of_years(tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for site, part in {"north": 0.0, "south": 0.5}.items():
        found = people(900, 3, ["Aix"])
        found.assign(age=np.minimum(found["age"] + part, 90)).to_csv(f"{site}.csv", index=False)
        run("count", f"{site}.csv", "--role", "experimental", *COLUMNS, "--out", f"{site}.parquet")
    named = [
        pnsight.read_counts(files, []).schema.covariate("age").levels
        for files in (["north.parquet"], ["south.parquet"])
    ]
    assert named == [("18-39", "40-64", "65-90"), ("18-40", "40-65", "65-90")]
    both = pnsight.read_counts(["north.parquet", "south.parquet"], [])
    assert both.schema.covariate("age").levels == ("18-40", "40-65", "65-90")
    assert both.counts.sum() == 1800


def test_response_types_are_the_same_to_the_digit(counted, folder):
    files = [[folder / name for name in names.split(",")] for names in counted("_again")]
    read = {"treatment": "drug", "outcome": "well", "bands": {"age": [18, 40, 65, 90]}, "missing": "level"}
    tables = pnsight.read_study(folder / "all_trial.csv", folder / "all_registry.csv", **read)
    added, pooled = (
        pnsight.ResponseTypeModel(config=QUICK, random_state=3).fit(study)
        for study in (pnsight.read_counts(*files), tables)
    )
    asked = ["", "sex=m", "town=Brest,age=70", "town=Aix,sex=f,age=20"]
    assert str(added.bounds(asked).columns()) == str(pooled.bounds(asked).columns())


def test_what_sites_withhold_is_told_and_makes_intervals_wider(counted, folder, run):
    said = run("fit", *counted("_5", "--min-cell", 10), "--model", "plug-in", "--out", "few").err
    run("fit", *counted("_all"), "--model", "plug-in", "--out", "many")
    few, many = (pnsight.load(folder / name) for name in ("few", "many"))
    assert [note.kind for note in few.study.notes][:2] == ["sites_added", "withheld_at_sites"]
    note = few.study.notes[1]
    assert {one["site"] for one in note.values["sites"]} == {
        f"{site}_{t}_5" for site in ("north", "south") for t in ROLES
    }
    assert str(note) in said
    lost, all_rows = few.study.table_rows, many.study.table_rows
    share = max(1 - left / rows for left, rows in zip(lost, all_rows, strict=True))
    assert note.values["share"] == pytest.approx(share, abs=0.01)  # it is told to a multiple of the limit
    assert note.values["wider"] == pytest.approx((1 - share) ** -0.5 - 1, abs=0.01)
    widths = [
        np.subtract(*(model.bounds(["", "sex=m", "sex=f"]).columns()[name] for name in ("lower_high", "lower_low")))
        for model in (few, many)
    ]
    assert (widths[0] > widths[1]).all()
    assert few.study.withheld.min_cell == 10
    assert "counts below 10 are withheld" in run("query", "few", "").err


def test_one_site_that_withholds_nothing_does_not_vouch_for_all(counted, folder):
    open_files, closed = counted("_open"), counted("_closed", "--min-cell", 10)
    mixed = [[folder / open_files[i].split(",")[0], folder / closed[i].split(",")[1]] for i in (0, 1)]
    study = pnsight.read_counts(*mixed)
    assert study.withheld is None
    assert "withheld_at_sites" in [note.kind for note in study.notes]
    assert pnsight.suppress(study, 10).withheld.min_cell == 10


def test_check_names_the_site_that_differs(counted, folder, run):
    files = counted("_c")
    agree = run("check", *files)
    assert "sites      ok" in agree.out
    odd = pandas.read_csv("south_trial.csv", keep_default_na=False)
    odd["well"] = np.where(odd["drug"] == 1, 1 - odd["well"], odd["well"])
    odd.to_csv("odd_trial.csv", index=False)
    run("count", "odd_trial.csv", "--role", "experimental", *COLUMNS, "--out", "odd.parquet")
    told = run("check", f"{files[0]},odd.parquet", files[1], "--format", "json")
    assert '"sites_differ"' in told.out
    looks = run("check", f"{files[0]},odd.parquet", files[1], "--format", "csv").rows
    assert {row["look"] for row in looks if row["part"] == "sites" and row["status"] == "differs"} == {"odd"}


def test_the_file_has_counts_and_nothing_else(counted, folder):
    counted("_f", "--min-cell", 10)
    table = pyarrow.parquet.read_table(folder / "north_trial_f.parquet")
    assert table.column_names == ["town", "sex", "age", "cell", "people"]
    assert min(table["people"].to_pylist()) >= 10
    assert set(table["cell"].to_pylist()) == {"y_x", "y'_x", "y_x'", "y'_x'"}


def test_covariates_may_have_the_names_of_the_files_own_columns(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = people(400, 1, ["Aix", "Brest"]).dropna().rename(columns={"town": "cell", "sex": "people"})
    rows.to_csv("t.csv", index=False)
    run("count", "t.csv", "--role", "experimental", *COLUMNS[:6], "--out", "t.parquet")
    again = pnsight.read_counts(["t.parquet"])
    assert again.schema.names == ("cell", "people", "age")
    assert again.counts.sum() == len(rows)


MISTAKES = {
    "bands at quantiles": (
        ["count", "north_trial.csv", "--role", "experimental", *COLUMNS[:4], "--bands", "age=4", "--out", "x.parquet"],
        "give the edges",
    ),
    "no role": (["count", "north_trial.csv", *COLUMNS, "--out", "x.parquet"], "--role"),
    "the other role": (["fit", "{registry}", "--out", "m"], "counts an observational table"),
    "counts and rows": (["fit", "{trial}", "all_registry.csv", "--out", "m"], "is no file of counts"),
    "an option of reading": (["check", "{trial}", "--missing", "drop"], "count the tables again"),
    "another treatment": (["check", "{trial}", "--treatment", "sex"], "count the tables again"),
    "a file that is not there": (["check", "{trial},nowhere.parquet"], "there is no file 'nowhere.parquet'"),
    "no treatment": (["check", "all_trial.csv", "--outcome", "well"], "--treatment"),
    "other bands": (["check", "{trial},other.parquet"], "the edges of 'age' are"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_ends_with_one_message(mistake, counted, attempt, run):
    trial, registry = counted("")
    other = [part.replace("40,", "50,") for part in COLUMNS]
    run("count", "south_trial.csv", "--role", "experimental", *other, "--out", "other.parquet")
    arguments, expected = MISTAKES[mistake]
    ended = attempt(*(part.format(trial=trial, registry=registry) for part in arguments))
    assert ended.code == 2
    assert expected in ended.err
