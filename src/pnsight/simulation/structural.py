"""Populations given by structural equations, with two arms and two outcomes.

Given the covariates Z and hidden causes H, a population says how likely people are to choose the treatment and
how likely each pair of responses (Y untreated, Y treated) is.
Whatever else is random is private to one equation, so given (Z, H) choice and responses are independent.
H is summed out exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.schema import Codes
from pnsight.data.structure import Structure
from pnsight.data.two_by_two import TWO_BY_TWO
from pnsight.simulation.covariate_network import CovariateNetwork
from pnsight.simulation.population import Population
from pnsight.simulation.table_design import FAIR_COIN, TableDesign

Equation: TypeAlias = Callable[[Codes, Codes], FloatArray]
"""From profiles (n, covariates) and hidden states (m, hidden) to probabilities of shape (n, m) or (n, m, 4)."""

RESPONSES = tuple(product((0, 1), repeat=2))
"""Order of the response pairs (Y untreated, Y treated)."""

_STATES_AT_ONCE = 1 << 21


@dataclass(frozen=True)
class StructuralPopulation(Population):
    """A population of two arms and two outcomes, by its equations.

    Attributes
    ----------
    covariates : law of the observed covariates
    hidden : shape (k,)
        P(H_j = 1) of the hidden causes.
    choice : P(X = 1 | z, h), shape (n, m)
    responses : P(Y untreated, Y treated | z, h) in the order of `RESPONSES`, shape (n, m, 4)
    arrows : the causal diagram, as pairs (cause, effect)
    structure, design : two arms and two outcomes, 0 and 1, with a fair coin
    """

    name: str
    covariates: CovariateNetwork
    hidden: FloatArray
    choice: Equation
    responses: Equation
    arrows: tuple[tuple[str, str], ...]
    structure: Structure = TWO_BY_TWO
    design: TableDesign = FAIR_COIN

    def types(self, profiles: Codes) -> FloatArray:
        """Share of each response type among people of each profile, shape (profiles, 8); hidden causes summed out."""
        step = max(1, _STATES_AT_ONCE >> len(self.hidden))
        parts = [self._types(profiles[i : i + step]) for i in range(0, len(profiles), step)]
        return np.concatenate(parts) if parts else np.zeros((0, TWO_BY_TWO.n_types))

    def _types(self, profiles: Codes) -> FloatArray:
        states, weight = hidden_states(self.hidden)
        treated, responses = self.choice(profiles, states), self.responses(profiles, states)
        chosen = np.stack([(1 - treated) * weight, treated * weight], axis=1)
        return (chosen @ responses).reshape(len(profiles), TWO_BY_TWO.n_types)


def hidden_states(probabilities: FloatArray) -> tuple[Codes, FloatArray]:
    """Every state of hidden binary causes.

    Parameters
    ----------
    probabilities : shape (hidden,)
        That each is one.

    Returns
    -------
    The states, shape (states, hidden), and how likely each is, shape (states,).
    """
    states = np.array(list(product((0, 1), repeat=len(probabilities))), dtype=np.int32)
    return states, np.prod(np.where(states == 1, probabilities, 1 - probabilities), axis=1)
