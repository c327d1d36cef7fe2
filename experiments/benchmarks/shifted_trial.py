"""A trial whose people are younger than the registry's: answers for either population beside the oracle of both.

Run it with: python experiments/benchmarks/shifted_trial.py

People with z4 = 1 and with z9 = 1 (the old, say) enter the trial of the mediator population half as often as others.
Prints the mean absolute error of the bounds over all queries that leave some covariate open, for each choice of
`population`, against the oracle of each population.
"""

from __future__ import annotations

import numpy as np

import pnsight
from pnsight._typing import FloatArray
from pnsight.data.law import Law
from pnsight.data.schema import OPEN, Codes
from pnsight.data.two_by_two import TWO_BY_TWO
from pnsight.queries import lattice
from pnsight.simulation import ProfilePopulation

ROWS = 200_000
RELUCTANT = ("z4", "z9")


def main() -> None:
    population = pnsight.simulation.paper_population("mediator")
    study = younger_trial(population)
    model = pnsight.ResponseTypeModel(intervals=False).fit(study)
    codes = lattice.all_queries(population.schema)
    codes = codes[(codes == OPEN).any(axis=1)]
    registry = np.ones(population.schema.n_profiles)
    trial = enters(population, lattice.all_profiles(population.schema))
    rows = study.table_rows
    pooled = rows[0] * trial / share(population, trial) + rows[1] * registry / share(population, registry)
    oracles = {"observational": registry, "experimental": trial, "pooled": pooled}
    truths = {name: oracle(population, weights, codes) for name, weights in oracles.items()}
    print(f"{'answers for':<16}" + "".join(f"{'oracle of ' + name:>26}" for name in truths))
    for asked in ("observational", "experimental", "pooled"):
        answer = model.bounds(codes, population=asked)
        found = np.stack([answer.lower, answer.upper])
        print(f"{asked:<16}" + "".join(f"{np.abs(found - truth).mean():>26.4f}" for truth in truths.values()))


def younger_trial(population: pnsight.simulation.ProfilePopulation) -> pnsight.Study:
    """A trial of more rows than needed, of which those who do not enter are thrown away whatever their outcome."""
    many = population.sample(experimental=4 * ROWS, observational=ROWS, seed=1)
    rng = np.random.default_rng(2)
    kept = rng.binomial(many.experimental.astype(np.int64), enters(population, many.profiles)[:, None])
    return many.with_tables(experimental=kept.astype(np.float64))


def enters(population: pnsight.simulation.ProfilePopulation, profiles: pnsight.data.schema.Codes) -> FloatArray:
    """Chance of each profile to enter the trial, shape (profiles,)."""
    reluctant = [population.schema.index(name) for name in RELUCTANT]
    return np.asarray(0.5 ** (profiles[:, reluctant] == 1).sum(axis=1))


def share(population: pnsight.simulation.ProfilePopulation, weights: FloatArray) -> float:
    """Share of the population that remains with these weights of its profiles."""
    return float(weights @ population.covariates.mass(lattice.all_profiles(population.schema)))


def oracle(population: ProfilePopulation, weights: FloatArray, codes: Codes) -> FloatArray:
    """Exact bounds of the queries among people whose profiles are weighted, shape (2, queries)."""
    profiles = lattice.all_profiles(population.schema)
    mass = weights * population.covariates.mass(profiles)
    sums = lattice.sum_over(population.schema, codes, profiles, mass[:, None] * population.types(profiles))
    law = Law.from_types(sums / sums.sum(axis=1, keepdims=True), TWO_BY_TWO)
    return np.stack(pnsight.estimands.bounds(law, "pns"))


if __name__ == "__main__":
    main()
