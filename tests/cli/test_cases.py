"""Cases with known answers, from CSV files through `fit` and `query`."""

from __future__ import annotations

import subprocess
import sys

import pytest

from cases import CASES, EXPECTED, INCOHERENT, TOLERANCE, write_case, write_csv, write_sexes

COLUMNS = ["--treatment", "x", "--outcome", "y", "--model", "plug-in"]
INTERVALS = ["lower_low", "lower_high", "upper_low", "upper_high"]


@pytest.mark.parametrize("name", CASES)
def test_case_with_known_answer(name, run, tmp_path):
    run("fit", *write_case(CASES[name], tmp_path), *COLUMNS, "--out", tmp_path / "model")
    for case, quantity, lower, upper in EXPECTED:
        if case == name:
            (row,) = run("query", tmp_path / "model", "--quantity", quantity, "--format", "csv").rows
            assert float(row["lower"]) == pytest.approx(lower, abs=TOLERANCE)
            assert float(row["upper"]) == pytest.approx(upper, abs=TOLERANCE)
            assert row["status"] == "ok"
            assert int(row["support_experimental"]) == sum(CASES[name].experimental)
            assert int(row["support_observational"]) == sum(CASES[name].observational)


def test_women_men_and_both_from_one_pair_of_tables(run, tmp_path):
    run("fit", *write_sexes(tmp_path), *COLUMNS, "--out", tmp_path / "model")
    rows = run("query", tmp_path / "model", "", "sex=F", "sex=M", "--format", "csv").rows
    assert [row["query"] for row in rows] == ["X", "F", "M"]
    ends = [(float(row["lower"]), float(row["upper"])) for row in rows]
    expected = [(0.3395, 0.4295), (0.279, 0.279), (0.49, 0.49)]
    assert ends == [pytest.approx(pair, abs=TOLERANCE) for pair in expected]
    harm = run("query", tmp_path / "model", "F", "M", "--quantity", "harm", "--format", "csv").rows
    assert [float(row["lower"]) for row in harm] == [pytest.approx(0, abs=TOLERANCE), pytest.approx(0.21)]


def test_women_and_men_pooled_in_the_trial_alone(run, tmp_path):
    trial, _ = write_sexes(tmp_path)
    run("fit", trial, *COLUMNS, "--out", tmp_path / "model")
    (row,) = run("query", tmp_path / "model", "--format", "csv").rows
    assert (float(row["lower"]), float(row["upper"])) == (pytest.approx(0.2795), pytest.approx(0.4895))
    assert row["support_observational"] == "0"


def test_tables_that_contradict_each_other_are_flagged_and_the_ends_left_empty(run, tmp_path):
    run("fit", *write_case(INCOHERENT, tmp_path), *COLUMNS, "--out", tmp_path / "model")
    for quantity in ("pns", "harm"):
        (row,) = run("query", tmp_path / "model", "--quantity", quantity, "--format", "csv").rows
        assert row["status"] == "contradicted"
        assert [row[name] for name in ("lower", "upper", *INTERVALS)] == [""] * 6


def test_necessity_without_anyone_treated_who_responded_is_undefined(run, tmp_path):
    tables = [
        write_csv(tmp_path / f"{name}.csv", "x,y", ["1,0", "1,0", "0,1", "0,0"]) for name in ("trial", "registry")
    ]
    run("fit", *tables, *COLUMNS, "--out", tmp_path / "model")
    (row,) = run("query", tmp_path / "model", "--quantity", "pn", "--format", "csv").rows
    assert (row["status"], row["lower"], row["upper"]) == ("undefined", "", "")


