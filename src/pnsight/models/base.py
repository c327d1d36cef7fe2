"""What every model can do: fit a study, say what it is capable of, and bound an estimand for any query."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from pnsight import _markup as markup
from pnsight._progress import Progress, no_progress
from pnsight._typing import BoolArray, FloatArray
from pnsight.data.law import Law
from pnsight.data.schema import Codes, Schema
from pnsight.data.structure import EXPERIMENTAL, OBSERVATIONAL, Structure
from pnsight.data.study import Population, Study, validate_population
from pnsight.errors import ModelError, PnsightError, QueryError, join_names
from pnsight.estimands.assumptions import EXOGENOUS
from pnsight.estimands.compiled_ratio import Ends
from pnsight.estimands.confidence import EndNoise
from pnsight.estimands.estimand import Estimand, EstimandLike
from pnsight.estimands.resolve import resolve_crossed_bounds
from pnsight.estimands.sampling_error import SamplingError
from pnsight.models.library_versions import notes_on_reading
from pnsight.notes import WARNING, Note
from pnsight.queries import lattice
from pnsight.queries.bound_table import CONTRADICTED, INTERVAL_ENDS, OK, ROWS, BoundTable, validate_level
from pnsight.queries.query import QueryLike, decode, encode, texts_when_needed

if TYPE_CHECKING:
    from pnsight.diagnostics.assumption_tests import AssumptionTest

_ROUNDING = 1e-12
"""Relative error of a sum of parts of rows."""


@dataclass(frozen=True)
class Capabilities:
    """What a fitted model can do; whoever shows answers goes by this, and not by the class of the model.

    Attributes
    ----------
    law : whether it knows the law of every query, so that any quantity, payoffs, assumptions and refinement work
    intervals : whether each end of a bound has a confidence interval
    populations : whose people an open covariate can be averaged over
    learns_across_profiles : whether it answers from what other people's rows taught, and so also without rows
    pools_rows : whether open queries add up rows, which takes even assignment and alike tables for granted
    simulates_studies : whether it knows how far fits to simulated studies stray, query by query
    exact_only : whether it answers complete profiles only
    """

    law: bool = False
    intervals: bool = False
    populations: tuple[Population, ...] = ()
    learns_across_profiles: bool = False
    pools_rows: bool = False
    simulates_studies: bool = False
    exact_only: bool = False


class Model(ABC):
    """Learns from a study, then answers queries. Constructors only store; `fit` validates."""

    name: ClassVar[str]
    method: ClassVar[str]
    """How it comes to its answers, for readers who do not read formulas."""
    learns: ClassVar[Any] = dict[str, Any]
    """Type of the plain data that `state` gives, against which a stored model is checked."""
    unknown_as_nan: ClassVar[tuple[str, ...]] = ()
    """Names of the arrays of `state` in which NaN says that nothing is known; elsewhere a stored NaN is refused."""
    quantity: str
    study_: Study
    libraries: Mapping[str, str] = {}
    """Versions of pnsight and its libraries that fitted a model which was read from a folder; empty if fitted here."""
    _warnings: tuple[Study, tuple[Note, ...]]

    @abstractmethod
    def fit(self, study: Study, progress: Progress = no_progress) -> Self:
        """Learn from the study."""

    @property
    @abstractmethod
    def capabilities(self) -> Capabilities:
        """What the fitted model can do."""

    def bounds(self, queries: QueryLike = None, quantity: EstimandLike = None, **options: Any) -> BoundTable:
        """Bounds for each query; what it does not name is left open.

        Parameters
        ----------
        queries
            Text, mappings, a list of either, or a data frame with one query a row; none means everyone.
        quantity
            What to bound: an `Estimand`, or a quantity or its name, by default the model's own.
        options
            What else `Estimand.parse` takes: ``payoffs``, ``assume``, ``refine``, ``level``, ``population``,
            ``trial_alone``, ``median_unbiased``, ``simultaneous``, ``contrast``, ``statement``, ``given``, ``horizon``,
            ``among``, ``slack``, ``misread_outcome``. What an assumption implies is tested on the study,
            and refused with `AssumptionError` where that contradicts it.

        Returns
        -------
        One row a query.
        """
        return self.answer(encode(self.schema, queries), self.estimand(quantity, **options))

    def estimand(self, quantity: EstimandLike = None, **options: Any) -> Estimand:
        """What is asked, by default the model's own quantity, of people that the model can be asked about.

        Parameters
        ----------
        quantity, options
            As `Estimand.parse` takes them.

        Returns
        -------
        The estimand, which `bounds` and all decisions take.
        """
        found = Estimand.parse(quantity, default=self.quantity, **options).of_structure(self.structure)
        validate_level(found.level)
        self._validate_intervals(found)
        if found.population is not None:
            self.validate_population(found.population)
        return found

    def _validate_intervals(self, estimand: Estimand) -> None:
        """Refuse what takes standard errors, of a model that has none."""
        for name, given in (("simultaneous", estimand.simultaneous), ("median_unbiased", estimand.median_unbiased)):
            if given and not self.capabilities.intervals:
                raise QueryError(
                    f"--{name.replace('_', '-')} ({name}=True) goes by how far bounds stray by chance, which this "
                    f"{self.name} model does not say; leave it out, or fit a plug-in, or a response-types model with "
                    "intervals."
                )

    def answer(self, codes: Codes, estimand: Estimand) -> BoundTable:
        """Bounds on the estimand for each query, which is already encoded.

        Where the tables contradict each other beyond chance there is no answer from both, and what the experiment alone
        says stands beside it.
        """
        if estimand.trial_alone:
            found = self.from_trial_alone().compute_bounds(codes, replace(estimand, trial_alone=False))
            return replace(found, notes=(Note("trial_alone"), *found.notes))
        found = self._with_gain(self.compute_bounds(codes, estimand), codes, estimand)
        contradicted = self.contradicted(codes, estimand)
        return self._refuse_contradicted(found, codes, estimand, contradicted) if contradicted.any() else found

    def _with_gain(self, found: BoundTable, codes: Codes, estimand: Estimand) -> BoundTable:
        """The answers, with a note that says how wide they would be without the assumptions that say how much."""
        if not estimand.graded:
            return found
        plain = tuple(name for name in estimand.assume if name not in estimand.graded)
        without = self.compute_bounds(codes, replace(estimand, assume=plain))
        answered = (found.status == OK) & (without.status == OK)
        if not answered.any():
            return found
        widths = ((table.upper - table.lower)[answered].mean() for table in (found, without))
        values = dict(zip(("width", "without"), widths, strict=True))
        note = Note("assumption_buys", {**values, "answers": answered.sum()})
        return replace(found, notes=(*found.notes, note))

    @abstractmethod
    def compute_bounds(self, codes: Codes, estimand: Estimand) -> BoundTable:
        """Bounds on the estimand for each query, whether or not the tables contradict each other there."""

    def _refuse_contradicted(
        self, found: BoundTable, codes: Codes, estimand: Estimand, contradicted: BoolArray
    ) -> BoundTable:
        """Without the ends of contradicted queries, shape (queries,), but with those that the experiment alone has."""
        numbers = ("lower", "upper", *INTERVAL_ENDS)
        blank: dict[str, Any] = {
            name: np.where(contradicted, np.nan, values)
            for name in numbers
            if (values := getattr(found, name)) is not None
        }
        alone = self.study.experiment_alone
        ends = {} if alone else self._trial_ends(codes, estimand, contradicted)
        kind = "answers_impossible" if alone else "answers_contradicted"
        asked = Note(kind, {"contradicted": contradicted.sum(), "of": len(codes)}, WARNING)
        found_in_tables = tuple(one for one in self.warnings if one.kind == "tables_contradict")
        if estimand.is_relaxed and self.capabilities.learns_across_profiles:
            found_in_tables += (Note("slack_needs_rows", {"model": self.name}, WARNING),)
        return replace(
            found,
            **blank,
            **ends,
            status=np.where(contradicted, CONTRADICTED, found.status),
            notes=(*found.notes, *found_in_tables, asked),
        )

    def _trial_ends(self, codes: Codes, estimand: Estimand, chosen: BoolArray) -> dict[str, Any]:
        """What the experiment alone says about the chosen queries, NaN elsewhere; nothing where it says nothing."""
        try:
            trial = self.answer(codes[chosen], replace(estimand, trial_alone=True, population=None))
        except PnsightError:  # a quantity that an experiment alone does not bound, or a model without a law
            return {}
        ends = {f"trial_{end}": np.full(len(codes), np.nan) for end in ("lower", "upper")}
        for end in ("lower", "upper"):
            ends[f"trial_{end}"][chosen] = getattr(trial, end)
        return ends

    def contradicted(self, codes: Codes, estimand: Estimand | None = None) -> BoolArray:
        """Which queries the tables contradict each other about beyond chance, shape (queries,).

        The subgroups found, those that contain one, and those within one. With slack or misread outcomes in the
        estimand: beyond what these allow; unless the model learned as if both tables showed the same people.
        """
        explaining, others = self._contradictory_groups(estimand)
        marked = np.zeros(len(codes), dtype=bool)
        for group in explaining:
            marked |= lattice.contained(codes, group) | lattice.containing(codes, group)
        for group in others:
            marked |= lattice.containing(codes, group)
        return marked

    def _contradictory_groups(self, estimand: Estimand | None) -> tuple[Codes, Codes]:
        """Codes of the subgroups that explain the others, and of the others, each of shape (subgroups, covariates)."""
        found = self._contradiction()
        values = {} if found is None else found.values
        if values and estimand is not None and estimand.is_relaxed and not self.capabilities.learns_across_profiles:
            from pnsight.diagnostics.compatibility import contradicted_beyond  # loads SciPy

            return contradicted_beyond(self.study, estimand.relaxations(self.structure))
        return self._coded(values.get("codes", ())), self._coded(values.get("also", ()))

    def _coded(self, groups: Any) -> Codes:
        """Subgroups that were found among levels and groups of numbers, as queries, shape (groups, covariates)."""
        return self.schema.coded(np.array(groups, dtype=np.int32).reshape(len(groups), len(self.schema.names)))

    def _contradiction(self) -> Note | None:
        return next((one for one in self.warnings if one.kind == "tables_contradict"), None)

    def from_trial_alone(self) -> Model:
        """The model that answers from the experiment alone; refused by models that have none."""
        raise ModelError(
            f"a {self.name} model learned bounds from both tables and cannot answer from the experiment alone; fit a "
            "response-types or plug-in model, or fit to the experimental table alone."
        )

    @abstractmethod
    def raw_ends(self, codes: Codes, quantity: str = "pns") -> FloatArray:
        """Both ends as computed, even where they cross or are NaN, shape (queries, 2); `bounds` is for users."""

    def law(self, queries: QueryLike = None) -> Law:
        """The law of each query, of models that are capable of it."""
        raise ModelError(f"a {self.name} model knows bounds and no law; fit a response-types or plug-in model.")

    def simulated(self, codes: Codes, population: Population | None = None) -> tuple[FloatArray, FloatArray]:
        """The law of each profile, and draws of how far it may stray, of models that are capable of it.

        Shapes (profiles, cells) and (draws, profiles, cells).
        """
        raise ModelError(f"a {self.name} model simulates no studies; fit a response-types model with intervals.")

    @property
    def interval_inflation(self) -> float:
        """What the standard errors from simulated studies are multiplied by."""
        return 1.0

    @abstractmethod
    def validate_parameters(self) -> None:
        """Refuse parameters that no model can be fitted with; `fit` does so first, and so does loading."""

    @abstractmethod
    def parameters(self) -> Mapping[str, Any]:
        """What the constructor was given, as plain data; loading checks it against the constructor's types."""

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

    def unfitted(self, **changed: Any) -> Self:
        """Another model with the same parameters, which constructors store under their own names, but for some."""
        own = {name: getattr(self, name) for name in signature(type(self)).parameters}
        return type(self)(**{**own, **changed})

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
    def structure(self) -> Structure:
        """Response types and tables of the fitted study."""
        return self.study.structure

    def validate_population(self, population: str) -> None:
        """Refuse people that the model cannot be asked about."""
        validate_population(population)
        known = self.capabilities.populations
        if population not in known:
            own = f"those of the {known[0]} table" if known else "the people it was fitted to"
            raise QueryError(
                f"population {population!r} was given, but this {self.name} model has only {own}; leave --population "
                "(population=) out, or fit a response-types model to both tables."
            )

    @property
    def caveats(self) -> tuple[Note, ...]:
        """What a reader of any answer should know."""
        return () if self.study.withheld is None else self.study.withheld.notes

    @property
    def warnings(self) -> tuple[Note, ...]:
        """What whoever fits or reads this model is warned of, found when first asked for and stored with the model.

        Tables that contradict each other, and rows that are added up although people differ: see
        `pnsight.diagnostics.fit_warnings`.
        """
        if not hasattr(self, "_warnings") or self._warnings[0] is not self.study:
            from pnsight.diagnostics.fit_warnings import (
                fit_warnings,  # loads SciPy, which a plain answer can do without
            )

            self.keep_warnings(fit_warnings(self.study, self.capabilities.pools_rows))
        return self._warnings[1]

    @property
    def read_notes(self) -> tuple[Note, ...]:
        """What to know of a model that was read from a folder: whether other versions of libraries fitted it."""
        return notes_on_reading(self.libraries) if self.libraries else ()

    def keep_warnings(self, notes: Sequence[Note]) -> None:
        """Take these for the warnings about the study, found when the model was fitted."""
        self._warnings = (self.study, tuple(notes))

    def _repr_html_(self) -> str:
        """The model and what it was fitted to, for a notebook."""
        names: list[str] = [field.name for field in fields(self) if field.init] if is_dataclass(self) else []
        own = {name: str(getattr(self, name)) for name in names}
        fitted = self.study.facts() if hasattr(self, "study_") else {"fitted": "not yet"}
        return markup.facts(f"{type(self).__name__} ({self.name})", {**own, **fitted})

    def counts(self, codes: Codes) -> FloatArray:
        """Rows behind each query in the structure's cells and sets, shape (queries, cells + sets)."""
        lookup = self.study.lookup if self.schema.numeric and len(codes) > 1 else None
        return lattice.sum_over(self.schema, codes, self.study.profiles, self.study.counts, lookup)

    def support(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Rows in the experimental and in the observational table, each of shape (queries,).

        Censored rows count in parts, whose sum may miss the row by the last digit.
        """
        experimental, observational = (
            _whole_where_rounded(counts[:, self.structure.all_columns_of(table)].sum(axis=1))
            for table in (EXPERIMENTAL, OBSERVATIONAL)
        )
        return experimental, observational

    def least_rows(self, counts: FloatArray) -> FloatArray:
        """Rows in the study's table that has fewer of them, shape (queries,)."""
        return np.asarray(self.structure.by_table(counts).min(axis=1))

    def shares(self, codes: Codes, population: Population | None = None) -> FloatArray:
        """Share of the people of a population, by default the model's, that are in each query, shape (queries,)."""
        people = self.study.profile_counts(population or "observational")
        return lattice.sum_over(self.schema, codes, self.study.profiles, people[:, None])[:, 0] / (people.sum() or 1.0)


class LawModel(Model):
    """A model of the law, from which the bounds on every quantity follow."""

    _tests: tuple[Study, dict[tuple[Any, ...], AssumptionTest]]

    @abstractmethod
    def law_given(self, codes: Codes, counts: FloatArray) -> Law:
        """The law of each query, of which the rows are already counted."""

    @abstractmethod
    def ends_given(self, codes: Codes, counts: FloatArray, estimand: Estimand) -> Ends:
        """Both ends of each query, of which the rows are already counted."""

    def notes(self, codes: Codes, estimand: Estimand) -> tuple[Note, ...]:
        """What a reader of the answers should know; refuses assumptions that the study contradicts for the queries."""
        lacking = EXOGENOUS not in estimand.assume and not self.study.table_rows[0]
        missing = (Note("no_experiment", severity="warning"),) if lacking else ()
        found = (*self.caveats, *estimand.notes(self.structure), *missing)
        return (*found, *self._assumption_notes(codes, estimand)) if estimand.assume else found

    def _assumption_notes(self, codes: Codes, estimand: Estimand) -> Iterator[Note]:
        """How assumptions stand up: in every subgroup, or at the law of the group where they say how much.

        Raises `AssumptionError` where the study contradicts them.
        """
        plain = tuple(name for name in estimand.assume if name not in estimand.graded)
        if plain and not estimand.is_relaxed:
            yield self._tested(replace(estimand, assume=plain)).note(self.schema.positions(codes))
        if estimand.graded or (plain and estimand.is_relaxed):
            yield self._limits_tested(
                codes, estimand if estimand.is_relaxed else replace(estimand, assume=estimand.graded)
            )

    def _limits_tested(self, codes: Codes, estimand: Estimand) -> Note:
        from pnsight.diagnostics.limit_tests import compare_limits  # loads SciPy, which a plain answer can do without

        if estimand.refines(self.structure):
            profiles = self.study.profiles
            codes = profiles[np.any([lattice.contained(profiles, query) for query in codes], axis=0)]
        law, rows = self.law_and_error(codes, estimand)
        groups = [str(decode(self.schema, query)) or "everyone" for query in codes]
        return compare_limits(estimand, law, rows).note(groups)

    def law_and_error(self, codes: Codes, estimand: Estimand) -> tuple[Law, FloatArray | SamplingError]:
        """The law of each query before any assumption, and how far it strays, as `end_intervals` takes it.

        By default as far as the shares of the query's own rows.
        """
        counts = self.counts(codes)
        return self.law_given(codes, counts), self.structure.by_group(counts)

    def _tested(self, estimand: Estimand) -> AssumptionTest:
        """What the study says about assumptions, found out once for each."""
        from pnsight.diagnostics import assumptions_of  # loads SciPy, which a plain answer can do without

        if not hasattr(self, "_tests") or self._tests[0] is not self.study:
            self._tests = (self.study, {})
        found, asked = self._tests[1], (estimand.assume, estimand.contrast, estimand.horizon)
        if asked not in found:
            plain = self.structure.is_two_by_two and estimand.contrast is None
            possible = None if plain else estimand.possible(self.structure)
            found[asked] = assumptions_of(self.study, estimand.assume, possible)
        return found[asked]

    def law(self, queries: QueryLike = None) -> Law:
        """The law of each query."""
        codes = encode(self.schema, queries)
        return self.law_given(codes, self.counts(codes))

    def raw_ends(self, codes: Codes, quantity: str = "pns") -> FloatArray:
        """The formulas at the model's law, shape (queries, 2)."""
        return np.stack(Estimand.parse(quantity).bounds_at(self.law(codes)), axis=1)

    def compute_bounds(self, codes: Codes, estimand: Estimand) -> BoundTable:
        """Bounds on the estimand for each query, as `Model.bounds` says; they rest on the query's own rows."""
        notes, counts = self.notes(codes, estimand), self.counts(codes)
        lower, upper, status = resolve_crossed_bounds(*self.ends_given(codes, counts, estimand), within=estimand.span)
        table = texts_when_needed(self.schema, codes), lower, upper, *self.support(counts), status
        found = BoundTable(estimand.quantity.name, *table, notes=notes, basis=np.full(len(codes), ROWS))
        noise = self.noise_given(codes, counts, estimand)
        if noise is None:
            return found
        worth = self.effective_rows_given(codes, counts, estimand)
        return add_intervals(replace(found, effective_rows=worth), noise, codes, estimand)

    def noise_given(self, codes: Codes, counts: FloatArray, estimand: Estimand) -> EndNoise | None:
        """How far both ends of each query stray, of which the rows are already counted; None without intervals."""
        return None

    def effective_rows_given(self, codes: Codes, counts: FloatArray, estimand: Estimand) -> FloatArray | None:
        """How many rows each answer is worth in the group of cells that is known least; None where it is not said."""
        return None


def refuse_numbers(schema: Schema, reason: str, otherwise: str) -> None:
    """Refuse numeric covariates, and say what to do with them in place of that.

    Parameters
    ----------
    schema
        The covariates.
    reason
        Why numbers are refused, such as ``a plug-in model counts rows by level``.
    otherwise
        What else can be done, such as ``fit a response-types model``.

    Raises
    ------
    ModelError
        If there are numbers.
    """
    if schema.numeric:
        named = [schema.names[j] for j in schema.numeric]
        are = "is a number" if len(named) == 1 else "are numbers"
        raise ModelError(f"{reason}, and {join_names(named)} {are}; {levels_instead(schema)}, or {otherwise}.")


def levels_instead(schema: Schema) -> str:
    """What to do so that numeric covariates have levels: bands of numbers, while dates cannot be cut."""
    numbers = [schema.names[j] for j, scale in schema.numeric.items() if scale.origin is None]
    dates = [schema.names[j] for j, scale in schema.numeric.items() if scale.origin is not None]
    bands = f"cut into bands with {' '.join(f'--bands {each}=4' for each in numbers)} (bands=)"
    without = f"leave the dates of {join_names(dates)} out with --exclude {','.join(dates)} (exclude=)"
    return " and ".join([*([bands] if numbers else []), *([without] if dates else [])])


def add_intervals(found: BoundTable, noise: EndNoise, codes: Codes, estimand: Estimand) -> BoundTable:
    """The answers with confidence intervals, and with corrected ends where the estimand asks for them.

    Parameters
    ----------
    found
        Answers without intervals.
    noise
        What is known about the errors of their ends.
    codes : shape (queries, covariates)
        The queries: where intervals are to hold together, equal ones count once.
    estimand
        What was asked.

    Returns
    -------
    The answers; intervals are NaN where there is none.
    """
    notes: tuple[Note, ...] = found.notes
    if estimand.median_unbiased:
        lower, upper = noise.median_unbiased()
        found = replace(found, lower=np.minimum(found.lower, lower), upper=np.maximum(found.upper, upper))
        notes = (*notes, Note("median_unbiased"))
    comparisons = 0
    if estimand.simultaneous:
        comparisons = max(1, len(np.unique(codes[found.status == OK], axis=0)))
        notes = (*notes, Note("simultaneous", {"answers": comparisons, "level": estimand.level}))
    intervals = noise.intervals(estimand.level, comparisons).around(found.lower, found.upper, estimand.span)
    return replace(found, **vars(intervals), level=estimand.level, comparisons=comparisons, notes=notes)


def _whole_where_rounded(rows: FloatArray) -> FloatArray:
    """Numbers of rows, those a rounding error away from a whole number as that number."""
    whole = np.round(rows)
    return np.where(np.abs(rows - whole) <= _ROUNDING * np.maximum(1.0, rows), whole, rows)
