"""Accuracy, coverage and speed beyond two arms and two outcomes: a resumable sweep over random trials.

Run it with: python -m pnsight_experiments.structure_accuracy --out FILE.csv [--seeds 1-5] [--rows 50000]
             [--kinds arms3,grades5] [--show]

Each line of the file is one question to one fit of the default model to one sample of a random trial with eight binary
covariates, beside the plug-in: the mean error of both ends and the share of queries answered, the share of the true
ends inside their nominal 90% intervals over the exact and over all queries, ends that cross, and the largest difference
between compiled bounds and the linear program at the model's laws of queries drawn from all. Times are of the
processor; that of the fit is also set against a fit to two arms and two outcomes of the same size in the same run.
Started again, it goes on where it stopped; `--show` prints the table of what is there. Seeds 101 to 110 are for
reporting only.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

import pnsight
from pnsight._text_table import format_table
from pnsight.data.schema import OPEN
from pnsight.estimands.linear_program import ResponseTypeLP
from pnsight.queries.bound_table import BoundTable
from pnsight.simulation import TRIAL_KINDS, Population, random_population, random_trial
from pnsight_experiments.interval_coverage import coverage
from pnsight_experiments.resumable import append, read
from pnsight_experiments.scores import Truth

Options = Mapping[str, Any]
"""What `Estimand.parse` takes."""

QUESTIONS: Mapping[str, Mapping[str, Options]] = {
    "arms3": {"pns, high against placebo": {"contrast": "high:placebo"}},
    "grades5": {"pns": {}},
    "survival": {"pns": {}, "pns at horizon 2": {"horizon": 2}},
    "noncompliance": {"pns": {}, "effect": {"quantity": "effect"}},
    "noncompliance-alone": {"pns": {}},
}
"""What is asked of each kind of trial, by how the table calls it."""

TWO_BY_TWO = "interaction-dependent"
"""Kind of population whose fit times are compared with."""

COVARIATES = 8
REFEREED = 1000

ROUNDING = 1e-9
Result = TypeVar("Result")


def main() -> None:
    """Run what is missing, or show what there is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", default="1-5", help="of the populations and of the samples")
    parser.add_argument("--rows", type=int, default=50_000, help="of each table")
    parser.add_argument("--kinds", default=",".join(TRIAL_KINDS))
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    if given.show:
        print(format_table(table_columns(read(given.out))))
        return
    first, last = map(int, given.seeds.split("-"))
    for kind, seed in settings(given.kinds.split(","), range(first, last + 1)):
        done = {(row["population"], row["rows"], row["question"]) for row in read(given.out)}
        if any((f"{kind}:{seed}", str(given.rows), question) not in done for question in QUESTIONS[kind]):
            for row in measure(kind, seed, given.rows):
                if (row["population"], str(row["rows"]), row["question"]) not in done:
                    append(given.out, row)


def settings(kinds: Sequence[str], seeds: range) -> Iterator[tuple[str, int]]:
    """Kind and seed of each fit: by seed first, so that a part of the sweep is a smaller sweep."""
    yield from ((kind, seed) for seed in seeds for kind in kinds)


def measure(
    kind: str,
    seed: int,
    rows: int,
    config: pnsight.ResponseTypeConfig | None = None,
    covariates: int = COVARIATES,
    refereed: int = REFEREED,
) -> Iterator[dict[str, Any]]:
    """One fit, and a line for each question that is asked of it.

    Parameters
    ----------
    kind, seed
        Of the population; the seed is also that of the sample and of the fit.
    rows
        Of each table.
    config
        Hyperparameters of the model; None for the usual ones.
    covariates
        How many the population has.
    refereed
        Queries at which compiled bounds are compared with the linear program.

    Returns
    -------
    The lines, by column.
    """
    population = random_trial(kind, seed, covariates)
    plain = two_by_two_seconds(seed, rows, covariates, config)
    study = population.sample(rows, rows, seed)
    seconds, model = timed(lambda: fitted(study, seed, config))
    plug_in = pnsight.PlugIn().fit(study)
    codes = pnsight.queries.lattice.all_queries(population.schema)
    for question, options in QUESTIONS[kind].items():
        exact = population.bounds(codes, **options)
        known = Truth(codes, (codes != OPEN).all(axis=1), exact.lower, exact.upper)
        answering, found = timed(lambda options=options: model.bounds(codes, **options))  # type: ignore[misc]
        row = {
            "population": population.name,
            "rows": rows,
            "question": question,
            "types": population.structure.n_types,
            "fit_seconds": seconds,
            "two_by_two_seconds": plain,
            "answering_seconds": answering,
            "crossed": crossed(found),
            "referee": largest_difference(model, population, options, seed, refereed),
            **scores(known, found, ""),
            **scores(known, plug_in.bounds(codes, **options), "plug_in_"),
        }
        print(
            " ".join(f"{name}={value:.3g}" if isinstance(value, float) else f"{value}" for name, value in row.items())
        )
        yield row


