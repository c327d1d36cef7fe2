"""Trials with more arms, grades, times, and people who do not do as assigned: from CSV files through the commands."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

import pnsight
from cases import TOLERANCE, write_csv

THREE_DOSES = {
    "trial": [("none", 0, 800), ("none", 1, 200), ("low", 0, 500), ("low", 1, 500), ("high", 0, 300), ("high", 1, 700)],
    "registry": [
        ("none", 0, 250),
        ("low", 0, 100),
        ("high", 0, 100),
        ("none", 1, 50),
        ("low", 1, 200),
        ("high", 1, 300),
    ],
}
GRADES = {
    "trial": [("a", 0, 500), ("a", 1, 300), ("a", 2, 200), ("b", 0, 200), ("b", 1, 300), ("b", 2, 500)],
    "registry": [("a", 0, 300), ("a", 1, 100), ("a", 2, 100), ("b", 0, 100), ("b", 1, 100), ("b", 2, 300)],
}
LIPID = ((919, 81, 0, 0), (315, 73, 139, 473))
VITAMIN = ((64, 9936, 0, 0), (28, 1972, 10, 7990))
"""Rows (d0y0, d0y1, d1y0, d1y1) by the arm assigned (Balke and Pearl 1997)."""


def rows_of(ended):
    return list(csv.DictReader(io.StringIO(ended.out)))


def ends(ended):
    (row,) = rows_of(ended)
    assert row["status"] == "ok"
    return float(row["lower"]), float(row["upper"])


def counted(folder, name, header, rows):
    return write_csv(folder / name, header, [",".join(map(str, row)) for row in rows])


@pytest.fixture
def doses(run, tmp_path):
    trial, registry = (counted(tmp_path, f"{name}.csv", "dose,y,n", rows) for name, rows in THREE_DOSES.items())
    options = [
        "--treatment",
        "dose",
        "--outcome",
        "y",
        "--weight",
        "n",
        "--arms",
        "none,low,high",
        "--model",
        "plug-in",
    ]
    run("fit", trial, registry, *options, "--out", tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("Y[none] == 0 and Y[high] == 1", (0.5, 0.7)),
        ("Y[none] == 0 and Y[low] == 1 and Y[high] == 1", (0, 0.5)),
        ("Y[none] == 0 and Y[low] == 0 and Y[high] == 1", (0, 0.5)),
    ],
)
def test_three_treatments(run, doses, statement, expected):
    found = ends(run("query", doses, "--statement", statement, "--format", "csv"))
    assert found == pytest.approx(expected, abs=TOLERANCE)


def test_a_contrast_alone_asks_for_pns(run, doses):
    asked = run("query", doses, "--contrast", "high:none", "--format", "csv")
    assert ends(asked) == pytest.approx((0.5, 0.7), abs=TOLERANCE)
    assert "high against none" in asked.err


def test_which_arm_is_best_or_between_which_it_is_uncertain(run, doses):
    (row,) = rows_of(run("decide", doses, "--quantity", "effect", "--format", "csv"))
    assert (row["decision"], row["between"], row["arm"]) == ("arm:high", "high", "high")
    (row,) = rows_of(run("decide", doses, "--threshold", "0.2", "--format", "csv"))
    assert (row["decision"], row["between"]) == ("uncertain", "low|high")
    (row,) = rows_of(run("decide", doses, "--threshold", "0.9", "--format", "csv"))
    assert (row["decision"], row["between"]) == ("arm:none", "none")
    (row,) = rows_of(run("decide", doses, "--contrast", "high:none", "--format", "csv"))
    assert row["decision"] == "treat"
    words = run("decide", doses, "--threshold", "0.2", "--words").out
    assert words.startswith("everyone: uncertain between low and high (pns against none, which must reach 0.2: low 0.3")


def test_three_outcomes(run, tmp_path):
    trial, registry = (counted(tmp_path, f"{name}.csv", "x,y,n", rows) for name, rows in GRADES.items())
    options = [
        "--treatment",
        "x",
        "--treated",
        "b",
        "--outcome",
        "y",
        "--weight",
        "n",
        "--outcomes",
        "0,1,2",
        "--model",
        "plug-in",
    ]
    run("fit", trial, registry, *options, "--out", tmp_path / "model")
    for asked, expected in (
        (["--statement", "Y[a] == 0 and Y[b] == 2"], (0, 0.4)),
        (["--quantity", "pns"], (0.4, 0.8)),
        (["--statement", "Y[a] == 0", "--given", "X == b and Y == 2"], (0, 2 / 3)),
    ):
        found = ends(run("query", tmp_path / "model", *asked, "--format", "csv"))
        assert found == pytest.approx(expected, abs=TOLERANCE)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (LIPID, {"effect": (0.392, 0.780), "pns": (0.465, 0.788), "harm": (0, 0.081)}),
        (VITAMIN, {"effect": (-0.1946, 0.0054), "pns": (0.0026, 0.0064), "harm": (0, 0.1982)}),
    ],
)
def test_people_who_do_not_take_what_they_are_assigned(run, attempt, tmp_path, table, expected):
    cells = [(z, d, y, table[z][2 * d + y]) for z in (0, 1) for d in (0, 1) for y in (0, 1)]
    trial = counted(tmp_path, "trial.csv", "assigned,taken,well,n", cells)
    read = ["--treatment", "taken", "--assigned", "assigned", "--outcome", "well", "--weight", "n"]
    run("fit", trial, *read, "--model", "plug-in", "--out", tmp_path / "model")
    for quantity, bounds in expected.items():
        asked = run("query", tmp_path / "model", "--quantity", quantity, "--format", "csv")
        assert ends(asked) == pytest.approx(bounds, abs=TOLERANCE)
    z0, z1 = (np.array(counts) / sum(counts) for counts in table)
    wald = (z1[1] + z1[3] - z0[1] - z0[3]) / (z1[2] + z1[3])
    among = ["--quantity", "effect", "--among", "compliers", "--assume", "one-sided", "--format", "csv"]
    assert ends(run("query", tmp_path / "model", *among)) == pytest.approx((wald, wald), abs=TOLERANCE)
    refused = attempt("query", tmp_path / "model", "--among", "compliers")
    assert refused.code == 2
    assert "--assume no-defiers" in refused.err
    told = run("check", trial, *read).out
    assert "another arm than the one assigned was taken by" in told
    assert "coherence   ok" in told


@pytest.fixture
def survival(run, tmp_path):
    """Two tables of times, none of them censored before the last horizon."""
    rng = np.random.default_rng(5)
    tables = {}
    for name in ("trial", "registry"):
        drug, age = rng.integers(0, 2, (2, 900))
        days = rng.exponential(150 + 80 * drug + 40 * age).round(1)
        lines = [f"{x},{a},{min(t, 400)},{int(t <= 400)}" for x, a, t in zip(drug, age, days, strict=True)]
        tables[name] = write_csv(tmp_path / f"{name}.csv", "drug,old,days,died", lines)
        binary = [
            f"{x},{a},{int(t > 30)},{int(t > 90)},{int(t > 365)}" for x, a, t in zip(drug, age, days, strict=True)
        ]
        tables[f"{name} at horizons"] = write_csv(tmp_path / f"{name}_at.csv", "drug,old,h30,h90,h365", binary)
    return tables


@pytest.mark.parametrize("horizon", [30, 90, 365])
def test_without_censoring_a_horizon_is_a_study_of_two_outcomes(run, tmp_path, survival, horizon):
    times = [
        "--treatment",
        "drug",
        "--time",
        "days",
        "--event",
        "died",
        "--event-is",
        "bad",
        "--horizons",
        "30,90,365",
        "--model",
        "plug-in",
    ]
    run("fit", survival["trial"], survival["registry"], *times, "--out", tmp_path / "times")
    tables = (survival["trial at horizons"], survival["registry at horizons"])
    plain = f"--treatment drug --outcome h{horizon} --covariates old --model plug-in".split()
    run("fit", *tables, *plain, "--out", tmp_path / "plain")
    for quantity in ("pns", "harm", "pn"):
        asked = ["--space", "mask", "--quantity", quantity, "--format", "csv"]
        at = rows_of(run("query", tmp_path / "times", *asked, "--horizon", horizon))
        expected = rows_of(run("query", tmp_path / "plain", *asked))
        for one, other in zip(at, expected, strict=True):
            assert one["status"] == other["status"]
            for end in ("lower", "upper"):
                assert float(one[end]) == pytest.approx(float(other[end]), abs=1e-12)
            assert one["support_experimental"] == other["support_experimental"]


def test_arms_and_outcomes_that_are_declared_as_they_are_change_no_digit(run, tmp_path, survival):
    tables = (survival["trial at horizons"], survival["registry at horizons"])
    plain = ["--treatment", "drug", "--outcome", "h90", "--covariates", "old", "--model", "plug-in"]
    run("fit", *tables, *plain, "--out", tmp_path / "plain")
    run("fit", *tables, *plain, "--arms", "0,1", "--outcomes", "0,1", "--out", tmp_path / "declared")
    for quantity in ("pns", "ps", "harm"):
        asked = ["--space", "mask", "--quantity", quantity, "--format", "csv"]
        assert run("query", tmp_path / "plain", *asked).out == run("query", tmp_path / "declared", *asked).out


TRIAL = "dose,grade,days,died,took,n"
LINES = [
    f"{dose},{grade},{days},{died},{dose},5"
    for dose in ("placebo", "low", "high")
    for grade in ("none", "mild", "severe")
    for days, died in ((20, 1), (50, 1), (400, 0))
]
READ = "--treatment dose --weight n --covariates ''"
ARMS, OUTCOMES = "--arms placebo,low,high", "--outcomes none,mild,severe"
TIMES = f"{READ} {ARMS} --time days --event died --event-is bad --horizons 30,90"

MISTAKES = {
    "an arm not listed": (
        f"{READ} --arms placebo,high --outcome grade {OUTCOMES}",
        ["'low'", "--arms", "placebo, high"],
    ),
    "an arm that is nowhere": (
        f"{READ} {ARMS},huge --outcome grade {OUTCOMES}",
        ["'huge'", "which no row has", "'dose'"],
    ),
    "three arms": (f"{READ} --outcome grade {OUTCOMES}", ["holds 3 values", "expected two", "--arms"]),
    "three outcomes": (f"{READ} {ARMS} --outcome grade", ["holds 3 values", "--outcomes"]),
    "an outcome not listed": (f"{READ} {ARMS} --outcome grade --outcomes none,mild", ["'severe'", "--outcomes"]),
    "one arm": (f"{READ} --arms placebo --outcome grade {OUTCOMES}", ["at least two different names"]),
    "an arm twice": (f"{READ} --arms low,low,high --outcome grade {OUTCOMES}", ["at least two different names"]),
    "treated and arms": (
        f"{READ} {ARMS} --treated high --outcome grade {OUTCOMES}",
        ["--treated", "--arms", "both given"],
    ),
    "unordered without outcomes": (f"{READ} {ARMS} --outcome grade --unordered", ["--unordered", "--outcomes"]),
    "no outcome": (f"{READ} {ARMS}", ["no outcome is named", "--time"]),
    "time and outcome": (f"{TIMES} --outcome grade", ["--time days", "--outcome", "both given"]),
    "a time without an event": (f"{READ} {ARMS} --time days --horizons 30,90", ["needs --event", "--event-is"]),
    "an event without a time": (f"{READ} {ARMS} --outcome grade {OUTCOMES} --event died", ["--event", "--time"]),
    "horizons that fall": (TIMES.replace("30,90", "90,30"), ["horizons are 90, 30", "each above the one before"]),
    "horizons that are words": (TIMES.replace("30,90", "soon"), ["'soon'", "--horizons"]),
    "horizons beyond the follow-up": (TIMES.replace("30,90", "30,900"), ["900", "nobody was followed", "400"]),
    "assigned is taken": (
        f"{READ} {ARMS} --outcome grade {OUTCOMES} --assigned dose",
        ["treatment and assigned", "'dose'"],
    ),
    "too many types": (
        f"{READ} {ARMS} --outcome grade {OUTCOMES} --missing-outcome worst-case",
        ["1,296 response types", "at most 500", "worst-case"],
    ),
    "the worst case of times": (f"{TIMES} --missing-outcome worst-case", ["worst-case is for outcomes", "drop or set"]),
}


@pytest.fixture
def bad_tables(tmp_path):
    write_csv(tmp_path / "trial.csv", TRIAL, LINES)
    write_csv(tmp_path / "negative.csv", TRIAL, LINES, ["low,mild,-3,1,low,1"])
    write_csv(tmp_path / "timeless.csv", TRIAL, LINES, ["low,mild,,1,low,1"])
    write_csv(tmp_path / "one_arm.csv", TRIAL, [line for line in LINES if line.startswith("low")])
    return tmp_path


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_ends_with_one_message(attempt, bad_tables, mistake):
    options, said = MISTAKES[mistake]
    _refused(attempt, bad_tables / "trial.csv", options, said)


@pytest.mark.parametrize(
    ("table", "options", "said"),
    [
        ("negative.csv", TIMES, ["holds -3", "expected times from 0"]),
        ("timeless.csv", TIMES, ["1 rows of the experimental table have the event", "but no time"]),
    ],
)
def test_bad_times_end_with_one_message(attempt, bad_tables, table, options, said):
    _refused(attempt, bad_tables / table, options, said)


def test_a_trial_of_several_arms_needs_two_of_them(attempt, bad_tables):
    options = f"{READ} {ARMS} --outcome grade {OUTCOMES}"
    _refused(attempt, bad_tables / "one_arm.csv", options, ["rows of one arm only, low"], bad_tables / "trial.csv")


def _refused(attempt, table, options, said, *more):
    words = ["" if word == "''" else word for word in options.split()]
    ended = attempt("fit", table, *more, *words, "--model", "plug-in", "--out", table.parent / "new")
    assert ended.code == 2, ended.err
    for each in said:
        assert each in ended.err
    assert "Traceback" not in ended.err
    assert not (table.parent / "new").exists()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["report", "{model}", "--contrast", "huge:none", "--out", "{folder}/report.html"], "which is no arm"),
        (["query", "{model}", "--horizon", "30", "--contrast", "high:none"], "horizon 30; it has none"),
        (["query", "{model}"], "--contrast high:none"),
        (["rank", "{model}"], "--contrast high:none"),
        (["query", "{model}", "--statement", "Y[huge] == 1"], "expected none, low, high"),
        (["query", "{model}", "--contrast", "high:none", "--assume", "exogenous"], "two arms and two outcomes only"),
        (["query", "{model}", "--contrast", "high:none", "--assume", "no-defiers"], "--assigned"),
    ],
)
def test_what_a_structure_cannot_be_asked_ends_with_one_message(attempt, doses, command, said):
    ended = attempt(*(each.format(model=doses, folder=doses.parent) for each in command))
    assert ended.code == 2
    assert said in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("kind", ["mask-mlp", "exact-mlp"])
def test_the_networks_of_the_paper_learn_from_two_arms_and_two_outcomes_only(attempt, tmp_path, kind):
    trial = counted(tmp_path, "trial.csv", "dose,y,n", THREE_DOSES["trial"])
    options = ["--treatment", "dose", "--outcome", "y", "--weight", "n", "--arms", "none,low,high"]
    ended = attempt("fit", trial, *options, "--model", kind, "--out", tmp_path / "model")
    assert ended.code == 2
    assert f"a {kind} model learns from studies with two arms and two outcomes only" in ended.err


def test_small_counts_of_several_arms_are_withheld_and_missing_outcomes_are_told_by_arm(run, tmp_path):
    lines = [f"{dose},{y}" for dose, y, n in THREE_DOSES["trial"] for _ in range(n // 10)]
    trial = write_csv(tmp_path / "trial.csv", "dose,y", [*lines, "low,"])
    options = [
        "--treatment",
        "dose",
        "--outcome",
        "y",
        "--arms",
        "none,low,high",
        "--model",
        "plug-in",
        "--min-cell",
        "10",
    ]
    run("fit", trial, *options, "--out", tmp_path / "public")
    (found,) = pnsight.load(tmp_path / "public").study.attrition
    assert (found.rows, found.missing) == ((100.0, 100.0, 100.0), (0.0, 0.0, 0.0))
    run("report", tmp_path / "public", "--out", tmp_path / "report.html")


def test_rows_that_were_censored_are_told_only_where_there_are_any(run, tmp_path, survival):
    read = ["--treatment", "drug", "--time", "days", "--event", "died", "--event-is", "bad", "--model", "plug-in"]
    tables = (survival["trial"], survival["registry"])
    told = run("fit", *tables, *read, "--horizons", "30,90,365", "--out", tmp_path / "all")
    assert "were censored before" not in told.err
    cut = write_csv(tmp_path / "cut.csv", "drug,old,days,died", ["0,0,20,0", "1,0,500,0", "1,1,10,1"])
    assert (
        "1 experimental rows were censored"
        in run("fit", cut, *read, "--horizons", "30,90", "--out", tmp_path / "cut").err
    )


def test_budgets_and_rankings_go_by_the_contrast(run, doses):
    (row,) = rows_of(run("select", doses, "--budget", "0.5", "--contrast", "high:none", "--format", "csv"))
    assert float(row["net"]) == pytest.approx(0.25, abs=TOLERANCE)
    (row,) = rows_of(run("rank", doses, "--contrast", "high:none", "--by", "harm", "--format", "csv"))
    assert float(row["lower"]) == pytest.approx(0, abs=TOLERANCE)


def test_a_report_is_written_about_a_contrast(run, doses, tmp_path):
    run("report", doses, "--contrast", "low:none", "--threshold", "0.2", "--out", tmp_path / "report.html")
    assert "For whom does low make the difference?" in (tmp_path / "report.html").read_text()
