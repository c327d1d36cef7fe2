"""Which option works with which kind of trial: every combination, tried through the command line on tiny tables.

Run it with: python -m pnsight_experiments.structure_options

A combination works, or is refused with exit code 2 and one message; anything else is a bug. An option is one more line
of `OPTIONS`, a kind of trial one more entry of `TRIALS`. The documentation's page is made of this, and a test runs
every combination and holds the page to it.
"""

from __future__ import annotations

import contextlib
import io
import shlex
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pnsight.cli.main import main as pnsight

ROWS = 900
TRIAL, REGISTRY, PEOPLE = "trial.csv", "registry.csv", "people.csv"

Columns = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Trial:
    """A kind of trial, as somebody has it.

    Attributes
    ----------
    name : as the table calls it
    arms, outcomes : names; outcomes are days where there are horizons
    read : options that say what the columns mean
    ask : options that a question needs, if any
    statement : a statement about its people
    registry : whether there is an observational table
    assigned : whether people may take another arm than the one assigned
    tried : how many of the arms the experiment has
    plans : whether a response-type model is fitted as well, to plan with
    """

    name: str
    arms: tuple[str, ...] = ("usual", "new")
    outcomes: tuple[str, ...] = ("0", "1")
    read: str = "--outcome health --treated new"
    ask: str = ""
    statement: str = "Y[new] == 1 and Y[usual] == 0"
    registry: bool = True
    assigned: bool = False
    tried: int = 3
    plans: bool = False

    @property
    def tables(self) -> str:
        """Names of its tables, as a command takes them."""
        return f"{TRIAL} {REGISTRY}" if self.registry else TRIAL

    @property
    def words(self) -> dict[str, str]:
        """What the commands of `OPTIONS` have in braces."""
        return {
            "tables": self.tables,
            "last": self.tables.split()[-1],
            "read": self.read,
            "ask": self.ask,
            "contrast": self.ask if self.ask.startswith("--contrast") else "",
            "statement": shlex.quote(self.statement),
            "given": shlex.quote(f"X == {self.arms[0]}"),
            "learned": "learned" if self.plans else "model",
        }

    def write(self) -> None:
        """Write its tables, and a table of people to score, into the working directory."""
        for seed, name in enumerate(self.tables.split()):
            _write(name, self._rows(np.random.default_rng(seed), randomised=name == TRIAL))
        _write(PEOPLE, {"sex": np.array(["f", "m", ""]), "town": np.array(["no", "yes", "no"])})

    def _rows(self, rng: np.random.Generator, randomised: bool) -> Columns:
        """Rows of one table, with all columns that an option may name."""
        sex, town = rng.choice(["f", "m"], ROWS), rng.choice(["no", "yes"], ROWS)
        frailty, last = rng.normal(size=ROWS), len(self.arms) - 1
        chosen = np.clip(np.round(last * rng.normal(0.5 + 0.05 * frailty, 0.4)), 0, last).astype(int)
        drawn = rng.integers(0, min(self.tried, last + 1), ROWS)
        taken = np.where(rng.random(ROWS) < 0.2, chosen, drawn) if self.registry else chosen * drawn
        arm = (taken if self.assigned else drawn) if randomised else chosen
        health = 0.5 * arm / last * (sex == "f") - 0.3 * frailty + rng.normal(0.3, 1, ROWS)
        grade = np.clip(np.digitize(health, np.linspace(-0.5, 1, len(self.outcomes) - 1)), 0, len(self.outcomes) - 1)
        days, followed = np.exp(4.5 + health), rng.uniform(20, 1500, ROWS)
        return {
            "sex": sex,
            "town": town,
            "age": rng.integers(20, 90, ROWS),
            "village": rng.integers(0, 40, ROWS),
            "stands_for": rng.integers(1, 4, ROWS),
            "likely": np.full(ROWS, 1 / (1 + min(self.tried - 1, last))),
            "care": np.array(self.arms)[arm],
            **({"offered": np.array(self.arms)[drawn]} if randomised and self.assigned else {}),
            "health": np.array(self.outcomes)[grade],
            "gone": np.where(rng.random(ROWS) < 0.05, "", np.array(self.outcomes)[grade]),
            "days": np.ceil(np.minimum(days, followed)).astype(int),
            "died": (days <= followed).astype(int),
        }


