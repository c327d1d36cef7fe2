"""What every model can do, and how a law model turns its law into answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from pnsight import lattice
from pnsight.bound_table import BoundTable, settle
from pnsight.bounds import bounds
from pnsight.errors import ModelError
from pnsight.law import FloatArray, Law
from pnsight.progress import Progress, silent
from pnsight.schema import Codes, QueryLike, Schema
from pnsight.study import People, Study


class Model(ABC):
    """Learns from a study, then answers queries. Constructors only store; `fit` validates."""

    name: ClassVar[str]
    quantity: str
    study_: Study

    @abstractmethod
    def fit(self, study: Study, progress: Progress = silent) -> Self:
        """Learn from the study."""

    @abstractmethod
    def bounds(self, queries: QueryLike = None, quantity: str | None = None, level: float = 0.9) -> BoundTable:
        """Bounds on a quantity, by default the model's own, for each query; what it does not name is left open."""

    @abstractmethod
    def raw_ends(self, codes: Codes, quantity: str = "pns") -> FloatArray:
        """Both ends as computed, even where they cross or are NaN, shape (queries, 2); `bounds` is for users."""

    @abstractmethod
    def parameters(self) -> Mapping[str, Any]:
        """What the constructor was given, as plain data."""

    def state(self) -> tuple[Mapping[str, Any], Mapping[str, np.ndarray[Any, Any]]]:
        """What `fit` learned beside the study: plain data and arrays."""
        return {}, {}

    def restore(self, study: Study, data: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]]) -> Self:
        """Become the fitted model that `state` described."""
        self.study_ = study
        return self

    @property
    def study(self) -> Study:
        """The study the model was fitted to."""
        if not hasattr(self, "study_"):
            raise ModelError(f"this {type(self).__name__} is not fitted yet; call fit(study) first.")
        return self.study_

    @property
    def schema(self) -> Schema:
        """Covariates of the fitted study."""
        return self.study.schema

    @property
    def pools_rows(self) -> bool:
        """Whether answers to open queries add up rows, which takes even assignment and alike tables for granted."""
        return False

    def counts(self, codes: Codes) -> FloatArray:
        """Rows behind each query in the layout of `Study.counts`, shape (queries, 8) or (queries, 4)."""
        return lattice.sum_over(self.schema, codes, self.study.profiles, self.study.counts)

    def shares(self, codes: Codes, population: People | None = None) -> FloatArray:
        """Share of the people of a population, by default the model's, that are in each query, shape (queries,)."""
        people = self.study.people(population or "observational")
        return lattice.sum_over(self.schema, codes, self.study.profiles, people[:, None])[:, 0] / (people.sum() or 1.0)


class LawModel(Model):
    """A model of the law, from which the bounds on every quantity follow."""

    @abstractmethod
    def law_given(self, codes: Codes, counts: FloatArray) -> Law:
        """The law of each query, of which the rows are already counted."""

    def notes(self, codes: Codes) -> tuple[str, ...]:
        """What a reader of the answers to these queries should know."""
        return ()

    def law(self, queries: QueryLike = None) -> Law:
        """The law of each query."""
        codes = self.schema.encode(queries)
        return self.law_given(codes, self.counts(codes))

    def raw_ends(self, codes: Codes, quantity: str = "pns") -> FloatArray:
        """The formulas at the model's law, shape (queries, 2)."""
        return np.stack(bounds(self.law(codes), quantity), axis=1)

    def bounds(self, queries: QueryLike = None, quantity: str | None = None, level: float = 0.9) -> BoundTable:
        """Bounds on a quantity, by default the model's own, for each query; what it does not name is left open."""
        codes, quantity = self.schema.encode(queries), quantity or self.quantity
        counts = self.counts(codes)
        lower, upper, status = settle(*bounds(self.law_given(codes, counts), quantity))
        table = self.schema.format(codes), lower, upper, *support(counts), status
        return BoundTable(quantity, *table, notes=self.notes(codes))


def support(counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rows in the experimental and in the observational table, each of shape (queries,)."""
    return counts[:, :4].sum(axis=1), counts[:, 4:].sum(axis=1)


def least_rows(study: Study, counts: FloatArray) -> FloatArray:
    """Rows in the study's table that has fewer of them, shape (queries,)."""
    experimental, observational = support(counts)
    return experimental if study.observational is None else np.minimum(experimental, observational)
