"""Profiles as networks see them, some at a time: all of a million people at once would take half a gigabyte."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from pnsight._typing import Float32Array, FloatArray
from pnsight.data.number_scale import STANDARDISED, Coding
from pnsight.data.schema import Codes, Schema
from pnsight.models.mlp_numpy import BLOCK, Layers, probabilities

_AT_ONCE = 64 * BLOCK
"""Profiles that are coded together; whole blocks of the networks, whose answers do not depend on it then."""


class Network(NamedTuple):
    """A trained network, and what it sees of numbers."""

    layers: Layers
    coding: Coding = STANDARDISED


@dataclass(frozen=True)
class ProfileInputs:
    """The inputs of networks, one row a profile, coded where they are asked for.

    Attributes
    ----------
    schema : Schema
    profiles : array of shape (profiles, covariates)
    coding : "standardised", "piecewise" or "stepped"
        What is seen of numbers.
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

    def types(self, networks: Sequence[Network]) -> FloatArray:
        """What each network says of each profile, shape (networks, profiles, types)."""
        return np.stack(list(self._said(networks, slice(None), False))).astype(np.float64)

    def mean_types(self, networks: Sequence[Network]) -> FloatArray:
        """The mean of what networks say of each profile, shape (profiles, types).

        Of people with numbers it does not depend on who else is asked about: scored in any blocks, answers are equal.
        """
        blocks, alone = range(0, max(1, len(self)), _AT_ONCE), bool(self.schema.numeric)
        rows = [slice(start, start + _AT_ONCE) for start in blocks]
        means = [sum(self._said(networks, some, alone), np.float64(0)) / len(networks) for some in rows]
        return np.concatenate(means, dtype=np.float64)

    def _said(self, networks: Sequence[Network], rows: slice, alone: bool) -> Iterator[Float32Array]:
        """What networks say of some profiles, which are coded once for all that see them alike."""
        coded: dict[Coding, Float32Array] = {}
        for network in networks:
            if network.coding not in coded:
                coded[network.coding] = replace(self, coding=network.coding)[rows]
            yield probabilities(network.layers, coded[network.coding], alone)
