"""What every model can do, and how a law model turns its law into answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import copy
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from pnsight import _markup as markup
from pnsight._progress import Progress, no_progress
from pnsight._typing import FloatArray
from pnsight.data.law import Law
from pnsight.data.schema import Codes, Schema
from pnsight.data.study import People, Study, validate_population
from pnsight.errors import ModelError, QueryError
from pnsight.estimands import asking
from pnsight.estimands.assumptions import EXOGENOUS, AssumeLike
from pnsight.estimands.closed_forms import Ends
from pnsight.estimands.estimand import Question, Refine
from pnsight.estimands.payoffs import PayoffsLike
from pnsight.estimands.resolve import settle
from pnsight.queries import lattice
from pnsight.queries.bound_table import BoundTable
from pnsight.queries.query import QueryLike, encode, format_queries

if TYPE_CHECKING:
    from pnsight.diagnostics.assumption_tests import AssumptionTest

_NO_EXPERIMENT = (
    "no experimental row says what treatment does; an observational table alone answers under assume='exogenous' "
    "(--assume exogenous) only"
)


class Model(ABC):
    """Learns from a study, then answers queries. Constructors only store; `fit` validates."""

    name: ClassVar[str]
    method: ClassVar[str]
    """How it comes to its answers, for readers who do not read formulas."""
    learns: ClassVar[Any] = dict[str, Any]
    """Type of the plain data that `state` gives, as `plain.refuse_unlike` reads it."""
    quantity: str
    study_: Study

    @abstractmethod
    def fit(self, study: Study, progress: Progress = no_progress) -> Self:
        """Learn from the study."""

    @abstractmethod
    def bounds(
        self,
        queries: QueryLike = None,
        quantity: str | None = None,
        level: float = 0.9,
        *,
        payoffs: PayoffsLike | None = None,
        assume: AssumeLike = (),
        refine: Refine = "none",
    ) -> BoundTable:
        """Bounds on a quantity, by default the model's own, for each query; what it does not name is left open.

        Parameters
        ----------
        queries
            Text, mappings, a list of either, or a data frame with one query a row; none means everyone.
        quantity
            What to bound; with payoffs it is benefit.
        level
            Confidence of the intervals, of models that give any.
        payoffs
            For the benefit: what treating a complier, an always-taker, a never-taker and a defier is worth.
        assume
            ``"monotone"``, ``"exogenous"``, or both: see `pnsight.estimands.ASSUMPTIONS`. What an assumption implies is
            tested on the study, and refused with `AssumptionError` where that contradicts it.
        refine
            ``"none"`` bounds the average law of the people of a query; ``"covariates"`` averages the bounds of their
            profiles, which is tighter.
        """

    @abstractmethod
    def raw_ends(self, codes: Codes, quantity: str = "pns") -> FloatArray:
        """Both ends as computed, even where they cross or are NaN, shape (queries, 2); `bounds` is for users."""

    @abstractmethod
    def validate_parameters(self) -> None:
        """Raise an error where no model can be fitted with the parameters; `fit` does so first, and so does loading."""

    @abstractmethod
    def parameters(self) -> Mapping[str, Any]:
        """What the constructor was given, as plain data."""

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """The unfitted model that `parameters` described."""
        return cls(**parameters)

    def state(self) -> tuple[Mapping[str, Any], Mapping[str, np.ndarray[Any, Any]]]:
        """What `fit` learned beside the study: plain data and arrays."""
        return {}, {}

    def restore(self, study: Study, data: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]]) -> Self:
        """Become the fitted model that `state` described."""
        self.study_ = study
        return self

    @abstractmethod
    def explain(self) -> str:
        """What was chosen when fitting, and on what evidence, in words."""

    def with_study(self, study: Study) -> Self:
        """The same model with this study in place of its own: what was learned from rows at large stays.

        The study has other counts of the same profiles; those without rows are left out in the end.
        """
        other = copy(self)
        other.study_ = study.with_rows()
        return other

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
    def populations(self) -> tuple[People, ...]:
        """Whose people `bounds` can be asked about with `population`, if it takes that."""
        return ()

    def validate_population(self, population: str) -> None:
        """Refuse people that the model cannot be asked about."""
        validate_population(population)
        if population not in self.populations:
            own = f"those of the {self.populations[0]} table" if self.populations else "the people it was fitted to"
            raise QueryError(
                f"population {population!r} was given, but this {self.name} model has only {own}; leave --population "
                "(population=) out, or fit a response-types model to both tables."
            )

    @property
    def pools_rows(self) -> bool:
        """Whether answers to open queries add up rows, which takes even assignment and alike tables for granted."""
        return False

    @property
    def caveats(self) -> tuple[str, ...]:
        """What a reader of any answer should know."""
        return () if self.study.withheld is None else (self.study.withheld.note,)

    def _repr_html_(self) -> str:
        """The model and what it was fitted to, for a notebook."""
        names: list[str] = [field.name for field in fields(self)] if is_dataclass(self) else []
        own = {name: str(getattr(self, name)) for name in names}
        fitted = self.study.facts() if hasattr(self, "study_") else {"fitted": "not yet"}
        return markup.facts(f"{type(self).__name__} ({self.name})", {**own, **fitted})

    def counts(self, codes: Codes) -> FloatArray:
        """Rows behind each query in the layout of `Study.counts`, shape (queries, 8) or (queries, 4)."""
        return lattice.sum_over(self.schema, codes, self.study.profiles, self.study.counts)

    def shares(self, codes: Codes, population: People | None = None) -> FloatArray:
        """Share of the people of a population, by default the model's, that are in each query, shape (queries,)."""
        people = self.study.people(population or "observational")
        return lattice.sum_over(self.schema, codes, self.study.profiles, people[:, None])[:, 0] / (people.sum() or 1.0)


