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
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pnsight._typing import FloatArray
from pnsight.data.schema import Codes
from pnsight.data.structure import Structure
from pnsight.data.two_by_two import TWO_BY_TWO
from pnsight.simulation.covariate_network import CovariateNetwork
from pnsight.simulation.profile_population import ProfilePopulation
from pnsight.simulation.table_design import FAIR_COIN, TableDesign

Equation: TypeAlias = Callable[[npt.NDArray[Any], Codes], FloatArray]
"""From covariates (n, covariates) and hidden states (m, hidden) to probabilities of shape (n, m) or (n, m, 4)."""

RESPONSES = tuple(product((0, 1), repeat=2))
"""Order of the response pairs (Y untreated, Y treated)."""

_STATES_AT_ONCE = 1 << 21


@dataclass(frozen=True)
class StructuralPopulation(ProfilePopulation):
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
        return types_of_people(profiles, self.hidden, self.choice, self.responses)


def types_of_people(people: npt.NDArray[Any], hidden: FloatArray, choice: Equation, responses: Equation) -> FloatArray:
    """Shares of the response types given the covariates alone.

    Parameters
    ----------
    people : shape (people, covariates)
        Their covariates.
    hidden, choice, responses
        As `StructuralPopulation` has them.

    Returns
    -------
    Shape (people, 8): hidden causes are summed out.
    """
    step = max(1, _STATES_AT_ONCE >> len(hidden))
    parts = [_summed_out(people[i : i + step], hidden, choice, responses) for i in range(0, len(people), step)]
    return np.concatenate(parts) if parts else np.zeros((0, TWO_BY_TWO.n_types))


def _summed_out(people: npt.NDArray[Any], hidden: FloatArray, choice: Equation, responses: Equation) -> FloatArray:
    states, weight = hidden_states(hidden)
    treated = choice(people, states)
    chosen = np.stack([(1 - treated) * weight, treated * weight], axis=1)
    return (chosen @ responses(people, states)).reshape(len(people), TWO_BY_TWO.n_types)


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
