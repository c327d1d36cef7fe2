"""What will be decided once rows have come: an expectation, as nobody knows where they will move an estimate.

If the variance of an end is s^2 now and r s^2 with further rows, then the rows will have moved its estimate by a random
amount of variance (1 - r) s^2: what is not left of the doubt has become knowledge. Around the new estimate there is an
interval of the new length, and it reaches across the threshold or does not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pnsight._typing import FloatArray

ERRORS_VARY, ESTIMATES_VARY = 0.35, 0.2
"""How fits to the same rows differ: the logarithm of a standard error; and an estimate, in standard errors.

Standard deviations between fits that differ in their seed alone, to samples with seed 11 of the mediator population and
of interaction:1. Without them the outlook would hang on profiles whose interval ends next to the threshold by chance.
"""

ALL, NONE = np.ones((1, 2, 1)), np.zeros((1, 2, 1))
"""Shares of the variance that are left of each end: without further rows, and with unlimited ones of both tables."""

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(25)


@dataclass(frozen=True)
class Outlook:
    """Bounds of each profile as they are now, and what they are compared with.

    Attributes
    ----------
    ends, errors : shape (2, profiles)
        Lower and upper ends with their standard errors; NaN where there is no answer.
    factor : by what the model has multiplied the standard errors
    reach : how many standard errors an interval reaches to either side
    threshold : treat where the quantity is at least this
    span : the least and the largest value that the quantity can have
    """

    ends: FloatArray
    errors: FloatArray
    factor: float
    reach: float
    threshold: float
    span: tuple[float, float]

    def decided(self, left: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Chance that a fresh fit decides to treat each profile, and not to, shape (groups, profiles) each.

        `left` is the share r of the variance that is left, shape (groups, 2, profiles) or one that fits it. Moves go by
        the standard error before it was multiplied: that is done for the sake of profiles unlike the others.
        """
        if not self.span[0] < self.threshold <= self.span[1]:  # then it is decided whatever the bounds are
            nobody = np.zeros(np.broadcast_shapes(left[:, 0].shape, self.errors[:1].shape))
            treat, leave = nobody + (self.threshold <= self.span[0]), nobody + (self.threshold > self.span[1])
        else:
            treat, leave = self._beyond(left)
        answered = ~np.isnan(self.ends).any(axis=0)
        return np.where(answered, treat, 0.0), np.where(answered, leave, 0.0)

    def _beyond(self, left: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Chance that the interval of the lower end will lie above the threshold, and that of the upper end below."""
        moves = self.errors * np.sqrt((1 - left) / self.factor**2 + left * ESTIMATES_VARY**2)
        margins = self.errors * np.sqrt(left) * self.reach
        above, below = self.ends[0] - self.threshold, self.threshold - self.ends[1]
        treat, leave = np.zeros(moves[:, 0].shape), np.zeros(moves[:, 1].shape)
        for node, weight in zip(_NODES, _WEIGHTS / _WEIGHTS.sum(), strict=True):
            wider = np.exp(ERRORS_VARY * node)
            treat += weight * _chance_above_zero(above - wider * margins[:, 0], moves[:, 0])
            leave += weight * _chance_above_zero(below - wider * margins[:, 1], moves[:, 1])
        return treat, leave

    def gains(self, left: FloatArray) -> tuple[FloatArray, FloatArray]:
        """By how much these chances rise above those of a fresh fit without further rows, shapes as above."""
        (treat, leave), (treat_now, leave_now) = self.decided(left), self.decided(ALL)
        return treat - treat_now, leave - leave_now

    def uncertain(self, left: FloatArray) -> FloatArray:
        """Chance that it leaves each profile uncertain, shape (groups, profiles); zero where there is no answer."""
        treat, leave = self.decided(left)
        return np.where(np.isnan(self.ends).any(axis=0), 0.0, np.maximum(1 - treat - leave, 0))


def _chance_above_zero(gap: FloatArray, moves: FloatArray) -> FloatArray:
    """Chance that a gap is above zero after a normal move; one that does not move, as its end is certain, stays."""
    from scipy.special import ndtr

    certain = np.broadcast_to(moves == 0, gap.shape)
    moved = np.divide(gap, moves, out=np.zeros_like(gap), where=~certain)
    return np.where(certain, gap > 0, ndtr(moved))