class LawModel(Model):
    """A model of the law, from which the bounds on every quantity follow."""

    _tests: tuple[Study, dict[tuple[str, ...], AssumptionTest]]

    @abstractmethod
    def law_given(self, codes: Codes, counts: FloatArray) -> Law:
        """The law of each query, of which the rows are already counted."""

    @abstractmethod
    def ends_given(self, codes: Codes, counts: FloatArray, question: Question) -> Ends:
        """Both ends of each query, of which the rows are already counted."""

    def notes(self, codes: Codes, question: Question) -> tuple[str, ...]:
        """What a reader of the answers should know; refuses assumptions that the study contradicts for the queries."""
        lacking = EXOGENOUS not in question.assume and not self.study.table_rows[0]
        found = (*self.caveats, *question.notes, *((_NO_EXPERIMENT,) if lacking else ()))
        return (*found, self._tested(question.assume).note(codes)) if question.assume else found

    def _tested(self, assume: tuple[str, ...]) -> AssumptionTest:
        """What the study says about assumptions, found out once for each."""
        from pnsight.diagnostics import assumptions_of  # loads SciPy, which a plain answer can do without

        if not hasattr(self, "_tests") or self._tests[0] is not self.study:
            self._tests = (self.study, {})
        found = self._tests[1]
        if assume not in found:
            found[assume] = assumptions_of(self.study, assume)
        return found[assume]

    def law(self, queries: QueryLike = None) -> Law:
        """The law of each query."""
        codes = encode(self.schema, queries)
        return self.law_given(codes, self.counts(codes))

    def raw_ends(self, codes: Codes, quantity: str = "pns") -> FloatArray:
        """The formulas at the model's law, shape (queries, 2)."""
        return np.stack(asking(quantity).ends(self.law(codes)), axis=1)

    def bounds(
        self,
        queries: QueryLike = None,
        quantity: str | None = None,
        level: float = 0.9,
        *,
        payoffs: PayoffsLike | None = None,
        assume: AssumeLike = (),
        refine: Refine = "none",
    ) -> BoundTable:
        """Bounds on a quantity for each query, as `Model.bounds` says."""
        codes = encode(self.schema, queries)
        question = asking(quantity, payoffs, assume, refine, otherwise=self.quantity)
        notes, counts = self.notes(codes, question), self.counts(codes)
        lower, upper, status = settle(*self.ends_given(codes, counts, question), within=question.span)
        table = format_queries(self.schema, codes), lower, upper, *support(counts), status
        return BoundTable(question.quantity, *table, notes=notes)


def support(counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rows in the experimental and in the observational table, each of shape (queries,)."""
    return counts[:, :4].sum(axis=1), counts[:, 4:].sum(axis=1)


def least_rows(study: Study, counts: FloatArray) -> FloatArray:
    """Rows in the study's table that has fewer of them, shape (queries,)."""
    experimental, observational = support(counts)
    return experimental if study.observational is None else np.minimum(experimental, observational)


def rows_behind(counts: FloatArray) -> FloatArray:
    """Rows of the treated arm, of the control arm and of the observational table, shape (queries, 3)."""
    return np.stack([counts[:, part].sum(axis=1) for part in (slice(2), slice(2, 4), slice(4, None))], axis=1)
