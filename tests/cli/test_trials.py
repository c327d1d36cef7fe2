"""`simulate` and `oracle` for populations with more arms, more outcomes, times to an event, and noncompliance."""

from __future__ import annotations

import shlex

import numpy as np
import pytest

import pnsight
from pnsight import simulation as populations

SIZES = ["--experimental", 1000, "--observational", 800, "--seed", 2]
HINT = "read with: pnsight fit "


def read_command(ended):
    """What simulate says about how to read what it wrote, as words."""
    (line,) = [line for line in ended.err.splitlines() if line.startswith(HINT)]
    return shlex.split(line.removeprefix(HINT))[:-2]


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("name", populations.TRIAL_NAMES)
def test_simulate_says_how_to_fit_what_it_writes_and_that_gives_the_sample(name, kind, run, tmp_path):
    ended = run("simulate", name, *SIZES, "--format", kind, "--out", tmp_path / "two words")
    files = sorted(path.name for path in (tmp_path / "two words").iterdir())
    population = populations.get(name)
    assert files == [f"{table}.{kind}" for table in population.structure.tables]
    run("fit", *read_command(ended), "--model", "plug-in", "--out", tmp_path / "model")
    found, study = pnsight.load(tmp_path / "model").study, population.sample(1000, 800, seed=2)
    assert found.structure == study.structure
    np.testing.assert_allclose(found.counts, study.counts, rtol=0, atol=1e-9)  # censored rows count in parts


def test_simulate_says_nothing_new_of_two_arms_and_two_outcomes(run, tmp_path):
    assert HINT not in run("simulate", "mediator", *SIZES, "--out", tmp_path).err


@pytest.mark.parametrize(
    ("name", "asked", "options"),
    [
        ("three-doses", "--contrast low:placebo", {"contrast": "low:placebo"}),
        ("arms3:1", "--contrast high:low --quantity harm", {"contrast": "high:low", "quantity": "harm"}),
        ("five-grades", "--quantity pn", {"quantity": "pn"}),
        ("survival", "--horizon 90", {"horizon": 90}),
        ("survival", "--quantity time --horizon 180", {"quantity": "time", "horizon": 180}),
        ("noncompliance", "--quantity effect", {"quantity": "effect"}),
        ("noncompliance", "--among compliers --assume no-defiers", {"among": "compliers", "assume": "no-defiers"}),
        ("noncompliance-alone", "--assume one-sided", {"assume": "one-sided"}),
        ("untried-arm", "--contrast surgery:rest", {"contrast": "surgery:rest"}),
    ],
)
def test_oracle_gives_exact_bounds_and_the_truth_between_them(name, asked, options, run):
    population = populations.get(name)
    rows = run("oracle", name, "", "1XXX0XXX", *asked.split(), "--format", "csv").rows
    answer, true = (get(["", "1XXX0XXX"], **options) for get in (population.bounds, population.true_value))
    for number, row in enumerate(rows):
        found = [float(row[column]) for column in ("lower", "upper", answer.quantity)]
        assert found == [answer.lower[number], answer.upper[number], true[number]]
        assert found[0] - 1e-9 <= found[2] <= found[1] + 1e-9
        assert 0 <= float(row["pns"]) <= 1


def test_oracle_answers_any_statement(run):
    asked = ["--statement", "Y[high] >= partial and Y[placebo] == none", "--given", "X == placebo and Y == none"]
    ended = run("oracle", "three-doses", "chronic=1", *asked, "--format", "csv")
    assert ended.header == ["query", "mass", "lower", "upper", "statement"]
    (row,) = ended.rows
    assert float(row["lower"]) <= float(row["statement"]) <= float(row["upper"])


@pytest.mark.parametrize("space", ["exact", "mask"])
def test_oracle_lists_whole_spaces(space, run):
    rows = run("oracle", "three-doses", "--space", space, "--contrast", "high:placebo", "--format", "csv").rows
    assert len(rows) == {"exact": 2**8, "mask": 3**8}[space]
    assert all(float(row["lower"]) - 1e-9 <= float(row["pns"]) <= float(row["upper"]) + 1e-9 for row in rows)


@pytest.mark.parametrize(
    ("command", "said"),
    {
        "no contrast": ("oracle three-doses", ["--contrast high:placebo"]),
        "no such horizon": ("oracle survival --horizon 91", ["91", "30, 90, 180, 365"]),
        "horizon of grades": ("oracle five-grades --horizon 90", ["90", "no times"]),
        "compliers without assignment": ("oracle five-grades --among compliers", ["compliers", "assigned"]),
        "assumption that does not hold": ("oracle survival --assume monotone", ["monotone", "does not hold"]),
        "assumption that is not known": ("oracle confounder --assume exogenous", ["exogenous", "leave it out"]),
        "one probability of three": ("simulate three-doses --assignment 0.5 --out new", ["0.5", "placebo, low, high"]),
        "word for a probability": ("simulate three-doses --assignment half --out new", ["'half'", "0.4,0.3,0.3"]),
        "format that is none": ("simulate three-doses --format json --out new", ["json", "parquet"]),
        "kind without a number": ("oracle arms3:x", ["'arms3:x'", "kind:seed"]),
    }.values(),
)
def test_a_mistake_ends_with_code_2_and_one_message(command, said, attempt, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = attempt(*command.split())
    assert ended.code == 2
    assert all(words in " ".join(ended.err.split()) for words in said), ended.err
    assert "Traceback" not in ended.err