def test_missing_outcomes_are_left_out_and_reported(run, tmp_path):
    lines = ["1,1"] * 3 + ["1,0"] * 4 + ["1,"] * 3 + ["0,1"] * 2 + ["0,0"] * 5 + ["0,"] * 3
    trial = write_csv(tmp_path / "trial.csv", "x,y", lines)
    fitted = run("fit", trial, *COLUMNS, "--out", tmp_path / "model")
    assert "left out: 6 experimental rows without treatment or outcome" in fitted.err
    (row,) = run("query", tmp_path / "model", "--format", "csv").rows
    assert float(row["lower"]) == pytest.approx(3 / 7 - 2 / 7)
    assert float(row["upper"]) == pytest.approx(3 / 7)
    assert row["support_experimental"] == "14"


def test_another_coding_is_named_on_the_command_line(run, tmp_path):
    lines = ["2,yes"] * 16 + ["2,no"] * 984 + ["1,yes"] * 14 + ["1,no"] * 986
    trial = write_csv(tmp_path / "trial.csv", "x,y", lines)
    run("fit", trial, *COLUMNS, "--treated", "2", "--success", "yes", "--out", tmp_path / "model")
    (row,) = run("query", tmp_path / "model", "--format", "csv").rows
    assert (float(row["lower"]), float(row["upper"])) == (pytest.approx(0.002), pytest.approx(0.016))


