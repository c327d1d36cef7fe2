"""Populations of any structure: log-linear models of the response types, mixed over hidden causes.

The logarithm of a type's share is, but for a constant of the profile, a sum of effects: what a statement says of the
type, such as ``Y1`` or ``X == 2``, times a weight, times a product of covariates and hidden causes, each +1 where it
holds and -1 where not. Hidden causes are summed out exactly, so what people choose tells of how they would respond.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from pnsight._typing import BoolArray, FloatArray
from pnsight.data.schema import Codes
from pnsight.data.structure import Structure
from pnsight.estimands.expressions import evaluate
from pnsight.simulation.covariate_network import CovariateNetwork
from pnsight.simulation.profile_population import ProfilePopulation
from pnsight.simulation.structural import hidden_states
from pnsight.simulation.table_design import TableDesign

Effects: TypeAlias = Mapping[str, Mapping[str, float]]
"""By statement about a type, the weights of products of covariates and hidden causes, as in
``{"X == 1": {"old*female": 0.3}}``; an empty product is a constant."""


@dataclass(frozen=True)
class LogLinearPopulation(ProfilePopulation):
    """A population of any structure, by the effects of covariates and hidden causes on the shares of the types.

    Attributes
    ----------
    hidden : shape (hidden,)
        P(H_j = 1) of the hidden causes.
    terms : positions, among the covariates and then the hidden causes, of those that are multiplied
    weights : shape (terms, types)
        What each product adds to the logarithm of each type's share.
    possible : shape (types,)
        Types that there are.
    """

    name: str
    covariates: CovariateNetwork
    structure: Structure
    design: TableDesign
    hidden: FloatArray
    terms: tuple[tuple[int, ...], ...]
    weights: FloatArray
    possible: BoolArray

    def types(self, profiles: Codes) -> FloatArray:
        """Share of each response type among people of each profile, shape (profiles, types)."""
        found = np.zeros((len(profiles), self.structure.n_types))
        for state, weight in zip(*hidden_states(self.hidden), strict=True):
            found += weight * self._types(profiles, state)
        return found

    def _types(self, profiles: Codes, state: Codes) -> FloatArray:
        """The same where the hidden causes are in one state, shape (hidden,)."""
        everything = np.concatenate([profiles, np.broadcast_to(state, (len(profiles), len(state)))], axis=1)
        signs = 2.0 * everything - 1
        products = np.stack([signs[:, list(term)].prod(axis=1) for term in self.terms], axis=1)
        scores = np.where(self.possible, products @ self.weights, -np.inf)
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def log_linear_population(
    name: str,
    covariates: CovariateNetwork,
    structure: Structure,
    design: TableDesign,
    hidden: Mapping[str, float],
    effects: Effects,
    possible: str | None = None,
) -> LogLinearPopulation:
    """A population from its effects.

    Parameters
    ----------
    name
        Of the population.
    covariates, structure, design
        Its covariates, response types and tables.
    hidden
        By name, how likely each hidden cause is.
    effects
        Weights by statement and product; statements speak of arms and outcomes by position, as ``Y2 == 0``.
    possible
        Statement that holds of everyone; None if every type may be there.

    Returns
    -------
    The population.
    """
    place = {each: number for number, each in enumerate((*covariates.names, *hidden))}
    weights: dict[tuple[int, ...], FloatArray] = {}
    for statement, terms in effects.items():
        value = np.asarray(evaluate(statement, structure.people), dtype=np.float64)
        for product, weight in terms.items():
            term = tuple(place[each] for each in product.split("*") if each)
            weights[term] = weights.get(term, 0.0) + weight * value
    everyone = np.ones(structure.n_types, dtype=bool)
    return LogLinearPopulation(
        name,
        covariates,
        structure,
        design,
        np.array(list(hidden.values())),
        tuple(weights),
        np.stack(list(weights.values())),
        everyone if possible is None else np.asarray(evaluate(possible, structure.people), dtype=bool),
    )
