"""All queries at once: 1,594,323 from a study of 13 covariates, and 59,049 from a population whose truth is known.

Run it with: python experiments/benchmarks/roll_up.py

Prints the seconds for summing profiles into queries, for the bounds of all of them, and the peak memory.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import TypeVar

import numpy as np

import pnsight

ROWS = 200_000
COVARIATES = 13
REPEATS = 3

T = TypeVar("T")


def timed(what: str, run: Callable[[], T], repeats: int = REPEATS) -> T:
    """Run a few times, letting go of each result before the next; print median and best time, and the peak memory."""
    took, results = [], list[T]()
    for _ in range(repeats):
        results.clear()
        start = time.perf_counter()
        results.append(run())
        took.append(time.perf_counter() - start)
    print(f"{what:<56}{median(took):8.2f} s  (best {min(took):.2f})  peak {peak_gigabytes():.2f} GB", flush=True)
    return results[0]


def peak_gigabytes() -> float:
    """The most memory this process has held; Linux counts in kilobytes, macOS in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9


def answered(table: pnsight.BoundTable) -> str:
    return f"{len(table):,} queries, {int(np.sum(table.status == 'ok')):,} with an answer"


def main() -> None:
    print(f"start, pnsight {pnsight.__version__}: peak {peak_gigabytes():.2f} GB")
    population = pnsight.simulation.random_population("index", 1, covariates=COVARIATES)
    study = timed(f"sample {ROWS:,} + {ROWS:,} rows", lambda: population.sample(ROWS, ROWS, seed=1))
    whole_table(study)
    its_parts(study)
    oracle(pnsight.simulation.get("mediator"))


def whole_table(study: pnsight.Study) -> None:
    """What a user waits for, first, so that the peak memory shown is this job's own."""
    model = pnsight.PlugIn().fit(study)
    codes = timed("list all queries", lambda: pnsight.queries.lattice.all_queries(study.schema))
    print(answered(timed("bounds of the listed queries, as a table", lambda: model.bounds(codes))))


def its_parts(study: pnsight.Study) -> None:
    """The arithmetic alone: sums over profiles, and the formulas."""
    sums = timed(
        f"of which: roll {len(study.profiles):,} profiles up into queries",
        lambda: pnsight.queries.lattice.roll_up(study.schema, study.profiles, study.counts),
    )
    law = pnsight.Law.from_counts(sums, study.structure)
    timed("of which: formulas for PNS, given the law", lambda: pnsight.estimands.bounds(law, "pns"))


def oracle(population: pnsight.simulation.Population) -> None:
    """Every query's exact bounds, hidden causes summed out on the way; once, since a population keeps that sum."""
    schema = population.schema
    print(
        answered(
            timed(
                f"oracle bounds of {population.name!r}, all queries",
                lambda: population.bounds(pnsight.queries.lattice.all_queries(schema)),
                repeats=1,
            )
        )
    )


if __name__ == "__main__":
    main()