def test_the_whole_way_as_separate_programs(tmp_path):
    """As a person would run it: two processes that share nothing but files."""

    def pnsight(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pnsight", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)

    fitted = pnsight("fit", *write_sexes(tmp_path), *COLUMNS, "--out", "model")
    assert fitted.stdout == ""
    assert "model written to model" in fitted.stderr
    asked = pnsight("query", "model", "sex=F", "--quantity", "pns", "--format", "csv")
    assert asked.stderr == "averaged over each table's own people: their rows are added up\n"
    header, answer = asked.stdout.splitlines()
    assert header.startswith("query,lower,upper,")
    assert float(answer.split(",")[1]) == pytest.approx(0.279)


def test_those_who_choose_and_policies_of_women_and_men(run, tmp_path):
    """Case K: Mueller and Pearl's groups, through CSV files and the program."""
    run("fit", *write_sexes(tmp_path), *COLUMNS, "--out", tmp_path / "model")
    expected = {
        "ett": (0.27, 0.70),
        "etu": (0.30, -0.70),
        "treated-if-untreated": (0.0, 0.0),
        "untreated-if-treated": (1.0, 0.0),
    }
    for quantity, values in expected.items():
        rows = run("query", tmp_path / "model", "F", "M", "--quantity", quantity, "--format", "csv").rows
        for row, value in zip(rows, values, strict=True):
            assert float(row["lower"]) == pytest.approx(value, abs=TOLERANCE)
            assert float(row["upper"]) == pytest.approx(value, abs=TOLERANCE)
    found = run("policies", tmp_path / "model", "F", "M", "--format", "csv")
    value = {(row["query"], row["policy"]): float(row["value"]) for row in found.rows}
    assert value["F", "usual-care"] == pytest.approx(0.399, abs=TOLERANCE)
    assert value["F", "treat-all"] == pytest.approx(0.489, abs=TOLERANCE)
    assert value["F", "covariates-and-choice"] == pytest.approx(0.489, abs=TOLERANCE)
    assert value["M", "usual-care"] == pytest.approx(0.7, abs=TOLERANCE)
    assert value["M", "treat-all"] == pytest.approx(0.49, abs=TOLERANCE)
    assert value["M", "covariates-and-choice"] == pytest.approx(0.7, abs=TOLERANCE)
    assert "usual care has more respond (0.7000) than the best rule by covariates (0.4900)" in found.err
    left = run("decide", tmp_path / "model", "F", "M", "--leave", "--format", "csv")
    assert [row["decision"] for row in left.rows] == ["treat", "leave"]
    assert left.header[:3] == ["query", "decision", "decision_cautious"]


def test_policies_and_leaving_it_to_people_say_what_they_need(attempt, run, churn, tmp_path):
    ended = attempt("policies", churn)
    assert ended.code == 2
    assert "an experiment alone does not show" in ended.err
    run("fit", *write_sexes(tmp_path), *COLUMNS, "--out", tmp_path / "both")
    ended = attempt("decide", tmp_path / "both", "--leave", "--quantity", "pns")
    assert ended.code == 2
    assert "pns is asked for too" in ended.err


def test_a_cap_on_harm_and_a_threshold_curve(run, attempt, tmp_path):
    run("fit", *write_sexes(tmp_path), *COLUMNS, "--out", tmp_path / "model")
    capped = run("select", tmp_path / "model", "--budget", 0.5, "--max-harm-each", 0.02, "--format", "csv")
    assert [row["query"] for row in capped.rows] == ["F"]
    assert "at most 0.00% of those treated are harmed" in capped.err
    mixed = run("select", tmp_path / "model", "--budget", 1, "--max-harm", 0.07, "--format", "csv")
    people = {row["query"]: float(row["treated"]) for row in mixed.rows}
    assert people == {"F": pytest.approx(0.5), "M": pytest.approx(0.25)}  # of whom 0.21 are harmed, and of women none
    curve = run("decide", tmp_path / "model", "--curve", "--format", "csv").rows
    by_threshold = {round(float(row["threshold"]), 2): row for row in curve}
    assert float(by_threshold[0.25]["treat"]) == 1.0
    assert float(by_threshold[0.4]["treat"]) == pytest.approx(0.5)
    assert float(by_threshold[0.5]["not"]) == 1.0
    assert attempt("decide", tmp_path / "model", "--curve", "--threshold", 0.3).code == 2
    assert attempt("select", tmp_path / "model", "--budget", 0.5, "--max-harm", 2).code == 2


def test_study_size_of_case_p(run, attempt):
    found = run("size", "--margin", 0.05, "--format", "csv").rows
    by_end = {row["of"]: row for row in found}
    assert by_end["effect"]["per_arm"] == "769.0"
    assert (by_end["upper"]["experimental"], by_end["upper"]["observational"]) == ("1921.0", "1921.0")
    assert attempt("size", "--margin", 5).code == 2
    assert "did you mean 0.05" in attempt("size", "--margin", 5).err


def test_validation_on_held_out_rows(run, attempt, tmp_path):
    tables = write_sexes(tmp_path)
    found = run(
        "validate", *tables, *COLUMNS, "--splits", 2, "--held-out", 0.5, "--subgroup", "sex=F", "--format", "csv"
    )
    measures = {row["measure"]: row for row in found.rows}
    assert found.header == ["model", "measure", "value", "low", "high"]
    assert 0.4 < float(measures["value of rule"]["value"]) < 0.6
    assert float(measures["coverage of intervals"]["value"]) > 0.5
    shown = run("validate", *tables, *COLUMNS, "--splits", 1, "--show", "calibration", "--format", "csv")
    assert {"predicted", "observed", "cell"} <= set(shown.header)
    assert attempt("validate", tables[0], *COLUMNS).code == 2
    assert "observational table" in attempt("validate", tables[0], *COLUMNS).err


def test_a_second_opinion_stands_beside_the_models_bounds(tmp_path, run, attempt):
    run("simulate", "mediator", "--experimental", 20000, "--observational", 20000, "--seed", 1, "--out", tmp_path)
    tables = [tmp_path / f"{name}.parquet" for name in ("experimental", "observational")]
    run("fit", *tables, "--treatment", "x", "--outcome", "y", "--model", "plug-in", "--out", tmp_path / "model")
    found = run("opinion", tmp_path / "model", "", "z1=1", "--folds", 2, "--format", "csv")
    assert found.header[5:] == ["lower", "upper", "low", "high", "agreement"]
    assert [row["query"] for row in found.rows] == ["XXXXXXXXXX", "1XXXXXXXXX"]
    assert all(float(row["low"]) <= float(row["lower"]) <= float(row["upper"]) for row in found.rows)
    refused = attempt("opinion", tmp_path / "model", "--folds", 1)
    assert refused.code == 2