@cache
def two_by_two_seconds(seed: int, rows: int, covariates: int, config: pnsight.ResponseTypeConfig | None) -> float:
    """How long a fit to two arms and two outcomes takes."""
    study = random_population(TWO_BY_TWO, seed, covariates).sample(rows, rows, seed)
    return timed(lambda: fitted(study, seed, config))[0]


def fitted(study: pnsight.Study, seed: int, config: pnsight.ResponseTypeConfig | None) -> pnsight.ResponseTypeModel:
    """The model, learned from the study."""
    more = {} if config is None else {"config": config}
    return pnsight.ResponseTypeModel(random_state=seed, **more).fit(study)


def timed(work: Callable[[], Result]) -> tuple[float, Result]:
    """Seconds of the processor that something takes, and what comes of it."""
    started = time.process_time()
    found = work()
    return time.process_time() - started, found


def scores(known: Truth, found: BoundTable, prefix: str) -> dict[str, float]:
    """Coverage, widths and errors over the answered queries, and how many those are, in both spaces."""
    answered = found.status == "ok"
    spaces = {"exact": known.exact, "all": np.ones_like(known.exact)}
    shares = {f"{prefix}{space}_answered": float(answered[inside].mean()) for space, inside in spaces.items()}
    return {**{f"{prefix}{name}": value for name, value in coverage(known, found).items()}, **shares}


def crossed(found: BoundTable) -> int:
    """Queries whose ends cross, or whose intervals do not hold them in order."""
    bad = np.isin(found.status, ("crossed", "incoherent")) | (found.lower > found.upper)
    for end in ("lower", "upper"):
        low, high = found.interval(end)
        estimate = getattr(found, end)
        bad |= (low > estimate + ROUNDING) | (estimate > high + ROUNDING)
    return int(bad.sum())


def largest_difference(
    model: pnsight.ResponseTypeModel, population: Population, options: Options, seed: int, queries: int
) -> float:
    """The largest difference between compiled bounds and the linear program, at the model's laws of random queries."""
    structure, estimand = population.structure, population.estimand(**options)
    codes = pnsight.queries.lattice.all_queries(population.schema)
    drawn = np.random.default_rng([seed, 9]).choice(len(codes), min(queries, len(codes)), replace=False)
    law = model.law(codes[drawn])
    compiled = np.stack(estimand.bounds_at(law), axis=1)
    value, given = estimand.value(structure), estimand.given(structure)
    possible = estimand.possible(structure)
    programs = [ResponseTypeLP(structure, cells, possible).extremes(value, given.astype(float)) for cells in law.cells]
    return float(np.abs(compiled - np.array(programs)).max())


def table_columns(rows: Sequence[Mapping[str, str]]) -> dict[str, list[str]]:
    """A line for each kind of trial and question: means over samples, the response-type model before the plug-in."""
    columns: dict[str, list[str]] = {}
    for kind, questions in QUESTIONS.items():
        for question in questions:
            some = [row for row in rows if (row["population"].split(":")[0], row["question"]) == (kind, question)]
            for name, text in _line(kind, question, some).items() if some else ():
                columns.setdefault(name, []).append(text)
    return columns


def seeds(rows: Sequence[Mapping[str, str]]) -> str:
    """Seeds of the populations, in words."""
    found = sorted({int(row["population"].split(":")[1]) for row in rows})
    return f"{found[0]} to {found[-1]}" if len(found) > 1 else str(found[0])


def _line(kind: str, question: str, rows: Sequence[Mapping[str, str]]) -> dict[str, str]:
    def values(name: str) -> Any:
        return np.array([float(row[name]) for row in rows])

    def both(name: str) -> Any:
        return (values(name.format("lower")) + values(name.format("upper"))) / 2

    def beside(name: str, digits: str) -> str:
        return f"{both(name).mean():{digits}} / {both(f'plug_in_{name}').mean():{digits}}"

    covered = both("exact_{}")
    error = covered.std(ddof=1) / np.sqrt(len(covered)) if len(covered) > 1 else float("nan")
    return {
        "trial": kind,
        "question": question,
        "types": rows[0]["types"],
        "samples": str(len(rows)),
        "exact error": beside("exact_{}_error", ".4f"),
        "all error": beside("all_{}_error", ".4f"),
        "exact answered": f"{values('exact_answered').mean():.1%} / {values('plug_in_exact_answered').mean():.1%}",
        "all answered": f"{values('all_answered').mean():.1%} / {values('plug_in_all_answered').mean():.1%}",
        "exact coverage": f"{covered.mean():.1%} ± {error:.1%}",
        "all coverage": f"{both('all_{}').mean():.1%}",
        "plug-in coverage": f"{both('plug_in_exact_{}').mean():.1%} / {both('plug_in_all_{}').mean():.1%}",
        "crossed": f"{values('crossed').sum():.0f}",
        "referee": f"{values('referee').max():.0e}",
        "fit, of 2 x 2": f"{(values('fit_seconds') / values('two_by_two_seconds')).mean():.2f}",
        "answering, s": f"{values('answering_seconds').mean():.1f}",
    }


if __name__ == "__main__":
    main()
