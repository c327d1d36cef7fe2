"""Rows that show less than a cell: shares of the cells by maximum likelihood, and what such rows are worth.

A row that shows a set of cells is in one of them, and nothing is known about which (coarsening at random). So it is
shared out among them in proportion to their shares, again and again (expectation-maximisation). For times that were
censored that is the estimate of E. L. Kaplan and P. Meier (1958), "Nonparametric estimation from incomplete
observations"; its variance, from the observed information, is Greenwood's.
"""

from __future__ import annotations

import numpy as np

from pnsight._typing import BoolArray, FloatArray
from pnsight.data.structure import Structure

_ROUNDS = 3000
_CONVERGED = 1e-13
_LEAST = 1e-300

PRIOR_ROWS = 2.0
"""Rows, spread evenly over the cells of a group, that shares are smoothed by before variances are taken from them."""


def coarsened_shares(counts: FloatArray, structure: Structure) -> FloatArray:
    """Most likely share of each cell within its group.

    Parameters
    ----------
    counts : shape (rows, cells + sets)
        Rows in each cell, and in each observation set.
    structure
        Which cells each set has.

    Returns
    -------
    Shape (rows, cells); NaN in groups whose rows do not determine it.
    """
    shares = structure.probabilities(counts[:, : structure.n_cells])
    for number, columns in enumerate(structure.group_slices):
        sets = _sets_of(structure, number)
        some = np.flatnonzero(counts[:, sets].any(axis=1))
        if len(some):
            seen, partly = counts[some, columns], counts[some][:, sets]
            shares[some, columns] = _group_shares(seen, partly, _members(structure, sets, columns))
    return shares


def _sets_of(structure: Structure, group: int) -> list[int]:
    """Columns of the sets of a group."""
    return [structure.n_cells + number for number, own in enumerate(structure.group_of_set) if own == group]


def _members(structure: Structure, sets: list[int], columns: slice) -> FloatArray:
    """One where a cell of the group belongs to a set, shape (sets, cells of the group)."""
    return structure.set_members[np.array(sets, dtype=np.intp) - structure.n_cells][:, columns]


def _group_shares(seen: FloatArray, partly: FloatArray, members: FloatArray) -> FloatArray:
    """Shares of one group's cells, from rows of cells (rows, cells) and of sets (rows, sets)."""
    shares = np.full(seen.shape, 1 / seen.shape[1])
    moving = np.arange(len(seen))
    for _ in range(_ROUNDS):
        start = shares[moving]
        once = _em_step(start, seen[moving], partly[moving], members)
        twice = _em_step(once, seen[moving], partly[moving], members)
        shares[moving] = _em_step(_ahead(start, once, twice), seen[moving], partly[moving], members)
        moving = moving[np.abs(shares[moving] - start).max(axis=1) > _CONVERGED]
        if not len(moving):
            break
    shares[_undetermined(seen, partly, members)] = np.nan
    return shares


def _em_step(shares: FloatArray, seen: FloatArray, partly: FloatArray, members: FloatArray) -> FloatArray:
    inside = np.maximum(shares @ members.T, _LEAST)
    total = seen + shares * ((partly / inside) @ members)
    return np.asarray(total / total.sum(axis=1, keepdims=True))


def _ahead(start: FloatArray, once: FloatArray, twice: FloatArray) -> FloatArray:
    """Where two steps seem to lead, if that is a distribution (Varadhan and Roland 2008)."""
    step, bend = once - start, twice - 2 * once + start
    length = np.sqrt((step**2).sum(axis=1) / np.maximum((bend**2).sum(axis=1), _LEAST))[:, None]
    length = np.clip(length, 1.0, 1e4)
    ahead = start + 2 * length * step + length**2 * bend
    possible = (ahead > 0).all(axis=1, keepdims=True) | (length == 1)
    return np.where(possible, np.maximum(ahead, 0.0), twice)


def _undetermined(seen: FloatArray, partly: FloatArray, members: FloatArray) -> BoolArray:
    """Where rows cannot tell cells apart, shape (rows,): a set has rows, but none of its cells has, nor part of them.

    A set with a seen cell needs no other; one within which a smaller set has rows leaves it to that one.
    """
    found = np.zeros(len(seen), dtype=bool)
    for number, own in enumerate(members):
        within = (members @ (1 - own) == 0) & (members.sum(axis=1) < own.sum())
        empty = (seen @ own == 0) & (partly[:, within].sum(axis=1) == 0)
        found |= (partly[:, number] > 0) & empty & (own.sum() > 1)
    return found


