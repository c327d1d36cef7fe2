"""Which groups to look at: all of them or, where they are too many, those that a beam search comes upon.

What makes a group stand out shows, weaker, in the larger groups that it is part of. So groups that fix few covariates
are looked at first, the best of them are narrowed down by every other covariate, the best of those again. Source: W.
Klösgen (1996), "Explora: a multipattern and multistrategy discovery assistant".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from pnsight._typing import BoolArray, FloatArray
from pnsight.data.schema import OPEN, Codes, Schema
from pnsight.queries import lattice

MAX_GROUPS = 60_000
"""All groups are looked at if they are no more than this: those of ten yes/no covariates."""

MAX_FIXED = 3
"""Covariates that a group may fix where not all groups are looked at."""

MAX_WHOLE = 4_000
"""Groups of up to two covariates are all looked at if they are no more than this."""

MAX_NARROWED = 2_500
"""Groups of each further size that are looked at, about."""


@dataclass(frozen=True)
class FoundGroups:
    """Groups that are large enough: all of few covariates, the best of more, and what each of those is part of.

    Attributes
    ----------
    codes : shape (groups, covariates)
    looked_at, large_enough : how many groups were considered, and how many of them are large enough
    all_fixing, max_fixed : covariates up to which all groups were looked at, and that they fix at most; None where all
        groups were looked at
    unselected : shape (groups,)
        Whether a group is here whatever its merit, since all of its size are.
    """

    codes: Codes
    looked_at: int
    large_enough: int
    all_fixing: int | None
    max_fixed: int | None
    unselected: BoolArray


def search_groups(
    schema: Schema,
    large_enough: Callable[[Codes], BoolArray],
    merit: Callable[[Codes], FloatArray],
    wanted: int,
    most: int = MAX_GROUPS,
) -> FoundGroups:
    """Look at all groups, or search for the best of them.

    Parameters
    ----------
    schema
        The covariates.
    large_enough
        Which groups, shape (groups, covariates), are worth looking at; what is within a group that is too small is too
        small as well.
    merit
        How good groups are, shape (groups,), NaN where that is not known.
    wanted
        How many of the best are asked for.
    most
        All groups are looked at if they are no more than this.

    Returns
    -------
    The groups, with every more general one of each.
    """
    if schema.n_queries <= most:
        every = lattice.all_queries(schema)
        kept = every[large_enough(every)]
        return FoundGroups(kept, len(every), len(kept), None, None, np.ones(len(kept), dtype=bool))
    all_fixing = fixed = max(
        k for k in range(3) if not k or lattice.n_queries_fixing_at_most(schema, k) <= min(most, MAX_WHOLE)
    )
    looked_at = _LookedAt(large_enough)
    whole = looked_at.add(lattice.queries_fixing_at_most(schema, fixed))
    size = max(1, min(most, MAX_NARROWED) // sum(schema.shape))
    beam, best = _best(whole[(whole != OPEN).sum(axis=1) == fixed], merit, size), [whole[:0]]
    while len(beam) and fixed < min(MAX_FIXED, len(schema.shape)):
        fixed += 1
        best.append(_best(looked_at.add(_narrowed(schema, beam)), merit, max(size, wanted)))
        beam = best[-1][:size]
    listed = np.concatenate(best)
    codes = np.unique(np.concatenate([listed, _more_general(listed)]), axis=0)
    among_whole = (codes != OPEN).sum(axis=1) <= all_fixing
    codes = np.concatenate([whole, codes[~among_whole]])
    return FoundGroups(
        codes, len(looked_at.seen), looked_at.large_enough, all_fixing, fixed, np.arange(len(codes)) < len(whole)
    )


def _best(codes: Codes, merit: Callable[[Codes], FloatArray], number: int) -> Codes:
    """The groups with the highest merit, best first, shape (at most number, covariates)."""
    if not len(codes):
        return codes
    return codes[np.argsort(-np.nan_to_num(merit(codes), nan=-np.inf), kind="stable")[:number]]


class _LookedAt:
    """Groups that were looked at, each once."""

    def __init__(self, large_enough: Callable[[Codes], BoolArray]) -> None:
        self.seen: set[bytes] = set()
        self.large_enough = 0
        self._is_large_enough = large_enough

    def add(self, codes: Codes) -> Codes:
        """Look at groups; those of them that are large enough and were not looked at before."""
        before = np.array([query.tobytes() in self.seen for query in codes], dtype=bool)
        new = np.unique(codes[~before], axis=0)
        self.seen.update(query.tobytes() for query in new)
        kept = new[self._is_large_enough(new)] if len(new) else new
        self.large_enough += len(kept)
        return kept


def _narrowed(schema: Schema, codes: Codes) -> Codes:
    """Each group with one more covariate fixed, in every way, shape (groups, covariates)."""
    found = [codes[:0]]
    for covariate, levels in enumerate(schema.shape):
        left_open = codes[codes[:, covariate] == OPEN]
        narrower = np.repeat(left_open, levels, axis=0)
        narrower[:, covariate] = np.tile(_level_codes(schema, covariate), len(left_open))
        found.append(narrower)
    return np.concatenate(found)


def _level_codes(schema: Schema, covariate: int) -> Codes:
    """Codes of a covariate's levels, or of the groups of its numbers, shape (levels,)."""
    codes = np.full((schema.shape[covariate], len(schema.shape)), OPEN, dtype=np.int32)
    codes[:, covariate] = np.arange(len(codes))
    return schema.coded(codes)[:, covariate]


def _more_general(codes: Codes) -> Codes:
    """Every group that has fewer of a group's covariates fixed, shape (groups, covariates)."""
    found = [codes[:0]]
    for fixed in np.unique((codes != OPEN).sum(axis=1)):
        some = codes[(codes != OPEN).sum(axis=1) == fixed]
        places = np.nonzero(some != OPEN)[1].reshape(len(some), fixed)
        for opened in (each for size in range(1, fixed) for each in combinations(range(fixed), size)):
            wider = some.copy()
            np.put_along_axis(wider, places[:, list(opened)], OPEN, axis=1)
            found.append(wider)
    return np.unique(np.concatenate(found), axis=0)
