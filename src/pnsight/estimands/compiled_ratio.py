"""Compiled bounds on a conditional mean: those on its numerator, divided by a probability that the law determines."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.law import Law
from pnsight.estimands.compiled import CompiledBounds, LinearTerms

Ends: TypeAlias = tuple[FloatArray, FloatArray]
"""Lower and upper ends, shape (rows,) each."""

IMPOSSIBLE = 1e-12
"""Sums of a few probabilities are wrong by less; an event less likely than this is taken for impossible."""


@dataclass(frozen=True)
class CompiledRatio:
    """Bounds on a value given an event whose probability the law determines.

    Attributes
    ----------
    numerator : bounds on the mean of the value times the event
    event : probability of the event; None for everyone
    """

    numerator: CompiledBounds
    event: LinearTerms | None

    @property
    def is_curved(self) -> bool:
        """Whether an end is more than a ratio of linear functions of the law."""
        return self.numerator.lower.is_curved or self.numerator.upper.is_curved

    def tangent(self, law: Law) -> CompiledRatio:
        """With functions that agree with these at the first row of a law, and next to it, and are linear."""
        return CompiledRatio(self.numerator.tangent(law), self.event)

    @cached_property
    def is_point(self) -> bool:
        """Whether both ends are one linear function of the law."""
        lower, upper = self.numerator.lower, self.numerator.upper
        return (
            not self.is_curved
            and len(lower.constant) == len(upper.constant) == 1
            and np.allclose(lower.coefficients, upper.coefficients)
            and np.allclose(lower.constant, upper.constant)
        )

    def conditioning_probability(self, law: Law) -> FloatArray:
        """Probability of the event conditioned on, shape (rows,); one where that is nothing."""
        return np.ones(len(law)) if self.event is None else self.event(law)[0]

    def bounds(self, law: Law) -> Ends:
        """Both ends, shape (rows,) each, undefined where the event is impossible.

        Ends that cross by the rounding of probabilities are made equal before a rare event would magnify it.
        """
        lower, upper = self.numerator.bounds(law)
        if self.event is None:
            return lower, upper
        rounded = (lower > upper) & (lower - upper < IMPOSSIBLE)
        lower = np.where(rounded, upper, lower)
        event = self.conditioning_probability(law)
        possible = np.where(event > IMPOSSIBLE, event, np.nan)
        return lower / possible, upper / possible
