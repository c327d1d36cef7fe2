"""What scripts depend on: columns, formats, spaces, streams and exit codes."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys

import numpy as np
import pandas
import pytest

import pnsight
from cases import write_csv, write_sexes
from pnsight import simulation as populations
from pnsight.cli.main import main
from pnsight.data.reading import write

ORACLE = ["query", "mass", "lower", "upper", "pns"]
ANSWER = [
    "query",
    "lower",
    "upper",
    "lower_low",
    "lower_high",
    "upper_low",
    "upper_high",
    "support_experimental",
    "support_observational",
    "status",
    "basis",
    "value_low",
    "value_high",
    "trial_lower",
    "trial_upper",
]
QUANTITIES = ["pns", "pn", "ps", "pd", "pe", "harm"]
FIT = ["--treatment", "x", "--outcome", "y", "--model", "plug-in"]


@pytest.fixture(scope="module")
def sexes(tmp_path_factory):
    """A model of women and men, levels of one character."""
    folder = tmp_path_factory.mktemp("sexes")
    study = pnsight.read_study(*write_sexes(folder), treatment="x", outcome="y")
    pnsight.save(pnsight.PlugIn().fit(study), folder / "model")
    return folder / "model"


@pytest.fixture(scope="module")
def towns(tmp_path_factory):
    """A model with words for levels, one combination never seen."""
    folder = tmp_path_factory.mktemp("towns")
    pairs = ["Ain,young", "Ain,old", "Brest,old"]
    lines = [f"{pair},{x},{y}" for pair in pairs for x in (0, 1) for y in (0, 1)]
    table = write_csv(folder / "table.csv", "town,age,x,y", lines)
    study = pnsight.read_study(table, table, treatment="x", outcome="y")
    pnsight.save(pnsight.PlugIn().fit(study), folder / "model")
    return folder / "model"


# --- columns --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [[], ["1101001110"], ["--space", "exact"], ["--quantity", "pns"]])
def test_oracle_has_the_columns_of_the_contract(arguments, run):
    assert run("oracle", "mediator", *arguments, "--format", "csv").header == ORACLE


@pytest.mark.parametrize("quantity", [quantity for quantity in QUANTITIES if quantity != "pns"])
def test_oracle_sets_the_truth_of_another_quantity_within_its_bounds(quantity, run):
    ended = run("oracle", "mediator", "", "X101001110", "--quantity", quantity, "--format", "csv")
    assert ended.header == [*ORACLE, quantity]
    for row in csv.DictReader(io.StringIO(ended.out)):
        assert float(row["lower"]) - 1e-12 <= float(row[quantity]) <= float(row["upper"]) + 1e-12


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_query_has_the_columns_of_the_contract_for_every_quantity(quantity, sexes, run):
    ended = run("query", sexes, "--quantity", quantity, "--format", "csv")
    assert ended.header == ANSWER
    table = pnsight.load(sexes).bounds("", quantity)
    assert float(ended.rows[0]["lower"]) == table.lower[0]
    assert float(ended.rows[0]["upper"]) == table.upper[0]


def test_oracle_answers_with_the_reference_values(run):
    rows = run("oracle", "mediator", "1101001110", "X101001110", "", "--format", "csv").rows
    assert [row["query"] for row in rows] == ["1101001110", "X101001110", "XXXXXXXXXX"]
    found = [[float(row[name]) for name in ("lower", "upper", "pns")] for row in rows]
    expected = [[0.251473, 0.333204, 0.251473], [0.135155, 0.168520, 0.135155], [0.245661, 0.452765, 0.245661]]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_oracle_knows_random_populations_by_kind_and_seed(run):
    (row,) = run("oracle", "tree-dependent:2", "--format", "csv").rows
    assert float(row["pns"]) == populations.get("tree-dependent:2").pns("")[0]


# --- formats --------------------------------------------------------------------------------------------


def test_the_default_is_a_table_for_people(sexes, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    lines = run("query", sexes, "sex=F").out.splitlines()
    ends = ["lower", "upper", "lower_low - lower_high", "upper_low - upper_high"]
    support = ["support exp. + obs.", "status", "basis", "value_low - value_high"]
    assert re.split(r" {2,}", lines[0].strip())[:-2] == ["group", *ends, *support]  # nothing that is wholly empty
    assert set(lines[1]) == {"-", " "}
    shown = re.split(r" {2,}", lines[2])
    assert shown[:3] + shown[5:8] == ["sex = F", "0.279", "0.279", "2000+2000", "ok", "rows"]


def test_csv_keeps_every_digit(run):
    (row,) = run("oracle", "confounder", "--format", "csv").rows
    assert float(row["lower"]) == populations.get("confounder").bounds("").lower[0]


def test_json_is_one_record_a_query_with_null_for_what_is_missing(towns, run):
    records = json.loads(run("query", towns, "town=Brest,age=young", "", "--format", "json").out)
    assert [list(record) for record in records] == [ANSWER, ANSWER]
    assert records[0]["status"] == "undefined"
    assert records[0]["lower"] is None
    assert records[0]["support_experimental"] == 0
    assert records[1]["support_experimental"] == 12
    assert records[0]["lower_low"] is None
    assert records[1]["trial_lower"] is None


@pytest.mark.parametrize("command", ["oracle", "query"])
def test_parquet_goes_to_a_file(command, sexes, run, tmp_path):
    subject, columns = ("mediator", ORACLE) if command == "oracle" else (sexes, ANSWER)
    ended = run(command, subject, "--format", "parquet", "--out", tmp_path / "answer.parquet")
    assert ended.out == ""
    frame = pandas.read_parquet(tmp_path / "answer.parquet")
    assert list(frame.columns) == columns
    assert len(frame) == 1
    assert frame["lower"].dtype == float


def test_missing_ends_are_missing_in_parquet(towns, run, tmp_path):
    run("query", towns, "town=Brest,age=young", "", "--out", tmp_path / "answer.parquet")
    frame = pandas.read_parquet(tmp_path / "answer.parquet")
    assert frame["lower"].isna().tolist() == [True, False]
    assert frame["status"].tolist() == ["undefined", "ok"]


@pytest.mark.parametrize("command", ["oracle", "query"])
def test_parquet_is_not_for_the_screen(command, sexes, attempt):
    ended = attempt(command, "mediator" if command == "oracle" else sexes, "--format", "parquet")
    assert (ended.code, ended.out) == (2, "")
    assert "--out FILE.parquet" in ended.err


@pytest.mark.parametrize("ending", ["csv", "json", "txt", "parquet", "CSV"])
def test_the_ending_of_the_file_says_the_format(ending, sexes, run, tmp_path):
    file = tmp_path / f"answer.{ending}"
    assert run("query", sexes, "--out", file).out == ""
    if ending == "parquet":
        assert list(pandas.read_parquet(file).columns) == ANSWER
    else:
        kind = {"csv": "csv", "json": "json", "txt": "table", "CSV": "csv"}[ending]
        assert file.read_text(encoding="utf-8") == run("query", sexes, "--format", kind).out
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_the_format_asked_for_wins_over_the_ending(sexes, run, tmp_path):
    run("query", sexes, "--format", "json", "--out", tmp_path / "answer.csv")
    assert json.loads((tmp_path / "answer.csv").read_text())[0]["query"] == "X"


def test_an_answer_replaces_an_older_file(sexes, run, tmp_path):
    (tmp_path / "answer.csv").write_text("old\n" * 100)
    run("query", sexes, "--out", tmp_path / "answer.csv")
    assert (tmp_path / "answer.csv").read_text() == run("query", sexes, "--format", "csv").out


# --- which queries --------------------------------------------------------------------------------------


def queries(ended) -> list[str]:
    return [row["query"] for row in ended.rows]


def test_no_query_means_everyone(sexes, towns, run):
    assert queries(run("query", sexes, "--format", "csv")) == ["X"]
    assert queries(run("query", towns, "--format", "csv")) == [""]
    assert queries(run("oracle", "direct", "--format", "csv")) == ["X" * 10]


def test_queries_are_answered_in_the_order_asked(towns, run):
    asked = ["age=old", "", "town=Ain,age=young", "age=young, town=Ain", "age=old"]
    assert queries(run("query", towns, *asked, "--format", "csv")) == [
        "age=old",
        "",
        "town=Ain,age=young",
        "town=Ain,age=young",
        "age=old",
    ]


@pytest.mark.parametrize(
    ("space", "expected"),
    [
        ("exact", ["Ain,old", "Ain,young", "Brest,old", "Brest,young"]),
        ("observed", ["Ain,old", "Ain,young", "Brest,old"]),
        ("mask", ["Ain,old", "Ain,young", "Ain,", "Brest,old", "Brest,young", "Brest,", ",old", ",young", ","]),
    ],
)
def test_a_space_lists_its_queries(space, expected, towns, run):
    written = []
    for pair in expected:
        town, age = pair.split(",")
        written.append(",".join([f"town={town}"] * bool(town) + [f"age={age}"] * bool(age)))
    assert queries(run("query", towns, "--space", space, "--format", "csv")) == written


def test_the_oracles_spaces_are_the_papers(run):
    exact = run("oracle", "direct-positive", "--space", "exact", "--format", "csv").rows
    mask = run("oracle", "direct-positive", "--space", "mask", "--format", "csv").rows
    assert (len(exact), len(mask)) == (1024, 59049)
    assert sum(float(row["mass"]) for row in exact) == pytest.approx(1)
    assert {row["query"] for row in exact} <= {row["query"] for row in mask}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_file_of_queries_keeps_its_columns_and_leaves_blanks_open(ending, towns, run, tmp_path):
    asked = pandas.DataFrame(
        {"person": ["Ann", "Bo, jr", "Cy"], "age": ["old", None, None], "town": ["Ain", "Brest", None]}
    )
    file = tmp_path / f"queries.{ending}"
    asked.to_csv(file, index=False) if ending == "csv" else asked.to_parquet(file)
    ended = run("query", towns, "--queries", file, "--format", "csv")
    assert ended.header == ["person", "age", "town", *ANSWER]
    assert queries(ended) == ["town=Ain,age=old", "town=Brest", ""]
    assert [row["person"] for row in ended.rows] == ["Ann", "Bo, jr", "Cy"]
    assert [row["age"] for row in ended.rows] == ["old", "", ""]
    assert "person" in ended.err


def test_a_file_of_one_column_may_leave_it_blank(sexes, run, tmp_path):
    file = write_csv(tmp_path / "queries.csv", "sex", ["F", "", "M"])
    assert queries(run("query", sexes, "--queries", file, "--format", "csv")) == ["F", "X", "M"]


def test_a_model_without_covariates_answers_any_number_of_people(run, tmp_path):
    run("fit", *write_sexes(tmp_path), *FIT, "--covariates", "", "--out", tmp_path / "model")
    file = write_csv(tmp_path / "queries.csv", "person", [f"p{i}" for i in range(20)])
    ended = run("query", tmp_path / "model", "--queries", file, "--format", "csv")
    assert [row["person"] for row in ended.rows] == [f"p{i}" for i in range(20)]
    assert {row["lower"] for row in ended.rows} == {
        run("query", tmp_path / "model", "--format", "csv").rows[0]["lower"]
    }


# --- fit ------------------------------------------------------------------------------------------------


def test_fit_tells_what_it_used_and_what_it_did_not(run, tmp_path):
    trial = write_csv(tmp_path / "trial.csv", "sex,site,x,y", ["F,1,1,1", "F,1,0,0", "M,2,0,", "M,2,1,0"])
    registry = write_csv(tmp_path / "registry.csv", "sex,x,y,insurer", ["F,1,1,A", "M,0,0,B"])
    ended = run("fit", trial, registry, *FIT, "--out", tmp_path / "model")
    assert ended.out == ""
    assert "Study(" in ended.err
    assert "left out: 1 experimental rows without treatment or outcome" in ended.err
    assert "not used, since only one table has them: site, insurer" in ended.err
    assert "pnsight query" in ended.err


@pytest.mark.parametrize(
    ("given", "names"), [("", ()), ("sex", ("sex",)), (r"a\,b,sex", ("a,b", "sex")), (None, ("sex", "a,b"))]
)
def test_covariates_are_chosen_by_name(given, names, run, tmp_path):
    lines = ["F,0,1,1", "M,1,0,0"]
    table = write_csv(tmp_path / "table.csv", 'sex,"a,b",x,y', lines)
    chosen = [] if given is None else ["--covariates", given]
    run("fit", table, table, *FIT, *chosen, "--out", tmp_path / "model")
    assert pnsight.load(tmp_path / "model").schema.names == names


def test_fitting_again_replaces_the_model(run, tmp_path):
    trial, registry = write_sexes(tmp_path)
    run("fit", trial, registry, *FIT, "--out", tmp_path / "model")
    run("fit", trial, *FIT, "--out", tmp_path / "model")
    assert pnsight.load(tmp_path / "model").study.observational is None


# --- simulate -------------------------------------------------------------------------------------------


def simulated(folder):
    return [pandas.read_parquet(folder / f"{name}.parquet") for name in ("experimental", "observational")]


def test_simulate_writes_the_two_tables(run, tmp_path):
    arguments = ["--experimental", 300, "--observational", 200, "--seed", 7]
    ended = run("simulate", "mediator", *arguments, "--out", tmp_path / "new" / "data")
    assert ended.out == ""
    folder = tmp_path / "new" / "data"
    assert sorted(path.name for path in folder.iterdir()) == ["experimental.parquet", "observational.parquet"]
    for frame, rows in zip(simulated(folder), (300, 200), strict=True):
        assert list(frame.columns) == [*(f"z{i}" for i in range(1, 11)), "x", "y"]
        assert len(frame) == rows
        assert set(np.unique(frame)) <= {0, 1}


def test_the_same_seed_writes_the_same_bytes_and_another_seed_others(run, tmp_path):
    sizes = ["--experimental", 500, "--observational", 500]
    for folder, seed in (("first", 1), ("again", 1), ("other", 2)):
        run("simulate", "tree:1", *sizes, "--seed", seed, "--out", tmp_path / folder)
    for name in ("experimental.parquet", "observational.parquet"):
        first, again, other = ((tmp_path / folder / name).read_bytes() for folder in ("first", "again", "other"))
        assert first == again
        assert first != other


@pytest.mark.parametrize(
    ("owner", "name", "whole"),
    [(write, "_write", 0), (write, "_write", 1), (os, "replace", 0), (os, "replace", 1)],
    ids=["first table", "second table", "first replacement", "second replacement"],
)
def test_an_interrupted_simulation_leaves_no_pair_of_different_seeds(owner, name, whole, run, tmp_path, monkeypatch):
    arguments = ("simulate", "mediator", "--experimental", 300, "--observational", 200, "--out", tmp_path)
    run(*arguments, "--seed", 1)
    old = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    genuine, calls = getattr(owner, name), []

    def interrupt(*given):
        calls.append(given)
        if len(calls) > whole:
            raise KeyboardInterrupt
        return genuine(*given)

    monkeypatch.setattr(owner, name, interrupt)
    with pytest.raises(SystemExit):
        main([str(argument) for argument in (*arguments, "--seed", 2)])
    left = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(left) <= set(old)
    assert len({left[file] == old[file] for file in left}) == 1
    assert (left == old) == (owner is write)


def test_simulated_tables_are_the_librarys(run, tmp_path):
    arguments = ["--experimental", 400, "--observational", 300, "--seed", 3, "--assignment", "0.3"]
    run("simulate", "confounder", *arguments, "--out", tmp_path)
    for frame, table in zip(simulated(tmp_path), populations.get("confounder").tables(400, 300, 3, 0.3), strict=True):
        for name, column in table.items():
            np.testing.assert_array_equal(frame[name], column)


def test_simulate_fit_and_query_give_the_plug_in_of_the_sample(run, tmp_path):
    run("simulate", "mediator", "--experimental", 2000, "--observational", 2000, "--seed", 1, "--out", tmp_path)
    tables = [tmp_path / "experimental.parquet", tmp_path / "observational.parquet"]
    run("fit", *tables, *FIT, "--out", tmp_path / "model")
    (row,) = run("query", tmp_path / "model", "XX01X0X1XX", "--format", "csv").rows
    study = populations.get("mediator").sample(2000, 2000, seed=1)
    answer = pnsight.PlugIn().fit(study).bounds("XX01X0X1XX")
    assert (float(row["lower"]), float(row["upper"])) == (answer.lower[0], answer.upper[0])


# --- the program ----------------------------------------------------------------------------------------


def test_version_and_help(run):
    assert run("--version").out == f"pnsight {pnsight.__version__}\n"
    commands = run("--help").out
    for command in ("simulate", "oracle", "check", "fit", "query", "demo"):
        assert command in commands
        assert command in run(command, "--help").out


def test_results_go_to_stdout_and_messages_to_stderr(sexes, run, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    file = write_csv(tmp_path / "queries.csv", "sex,note", ["F,a"])
    ended = run("query", sexes, "--queries", file, "--format", "csv")
    assert ended.out.splitlines()[0] == ",".join(["sex", "note", *ANSWER])
    assert "note" in ended.err
    assert run("query", sexes).err == "averaged over each table's own people: their rows are added up\n"


HEAVY = ["numpy", "duckdb", "jax", "scipy", "sklearn", "matplotlib", "pandas", "narwhals"]


@pytest.mark.parametrize(
    "act",
    [
        "import pnsight",
        "import pnsight; dir(pnsight)",
        "from pnsight.cli.main import main; main(['--help'])",
        "from pnsight.cli.main import main; main(['fit', '--help'])",
        "from pnsight.cli.main import main; main(['check', '--help'])",
    ],
)
def test_importing_and_helping_load_nothing_heavy(act):
    """In a process of its own, since this one has everything loaded."""
    script = (
        f"import sys\ntry:\n    {act}\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ended.stderr == "[]\n"


def test_a_reader_who_has_seen_enough_causes_no_traceback():
    with subprocess.Popen(
        [sys.executable, "-m", "pnsight", "oracle", "direct", "--space", "mask", "--format", "csv"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as program:
        head = subprocess.run(["head", "-n", "1"], stdin=program.stdout, capture_output=True, text=True, check=True)
        program.stdout.close()
        complaint = program.stderr.read()
    assert head.stdout == ",".join(ORACLE) + "\n"
    assert complaint == ""
