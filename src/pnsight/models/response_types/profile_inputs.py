"""Profiles as networks see them, some at a time: all of a million people at once would take half a gigabyte."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pnsight._typing import Float32Array, FloatArray
from pnsight.data.number_scale import STANDARDISED, Coding
from pnsight.data.schema import Codes, Schema
from pnsight.models.mlp_numpy import BLOCK, Layers, mean_probabilities

_AT_ONCE = 64 * BLOCK
"""Profiles that are coded together; whole blocks of the networks, whose answers do not depend on it then."""


@dataclass(frozen=True)
class ProfileInputs:
    """The inputs of networks, one row a profile, coded where they are asked for.

    Attributes
    ----------
    schema : Schema
    profiles : array of shape (profiles, covariates)
    coding : "standardised", "ranked" or "stepped"
        What networks see of numbers.
    """

    schema: Schema
    profiles: Codes
    coding: Coding = STANDARDISED

    @property
    def shape(self) -> tuple[int, int]:
        """Profiles, and columns that networks see."""
        return len(self.profiles), self[:0].shape[1]

    def __len__(self) -> int:
        return len(self.profiles)

    def __getitem__(self, rows: Any) -> Float32Array:
        return self.schema.effect_coding(self.profiles[rows], self.coding)

    def mean_types(self, networks: Sequence[Layers]) -> FloatArray:
        """The mean of what networks say of each profile, shape (profiles, types).

        Of people with numbers it does not depend on who else is asked about: scored in any blocks, answers are equal.
        """
        starts, alone = range(0, max(1, len(self)), _AT_ONCE), bool(self.schema.numeric)
        return np.concatenate([mean_probabilities(networks, self[start : start + _AT_ONCE], alone) for start in starts])
