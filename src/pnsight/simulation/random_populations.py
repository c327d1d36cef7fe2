"""Random populations for tests and benchmarks, frozen: the same kind and seed give the same population for ever.

Three shapes of law (a few linear indices; products of covariates; decision trees), each with independent and with
dependent covariates. All have three hidden causes that move both choice and outcome, people who are harmed as well
as people who benefit, and effects that change sign between profiles.

Seeds 101-110 are for reporting only: nothing is ever chosen by looking at them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pnsight._typing import FloatArray
from pnsight.errors import PopulationError, did_you_mean, join_names
from pnsight.simulation.confounded_equations import SPREAD, ConfoundedEquations, Score
from pnsight.simulation.covariate_network import random_network
from pnsight.simulation.structural import StructuralPopulation


def _linear(rng: np.random.Generator, d: int) -> Score:
    weights = rng.normal(size=d) * SPREAD / np.sqrt(d)
    return lambda signs: np.asarray(signs @ weights)


def _products(rng: np.random.Generator, d: int) -> Score:
    """Twelve products of two to four covariates, no effect of any covariate alone."""
    sets = [rng.choice(d, size=min(d, int(rng.integers(2, 5))), replace=False) for _ in range(12)]
    weights = rng.normal(size=len(sets)) * SPREAD / np.sqrt(len(sets))

    def score(signs: FloatArray) -> FloatArray:
        terms = (w * signs[:, chosen].prod(axis=1) for w, chosen in zip(weights, sets, strict=True))
        return sum(terms, np.zeros(len(signs)))

    return score


def _tree(rng: np.random.Generator, d: int, depth: int = 4) -> Score:
    """A complete binary tree that asks about some covariate at every step down; branches may ask in another order."""
    depth = min(depth, d)
    order = [rng.permutation(d)[:depth] for _ in range(2 ** (depth - 1))]
    leaves = rng.normal(size=2**depth) * SPREAD

    def score(signs: FloatArray) -> FloatArray:
        node = np.zeros(len(signs), dtype=np.intp)
        people = np.arange(len(signs))
        for level in range(depth):
            asked = np.array([order[branch % len(order)][level] for branch in range(2**level)])
            node = 2 * node + (signs[people, asked[node]] > 0)
        return np.asarray(leaves[node])

    return score


_SHAPES: dict[str, Callable[[np.random.Generator, int], Score]] = {
    "index": _linear,
    "interaction": _products,
    "tree": _tree,
}

REPORTING_SEEDS = range(101, 111)
"""Seeds of populations that are only ever reported on."""

KINDS = tuple(f"{shape}{suffix}" for shape in _SHAPES for suffix in ("", "-dependent"))
"""Kinds of random population; without suffix the covariates are independent."""


def random_population(kind: str, seed: int, covariates: int = 10) -> StructuralPopulation:
    """The random population of that kind and seed, with that many binary covariates."""
    if kind not in KINDS:
        raise PopulationError(
            f"no kind of population is called {kind!r}; there are {join_names(KINDS)}." + did_you_mean(kind, KINDS)
        )
    rng = np.random.default_rng([KINDS.index(kind), seed, covariates])
    population = _draw(kind, seed, covariates, rng)
    while not _interesting(population, rng):
        population = _draw(kind, seed, covariates, rng)
    return population


def _draw(kind: str, seed: int, d: int, rng: np.random.Generator) -> StructuralPopulation:
    shape, _, suffix = kind.partition("-")
    network = random_network(rng, d, dependent=bool(suffix))
    drawn = ConfoundedEquations.draw(rng, lambda: _of_signs(_SHAPES[shape](rng, d)))
    arrows = (("Z", "X"), ("Z", "Y"), ("X", "Y"), ("H", "X"), ("H", "Y"))
    return StructuralPopulation(f"{kind}:{seed}", network, drawn.hidden, drawn.choice, drawn.responses, arrows)


def _of_signs(score: Score) -> Score:
    """A score of codes from one of signs."""
    return lambda profiles: score(2.0 * profiles - 1)


def _interesting(population: StructuralPopulation, rng: np.random.Generator) -> bool:
    """As `ConfoundedEquations` says, judged on a draw of people."""
    drawn = ConfoundedEquations(population.hidden, population.choice, population.responses)
    return drawn.interesting(population.covariates.draw(rng, 2_000))
