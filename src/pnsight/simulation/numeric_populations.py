"""Random populations with six numbers and four yes/no covariates, frozen: a kind and seed give the same one for ever.

Three shapes of law (curves; steps; products), each with independent and with dependent covariates, and otherwise as the
random populations of yes/no covariates: hidden causes, harm as well as benefit, effects that change sign.

Seeds 101-110 are for reporting only: nothing is ever chosen by looking at them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pnsight._typing import FloatArray, IndexArray
from pnsight.errors import PopulationError, did_you_mean, join_names
from pnsight.simulation.confounded_equations import SPREAD, ConfoundedEquations
from pnsight.simulation.gaussian_covariates import GaussianCovariates, Number
from pnsight.simulation.numeric_population import NumericPopulation, TermScore

NUMBERS = (
    Number("age", 54.0, 14.0, 18.0, 98.0),
    Number("bmi", np.log(27.0), 0.18, 15.0, 60.0, decimals=1, logarithmic=True),
    Number("blood_pressure", 134.0, 19.0, 80.0, 230.0),
    Number("cholesterol", 5.3, 1.1, 1.5, 11.0, decimals=2),
    Number("creatinine", np.log(85.0), 0.3, 30.0, 600.0, logarithmic=True),
    Number("pulse", 73.0, 12.0, 35.0, 140.0),
)
"""The numbers, as a hospital would have them."""

INDICATORS = ("female", "smoker", "diabetes", "on_statins")
"""The yes/no covariates."""

_DEPENDENT = "-dependent"
_FACTORS = 2
_LOADING = 0.7


@dataclass(frozen=True)
class _Curves:
    """A curve of each number, a term of each yes/no covariate, and two smooth steps along weighted sums of all."""

    line: FloatArray
    wave: FloatArray
    pace: FloatArray
    start: FloatArray
    ridges: FloatArray
    heights: FloatArray

    @classmethod
    def draw(cls, rng: np.random.Generator, numbers: int, d: int) -> _Curves:
        line, wave = rng.normal(size=d), rng.normal(size=numbers)
        pace, start = rng.uniform(0.7, 1.6, size=numbers), rng.uniform(0, 2 * np.pi, size=numbers)
        return cls(line, wave, pace, start, rng.normal(size=(d, 2)) / np.sqrt(d), rng.normal(size=2))

    def _waves(self, s: FloatArray) -> FloatArray:
        return np.asarray(np.sin(self.pace * s[:, : len(self.pace)] + self.start))

    def __call__(self, s: FloatArray) -> FloatArray:
        curves = 0.7 * s @ self.line + self._waves(s) @ self.wave + np.tanh(2 * s @ self.ridges) @ self.heights
        return np.asarray(curves * SPREAD / np.sqrt(len(self.line)))

    def terms(self, s: FloatArray) -> FloatArray:
        return np.concatenate([s, self._waves(s), np.tanh(2 * s @ self.ridges)], axis=1)


@dataclass(frozen=True)
class _Steps:
    """Three decision trees of three questions each: whether some covariate is above a threshold."""

    trees: tuple[_Tree, ...]

    @classmethod
    def draw(cls, rng: np.random.Generator, numbers: int, d: int) -> _Steps:
        return cls(tuple(_Tree.draw(rng, numbers, d) for _ in range(3)))

    def __call__(self, s: FloatArray) -> FloatArray:
        found = sum((tree.leaves[tree.leaf(s)] for tree in self.trees), np.zeros(len(s)))
        return np.asarray(found / np.sqrt(len(self.trees)))

    def terms(self, s: FloatArray) -> FloatArray:
        return np.concatenate([np.eye(len(tree.leaves))[tree.leaf(s)] for tree in self.trees], axis=1)


@dataclass(frozen=True)
class _Tree:
    """A complete tree whose every node asks about a covariate of its own and a threshold of its own."""

    asked: IndexArray
    thresholds: FloatArray
    leaves: FloatArray

    @classmethod
    def draw(cls, rng: np.random.Generator, numbers: int, d: int, depth: int = 3) -> _Tree:
        nodes = 2**depth - 1
        asked = rng.integers(0, d, size=nodes)
        thresholds = np.where(asked < numbers, rng.uniform(-1, 1, size=nodes), 0.0)
        return cls(asked, thresholds, rng.normal(size=nodes + 1) * SPREAD)

    def leaf(self, s: FloatArray) -> IndexArray:
        """The leaf of each person, shape (people,)."""
        node, people = np.zeros(len(s), dtype=np.intp), np.arange(len(s))
        for _ in range(len(self.leaves).bit_length() - 1):
            node = 2 * node + 1 + (s[people, self.asked[node]] > self.thresholds[node])
        return node - len(self.asked)


@dataclass(frozen=True)
class _Products:
    """Eight products of two or three covariates, each bent to be between -1 and 1: none has an effect alone."""

    numbers: int
    sets: tuple[IndexArray, ...]
    weights: FloatArray

    @classmethod
    def draw(cls, rng: np.random.Generator, numbers: int, d: int) -> _Products:
        sets = tuple(rng.choice(d, size=int(rng.integers(2, 4)), replace=False) for _ in range(8))
        return cls(numbers, sets, rng.normal(size=len(sets)) * 1.6 * SPREAD / np.sqrt(len(sets)))

    def __call__(self, s: FloatArray) -> FloatArray:
        found = (w * term for w, term in zip(self.weights, self.terms(s).T, strict=True))
        return sum(found, np.zeros(len(s)))

    def terms(self, s: FloatArray) -> FloatArray:
        bent = np.where(np.arange(s.shape[1]) < self.numbers, np.tanh(1.5 * s), s)
        return np.stack([bent[:, chosen].prod(axis=1) for chosen in self.sets], axis=1)


_SHAPES: dict[str, Callable[[np.random.Generator, int, int], TermScore]] = {
    "smooth": _Curves.draw,
    "stepped": _Steps.draw,
    "numeric-interaction": _Products.draw,
}

NUMERIC_KINDS = tuple(f"{shape}{suffix}" for shape in _SHAPES for suffix in ("", _DEPENDENT))
"""Kinds of random population with numbers; without suffix the covariates are independent."""


def numeric_population(kind: str, seed: int) -> NumericPopulation:
    """The random population with numbers of that kind and seed.

    Parameters
    ----------
    kind
        One of `NUMERIC_KINDS`.
    seed
        The same always gives the same population.

    Returns
    -------
    The population.
    """
    if kind not in NUMERIC_KINDS:
        raise PopulationError(
            f"no kind of population is called {kind!r}; there are {join_names(NUMERIC_KINDS)}."
            + did_you_mean(kind, NUMERIC_KINDS)
        )
    rng = np.random.default_rng([19, NUMERIC_KINDS.index(kind), seed])
    while True:
        covariates, (equations, scores) = _covariates(kind, rng), _equations(kind, rng)
        people = covariates.standardised(covariates.draw(rng, 2_000))
        if equations.interesting(people):
            return NumericPopulation(f"{kind}:{seed}", covariates, equations, scores)


def _equations(kind: str, rng: np.random.Generator) -> tuple[ConfoundedEquations, tuple[TermScore, ...]]:
    """Random equations, and the scores in them."""
    shape, d = _SHAPES[kind.removesuffix(_DEPENDENT)], len(NUMBERS) + len(INDICATORS)
    scores: list[TermScore] = []

    def draw() -> TermScore:
        scores.append(shape(rng, len(NUMBERS), d))
        return scores[-1]

    return ConfoundedEquations.draw(rng, draw), tuple(scores)


def _covariates(kind: str, rng: np.random.Generator) -> GaussianCovariates:
    shares = rng.uniform(0.15, 0.6, size=len(INDICATORS))
    indicators = [Number.indicator(name, float(p)) for name, p in zip(INDICATORS, shares, strict=True)]
    numbers = (*NUMBERS, *indicators)
    loadings = _LOADING * rng.normal(size=(len(numbers), _FACTORS))
    shared = loadings @ loadings.T + np.eye(len(numbers))
    size = np.sqrt(np.diag(shared))
    dependent = shared / np.outer(size, size)
    return GaussianCovariates(numbers, dependent if kind.endswith(_DEPENDENT) else np.eye(len(numbers)))
