"""Random populations for tests and benchmarks, frozen: the same kind and seed give the same population for ever.

Three shapes of law (a few linear indices; products of covariates; decision trees), each with independent and with
dependent covariates. All have three hidden causes that move both choice and outcome, people who are harmed as well
as people who benefit, and effects that change sign between profiles.

Seeds 101-110 are for reporting only: nothing is ever chosen by looking at them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.schema import Codes
from pnsight.errors import PopulationError, did_you_mean, join_names
from pnsight.simulation.covariate_network import random_network
from pnsight.simulation.structural import StructuralPopulation

Score: TypeAlias = Callable[[FloatArray], FloatArray]
"""From signs (+1, -1) of the covariates, shape (profiles, covariates), to a score of shape (profiles,)."""

HIDDEN = 3
_SPREAD = 1.3
_HIDDEN_SPREAD = 0.9
_LEAST_SHARE = 0.05
_LEAST_CONFOUNDING = 0.02


def _linear(rng: np.random.Generator, d: int) -> Score:
    weights = rng.normal(size=d) * _SPREAD / np.sqrt(d)
    return lambda signs: np.asarray(signs @ weights)


def _products(rng: np.random.Generator, d: int) -> Score:
    """Twelve products of two to four covariates, no effect of any covariate alone."""
    sets = [rng.choice(d, size=min(d, int(rng.integers(2, 5))), replace=False) for _ in range(12)]
    weights = rng.normal(size=len(sets)) * _SPREAD / np.sqrt(len(sets))

    def score(signs: FloatArray) -> FloatArray:
        terms = (w * signs[:, chosen].prod(axis=1) for w, chosen in zip(weights, sets, strict=True))
        return sum(terms, np.zeros(len(signs)))

    return score


def _tree(rng: np.random.Generator, d: int, depth: int = 4) -> Score:
    """A complete binary tree that asks about some covariate at every step down; branches may ask in another order."""
    depth = min(depth, d)
    order = [rng.permutation(d)[:depth] for _ in range(2 ** (depth - 1))]
    leaves = rng.normal(size=2**depth) * _SPREAD

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
    score = _SHAPES[shape]
    hidden = rng.uniform(0.3, 0.7, size=HIDDEN)
    choice, untreated, effect = (_Equation.draw(rng, score(rng, d)) for _ in range(3))
    return StructuralPopulation(
        f"{kind}:{seed}",
        network,
        hidden,
        partial(_choose, choice),
        partial(_respond, untreated, effect),
        (("Z", "X"), ("Z", "Y"), ("X", "Y"), ("H", "X"), ("H", "Y")),
    )


class _Equation:
    """A score of the covariates plus the pull of each hidden cause plus a constant."""

    def __init__(self, score: Score, pull: FloatArray, constant: float) -> None:
        self.score, self.pull, self.constant = score, pull, constant

    @classmethod
    def draw(cls, rng: np.random.Generator, score: Score) -> _Equation:
        return cls(score, rng.normal(size=HIDDEN) * _HIDDEN_SPREAD, rng.normal() * 0.3)

    def __call__(self, z: Codes, h: Codes) -> FloatArray:
        observed = self.score(np.asarray(2.0 * z - 1, dtype=np.float64))[:, None]
        return observed + ((2.0 * h - 1) @ self.pull)[None, :] + self.constant


def _choose(choice: _Equation, z: Codes, h: Codes) -> FloatArray:
    return _logistic(choice(z, h))


def _respond(untreated: _Equation, effect: _Equation, z: Codes, h: Codes) -> FloatArray:
    """One private logistic disturbance moves both responses: given (z, h) either nobody is helped or nobody harmed."""
    score = untreated(z, h)
    p0, p1 = _logistic(score), _logistic(score + effect(z, h))
    return np.stack(
        [1 - np.maximum(p0, p1), np.maximum(p1 - p0, 0), np.maximum(p0 - p1, 0), np.minimum(p0, p1)], axis=2
    )


def _logistic(score: FloatArray) -> FloatArray:
    return 1 / (1 + np.exp(-score))


def _interesting(population: StructuralPopulation, rng: np.random.Generator) -> bool:
    """Some benefit, some harm, and hidden confounding that shows, judged on a draw of people."""
    types = population.types(population.covariates.draw(rng, 2_000)).mean(axis=0).reshape(2, 2, 2)
    benefit, harm = types[:, 0, 1].sum(), types[:, 1, 0].sum()
    treated_respond, chosen = types[:, :, 1].sum(), types[1].sum()
    confounding = abs(treated_respond - types[1, :, 1].sum() / chosen)
    return bool(min(benefit, harm) > _LEAST_SHARE and confounding > _LEAST_CONFOUNDING)