TRIALS = (
    Trial("two arms, two outcomes", plans=True),
    Trial(
        "three arms, three grades",
        ("placebo", "low", "high"),
        ("none", "mild", "full"),
        "--outcome health --arms placebo,low,high --outcomes none,mild,full",
        "--contrast high:placebo",
        "Y[high] >= mild and Y[placebo] == none",
    ),
    Trial(
        "an arm not tried",
        ("rest", "exercise", "surgery"),
        ("worse", "same", "better"),
        "--outcome health --arms rest,exercise,surgery --outcomes worse,same,better",
        "--contrast surgery:rest",
        "Y[surgery] >= same and Y[rest] == worse",
        tried=2,
    ),
    Trial(
        "five grades",
        outcomes=("dead", "severe", "moderate", "slight", "full"),
        read="--outcome health --arms usual,new --outcomes dead,severe,moderate,slight,full",
        statement="Y[new] >= slight and Y[usual] == dead",
    ),
    Trial(
        "outcomes without order",
        outcomes=("home", "ward", "hospice"),
        read="--outcome health --arms usual,new --outcomes home,ward,hospice --unordered",
        ask="--statement 'Y[new] == home and Y[usual] == ward'",
        statement="Y[new] == home and Y[usual] == ward",
    ),
    Trial(
        "time to an event",
        read="--time days --event died --event-is bad --horizons 30,90 --arms usual,new",
        statement="T[new] > 90 and T[usual] <= 90",
    ),
    Trial("noncompliance", read="--outcome health --arms usual,new --assigned offered", assigned=True),
    Trial(
        "noncompliance, trial only",
        read="--outcome health --arms usual,new --assigned offered",
        assigned=True,
        registry=False,
    ),
    Trial("missing outcomes, worst case", read="--outcome gone --arms usual,new --missing-outcome worst-case"),
)

FIT = "fit {tables} --treatment care {read} --covariates sex,town --model plug-in --out new"
QUERY, NAMED = "query model '' sex=f {ask}", "query model '' sex=f {contrast}"
QUANTITIES = ("pns", "harm", "effect", "pn", "ps", "pd", "pe", "time")
ASSUMPTIONS = ("monotone", "exogenous", "no-defiers", "one-sided")

