"""Double description: the extreme rays of a cone {v : G v >= 0}, exactly, in whole numbers.

Inequalities are added one after another. Rays that satisfy the new one stay, those that violate it go, and each pair of
adjacent rays on either side gives a ray on its boundary; two rays are adjacent iff no third one is tight wherever both
are. Source: T. S. Motzkin et al. (1953), "The double description method"; K. Fukuda and A. Prodon (1996), "Double
description method revisited".
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pnsight.errors import LimitError

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

MAX_RAYS = 20_000
"""More intermediate rays than this are given up on: the estimand is then solved query by query."""

_PAIRS_AT_ONCE = 4096
_PRIME = 2**31 - 1
_SAFE = 2**31
"""Whole numbers up to here can be multiplied and added without overflow."""


def extreme_rays(inequalities: IntArray, most: int = MAX_RAYS) -> IntArray:
    """Extreme rays of the cone of all v with `inequalities` @ v >= 0.

    Parameters
    ----------
    inequalities : shape (m, d)
        Whole numbers, of rank d, so that the cone has a vertex at zero.
    most
        Intermediate rays, with more of which it is given up on.

    Returns
    -------
    Shape (rays, d): whole numbers without common factor.
    """
    order = np.lexsort(inequalities.T[::-1])
    first, rest = _basis_first(inequalities, order)
    rays = _cone_of_basis(inequalities[first])
    tight = np.zeros((len(rays), len(inequalities)), dtype=bool)
    tight[:, first] = rays @ inequalities[first].T == 0
    for number in rest:
        rays, tight = _add(rays, tight, inequalities[number], number, most)
    return rays


def independent_rows(matrix: IntArray) -> list[int]:
    """The first rows that are linearly independent of those before.

    Found by elimination modulo a prime, in whole numbers: rows that are independent there are independent.

    Parameters
    ----------
    matrix : shape (m, d)
        Whole numbers.

    Returns
    -------
    Positions of as many rows as the matrix has rank.
    """
    found: list[int] = []
    left = np.asarray(matrix, dtype=np.int64) % _PRIME
    for number in range(len(left)):
        (columns,) = np.nonzero(left[number])
        if not len(columns):
            continue
        found.append(number)
        if len(found) == matrix.shape[1]:
            break
        pivot = left[number] * pow(int(left[number, columns[0]]), -1, _PRIME) % _PRIME
        below = left[number + 1 :]
        below -= below[:, columns[:1]] * pivot % _PRIME
        below %= _PRIME
    return found


def _basis_first(inequalities: IntArray, order: npt.NDArray[np.intp]) -> tuple[list[int], list[int]]:
    """Inequalities that determine a cone by themselves, and the others, in order."""
    chosen = [int(order[place]) for place in independent_rows(inequalities[order])]
    taken = set(chosen)
    return chosen, [int(number) for number in order if int(number) not in taken]


def _cone_of_basis(basis: IntArray) -> IntArray:
    """Rays of a cone with as many inequalities as dimensions: the columns of the inverse, in whole numbers."""
    size, scale = len(basis), abs(round(float(np.linalg.det(basis))))
    rays = np.rint(np.linalg.inv(basis).T * scale).astype(np.int64)
    rays //= np.gcd.reduce(rays, axis=1)[:, None]
    reached = basis @ rays.T
    if not scale or (reached != np.diag(np.diag(reached))).any() or (np.diag(reached) <= 0).any():
        raise LimitError(f"a basis of {size} inequalities cannot be inverted in whole numbers.")
    return rays


def _add(rays: IntArray, tight: BoolArray, inequality: IntArray, number: int, most: int) -> tuple[IntArray, BoolArray]:
    """Rays, and which inequalities are tight at each, after one more inequality."""
    value = rays @ inequality
    inside, outside = np.flatnonzero(value > 0), np.flatnonzero(value < 0)
    tight[value == 0, number] = True
    if not len(outside):
        return rays, tight
    left, right = _adjacent(tight, inside, outside, rays.shape[1])
    new = value[left][:, None] * rays[right] - value[right][:, None] * rays[left]
    new = new // np.maximum(np.gcd.reduce(new, axis=1), 1)[:, None] if len(new) else new
    if len(new) + len(rays) > most or (new.size and np.abs(new).max() > _SAFE):
        raise LimitError("the estimand has too many terms to be written as a formula.")
    tight_new = tight[left] & tight[right]
    tight_new[:, number] = True
    kept = value >= 0
    return np.concatenate([rays[kept], new]), np.concatenate([tight[kept], tight_new])


def _adjacent(
    tight: BoolArray, inside: npt.NDArray[np.intp], outside: npt.NDArray[np.intp], dimension: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Pairs of adjacent rays, one on either side."""
    holds = tight.astype(np.float32)  # small whole numbers, exact in products of matrices
    common = holds[inside] @ holds[outside].T
    pairs = np.argwhere(common >= dimension - 2)
    kept = [pairs[:0]]
    for start in range(0, len(pairs), _PAIRS_AT_ONCE):
        some = pairs[start : start + _PAIRS_AT_ONCE]
        shared = holds[inside[some[:, 0]]] * holds[outside[some[:, 1]]]
        containing = (shared @ holds.T >= shared.sum(axis=1, keepdims=True)).sum(axis=1)
        kept.append(some[containing == 2])
    found = np.concatenate(kept)
    return inside[found[:, 0]], outside[found[:, 1]]
