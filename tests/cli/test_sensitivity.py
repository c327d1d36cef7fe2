"""Slack, misread outcomes and assumptions that say how much, from CSV files through the program."""

from __future__ import annotations

import json

import pytest

from cases import DRUG, INCOHERENT, MEN, WOMEN, rows, write_case, write_csv, write_sexes

COLUMNS = ["--treatment", "x", "--outcome", "y", "--model", "plug-in"]
SEXES = ["sex=F", "sex=M", ""]


@pytest.fixture
def sexes(run, tmp_path):
    """A plug-in model of women and men."""
    run("fit", *write_sexes(tmp_path), *COLUMNS, "--out", tmp_path / "model")
    return tmp_path / "model"


def ends(row) -> tuple[float, float]:
    return float(row["lower"]), float(row["upper"])


@pytest.mark.parametrize(
    ("slack", "expected"),
    [
        ("0.02", [(0.239, 0.279), (0.47, 0.51), (0.3195, 0.4295)]),
        ("0.05", [(0.179, 0.279), (0.44, 0.54), (0.2895, 0.4295)]),
        ("0.10", [(0.089, 0.279), (0.39, 0.58), (0.2395, 0.4295)]),
    ],
)
def test_women_men_and_both_with_slack(slack, expected, run, sexes):
    found = run("query", sexes, *SEXES, "--slack", slack, "--format", "csv")
    assert [ends(row) for row in found.rows] == [pytest.approx(pair, abs=1e-9) for pair in expected]
    assert f"slack {float(slack):g}: the shares who respond with and without treatment may differ" in found.err


def test_a_decision_to_treat_women_flips_at_its_tipping_point(run, sexes):
    found = run("tip", sexes, *SEXES, "--threshold", 0.25, "--format", "csv")
    assert found.header[:6] == ["query", "decision", "tip", "decision_cautious", "tip_cautious", "reconciled_at"]
    women, men, both = found.rows
    assert [row["decision"] for row in found.rows] == ["treat"] * 3
    assert float(women["tip"]) == pytest.approx(0.0145, abs=1e-9)
    assert float(men["tip"]) == pytest.approx(0.24, abs=1e-9)
    assert float(both["tip"]) == pytest.approx(0.0895, abs=1e-9)
    assert (women["decision_cautious"], women["tip_cautious"]) == ("uncertain", "")
    assert 0 < float(men["tip_cautious"]) < float(men["tip"])
    for slack, decision in (("0.0144", "treat"), ("0.0146", "uncertain")):
        (row,) = run("decide", sexes, "sex=F", "--threshold", 0.25, "--slack", slack, "--format", "csv").rows
        assert row["decision"] == decision


def test_a_decision_not_to_treat_tips_too_and_some_never_do(run, sexes):
    (men,) = run("tip", sexes, "sex=M", "--threshold", 0.55, "--format", "csv").rows
    assert (men["decision"], float(men["tip"])) == ("not", pytest.approx(0.06, abs=1e-9))
    never = run("tip", sexes, "sex=M", "--threshold", 0.99, "--words")
    assert never.out == (
        "M: the decision not to treat holds however differently these people respond from the trial's\n"
    )


def test_slack_may_grow_in_one_arm_only(run, sexes):
    (women,) = run("tip", sexes, "sex=F", "--threshold", 0.25, "--along", "treated=1", "--format", "csv").rows
    assert float(women["tip"]) == pytest.approx(0.029, abs=1e-9)
    (row,) = run("query", sexes, "sex=F", "--slack", "treated=0.029", "--format", "csv").rows
    assert float(row["lower"]) == pytest.approx(0.25, abs=1e-9)
    (row,) = run("query", sexes, "sex=F", "--slack", "treated=-0.029,control=+0", "--format", "csv").rows
    assert float(row["lower"]) == pytest.approx(0.25, abs=1e-9)


