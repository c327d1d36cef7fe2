"""Populations with numbers among their covariates: exact laws of single people, averages over ranges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from pnsight._typing import FloatArray
from pnsight.data.law import Law
from pnsight.data.schema import Codes, Schema
from pnsight.data.structure import Structure
from pnsight.data.study import Study
from pnsight.data.two_by_two import TWO_BY_TWO
from pnsight.errors import PopulationError
from pnsight.estimands.compiled_ratio import Ends
from pnsight.estimands.estimand import Estimand
from pnsight.queries.query import QueryLike
from pnsight.simulation.confounded_equations import ConfoundedEquations
from pnsight.simulation.drawn_rows import Columns, DrawnRows, draw_rows, draw_types
from pnsight.simulation.gaussian_covariates import Averages, GaussianCovariates, Ranges
from pnsight.simulation.population import Population
from pnsight.simulation.table_design import FAIR_COIN, Assignment, TableDesign


class TermScore(Protocol):
    """A score that is a weighted sum of terms."""

    def __call__(self, s: FloatArray, /) -> FloatArray:
        """The score of people with standardised covariates (people, covariates), shape (people,)."""
        ...

    def terms(self, s: FloatArray, /) -> FloatArray:
        """The terms that it is a sum of, not yet weighted, shape (people, terms)."""
        ...


@dataclass(frozen=True)
class NumericPopulation(Population):
    """A population of two arms and two outcomes with numbers among its covariates.

    Attributes
    ----------
    covariates : their law
    equations : how people choose and respond, of standardised covariates
    scores : those in the equations, of choice, of the response without treatment, and of the effect
    """

    name: str
    covariates: GaussianCovariates
    equations: ConfoundedEquations
    scores: tuple[TermScore, ...]
    structure: Structure = TWO_BY_TWO
    design: TableDesign = FAIR_COIN

    @property
    def schema(self) -> Schema:
        """Refused: numbers have no levels."""
        raise self._has_numbers()

    def _has_numbers(self) -> PopulationError:
        return PopulationError(
            f"population {self.name!r} has numbers among its covariates, which have no levels to ask about or to count "
            "by; write its tables with pnsight simulate, and ask in Python with law_at(values) or law_within(ranges)."
        )

    def types(self, values: FloatArray) -> FloatArray:
        """Share of each response type among people with these covariates, exactly.

        Parameters
        ----------
        values : shape (people, covariates)
            As they are in the tables.

        Returns
        -------
        Shape (people, types).
        """
        return self.equations.types(self.covariates.standardised(values))

    def terms(self, values: FloatArray) -> FloatArray:
        """All terms that the scores of these people are sums of, shape (people, terms)."""
        people = self.covariates.standardised(values)
        return np.concatenate([score.terms(people) for score in self.scores], axis=1)

    def law_at(self, values: npt.ArrayLike) -> Law:
        """The exact law among people with these covariates, shape (covariates,) or (people, covariates)."""
        return Law.from_types(self.types(np.atleast_2d(np.asarray(values, dtype=np.float64))), self.structure)

    def law_within(self, *ranges: Ranges) -> Law:
        """The law among everyone within ranges, averaged as `types_within` says; one for each of them."""
        return Law.from_types(np.stack([self.types_within(each).mean for each in ranges]), self.structure)

    def types_within(self, ranges: Ranges) -> Averages:
        """Share of people within ranges, and their shares of the response types, with standard errors.

        Parameters
        ----------
        ranges
            The least and the greatest value by the name of the covariate; the others are open.

        Returns
        -------
        The averages; exact where every covariate has a single value.
        """
        return self.covariates.average(ranges, self.types)

    def mixture(self, queries: QueryLike) -> tuple[FloatArray, FloatArray]:
        """Refused, as the schema is."""
        raise self._has_numbers()

    def _refined(self, codes: Codes, estimand: Estimand) -> Ends:
        raise self._has_numbers()

    def sample(self, experimental: int, observational: int, seed: int, assignment: Assignment = None) -> Study:
        """Refused, as the schema is."""
        raise self._has_numbers()

    def _rows(self, rows: int, rng: np.random.Generator, table: str, probabilities: FloatArray) -> DrawnRows:
        values = self.covariates.draw(rng, rows)
        types = draw_types(rng, np.arange(rows), self.types(values))
        return draw_rows(rng, table, values, types, self.structure, probabilities, self.design.follow_up)

    def _covariate_columns(self, drawn: DrawnRows) -> Columns:
        return {
            number.name: drawn.profiles[:, j].astype(np.float64 if number.decimals else np.int64)
            for j, number in enumerate(self.covariates.numbers)
        }