OPTIONS: Mapping[str, Mapping[str, str]] = {
    "Tables and models": {
        "--bands": f"{FIT} --covariates sex,age --bands age=0,50,100",
        "--weight": f"{FIT} --weight stands_for",
        "--survey-weight": f"{FIT} --survey-weight stands_for",
        "--cluster": f"{FIT} --cluster village",
        "--assignment": f"{FIT} --assignment likely",
        "--missing-outcome set": f"{FIT} --missing-outcome set",
        "--missing-outcome worst-case": f"{FIT} --missing-outcome worst-case",
        "--observational-only": f"{FIT.replace('{tables}', '{last}')} --observational-only",
        "--population experimental": f"{FIT} --mix profiles --population experimental",
        "--min-cell": f"{FIT} --min-cell 5",
        "--model mask-mlp": f"{FIT} --covariates sex,town,age --bands age=0,40,60,100 --model mask-mlp --min-rows 20",
    },
    "Questions": {
        **{f"--quantity {name}": f"{NAMED} --quantity {name}" for name in QUANTITIES},
        "--payoffs": f"{NAMED} --payoffs 10,-1,-1,-20",
        "--statement": "query model --statement {statement}",
        "--given": "query model --statement {statement} --given {given}",
        "--horizon": f"{QUERY} --horizon 90",
        "--among compliers": f"{QUERY} --among compliers --assume no-defiers",
        **{f"--assume {name}": f"{QUERY} --assume {name}" for name in ASSUMPTIONS},
        "--refine covariates": f"{QUERY} --refine covariates",
        "--trial-alone": f"{QUERY} --trial-alone",
        "--simultaneous": f"{QUERY} --simultaneous",
        "--median-unbiased": f"{QUERY} --median-unbiased",
        "--space mask": "query model --space mask {ask}",
    },
    "Commands": {
        "check": "check {tables} --treatment care {read} --covariates sex,town",
        "decide": "decide model sex=f {ask}",
        "decide, every arm against the reference": "decide model sex=f",
        "ask": "ask model sex=f {ask}",
        "rank": "rank model {ask}",
        "rank --by harm": "rank model --by harm {contrast}",
        "select": "select model --budget 0.3 {contrast}",
        "select --by net": "select model --budget 0.3 --by net {contrast}",
        "score": f"score model {PEOPLE} {{ask}} --out new.csv",
        "report": "report model --out new.html",
        "export": "export model --min-cell 5 --out new",
        "explain": "explain model",
        "plan": "plan {learned}",
    },
}
"""By how the table calls them, commands with each option; what is in braces is in `Trial.words`."""


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code, and what it said beside the result."""

    code: int
    said: str

    @property
    def works(self) -> bool:
        """Whether it gave a result."""
        return self.code == 0

    @property
    def message(self) -> str:
        """The one message that a refusal ends with."""
        return self.said.strip().splitlines()[-1].removeprefix("pnsight: ")


Found = dict[str, dict[str, Ended]]
"""By option and name of a kind of trial, how the combination ended."""


def try_options(trial: Trial) -> dict[str, Ended]:
    """How each option ends with a kind of trial, by option."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        trial.write()
        fitted = run(FIT.replace("--out new", "--out model"), trial)
        if not fitted.works:
            raise AssertionError(f"{trial.name}: {fitted.said}")
        if trial.plans:
            run(FIT.replace("plug-in --out new", "response-types --out learned"), trial)
        return {name: run(command, trial) for options in OPTIONS.values() for name, command in options.items()}


def run(command: str, trial: Trial) -> Ended:
    """How a command line of `OPTIONS` ends in the working directory."""
    said = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        try:
            pnsight(shlex.split(command.format(**trial.words)))
        except SystemExit as ended:
            return Ended(int(ended.code or 0), said.getvalue())
    return Ended(0, said.getvalue())


def page(found: Mapping[str, Mapping[str, Ended]]) -> str:
    """The page of the documentation.

    Parameters
    ----------
    found
        What `try_options` gave, by the name of the kind of trial.

    Returns
    -------
    Markdown.
    """
    tables = [_section(title, list(options), found) for title, options in OPTIONS.items()]
    return f"{_OPENING}\n{chr(10).join(tables)}"


_OPENING = """<!-- Written by docs/generate.py: change the code, then run make docs. -->

# Which option works with which trial

Every option was tried with every kind of trial ([what they are](structures.md)), through the command line, on tables of
a few hundred rows and the plug-in fitted to them (`plan`: a response-type model). It works, or it ends with exit code 2
and one message; below each table is the message of the first trial that says no. The response-type model, which `fit`
learns without `--model`, takes the same trials and answers the same questions. Where outcomes have no order, questions
are statements. The report and the explorer show every kind.

```sh
python -m pnsight_experiments.structure_options
```
"""


def _section(title: str, options: Sequence[str], found: Mapping[str, Mapping[str, Ended]]) -> str:
    header = [["", *found], ["---"] * (1 + len(found))]
    rows = [[f"`{option}`", *("yes" if ends[option].works else "no" for ends in found.values())] for option in options]
    said = [line for option in options for line in _refusals(option, found)]
    return "\n".join([f"## {title}\n", *(f"| {' | '.join(row)} |" for row in header + rows), "", *said, ""])


def _refusals(option: str, found: Mapping[str, Mapping[str, Ended]]) -> Iterator[str]:
    """The message of the first kind of trial that refuses an option."""
    for name, ends in found.items():
        if not ends[option].works:
            yield f"- `{option}` ({name}): {ends[option].message}"
            return


def _write(name: str, columns: Columns) -> None:
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    Path(name).write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    print(page({trial.name: try_options(trial) for trial in TRIALS}), end="")
