"""How groups of people differ in each covariate: the arms of the experiment, or the two tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from pnsight._text import as_records
from pnsight._typing import FloatArray
from pnsight.data.profiles import distinct_profiles
from pnsight.data.schema import Codes, Schema
from pnsight.diagnostics.stratified_chi2 import Association, CellIndex, association
from pnsight.diagnostics.verdict import FAMILYWISE_ALPHA, OK

DIFFERS = "differs"

MATERIAL_DIFFERENCE = 0.1
"""A standardised difference below this is customarily taken to be negligible."""

MATERIAL_SIZE = 0.05
"""The same for a correlation with the group: a half-half covariate that differs by 0.1 correlates by 0.05."""


@dataclass(frozen=True)
class Contrast:
    """Differences between two groups; arrays have shape (covariates,).

    Attributes
    ----------
    covariates : names
    difference : the largest standardised difference of any level's share
    total_variation : half the sum of all levels' differences in share
    p_value, adjusted : of no difference at all, for this look alone and for all looks together
    together : the test of all covariates jointly, which sees combinations too
    """

    covariates: tuple[str, ...]
    difference: FloatArray
    total_variation: FloatArray
    p_value: FloatArray
    adjusted: FloatArray
    together: Association

    @property
    def tests(self) -> int:
        """How many looks were taken: each covariate, and all of them together."""
        return len(self.covariates) + 1

    @property
    def smallest(self) -> float:
        """The smallest adjusted p-value of any look."""
        return float(min(self.together_adjusted, self.adjusted.min(initial=1.0)))

    @property
    def together_adjusted(self) -> float:
        """Adjusted p-value of all covariates jointly."""
        return min(1.0, self.together.p_value * self.tests)

    @property
    def differing(self) -> list[int]:
        """Positions of the covariates that differ by more than chance, the most different first."""
        found = np.flatnonzero(self.adjusted < FAMILYWISE_ALPHA)
        return [int(j) for j in found[np.argsort(-self.difference[found], kind="stable")]]

    def columns(self) -> dict[str, list[Any]]:
        """One row a covariate."""
        return {
            "covariate": list(self.covariates),
            "difference": self.difference.tolist(),
            "total_variation": self.total_variation.tolist(),
            "p_value": self.p_value.tolist(),
            "adjusted": self.adjusted.tolist(),
        }

    def looks(self) -> list[dict[str, Any]]:
        """Each test as a row of `Check.looks`."""
        found = [
            {"kind": "covariate", "look": name, "size": size, "p_value": p_value, "adjusted": adjusted}
            for name, size, _, p_value, adjusted in zip(*self.columns().values(), strict=True)
        ]
        whole = {"kind": "all covariates", "p_value": self.together.p_value, "adjusted": self.together_adjusted}
        return [{**look, "status": DIFFERS if look["adjusted"] < FAMILYWISE_ALPHA else OK} for look in (*found, whole)]

    def details(self) -> dict[str, Any]:
        """Everything, as plain data."""
        return {
            "covariates": as_records(self.columns()),
            "together_p_value": self.together.p_value,
            "together_adjusted": self.together_adjusted,
            "together_size": self.together.size,
        }


def contrast(schema: Schema, profiles: Codes, groups: FloatArray, worth: Sequence[float]) -> Contrast:
    """Standardised differences of two groups, covariate by covariate.

    Parameters
    ----------
    schema, profiles
        The covariates, and the profiles' codes, shape (profiles, covariates).
    groups : shape (profiles, groups)
        People of each profile in each group; of more groups than two, the pair that differs most counts.
    worth
        How many independent rows a row is worth in comparing each covariate, and last whole profiles.

    Returns
    -------
    differences with p-values, for each covariate and for all together
    """
    shares = [_shares(groups, profiles[:, j], levels) for j, levels in enumerate(schema.shape)]
    found = [association(groups, cell_index(profiles[:, j]), None, worth[j]) for j in range(len(schema.shape))]
    p_value = np.array([one.p_value for one in found])
    return Contrast(
        schema.names,
        np.array([max(_standardised(pair) for pair in _pairs(share)) for share in shares]),
        np.array([max(np.abs(pair[:, 0] - pair[:, 1]).sum() / 2 for pair in _pairs(share)) for share in shares]),
        p_value,
        np.minimum(1.0, p_value * (len(schema.names) + 1)),
        combined(schema, profiles, groups, worth[-1]),
    )


def combined(
    schema: Schema, profiles: Codes, groups: FloatArray, worth: float, strata: CellIndex | None = None
) -> Association:
    """Joint test of all covariates: whether the whole profile says which group a person is in, beyond the stratum.

    Parameters
    ----------
    schema, profiles
        The covariates, and the profiles' codes, shape (profiles, covariates).
    groups : shape (profiles, 2)
        People of each profile in either group.
    worth
        How many independent rows a row is worth in comparing whole profiles.
    strata : shape (profiles,), or None
        The stratum of each profile; None for one stratum.

    Returns
    -------
    the statistic beside what independence makes of it
    """
    return association(groups, distinct_profiles(schema, profiles)[1], strata, worth)


def cell_index(codes: Codes) -> CellIndex:
    """Cells of one covariate, for `association`.

    Parameters
    ----------
    codes : shape (profiles,)
        The level of each profile.

    Returns
    -------
    the same as indices, shape (profiles,)
    """
    return codes.astype(np.intp)


def _shares(groups: FloatArray, codes: Codes, levels: int) -> FloatArray:
    """Share of each level in each group, shape (levels, groups); NaN for a group without people."""
    counts = np.stack([np.bincount(codes, weights=group, minlength=levels) for group in groups.T], axis=1)
    totals = counts.sum(axis=0)
    return np.asarray(np.divide(counts, totals, out=np.full(counts.shape, np.nan), where=totals > 0))


def _pairs(shares: FloatArray) -> list[FloatArray]:
    """Shares of each two groups, shape (levels, 2) each."""
    return [shares[:, list(pair)] for pair in combinations(range(shares.shape[1]), 2)]


def _standardised(shares: FloatArray) -> float:
    """The largest |p - q| / sqrt((p(1-p) + q(1-q)) / 2) over the levels."""
    gap = np.abs(shares[:, 0] - shares[:, 1])
    spread = np.sqrt((shares * (1 - shares)).mean(axis=1))
    apart = np.where(gap > 0, np.inf, gap)  # both shares 0 or 1: apart completely, or not at all
    return float(np.divide(gap, spread, out=apart, where=spread > 0).max())
