"""Populations whose people have profiles of binary covariates: what unlimited data would say adds up over them all."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.law import Law
from pnsight.data.profiles import distinct_profiles
from pnsight.data.schema import Codes, Schema
from pnsight.data.structure import EXPERIMENTAL, OBSERVATIONAL
from pnsight.data.study import Study
from pnsight.errors import LimitError
from pnsight.estimands.compiled_ratio import Ends
from pnsight.estimands.estimand import Estimand
from pnsight.queries import lattice
from pnsight.queries.query import QueryLike, encode
from pnsight.simulation.covariate_network import CovariateNetwork
from pnsight.simulation.drawn_rows import Columns, DrawnRows, draw_rows, draw_types, named_values
from pnsight.simulation.population import Population
from pnsight.simulation.table_design import Assignment

_MOST_PROFILES = 1 << 20


class ProfilePopulation(Population):
    """A population with binary covariates; a subclass says how common each response type is.

    Attributes
    ----------
    covariates : law of the observed covariates
    """

    covariates: CovariateNetwork

    @abstractmethod
    def types(self, profiles: Codes) -> FloatArray:
        """Share of each response type among people of each profile, shape (profiles, types)."""

    @cached_property
    def schema(self) -> Schema:
        """The observed covariates."""
        return self.covariates.schema

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

    def _refined(self, codes: Codes, estimand: Estimand) -> Ends:
        """Both ends from the means of the profiles' own bounds."""
        profiles, weighted = self._weighted_types
        mass = weighted.sum(axis=1, keepdims=True)
        shares = np.divide(weighted, mass, out=np.full(weighted.shape, 1 / weighted.shape[1]), where=mass > 0)
        brought = np.column_stack([mass * estimand.profile_terms(Law.from_types(shares, self.structure)), mass])
        sums = lattice.sum_over(self.schema, codes, profiles, brought)
        means = sums[:, :-1] / np.where(sums[:, -1:] > 0, sums[:, -1:], np.nan)
        return estimand.bounds_from_mean_terms(means, self.structure)

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

    def _rows(self, rows: int, rng: np.random.Generator, table: str, probabilities: FloatArray) -> DrawnRows:
        profiles = self.covariates.draw(rng, rows)
        present, place = distinct_profiles(self.schema, profiles)
        types = draw_types(rng, place, self.types(present))
        return draw_rows(rng, table, profiles, types, self.structure, probabilities, self.design.follow_up)

    def _covariate_columns(self, drawn: DrawnRows) -> Columns:
        return {
            covariate.name: named_values(covariate.levels, drawn.profiles[:, j])
            for j, covariate in enumerate(self.schema.covariates)
        }
