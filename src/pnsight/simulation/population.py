"""Populations whose truth is known: exact answers for any query, and tables of any size.

A population is the distribution of its covariates, the share of each response type of a structure among people of each
profile, and how tables are drawn from it. What unlimited data would say follows by adding up over all profiles.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.law import Law
from pnsight.data.profiles import distinct_profiles
from pnsight.data.schema import Codes, Schema
from pnsight.data.structure import EXPERIMENTAL, OBSERVATIONAL, Structure
from pnsight.data.study import Study
from pnsight.errors import AssumptionError, LimitError, PopulationError
from pnsight.estimands.assumptions import ASSUMPTIONS
from pnsight.estimands.compiled_ratio import Ends
from pnsight.estimands.estimand import Estimand, EstimandLike
from pnsight.estimands.resolve import resolve_crossed_bounds
from pnsight.queries import lattice
from pnsight.queries.bound_table import BoundTable
from pnsight.queries.query import QueryLike, encode, format_queries
from pnsight.simulation.covariate_network import CovariateNetwork
from pnsight.simulation.drawn_rows import Columns, DrawnRows, draw_rows, draw_types
from pnsight.simulation.table_design import Assignment, TableDesign

MOST_ROWS = 100_000_000
"""Rows of a table that are sampled, all of which are in memory at once."""

_MOST_PROFILES = 1 << 20
_TABLES = (EXPERIMENTAL, OBSERVATIONAL)


class Population(ABC):
    """A population whose every answer is known; a subclass says how common each response type is.

    Attributes
    ----------
    name : by which `get` finds it
    covariates : law of the observed covariates
    structure : which response types there are, and what tables show of them
    design : how tables are drawn
    """

    name: str
    covariates: CovariateNetwork
    structure: Structure
    design: TableDesign

    @abstractmethod
    def types(self, profiles: Codes) -> FloatArray:
        """Share of each response type among people of each profile, shape (profiles, types)."""

    @cached_property
    def schema(self) -> Schema:
        """The observed covariates."""
        return Schema.binary(self.covariates.names)

    # --- the oracle ------------------------------------------------------------------------------------

    def mixture(self, queries: QueryLike) -> tuple[FloatArray, FloatArray]:
        """Mass of each query, shape (queries,), and its shares of the response types, shape (queries, types)."""
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
        return Law.from_types(self.mixture(queries)[1], self.structure)

    def pns(self, queries: QueryLike = None, **options: Any) -> FloatArray:
        """The true probability of necessity and sufficiency, which no table identifies; shape (queries,)."""
        return self.true_value(queries, "pns", **options)

    def true_value(self, queries: QueryLike = None, quantity: EstimandLike = None, **options: Any) -> FloatArray:
        """The true value of a quantity.

        Parameters
        ----------
        queries, quantity, options
            As `bounds` takes them.

        Returns
        -------
        Shape (queries,); NaN where what it conditions on has probability zero.
        """
        return self.estimand(quantity, **options).truth(self.mixture(queries)[1], self.structure)

    def estimand(self, quantity: EstimandLike = None, **options: Any) -> Estimand:
        """What is asked of these people, once it is found to make sense.

        Parameters
        ----------
        quantity, options
            As `Estimand.parse` takes them; what is assumed must be true of everyone here.

        Returns
        -------
        The estimand.
        """
        found = Estimand.parse(quantity, **options).of_structure(self.structure)
        if found.assume:
            self._check_assumptions(found)
        return found

    def _check_assumptions(self, estimand: Estimand) -> None:
        for name in estimand.assume:
            if ASSUMPTIONS[name].possible is None:
                raise AssumptionError(
                    f"{name!r} was assumed, which is not known of population {self.name!r}; leave it out."
                )
        share = float(self.mixture("")[1][0, ~estimand.possible(self.structure)].sum())
        if share > 0:
            raise AssumptionError(
                f"{', '.join(estimand.assume)} was assumed, but does not hold of {share:.3%} of the people of "
                f"population {self.name!r}; leave it out."
            )

    def bounds(self, queries: QueryLike = None, quantity: EstimandLike = None, **options: Any) -> BoundTable:
        """The bounds that unlimited data would give.

        Parameters
        ----------
        queries, quantity, options
            As `Model.bounds` takes them; what is assumed must be true of everyone here.

        Returns
        -------
        One row a query.
        """
        codes, estimand = encode(self.schema, queries), self.estimand(quantity, **options)
        refined = estimand.refines(self.structure)
        ends = self._refined(codes, estimand) if refined else estimand.bounds_at(self.law(codes))
        lower, upper, status = resolve_crossed_bounds(*ends, within=estimand.span)
        everyone = np.full(len(codes), np.inf)
        table = format_queries(self.schema, codes), lower, upper, everyone, everyone, status
        return BoundTable(estimand.quantity.name, *table, notes=estimand.notes(self.structure))

    def _refined(self, codes: Codes, estimand: Estimand) -> Ends:
        """Both ends from the means of the profiles' own bounds."""
        profiles, weighted = self._weighted_types
        mass = weighted.sum(axis=1, keepdims=True)
        shares = np.divide(weighted, mass, out=np.full(weighted.shape, 1 / weighted.shape[1]), where=mass > 0)
        brought = np.column_stack([mass * estimand.profile_terms(Law.from_types(shares, self.structure)), mass])
        sums = lattice.sum_over(self.schema, codes, profiles, brought)
        means = sums[:, :-1] / np.where(sums[:, -1:] > 0, sums[:, -1:], np.nan)
        return estimand.bounds_from_mean_terms(means, self.structure)

    # --- samples ---------------------------------------------------------------------------------------

    @property
    def reading(self) -> dict[str, Any]:
        """What `read_study` is told so that it finds the structure in the tables: columns, arms and outcomes."""
        return self.design.reading(self.structure.description)

    def tables(
        self, experimental: int, observational: int, seed: int, assignment: Assignment = None
    ) -> tuple[Columns, Columns]:
        """Rows of both tables as columns: the covariates, treatment and outcome, or what `reading` names.

        Parameters
        ----------
        experimental, observational
            Rows of each table; a population without an observational table has no columns for it.
        seed
            Of all randomness.
        assignment
            Probability of the treatment in the experiment or, of more arms than two, of each arm that it has; by
            default the arms are equally likely.

        Returns
        -------
        The columns of each table, by name.
        """
        rows = {drawn.table: drawn for drawn in self._drawn(experimental, observational, seed, assignment)}
        experiment, registry = (
            rows[table].columns(self.schema.names, self.structure, self.design) if table in rows else {}
            for table in _TABLES
        )
        return experiment, registry

    def sample(self, experimental: int, observational: int, seed: int, assignment: Assignment = None) -> Study:
        """The same rows as `tables`, counted."""
        rows = self._drawn(experimental, observational, seed, assignment)
        profiles, place = distinct_profiles(self.schema, np.concatenate([drawn.profiles for drawn in rows]))
        places = np.split(place, np.cumsum([len(drawn.arm) for drawn in rows])[:-1])
        counts = {
            drawn.table: drawn.counts(at, len(profiles), self.structure) for drawn, at in zip(rows, places, strict=True)
        }
        described = self.structure.description
        return Study.from_tables(
            self.schema,
            profiles,
            counts[EXPERIMENTAL],
            counts.get(OBSERVATIONAL),
            self.structure,
            treatment=self.design.treatment,
            outcome=self.design.outcome,
            treated=described.arms[-1],
            success="1" if described.horizons else described.outcomes[-1],
        )

    def _drawn(self, experimental: int, observational: int, seed: int, assignment: Assignment) -> list[DrawnRows]:
        _check_sizes(experimental, observational)
        probabilities = self.design.arm_probabilities(self.structure.description, assignment)
        sizes = dict(zip(_TABLES, (experimental, observational), strict=True))
        return [
            self._rows(sizes[table], np.random.default_rng([seed, number]), table, probabilities)
            for number, table in enumerate(_TABLES)
            if table in self.structure.tables
        ]

    def _rows(self, rows: int, rng: np.random.Generator, table: str, probabilities: FloatArray) -> DrawnRows:
        profiles = self.covariates.draw(rng, rows)
        present, place = distinct_profiles(self.schema, profiles)
        types = draw_types(rng, place, self.types(present))
        return draw_rows(rng, table, profiles, types, self.structure, probabilities, self.design.follow_up)


def _check_sizes(experimental: int, observational: int) -> None:
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
