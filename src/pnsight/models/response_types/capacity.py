"""The ladder of capacities, and how held-out rows choose among its rungs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pnsight._typing import FloatArray

RESAMPLES = 500
"""Reweightings of the profiles that show how sure the choice of a rung is."""

SELDOM = 0.25
"""Share of the best rung's wins below which a rung gets no weight."""

HOPELESS = 3.0
"""Standard errors behind the best at which a rung is given up after the first half of the folds."""

IMPLAUSIBLE = 7.0
"""Standard errors behind the best, likewise, at which what a rung learns is no longer a law that may be the true one.

The true law may well be rougher than what the best rung makes of it, so these are more than may still win.
"""


class Rung(NamedTuple):
    """A capacity of the network.

    `rank` linear indices of the covariates (0: as many as fit) feed two layers of `hidden` units (0: no network, the
    same answer to everyone), trained for `steps` steps with weights that decay at `decay`.
    """

    rank: int
    hidden: int
    decay: float
    steps: int = 1000

    @property
    def constant(self) -> bool:
        """Whether everyone gets the same answer."""
        return self.hidden == 0

    def width(self, columns: int) -> int:
        """Columns that the array of linear indices has; rungs of one width are trained together."""
        return min(columns, self.hidden) if self.rank == 0 else WIDEST_INDEX

    def __str__(self) -> str:
        if self.constant:
            return "the same for everyone"
        rank = "any number of indices" if self.rank == 0 else f"{self.rank} ind{'ex' if self.rank == 1 else 'ices'}"
        return f"{rank}, {self.hidden} units, decay {self.decay:g}"


WIDEST_INDEX = 3

HIDDEN = 32
"""Units of a hidden layer. Twice as many take three times as long, and decay tells large from small more finely."""

LADDER = (
    Rung(0, 0, 0.0),
    *(Rung(2, HIDDEN, decay) for decay in (0.5, 0.2, 0.1)),
    *(Rung(3, HIDDEN, decay) for decay in (1, 0.5, 0.2)),
    *(Rung(0, HIDDEN, decay) for decay in (2, 1.4, 1, 0.7, 0.5, 0.35, 0.2, 0.1)),
)
"""Capacities from none to a full network."""

SHORT_LADDER = (
    Rung(0, 0, 0.0),
    *(Rung(rank, HIDDEN, 0.3, steps=2000) for rank in (2, 3)),
    *(Rung(0, HIDDEN, decay, steps=2000) for decay in (2, 1, 0.5)),
)
"""Where there are many thousands of profiles, each rung costs more, and fewer are tried.

A step sees only a block of the profiles then, so more steps are taken.
"""


def short_of_best(scores: FloatArray, worth: float) -> FloatArray:
    """How far each rung is behind the best for one held-out row, shape (rungs,).

    `scores` are of shape (rungs, profiles); `worth` is what the held-out rows of all profiles count together.
    """
    totals = scores.sum(axis=1)
    return np.asarray((totals.max() - totals) / worth)


def within(errors: float, scores: FloatArray) -> npt.NDArray[np.intp]:
    """Rungs that are not behind the best by more than so many standard errors of the difference.

    From each profile's held-out score, shape (rungs, profiles).
    """
    behind = scores[scores.sum(axis=1).argmax()] - scores
    error = behind.std(axis=1) * np.sqrt(scores.shape[1])
    return np.flatnonzero(behind.sum(axis=1) <= errors * error)


def choose(scores: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Weight of each rung, from each profile's held-out score, shape (rungs, profiles).

    The weight is how often the rung is the best when profiles are reweighted at random (the Bayesian bootstrap):
    near-ties are shared, clear wins are not. Rungs that win seldom are left out: too large a network, even as one of
    many, would make the mean worse.
    """
    wins = np.zeros(len(scores))
    for _ in range(RESAMPLES):
        wins[(scores @ rng.exponential(size=scores.shape[1])).argmax()] += 1
    wins[wins < SELDOM * wins.max()] = 0
    return np.asarray(wins / wins.sum())


def all_alike(scores: FloatArray, constant: int) -> bool:
    """Whether held-out rows give no reason to tell profiles apart.

    `scores` are log-likelihoods, shape (rungs, profiles); `constant` is the rung that answers the same to everyone.
    Here each row counts alike, which is the sharpest test: the best rung has to be ahead of it by a standard error.
    """
    behind = scores[scores.sum(axis=1).argmax()] - scores[constant]
    return bool(behind.sum() <= behind.std() * np.sqrt(len(behind)))


def allotted(weights: FloatArray, places: int) -> npt.NDArray[np.intp]:
    """Rungs for so many members in proportion to the weights, shape (places,)."""
    edges = np.cumsum(weights) / weights.sum()
    return np.searchsorted(edges, (np.arange(places) + 0.5) / places).clip(max=len(weights) - 1)
