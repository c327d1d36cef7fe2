"""Populations whose truth is known: answers for any query, and tables of any size.

A population is the distribution of its covariates, the share of each response type of a structure among people who have
the same covariates, and how tables are drawn from it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.law import Law
from pnsight.data.schema import Codes, Schema
from pnsight.data.structure import EXPERIMENTAL, OBSERVATIONAL, Structure
from pnsight.data.study import Study
from pnsight.errors import AssumptionError, LimitError, PopulationError
from pnsight.estimands.assumptions import find_assumption
from pnsight.estimands.compiled_ratio import Ends
from pnsight.estimands.estimand import Estimand, EstimandLike
from pnsight.estimands.resolve import ROUNDING, resolve_crossed_bounds
from pnsight.queries.bound_table import BoundTable
from pnsight.queries.query import QueryLike, encode, format_queries
from pnsight.simulation.drawn_rows import Columns, DrawnRows
from pnsight.simulation.table_design import Assignment, TableDesign

MOST_ROWS = 100_000_000
"""Rows of a table that are sampled, all of which are in memory at once."""

TABLES = (EXPERIMENTAL, OBSERVATIONAL)


class Population(ABC):
    """A population whose every answer is known; a subclass says who its people are and how common each type is.

    Attributes
    ----------
    name : by which `get` finds it
    structure : which response types there are, and what tables show of them
    design : how tables are drawn
    """

    name: str
    structure: Structure
    design: TableDesign

    @property
    @abstractmethod
    def schema(self) -> Schema:
        """The observed covariates."""

    # --- the oracle ------------------------------------------------------------------------------------

    @abstractmethod
    def mixture(self, queries: QueryLike) -> tuple[FloatArray, FloatArray]:
        """Mass of each query, shape (queries,), and its shares of the response types, shape (queries, types)."""

    @abstractmethod
    def _refined(self, codes: Codes, estimand: Estimand) -> Ends:
        """Both ends of each query from the means of the bounds of people who have the same covariates."""

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
            if find_assumption(name).amount is not None:
                continue
            if find_assumption(name).possible is None:
                raise AssumptionError(
                    f"{name!r} was assumed, which is not known of population {self.name!r}; leave it out."
                )
        share = float(self.mixture("")[1][0, ~estimand.possible(self.structure)].sum())
        if share > 0:
            raise AssumptionError(
                f"{', '.join(estimand.assume)} was assumed, but does not hold of {share:.3%} of the people of "
                f"population {self.name!r}; leave it out."
            )

    def _check_limits(self, codes: Codes, estimand: Estimand) -> None:
        """Refuse assumptions that say how much where they do not hold of the people asked about."""
        types = self.mixture(codes)[1]
        shares = types / types.sum(axis=1, keepdims=True)
        law = Law.from_types(shares, self.structure)
        for limit in estimand.limits(self.structure):
            if limit.is_relaxation:
                continue
            most = limit.at_most if limit.curve is None else limit.curve(law.cells)
            broken = shares @ np.array(limit.of_types, dtype=np.float64) > most + ROUNDING
            if broken.any():
                raise AssumptionError(
                    f"{', '.join(estimand.graded)} was assumed, but does not hold of "
                    f"{format_queries(self.schema, codes[broken])[0] or 'everyone'} in population {self.name!r}; leave "
                    "it out."
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
        if estimand.graded:
            self._check_limits(codes, estimand)
        refined = estimand.refines(self.structure)
        ends = self._refined(codes, estimand) if refined else estimand.bounds_at(self.law(codes))
        lower, upper, status = resolve_crossed_bounds(*ends, within=estimand.span)
        everyone = np.full(len(codes), np.inf)
        table = format_queries(self.schema, codes), lower, upper, everyone, everyone, status
        return BoundTable(estimand.quantity.name, *table, notes=estimand.notes(self.structure))

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
        experiment, registry = (self._columns(rows[table]) if table in rows else {} for table in TABLES)
        return experiment, registry

    @abstractmethod
    def sample(self, experimental: int, observational: int, seed: int, assignment: Assignment = None) -> Study:
        """The same rows as `tables`, counted."""

    def _drawn(self, experimental: int, observational: int, seed: int, assignment: Assignment) -> list[DrawnRows]:
        _check_sizes(experimental, observational)
        probabilities = self.design.arm_probabilities(self.structure.description, assignment)
        sizes = dict(zip(TABLES, (experimental, observational), strict=True))
        return [
            self._rows(sizes[table], np.random.default_rng([seed, number]), table, probabilities)
            for number, table in enumerate(TABLES)
            if table in self.structure.tables
        ]

    @abstractmethod
    def _rows(self, rows: int, rng: np.random.Generator, table: str, probabilities: FloatArray) -> DrawnRows:
        """That many rows of a table; the experiment assigns arms with these probabilities."""

    def _columns(self, drawn: DrawnRows) -> Columns:
        """The columns of drawn rows, by name."""
        return {**self._covariate_columns(drawn), **drawn.columns(self.structure, self.design)}

    @abstractmethod
    def _covariate_columns(self, drawn: DrawnRows) -> Columns:
        """The covariates of drawn rows, by name."""


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