def test_necessity_that_was_certain_is_soon_uncertain(run, tmp_path):
    run("fit", *write_case(DRUG, tmp_path), *COLUMNS, "--out", tmp_path / "model")
    for slack, expected in (("0.0005", (0.5, 1)), ("0.001", (0, 1))):
        (row,) = run("query", tmp_path / "model", "--quantity", "pn", "--slack", slack, "--format", "csv").rows
        assert ends(row) == pytest.approx(expected, abs=1e-9)


def test_contradictions_are_judged_at_the_slack_and_it_is_said_when_they_end(run, tmp_path):
    larger = [
        write_csv(tmp_path / f"{name}.csv", "x,y", rows(tuple(20 * n for n in getattr(INCOHERENT, name))))
        for name in ("experimental", "observational")
    ]
    run("fit", *larger, *COLUMNS, "--out", tmp_path / "model")
    (row,) = run("tip", tmp_path / "model", "--threshold", 0.2, "--format", "csv").rows
    assert (row["status"], row["decision"], row["tip"]) == ("contradicted", "", "")
    assert float(row["reconciled_at"]) == pytest.approx(0.35, abs=1e-9)
    status = {}
    for slack in ("0.2", "0.36"):
        (row,) = run("query", tmp_path / "model", "--slack", slack, "--format", "csv").rows
        status[slack] = row["status"]
    assert status == {"0.2": "contradicted", "0.36": "ok"}
    assert 0 <= float(row["lower"]) <= float(row["upper"]) <= 1


@pytest.mark.parametrize(
    ("harm", "expected"), [("0.10", (0.3395, 0.3795)), ("0.15", (0.3395, 0.4295)), ("1", (0.3395, 0.4295))]
)
def test_few_who_are_harmed_narrow_the_pooled_bounds(harm, expected, run, sexes):
    found = run("query", sexes, "", "--assume", f"harm<={harm}", "--format", "csv")
    assert ends(found.rows[0]) == pytest.approx(expected, abs=1e-9)
    width = expected[1] - expected[0]
    assert f"the bounds are {width:.4f} wide, and without what is assumed 0.0900" in found.err


def test_an_estimate_just_outside_is_within_chance_and_said_to_be(run, sexes):
    found = run("query", sexes, "", "--assume", "harm<=0.05", "--format", "csv")
    (row,) = found.rows
    assert row["status"] == "ok"
    assert float(row["lower"]) <= float(row["upper"])
    assert "at least 0.060 of them are harmed, which is off by 0.7 standard errors. That is within chance" in found.err


def test_with_a_hundred_times_the_rows_it_is_refused(attempt, run, tmp_path):
    def many(name):
        lines = [
            f"{sex},{cell},{100 * count}"
            for sex, case in (("F", WOMEN), ("M", MEN))
            for cell, count in zip(("1,1", "1,0", "0,1", "0,0"), getattr(case, name), strict=True)
        ]
        return write_csv(tmp_path / f"{name}.csv", "sex,x,y,n", lines)

    tables = many("experimental"), many("observational")
    run("fit", *tables, *COLUMNS, "--weight", "n", "--out", tmp_path / "model")
    found = attempt("query", tmp_path / "model", "", "--assume", "harm<=0.05")
    assert found.code == 2
    assert "For everyone, at least 0.060 of them are harmed, which is off by 7.3 standard errors" in found.err
    for assumption in ("harm<=0.20", "correlation>=0"):
        found = attempt("query", tmp_path / "model", "sex=M", "--assume", assumption)
        assert found.code == 2
        assert "The tables contradict it. For sex=M" in found.err
        assert "Traceback" not in found.err


def test_outcomes_that_go_together_narrow_the_upper_end(run, attempt, sexes):
    (row,) = run("query", sexes, "", "--assume", "correlation>=0", "--format", "csv").rows
    assert ends(row) == pytest.approx((0.3395, 0.386705), abs=1e-9)
    found = attempt("query", sexes, "sex=M", "--assume", "correlation>=0")
    assert found.code == 2
    assert "their correlation is -0.505 at most, which is off by 5.9 standard errors" in found.err


