"""The response-type model on thirty covariates, where a billion profiles are possible and nearly every row has its own.

Run it with: python experiments/benchmarks/many_covariates.py

Prints the time and peak memory of the fit, its error on random queries beside the plug-in's, and the time of a query.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from roll_up import peak_gigabytes

import pnsight
from pnsight._typing import FloatArray
from pnsight.data.law import Law
from pnsight.data.schema import OPEN, Codes
from pnsight.data.two_by_two import TWO_BY_TWO

DRAWS = 4000
"""People drawn to find the truth of a query: it cannot be summed, and is known to about .2 / sqrt(DRAWS)."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", default="index", help="kind of random population, with independent covariates")
    parser.add_argument("--covariates", type=int, default=30)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--queries", type=int, default=2000)
    given = parser.parse_args()
    population = pnsight.simulation.random_population(given.kind, 101, covariates=given.covariates)
    study = population.sample(given.rows, given.rows, seed=1)
    print(study)
    started = time.perf_counter()
    model = pnsight.ResponseTypeModel(random_state=1).fit(study)
    print(f"fit with intervals: {time.perf_counter() - started:.0f} s, peak {peak_gigabytes():.2f} GB")
    print(model.explain())
    queries = random_queries(given.queries, given.covariates)
    started = time.perf_counter()
    answer = model.bounds(queries)
    print(f"{len(queries):,} queries: {1000 * (time.perf_counter() - started) / len(queries):.0f} ms each")
    plug_in = pnsight.PlugIn().fit(study).bounds(queries)
    report(answer, plug_in, *truth(population, queries))


def random_queries(count: int, covariates: int) -> Codes:
    """Queries that leave a random number of random covariates open."""
    rng = np.random.default_rng(7)
    profiles = rng.integers(0, 2, (count, covariates))
    is_open = rng.random((count, covariates)) < rng.random((count, 1))
    return np.where(is_open, OPEN, profiles).astype(np.int32)


def truth(population: pnsight.simulation.ProfilePopulation, queries: Codes) -> tuple[FloatArray, FloatArray]:
    """Bounds at the mean law of people drawn within each query, whose covariates are independent."""
    people = population.covariates.draw(np.random.default_rng(8), DRAWS)
    types = np.stack([population.types(np.where(query == OPEN, people, query)).mean(axis=0) for query in queries])
    return pnsight.estimands.bounds(Law.from_types(types, TWO_BY_TWO), "pns")


def report(answer: pnsight.BoundTable, plug_in: pnsight.BoundTable, lower: FloatArray, upper: FloatArray) -> None:
    known = plug_in.status == "ok"
    answered = answer.status == "ok"
    print(f"queries with an answer: plug-in {known.mean():.1%}, response-types {answered.mean():.1%}")
    for name, table in (("plug-in", plug_in), ("response-types", answer)):
        where = [("where the plug-in has one", known)] + ([("all queries", answered)] if table is answer else [])
        for words, rows in where:
            off = [np.abs(table.lower - lower)[rows].mean(), np.abs(table.upper - upper)[rows].mean()]
            print(f"{name:16s}mean absolute error, {words}: {off[0]:.4f} lower, {off[1]:.4f} upper")
    for end, true, (low, high) in (
        ("lower", lower, answer.interval("lower")),
        ("upper", upper, answer.interval("upper")),
    ):
        print(f"nominal 90% intervals hold {((low <= true) & (true <= high)).mean():.1%} of the true {end} ends")


if __name__ == "__main__":
    main()
