"""Capacities of the network (its hyperparameters), and model selection among them by cross-validation scores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pnsight._typing import FloatArray, IndexArray
from pnsight.data.number_scale import PIECEWISE, STANDARDISED, STEPPED, Coding

MAX_RANK = 3
"""Most linear indices of a capacity that limits them; networks of one width are trained together."""

HIDDEN = 32
"""Units of a hidden layer. Twice as many take three times as long, and decay tells large from small more finely."""


class Capacity(NamedTuple):
    """Hyperparameters of a network: how much it can learn.

    `rank` linear indices of the covariates (0: as many as fit) feed two layers of `hidden` units (0: no network, the
    same answer to everyone), trained for `steps` steps with weight decay `decay`. With `deep`, a first layer of units
    takes the place of the indices, and `sparsity` draws its weights to zero (the lasso's penalty). `coding` is what the
    network sees of numbers.
    """

    rank: int
    hidden: int
    decay: float
    steps: int = 1000
    deep: bool = False
    sparsity: float = 0.0
    coding: Coding = STANDARDISED

    @property
    def constant(self) -> bool:
        """Whether everyone gets the same answer."""
        return self.hidden == 0

    def width(self, columns: int) -> int:
        """Rows of the matrix of linear indices; capacities of one width are trained together.

        Parameters
        ----------
        columns : int
            Columns of the networks' inputs.

        Returns
        -------
        int
        """
        if self.deep:
            return self.hidden
        return min(columns, self.hidden) if self.rank == 0 else max(MAX_RANK, self.rank)

    def __str__(self) -> str:
        if self.constant:
            return "the same for everyone"
        if self.deep:
            sparse = f", sparsity {self.sparsity:g}" if self.sparsity else ""
            return f"numbers {self.coding}, three layers of {self.hidden} units, decay {self.decay:g}{sparse}"
        rank = "any number of indices" if self.rank == 0 else f"{self.rank} ind{'ex' if self.rank == 1 else 'ices'}"
        return f"{rank}, {self.hidden} units, decay {self.decay:g}"


CONSTANT = Capacity(0, 0, 0.0)
"""No heterogeneity: the same answer to everyone."""

CAPACITY_GRID = (
    CONSTANT,
    *(Capacity(2, HIDDEN, decay) for decay in (0.5, 0.2, 0.1)),
    *(Capacity(3, HIDDEN, decay) for decay in (1.0, 0.5, 0.2)),
    *(Capacity(0, HIDDEN, decay) for decay in (2.0, 1.4, 1.0, 0.7, 0.5, 0.35, 0.2, 0.1)),
)
"""Capacities from none to a full network."""

SHORT_CAPACITY_GRID = (
    CONSTANT,
    *(Capacity(rank, HIDDEN, 0.3, steps=2000) for rank in (2, 3)),
    *(Capacity(0, HIDDEN, decay, steps=2000) for decay in (2.0, 1.0, 0.5)),
)
"""Where there are many thousands of profiles, each capacity costs more, and fewer are tried.

A step sees only a block of the profiles then, so more steps are taken.
"""


SMALL_CAPACITY_GRID = (
    CONSTANT,
    *(Capacity(rank, HIDDEN, decay) for rank, decay in ((2, 0.5), (3, 1.0), (3, 0.5))),
    *(Capacity(0, HIDDEN, decay) for decay in (2.0, 1.4, 0.7)),
)
"""Where there are few rows: networks with less weight decay never predict held-out rows best there."""


def _deep(coding: Coding, decay: float, sparsity: float = 0.0) -> Capacity:
    return Capacity(0, HIDDEN, decay, 2000, True, sparsity, coding)


_PENALTIES: dict[Coding, tuple[tuple[float, float], ...]] = {
    PIECEWISE: ((1.0, 0.3), (0.5, 0.2), (0.3, 0.12), (0.2, 0.08), (0.2, 0.04)),
    STEPPED: ((1.0, 0.3), (0.5, 0.2), (0.3, 0.12), (0.2, 0.08), (0.1, 0.1)),
}
"""Decay and sparsity, from much to little, where networks see many columns of each number."""

NUMERIC_CAPACITY_GRID = (
    CONSTANT,
    *(_deep(STANDARDISED, decay) for decay in (2.0, 1.0, 0.5, 0.25, 0.12)),
    *(_deep(coding, *penalties) for coding, several in _PENALTIES.items() for penalties in several),
)
"""Where covariates are numbers, nearly every row is a profile of its own, and a step sees only a block of them.

Networks differ also in what they see of numbers: cross-validation chooses that together with how much they may learn.
"""

SMALL_NUMERIC_CAPACITY_GRID = (
    CONSTANT,
    *(_deep(STANDARDISED, decay) for decay in (16.0, 8.0, 4.0, 2.0, 1.0)),
    *(_deep(PIECEWISE, *penalties) for penalties in ((8.0, 0.4), (4.0, 0.4), (2.0, 0.4), (1.0, 0.3))),
)
"""Where covariates are numbers and there are few rows: less decay than these learns chance, and steps are not found."""


def score_gap(scores: FloatArray, total_weight: float) -> FloatArray:
    """Score gap: how far each capacity is behind the best, for one held-out row.

    Parameters
    ----------
    scores : array of shape (capacities, profiles)
        Cross-validation score of each profile.
    total_weight : float
        What the held-out rows of all profiles count together.

    Returns
    -------
    array of shape (capacities,)
        Zero for the best.
    """
    totals = scores.sum(axis=1)
    return np.asarray((totals.max() - totals) / total_weight)


def within_standard_errors(scores: FloatArray, errors: float) -> IndexArray:
    """Capacities that are not behind the best by more than a number of standard errors of the difference.

    Parameters
    ----------
    scores : array of shape (capacities, profiles)
        Cross-validation score of each profile.
    errors : float
        Standard errors of the paired difference.

    Returns
    -------
    array of shape (kept,)
        Positions of the capacities, in rising order.
    """
    behind = scores[scores.sum(axis=1).argmax()] - scores
    error = behind.std(axis=1) * np.sqrt(scores.shape[1])
    return np.flatnonzero(behind.sum(axis=1) <= errors * error)


def bootstrap_weights(scores: FloatArray, rng: np.random.Generator, samples: int, min_win_ratio: float) -> FloatArray:
    """Bayesian bootstrap: weight of each capacity, by how often it is the best when profiles are reweighted at random.

    Near-ties are shared, clear wins are not. Capacities that win seldom are left out: too large a network, even as one
    of many, would make the mean worse.

    Parameters
    ----------
    scores : array of shape (capacities, profiles)
        Cross-validation score of each profile.
    rng : numpy.random.Generator
        Source of randomness.
    samples : int
        Reweightings.
    min_win_ratio : float
        Share of the best capacity's wins below which a capacity gets no weight.

    Returns
    -------
    array of shape (capacities,)
        Weights that add up to one.
    """
    wins = np.zeros(len(scores))
    for _ in range(samples):
        wins[(scores @ rng.exponential(size=scores.shape[1])).argmax()] += 1
    wins[wins < min_win_ratio * wins.max()] = 0
    return np.asarray(wins / wins.sum())


def no_heterogeneity(scores: FloatArray, constant: int) -> bool:
    """Whether cross-validation gives no reason to tell profiles apart (the one-standard-error rule).

    Here each row counts alike, which is the sharpest test: the best capacity has to be ahead by a standard error.

    Parameters
    ----------
    scores : array of shape (capacities, profiles)
        Held-out log-likelihood of each profile.
    constant : int
        Position of the capacity that answers the same to everyone.

    Returns
    -------
    bool
    """
    behind = scores[scores.sum(axis=1).argmax()] - scores[constant]
    return bool(behind.sum() <= behind.std() * np.sqrt(len(behind)))


def apportion(weights: FloatArray, seats: int) -> IndexArray:
    """Apportionment: capacities for a number of networks, in proportion to weights.

    Parameters
    ----------
    weights : array of shape (capacities,)
        How much of each.
    seats : int
        Networks to train.

    Returns
    -------
    array of shape (seats,)
        Position of the capacity of each.
    """
    edges = np.cumsum(weights) / weights.sum()
    return np.searchsorted(edges, (np.arange(seats) + 0.5) / seats).clip(max=len(weights) - 1)
