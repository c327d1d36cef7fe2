"""Populations given by structural equations: their exact law, and samples of both tables.

A population is a law of observed covariates Z, independent hidden binary causes H, and two equations given both:
how likely a person is to choose the treatment, and how likely each pair of responses (Y untreated, Y treated) is.
Whatever else is random is private to one equation, so given (Z, H) choice and responses are independent.
H is summed out exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pnsight._typing import FloatArray
from pnsight.data.law import Law
from pnsight.data.profiles import distinct_profiles
from pnsight.data.schema import Codes, Schema
from pnsight.data.study import Study
from pnsight.data.two_by_two import TWO_BY_TWO, cell_counts
from pnsight.errors import LimitError, PopulationError
from pnsight.estimands.estimand import Ends, Estimand, EstimandLike
from pnsight.estimands.payoffs import PayoffsLike
from pnsight.estimands.resolve import resolve_crossed_bounds
from pnsight.queries import lattice
from pnsight.queries.bound_table import BoundTable
from pnsight.queries.query import QueryLike, encode, format_queries

Equation: TypeAlias = Callable[[Codes, Codes], FloatArray]
"""From profiles (n, covariates) and hidden states (m, hidden) to probabilities of shape (n, m) or (n, m, 4)."""

RESPONSES = tuple(product((0, 1), repeat=2))
"""Order of the response pairs (Y untreated, Y treated)."""

MOST_ROWS = 100_000_000
"""Rows of a table that are sampled, all of which are in memory at once."""

_MOST_PROFILES = 1 << 20
_STATES_AT_ONCE = 1 << 21


@dataclass(frozen=True)
class CovariateNetwork:
    """Binary covariates, each depending on a few earlier ones.

    ``tables[j]`` holds P(Z_j = 1 | parents) with one axis of length 2 for each of ``parents[j]``.
    """

    names: tuple[str, ...]
    parents: tuple[tuple[int, ...], ...]
    tables: tuple[FloatArray, ...]

    @classmethod
    def independent(cls, names: tuple[str, ...], probabilities: FloatArray) -> CovariateNetwork:
        """Covariates that do not depend on each other."""
        return cls(names, ((),) * len(names), tuple(np.array(p) for p in probabilities))

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


@dataclass(frozen=True)
class Population:
    """A population whose every answer is known.

    Attributes
    ----------
    covariates : law of the observed covariates
    hidden : shape (k,)
        P(H_j = 1) of the hidden causes.
    choice : P(X = 1 | z, h), shape (n, m)
    responses : P(Y untreated, Y treated | z, h) in the order of `RESPONSES`, shape (n, m, 4)
    arrows : the causal diagram, as pairs (cause, effect)
    """

    name: str
    covariates: CovariateNetwork
    hidden: FloatArray
    choice: Equation
    responses: Equation
    arrows: tuple[tuple[str, str], ...]

    @cached_property
    def schema(self) -> Schema:
        """The observed covariates."""
        return Schema.binary(self.covariates.names)

    # --- the oracle ------------------------------------------------------------------------------------

    def types(self, profiles: Codes) -> FloatArray:
        """Share of each response type among people of each profile, shape (profiles, 8); hidden causes summed out."""
        step = max(1, _STATES_AT_ONCE >> len(self.hidden))
        parts = [self._types(profiles[i : i + step]) for i in range(0, len(profiles), step)]
        return np.concatenate(parts) if parts else np.zeros((0, TWO_BY_TWO.n_types))

    def _types(self, profiles: Codes) -> FloatArray:
        states = np.array(list(product((0, 1), repeat=len(self.hidden))), dtype=np.int32)
        weight = np.prod(np.where(states == 1, self.hidden, 1 - self.hidden), axis=1)
        treated, responses = self.choice(profiles, states), self.responses(profiles, states)
        chosen = np.stack([(1 - treated) * weight, treated * weight], axis=1)
        return (chosen @ responses).reshape(len(profiles), TWO_BY_TWO.n_types)

    def mixture(self, queries: QueryLike) -> tuple[FloatArray, FloatArray]:
        """Mass of each query, shape (queries,), and its shares of the response types, shape (queries, 8)."""
        profiles, weighted = self._weighted_types
        sums = lattice.sum_over(self.schema, encode(self.schema, queries), profiles, weighted)
        mass = sums.sum(axis=1)
        shares = np.divide(sums, mass[:, None], out=np.full(sums.shape, np.nan), where=mass[:, None] > 0)
        return mass, shares

    @cached_property
    def _weighted_types(self) -> tuple[Codes, FloatArray]:
        if self.schema.n_profiles > _MOST_PROFILES:
            raise LimitError(
                f"population {self.name!r} has {self.schema.n_profiles:,} profiles, more than the {_MOST_PROFILES:,} "
                "that are summed exactly; ask for the law of single profiles instead."
            )
        profiles = lattice.all_profiles(self.schema)
        return profiles, self.covariates.mass(profiles)[:, None] * self.types(profiles)

    def law(self, queries: QueryLike = None) -> Law:
        """The exact law of each query."""
        return Law.from_types(self.mixture(queries)[1], TWO_BY_TWO)

    def pns(self, queries: QueryLike = None) -> FloatArray:
        """The true probability of necessity and sufficiency, which no table identifies; shape (queries,)."""
        return self.true_value(queries, "pns")

    def true_value(
        self, queries: QueryLike = None, quantity: EstimandLike = None, *, payoffs: PayoffsLike | None = None
    ) -> FloatArray:
        """The true value of a quantity, NaN where what it conditions on has probability zero; shape (queries,)."""
        return Estimand.parse(quantity, payoffs=payoffs).truth(self.mixture(queries)[1], TWO_BY_TWO)

    def bounds(self, queries: QueryLike = None, quantity: EstimandLike = None, **options: Any) -> BoundTable:
        """The bounds that unlimited data would give.

        Parameters
        ----------
        queries, quantity, options
            As `Model.bounds` takes them; nothing is assumed of a known population.

        Returns
        -------
        One row a query.
        """
        codes, estimand = encode(self.schema, queries), Estimand.parse(quantity, **options)
        refined = estimand.refines(TWO_BY_TWO)
        ends = self._refined(codes, estimand) if refined else estimand.bounds_at(self.law(codes))
        lower, upper, status = resolve_crossed_bounds(*ends, within=estimand.span)
        everyone = np.full(len(codes), np.inf)
        table = format_queries(self.schema, codes), lower, upper, everyone, everyone, status
        return BoundTable(estimand.quantity.name, *table, notes=estimand.notes(TWO_BY_TWO))

    def _refined(self, codes: Codes, estimand: Estimand) -> Ends:
        """Both ends from the means of the profiles' own bounds."""
        profiles, weighted = self._weighted_types
        mass = weighted.sum(axis=1, keepdims=True)
        shares = np.divide(weighted, mass, out=np.full(weighted.shape, 1 / weighted.shape[1]), where=mass > 0)
        brought = np.column_stack([mass * estimand.profile_terms(Law.from_types(shares, TWO_BY_TWO)), mass])
        sums = lattice.sum_over(self.schema, codes, profiles, brought)
        means = sums[:, :-1] / np.where(sums[:, -1:] > 0, sums[:, -1:], np.nan)
        return estimand.bounds_from_mean_terms(means, TWO_BY_TWO)

    # --- samples ---------------------------------------------------------------------------------------

    def tables(
        self, experimental: int, observational: int, seed: int, assignment: float = 0.5
    ) -> tuple[dict[str, npt.NDArray[np.int8]], dict[str, npt.NDArray[np.int8]]]:
        """Rows of both tables as columns: the covariates, x and y.

        In the experiment a coin that comes up with probability `assignment` decides the treatment.
        """
        _check_sizes(experimental, observational, assignment)
        tables = self._rows(experimental, seed, 0, assignment), self._rows(observational, seed, 1, None)
        experiment, registry = (self._columns(profiles, x, y) for profiles, x, y in tables)
        return experiment, registry

    def sample(self, experimental: int, observational: int, seed: int, assignment: float = 0.5) -> Study:
        """The same rows as `tables`, counted."""
        _check_sizes(experimental, observational, assignment)
        rows = self._rows(experimental, seed, 0, assignment), self._rows(observational, seed, 1, None)
        profiles, place = distinct_profiles(self.schema, np.concatenate([profiles for profiles, _, _ in rows]))
        places = place[:experimental], place[experimental:]
        counts = [cell_counts(at, len(profiles), x, y) for at, (_, x, y) in zip(places, rows, strict=True)]
        return Study.from_tables(self.schema, profiles, counts[0], counts[1])

    def _rows(
        self, rows: int, seed: int, table: int, assignment: float | None
    ) -> tuple[Codes, npt.NDArray[np.int8], npt.NDArray[np.int8]]:
        rng = np.random.default_rng([seed, table])
        profiles = self.covariates.draw(rng, rows)
        present, place = distinct_profiles(self.schema, profiles)
        edges = np.cumsum(self.types(present), axis=1)[:, :-1]
        kind = TWO_BY_TWO.types[(rng.random(rows)[:, None] >= edges[place]).sum(axis=1)]
        x = kind[:, 0] if assignment is None else rng.random(rows) < assignment
        y = np.where(x, kind[:, 2], kind[:, 1])
        return profiles, x.astype(np.int8), y.astype(np.int8)

    def _columns(
        self, profiles: Codes, x: npt.NDArray[np.int8], y: npt.NDArray[np.int8]
    ) -> dict[str, npt.NDArray[np.int8]]:
        columns = {name: profiles[:, j].astype(np.int8) for j, name in enumerate(self.schema.names)}
        return {**columns, "x": x, "y": y}


def _check_sizes(experimental: int, observational: int, assignment: float) -> None:
    if experimental < 1 or observational < 1:
        raise PopulationError(
            f"cannot sample {experimental} experimental and {observational} observational rows; "
            "ask for at least one of each."
        )
    if max(experimental, observational) > MOST_ROWS:
        raise LimitError(
            f"cannot sample {experimental:,} experimental and {observational:,} observational rows; "
            f"ask for at most {MOST_ROWS:,} of each."
        )
    if not 0 < assignment < 1:
        raise PopulationError(f"assignment is {assignment}; give the probability of treatment, between 0 and 1.")
