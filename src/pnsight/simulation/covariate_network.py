"""Distributions of binary covariates: each depends on a few earlier ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.schema import Codes, Covariate, Schema


@dataclass(frozen=True)
class CovariateNetwork:
    """Binary covariates, each depending on a few earlier ones.

    ``tables[j]`` holds P(Z_j = 1 | parents) with one axis of length 2 for each of ``parents[j]``.
    ``levels[j]`` is what 0 and 1 are called; without any names they are 0 and 1.
    """

    names: tuple[str, ...]
    parents: tuple[tuple[int, ...], ...]
    tables: tuple[FloatArray, ...]
    levels: tuple[tuple[str, str], ...] = ()

    @classmethod
    def independent(cls, names: tuple[str, ...], probabilities: FloatArray) -> CovariateNetwork:
        """Covariates that do not depend on each other."""
        return cls(names, ((),) * len(names), tuple(np.array(p) for p in probabilities))

    @property
    def schema(self) -> Schema:
        """The covariates, by name and with the names of their levels."""
        if not self.levels:
            return Schema.binary(self.names)
        return Schema(tuple(Covariate(name, levels) for name, levels in zip(self.names, self.levels, strict=True)))

    def mass(self, profiles: Codes) -> FloatArray:
        """P(z) of each profile, shape (profiles,)."""
        mass = np.ones(len(profiles))
        for j, one in enumerate(self._chances(profiles)):
            mass *= np.where(profiles[:, j] == 1, one, 1 - one)
        return mass

    def draw(self, rng: np.random.Generator, rows: int) -> Codes:
        """Profiles of that many people, shape (rows, covariates)."""
        profiles = np.zeros((rows, len(self.names)), dtype=np.int32)
        for j in range(len(self.names)):
            profiles[:, j] = rng.random(rows) < self._chance(j, profiles)
        return profiles

    def _chances(self, profiles: Codes) -> list[FloatArray]:
        return [self._chance(j, profiles) for j in range(len(self.names))]

    def _chance(self, j: int, profiles: Codes) -> FloatArray:
        chance: FloatArray = self.tables[j][tuple(profiles[:, list(self.parents[j])].T)]
        return chance


def random_network(rng: np.random.Generator, covariates: int, dependent: bool) -> CovariateNetwork:
    """Random covariates z1, z2, ...; the digits are those of the frozen random populations.

    Parameters
    ----------
    rng
        Where the numbers come from.
    covariates
        How many there are.
    dependent
        Whether each covariate after the first has one or two earlier ones as parents.

    Returns
    -------
    Their distribution.
    """
    names = tuple(f"z{i}" for i in range(1, covariates + 1))
    if not dependent:
        return CovariateNetwork.independent(names, rng.uniform(0.1, 0.9, size=covariates))
    parents = tuple(
        tuple(int(p) for p in rng.choice(j, size=min(j, int(rng.integers(1, 3))), replace=False))
        for j in range(covariates)
    )
    return CovariateNetwork(names, parents, tuple(rng.uniform(0.1, 0.9, size=(2,) * len(p)) for p in parents))