def test_without_slack_and_with_a_harm_of_at_most_one_not_a_digit_changes(run, sexes):
    plain = run("query", sexes, *SEXES, "--format", "csv").out
    for options in (["--slack", "0"], ["--misread-outcome", "0"], ["--assume", "harm<=1"]):
        assert run("query", sexes, *SEXES, *options, "--format", "csv").out == plain


def test_intervals_hold_with_slack_and_assumptions_too(run, sexes):
    for options in (
        ["--slack", "0.05"],
        ["--assume", "harm<=0.1"],
        ["--assume", "correlation>=0"],
        ["--misread-outcome", "0.01"],
    ):
        (row,) = run("query", sexes, "", *options, "--format", "csv").rows
        numbers = {name: float(row[name]) for name in row if name.startswith(("lower", "upper", "value"))}
        assert numbers["lower_low"] < numbers["lower"] < numbers["lower_high"]
        assert numbers["upper_low"] < numbers["upper"] < numbers["upper_high"]
        assert numbers["lower_low"] <= numbers["value_low"] <= numbers["lower"]


def test_misread_outcomes_widen_the_bounds_of_both_tables(run, sexes):
    (row,) = run("query", sexes, "sex=F", "--misread-outcome", "0.02", "--format", "csv").rows
    lower, upper = ends(row)
    assert lower == pytest.approx(0.239, abs=1e-9)  # each arm of the trial by 0.02
    assert upper == pytest.approx(0.279 + 0.02, abs=1e-9)  # of those who chose either arm by 0.02


def test_a_curve_and_a_figure_of_the_bounds_against_slack(run, sexes, tmp_path):
    found = run("tip", sexes, "sex=F", "--threshold", 0.25, "--curve", "--plot", tmp_path / "t.svg", "--format", "csv")
    slacks = [float(row["slack"]) for row in found.rows]
    assert slacks[0] == 0
    assert slacks == sorted(slacks)
    lowers = [float(row["lower"]) for row in found.rows]
    assert lowers == sorted(lowers, reverse=True)
    assert (tmp_path / "t.svg").read_text().count("<svg") == 1


@pytest.mark.parametrize(
    ("command", "options", "message"),
    [
        ("query", ["--slack", "5"], "the slack is '5'"),
        ("query", ["--slack", "left=0.1"], "no arm of the trial"),
        ("query", ["--misread-outcome", "3"], "did you mean 0.03"),
        ("query", ["--assume", "harm<=3"], "did you mean 0.03"),
        ("query", ["--assume", "exogenous", "--slack", "0.1"], "together with slack"),
        ("query", ["--quantity", "pn", "--misread-outcome", "0.1"], "may be misread"),
        ("tip", ["--along", "0"], "does not grow"),
        ("tip", ["--plot", "figure.doc"], "expected .svg, .png or .pdf"),
        ("tip", ["--words", "--curve"], "use one of them"),
    ],
)
def test_mistakes_end_with_one_message(command, options, message, attempt, sexes):
    found = attempt(command, sexes, *options)
    assert found.code == 2
    assert message in found.err
    assert "Traceback" not in found.err


def test_a_report_says_at_which_slack_its_decision_changes_and_takes_slack_itself(run, sexes, tmp_path):
    run("report", sexes, "--threshold", 0.25, "--plain", "--out", tmp_path / "plain.html")
    assert "trial&#39;s by 0.0895 at most; beyond that it is uncertain." in (tmp_path / "plain.html").read_text()
    run("report", sexes, "--slack", 0.05, "--assume", "harm<=0.1", "--out", tmp_path / "slack.json")
    found = json.loads((tmp_path / "slack.json").read_text())
    assert found["everyone"][0]["answer"]["lower"] == pytest.approx(0.2895)
    assert found["everyone"][0]["tip"] is None
    assert found["net"]["treated"] is None  # one number no more
    assert found["assuming"] == [
        "Assumed, harm<=0.1: at most 0.1 of these people are harmed by the treatment.",
        "Slack 0.05: the shares who respond with and without treatment may differ from the trial's by so much.",
    ]