def effective_counts(counts: FloatArray, law: FloatArray, structure: Structure) -> FloatArray:
    """Counts of cells that are worth what the rows are, sets included, in the light of a law.

    A row that shows a set S of cells carries, averaged over what could be asked, (1 - P(S)) / (|S| - P(S)) of the
    information of one that shows its cell. The counts given back have so many rows in all, and differ from what the law
    expects of them as the rows do when those of sets are shared out by the law.

    Parameters
    ----------
    counts : shape (rows, cells + sets)
        Rows in each cell, and in each observation set.
    law : shape (rows, cells) or (1, cells)
        Probability of each cell within its group.
    structure
        Which cells each set has.

    Returns
    -------
    Shape (rows, cells); a count may be below zero where the law expects more than there is.
    """
    seen, partly = counts[:, : structure.n_cells], counts[:, structure.n_cells :]
    if not partly.any():
        return seen
    members = structure.set_members
    inside = np.clip(law @ members.T, 1e-12, 1.0)
    completed = seen + law * ((partly / inside) @ members)
    worth = (1 - inside) / (members.sum(axis=1) - inside)
    groups = structure.group_of_set
    lost = np.zeros((len(counts), len(structure.groups)))
    np.add.at(lost.T, list(groups), (partly * (1 - worth)).T)
    return np.asarray(completed - structure.for_cells(lost) * law)


def information_covariance(counts: FloatArray, shares: FloatArray, structure: Structure) -> FloatArray:
    """Covariance of the most likely shares: the inverse of the observed information, at smoothed shares.

    Parameters
    ----------
    counts : shape (rows, cells + sets)
        Independent rows in each cell, and in each observation set.
    shares : shape (rows, cells)
        The most likely shares.
    structure
        Which cells each set has.

    Returns
    -------
    Shape (rows, cells, cells), zero between groups; NaN in groups without rows.
    """
    found = np.zeros((len(counts), structure.n_cells, structure.n_cells))
    for number, columns in enumerate(structure.group_slices):
        sets = _sets_of(structure, number)
        own = shares[:, columns]
        total = counts[:, columns].sum(axis=1) + counts[:, sets].sum(axis=1)
        smooth = (own * total[:, None] + PRIOR_ROWS / own.shape[1]) / (total[:, None] + PRIOR_ROWS)
        members = np.concatenate([np.eye(own.shape[1]), _members(structure, sets, columns)])
        rows = np.concatenate([counts[:, columns], counts[:, sets]], axis=1)
        weight = _expected(rows, smooth, members, own.shape[1]) / np.square(smooth @ members.T)
        information = np.einsum("qs,sc,sd->qcd", weight, members, members)
        found[:, columns, columns] = _inverse_within(information, smooth)
    return found


def _expected(rows: FloatArray, smooth: FloatArray, members: FloatArray, cells: int) -> FloatArray:
    """Rows of each cell as the smoothed shares expect them, and of each set as they are, shape (rows, cells + sets).

    An empty cell then counts for what it says: that its share is small, not that it is known.
    """
    partly = rows[:, cells:]
    inside = np.clip(smooth @ members[cells:].T, 1e-12, 1.0)
    completed = smooth * rows.sum(axis=1, keepdims=True) - smooth * ((partly / inside) @ members[cells:])
    return np.concatenate([np.maximum(completed, 0.0), partly], axis=1)


def _inverse_within(information: FloatArray, shares: FloatArray) -> FloatArray:
    """Inverse among changes that keep the sum of the shares, shape (rows, cells, cells)."""
    cells = shares.shape[1]
    centred = np.eye(cells) - 1 / cells
    within = (
        centred @ information @ centred
        + np.ones((cells, cells)) / cells * information.trace(axis1=1, axis2=2)[:, None, None]
    )
    known = np.isfinite(within).all(axis=(1, 2)) & (information.trace(axis1=1, axis2=2) > 0)
    found = np.full(information.shape, np.nan)
    found[known] = centred @ np.linalg.pinv(within[known], hermitian=True) @ centred
    return found
