"""How far rows reach: what rows of some profiles would tell about the law of others.

A fit learns about a profile from its own rows and from those of profiles like it. Which ones shows in its errors: where
fits to simulated studies err alike at two profiles, rows of the one inform the other. In a linear fit this is exact: if
C(z,z') is the covariance of the errors of a share at two profiles, a row at z' whose outcome varies by v(z') lowers the
variance at z by C(z,z')^2 / v(z'), and the rows at hand account for all that is known:

    sum over z' of rows(z') C(z,z')^2 / v(z')  =  C(z,z)

So what further rows tell is counted in the same way, and set beside what is known already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pnsight._typing import FloatArray

_LEAST_SHARE = 1e-3
"""A cell is taken to be at least so likely: rows of rarer ones would seem to tell too much."""


@dataclass(frozen=True)
class Rows:
    """Rows by arm and profile, shape (arms, profiles, k), k being any number of alternatives.

    Where the profiles looked at are a part of all, each has few rows of its `own`, while `nearby` it stands for others
    too; otherwise both are the same.
    """

    own: FloatArray
    nearby: FloatArray


@dataclass(frozen=True)
class Reach:
    """What a row tells about the law of each profile, arm by arm, as a share of what is known of it now.

    The arms are the treated and the untreated of the experiment, and the observational table.

    Attributes
    ----------
    own : shape (arms, profiles)
        What a row of the profile itself tells.
    nearby : shape (arms, profiles, profiles)
        What a row of each profile (last axis) tells about each other one; zero for itself.
    known : shape (arms, profiles)
        What the rows at hand tell, at least one.
    """

    own: FloatArray
    nearby: FloatArray
    known: FloatArray

    def left(self, added: Rows) -> FloatArray:
        """Share of the variance of each arm's law that further rows leave, shape (arms, profiles, k).

        A profile that gets no rows of its own learns no more from others than their law, were it known exactly, would
        tell; one that gets some learns from the others as it has learned so far.
        """
        lessened = added.nearby / (1 + self.own[:, :, None] * added.own)
        told = np.where(added.own > 0, _told(self.own, self.nearby, added), self.nearby @ lessened)
        known = self.known[:, :, None]
        return np.asarray(known / (known + told))


def measure(
    cells: FloatArray,
    errors: FloatArray,
    at_hand: Rows,
    people: FloatArray,
    apart: npt.NDArray[np.intp],
    groups: Sequence[slice],
) -> Reach:
    """How far rows reach, from the errors of fits to simulated studies.

    Parameters
    ----------
    cells : shape (profiles, cells)
        Share of each cell in its group, by the estimate.
    errors : shape (studies, profiles, cells)
        How far the fits to each study stray from the law behind it, less the mean of that.
    at_hand
        The study's rows, one alternative.
    people : shape (profiles,)
        Share of the people that each profile stands for.
    apart : shape (profiles, profiles)
        How many covariates differ.
    groups
        Columns of the cells of each arm and of the observational table.
    """
    own, nearby = [], []
    for columns, rows in zip(groups, at_hand.nearby[:, :, 0], strict=True):
        worth, reaches = _correlated(cells[:, columns], errors[:, :, columns])
        kept = _by_distance(reaches, worth, people[:, None] * rows, apart)
        own.append(kept[0] * worth)
        nearby.append(np.where(apart == 0, 0.0, kept[apart] * worth))
    told = _told(np.stack(own), np.stack(nearby), at_hand)[:, :, 0]
    # What falls short of one was learned too: from other arms, or from profiles nearer than the distance shows.
    return Reach(np.stack(own), np.stack(nearby), np.maximum(told, 1.0))


def _told(own: FloatArray, nearby: FloatArray, rows: Rows) -> FloatArray:
    return np.asarray(own[:, :, None] * rows.own + nearby @ rows.nearby)


def _correlated(cells: FloatArray, errors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What a row is worth at its own profile, shape (profiles,), and what of that reaches each profile, (of, from).

    The first is the variance of the cells' errors over that of a row; the second is it times the squared correlation of
    the errors, less what so few refits show by chance.
    """
    freedom = len(errors) - 1
    per_row = errors / np.sqrt(np.maximum(cells, _LEAST_SHARE) * freedom)
    size = np.sqrt((errors**2).sum(axis=0))
    unit = np.divide(errors, size, out=np.zeros_like(errors), where=size > 0)
    columns = range(cells.shape[1])
    squares = np.zeros((len(cells), len(cells)))
    for j in columns:
        for k in columns:
            squares += (unit[:, :, j].T @ per_row[:, :, k]) ** 2
    worth = (per_row**2).sum(axis=(0, 2))
    return worth, (squares / len(columns) - worth / freedom) / (1 - 1 / freedom)


def _by_distance(
    reaches: FloatArray, worth: FloatArray, weights: FloatArray, apart: npt.NDArray[np.intp]
) -> FloatArray:
    """Mean share of a row's worth that reaches so many covariates far, never rising, shape (1 + most apart,).

    `weights` say how many people ask, and how many rows tell, shape (profiles, profiles). Single pairs are too noisy to
    go by, as the refits are few.
    """
    from scipy.optimize import isotonic_regression

    size = int(apart.max()) + 1
    found = np.bincount(apart.ravel(), (weights * reaches).ravel(), minlength=size)
    whole = np.bincount(apart.ravel(), (weights * worth).ravel(), minlength=size)
    some = np.flatnonzero(whole > 0)
    shares = np.zeros(size)
    if len(some):
        shares[some] = isotonic_regression(found[some] / whole[some], weights=whole[some], increasing=False).x
    return np.asarray(np.clip(shares, 0, 1))
