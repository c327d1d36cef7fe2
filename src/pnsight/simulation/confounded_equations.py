"""Equations of the random populations of two arms and two outcomes: scores of the covariates moved by hidden causes.

Choice, response without treatment and the effect of treatment each have a score of the covariates, to which three
hidden causes add. Hidden causes and covariates are independent, so people with the same covariates who choose
differently would not respond alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pnsight._typing import FloatArray
from pnsight.data.schema import Codes
from pnsight.simulation.structural import Equation, types_of_people

Score: TypeAlias = Callable[[npt.NDArray[Any]], FloatArray]
"""From the covariates of people, shape (people, covariates), to a score of shape (people,)."""

HIDDEN = 3
"""Hidden causes of each population."""

SPREAD = 1.3
"""Standard deviation of a score over people, roughly."""

_HIDDEN_SPREAD = 0.9
_LEAST_SHARE = 0.05
_LEAST_CONFOUNDING = 0.02


@dataclass(frozen=True)
class ConfoundedEquations:
    """What people choose and how they respond, given covariates and hidden causes.

    Attributes
    ----------
    hidden : shape (hidden,)
        P(H_j = 1).
    choice, responses : as `StructuralPopulation` has them
    """

    hidden: FloatArray
    choice: Equation
    responses: Equation

    @classmethod
    def draw(cls, rng: np.random.Generator, score: Callable[[], Score]) -> ConfoundedEquations:
        """Random equations; `score` draws a score whenever it is called. The digits are frozen."""
        hidden = rng.uniform(0.3, 0.7, size=HIDDEN)
        choice, untreated, effect = (_Equation.draw(rng, score()) for _ in range(3))
        return cls(hidden, partial(_choose, choice), partial(_respond, untreated, effect))

    def types(self, people: npt.NDArray[Any]) -> FloatArray:
        """Share of each response type among people with these covariates, shape (people, 8)."""
        return types_of_people(people, self.hidden, self.choice, self.responses)

    def interesting(self, people: npt.NDArray[Any]) -> bool:
        """Whether there are some benefit, some harm, and hidden confounding that shows, among these people."""
        types = self.types(people).mean(axis=0).reshape(2, 2, 2)
        benefit, harm = types[:, 0, 1].sum(), types[:, 1, 0].sum()
        treated_respond, chosen = types[:, :, 1].sum(), types[1].sum()
        confounding = abs(treated_respond - types[1, :, 1].sum() / chosen)
        return bool(min(benefit, harm) > _LEAST_SHARE and confounding > _LEAST_CONFOUNDING)


class _Equation:
    """A score of the covariates plus the pull of each hidden cause plus a constant."""

    def __init__(self, score: Score, pull: FloatArray, constant: float) -> None:
        self.score, self.pull, self.constant = score, pull, constant

    @classmethod
    def draw(cls, rng: np.random.Generator, score: Score) -> _Equation:
        return cls(score, rng.normal(size=HIDDEN) * _HIDDEN_SPREAD, rng.normal() * 0.3)

    def __call__(self, z: npt.NDArray[Any], h: Codes) -> FloatArray:
        return self.score(z)[:, None] + ((2.0 * h - 1) @ self.pull)[None, :] + self.constant


def _choose(choice: _Equation, z: npt.NDArray[Any], h: Codes) -> FloatArray:
    return _logistic(choice(z, h))


def _respond(untreated: _Equation, effect: _Equation, z: npt.NDArray[Any], h: Codes) -> FloatArray:
    """One private logistic disturbance moves both responses: given (z, h) either nobody is helped or nobody harmed."""
    score = untreated(z, h)
    p0, p1 = _logistic(score), _logistic(score + effect(z, h))
    return np.stack(
        [1 - np.maximum(p0, p1), np.maximum(p1 - p0, 0), np.maximum(p0 - p1, 0), np.minimum(p0, p1)], axis=2
    )


def _logistic(score: FloatArray) -> FloatArray:
    return 1 / (1 + np.exp(-score))
