"""What withholding small counts does to answers, beside random rounding, which is the other way to protect them.

Plug-in bounds on PNS for everyone and for each level of each covariate, from studies of random populations whose truth
is known: from all rows; from what is left where counts below 10 are withheld (suppression, what pnsight does); and from
counts each of which is rounded at random to a multiple of 10 next to it, its mean kept (what pnsight does not do), with
intervals that allow for the rounding. Prints the share of rows withheld, the mean absolute error of the bounds, how
often the interval of the value holds the truth, and how wide it is. Run:

    python experiments/benchmarks/disclosure_bias.py
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

import pnsight
from pnsight._typing import FloatArray
from pnsight.data.sampling import SamplingDesign
from pnsight.data.schema import OPEN
from pnsight.data.study import Study
from pnsight.queries import lattice

MIN_CELL = 10
SIZES = ((2, 2_000), (4, 2_000), (4, 20_000), (6, 20_000), (8, 20_000), (10, 20_000), (10, 200_000))
"""Numbers of covariates, each of two levels, and of rows in each table."""


@dataclass(frozen=True)
class Score:
    """How far answers are from the truth, one number a query."""

    error: FloatArray
    holds: FloatArray
    width: FloatArray
    withheld: float
    unanswered: float


def all_rows(study: Study, rng: np.random.Generator) -> Study:
    return study


def suppressed(study: Study, rng: np.random.Generator) -> Study:
    return pnsight.suppress(study, MIN_CELL)


def rounded(study: Study, rng: np.random.Generator) -> Study:
    """Counts rounded at random; the one block of rows in each cell that may be too many or too few weighs as one."""
    whole, rest = np.divmod(study.counts, MIN_CELL)
    counts = MIN_CELL * (whole + (rng.random(rest.shape) < rest / MIN_CELL))
    squares = np.where(counts > 0, counts - MIN_CELL + MIN_CELL**2, 0.0)
    by_group = study.structure.by_group
    worth = by_group(counts.sum(axis=0)) / np.maximum(by_group(squares.sum(axis=0)), 1.0)
    return replace(study.with_counts(counts), design=SamplingDesign(tuple(np.minimum(worth, 1.0).tolist())))


WAYS: dict[str, Callable[[Study, np.random.Generator], Study]] = {
    "all rows": all_rows,
    "suppression": suppressed,
    "random rounding": rounded,
}


def score(population: pnsight.simulation.Population, study: Study, of: Study) -> Score:
    """Answers from a study about everyone and each level, beside the truth."""
    asked = lattice.queries_fixing_at_most(population.schema, 1)
    names = [
        {
            one.name: one.levels[code]
            for one, code in zip(population.schema.covariates, query, strict=True)
            if code != OPEN
        }
        for query in asked
    ]
    left = [all(level in study.schema.covariate(name).levels for name, level in each.items()) for each in names]
    kept = [each for each, here in zip(names, left, strict=True) if here] if study.counts.any() else []
    share = 1 - float(study.counts.sum() / of.counts.sum()) if study.withheld else 0.0
    if not kept:
        return Score(*(np.empty(0),) * 3, share, 1.0)
    answer, truth = pnsight.PlugIn().fit(study).bounds(kept), population.bounds(kept)
    value, some = population.pns(kept), answer.status == "ok"
    error = (np.abs(answer.lower - truth.lower) + np.abs(answer.upper - truth.upper)) / 2
    low, high = (np.asarray(answer.columns()[f"value_{end}"], dtype=np.float64) for end in ("low", "high"))
    holds = (low <= value + 1e-12) & (value <= high + 1e-12)
    return Score(error[some], holds[some], (high - low)[some], share, 1 - some.sum() / len(names))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--populations", type=int, default=20)
    populations = parser.parse_args().populations
    head = ("covariates", "rows", "from", "withheld", "unanswered", "error", "holds the truth", "width")
    print("".join(f"{name:>17}" for name in head))
    for covariates, rows in SIZES:
        scores: dict[str, list[Score]] = {way: [] for way in WAYS}
        for seed in range(1, populations + 1):
            population = pnsight.simulation.random_population("index", seed, covariates=covariates)
            study, rng = population.sample(rows, rows, seed=seed), np.random.default_rng(seed)
            for way, protect in WAYS.items():
                scores[way].append(score(population, protect(study, rng), study))
        for way, found in scores.items():
            error, holds, width = (
                np.concatenate([getattr(one, name) for one in found]) for name in ("error", "holds", "width")
            )
            gone, without = (
                float(np.mean([getattr(one, name) for one in found])) for name in ("withheld", "unanswered")
            )
            means = [f"{part.mean():.3f}" if len(part) else "" for part in (error, holds, width)]
            shown = (f"{covariates}", f"{rows:,}", way, f"{gone:.1%}", f"{without:.1%}", *means)
            print("".join(f"{text:>17}" for text in shown))


if __name__ == "__main__":
    main()
