"""The response-type model: learn the law of every profile from both tables at once; all bounds follow.

Every person is of one response type; with two arms and two outcomes there are eight: the treatment they would choose,
their outcome if untreated and if treated.
A small network gives each profile a distribution over the types, and all that either table can show is linear in it. So
one likelihood fits both tables, and every answer is one that some population could have: 0 <= lower <= upper <= 1 for
every quantity, with no threshold and no filter. Only the law is identified, not the types: they are never reported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self, get_args

import numpy as np
import numpy.typing as npt

from pnsight._progress import Progress, no_progress, subtask
from pnsight._typing import BoolArray, FloatArray
from pnsight.data.coarsened import coarsened_shares, effective_counts
from pnsight.data.law import Law
from pnsight.data.number_codes import high_ends, low_ends
from pnsight.data.schema import Codes
from pnsight.data.structure import EXPERIMENTAL, Group, Structure
from pnsight.data.study import Population, Study, validate_population
from pnsight.errors import ModelError
from pnsight.estimands.compiled_ratio import Ends
from pnsight.estimands.confidence import MeanNoise
from pnsight.estimands.drawn_errors import drawn_errors
from pnsight.estimands.estimand import Estimand, validate_fitted_quantity
from pnsight.estimands.resolve import resolve_crossed_bounds
from pnsight.models.base import Capabilities, LawModel, add_intervals
from pnsight.models.response_types.config import ResponseTypeConfig, default_config
from pnsight.models.response_types.enumerated_profiles import EnumeratedProfiles
from pnsight.models.response_types.fit import FitProcedure
from pnsight.models.response_types.fit_summary import FitSummary, PlainSummary
from pnsight.models.response_types.law_errors import draw_errors, mean_correlation
from pnsight.models.response_types.marginalise import Marginaliser
from pnsight.models.response_types.near_people import NearPeople
from pnsight.models.response_types.reconcile import Reconciled, reconcile
from pnsight.models.response_types.reference_people import ReferencePeople
from pnsight.models.response_types.sampled_profiles import SampledProfiles
from pnsight.models.stored_profiles import NUMBERS
from pnsight.notes import Note
from pnsight.queries import lattice
from pnsight.queries.bound_table import EXTRAPOLATED, MODEL, ROWS, BoundTable
from pnsight.queries.query import texts_when_needed

_DRAWS = 64
"""Draws of the errors of laws that planning looks at."""

_TRIAL = "trial."
"""Before the names of arrays of the model that was fitted to the experiment alone."""

_ALIKE = 0.01
"""Shares of cells that differ by less than this between profiles are called the same for everyone."""

_ROUNDING = 1e-9

_MARGINALISERS: dict[str, type[Marginaliser]] = {
    kind.representation: kind for kind in (EnumeratedProfiles, SampledProfiles, ReferencePeople)
}
"""By what a stored model says of itself."""


@dataclass(eq=False)
class ResponseTypeModel(LawModel):
    """Networks over the response types, chosen by cross-validation, averaged, and shrunk to the counts.

    Parameters
    ----------
    quantity
        What `bounds` answers when it is not asked for another.
    population
        Whose people an open covariate is averaged over: those of the observational table, of the experimental one, or
        both ("pooled"). A study without observational table has only the experimental.
    intervals
        Whether to fit simulated studies as well, which gives each end of a bound its interval.
    random_state
        Seed of folds, first weights and simulated studies.
    config
        Hyperparameters that are tried, how much is trained, and limits.
    """

    quantity: str = "pns"
    population: Population = "observational"
    intervals: bool = True
    random_state: int = 0
    config: ResponseTypeConfig = field(default_factory=default_config)
    trial_model_: ResponseTypeModel | None = field(default=None, init=False, repr=False)

    name: ClassVar[str] = "response-types"
    learns: ClassVar[Any] = PlainSummary
    unknown_as_nan: ClassVar[tuple[str, ...]] = ("profile_errors", "group_errors", "error_weights", NUMBERS)
    method: ClassVar[str] = (
        "The response-type model. Every person is of one kind: the treatment they would choose, and the outcome they "
        "would have with and without it. Small networks give each profile its mix of these kinds, fitted to both "
        "tables at once; how large they are, and how far a profile's own rows count, was chosen on rows held out. "
        "What they learn is always something that some population could show, so bounds never cross."
    )

    # --- learning --------------------------------------------------------------------------------------

    def fit(self, study: Study, progress: Progress = no_progress) -> Self:
        """Select hyperparameters by cross-validation, then fit to all rows.

        Parameters
        ----------
        study : Study
            Counts to learn from.
        progress : Progress
            Called as the fit goes on.

        Returns
        -------
        ResponseTypeModel
            The model itself.
        """
        self.validate_parameters()
        _check_rows(study)
        self.study_ = study.drop_empty_profiles()
        self.libraries = {}
        _forget(self)
        contradicted = not study.experiment_alone and any(one.kind == "tables_contradict" for one in self.warnings)
        both = subtask(progress, 0, 2, "both tables") if contradicted else progress
        procedure = FitProcedure(self.study_, self.config, self.random_state, self.intervals, both)
        self.fit_summary_, self.marginaliser_ = procedure.run()
        trial = subtask(progress, 1, 2, "the experiment alone")
        self.trial_model_ = self.unfitted().fit(self._trial_study, trial) if contradicted else None
        return self

    @property
    def _trial_study(self) -> Study:
        """The experiment alone."""
        return self.study.with_tables(observational=None).drop_empty_profiles()

    def from_trial_alone(self) -> ResponseTypeModel:
        """The model of the experiment alone.

        Where the tables contradict each other it was fitted without the observational table; elsewhere it is what both
        tables together say about the experiment.
        """
        if self.study.experiment_alone:
            return self
        if self.trial_model_ is not None:
            return self.trial_model_
        return self._restricted_to_trial

    @cached_property
    def _restricted_to_trial(self) -> ResponseTypeModel:
        """What both tables together say about the experiment."""
        other, structure = copy(self), self.structure
        other.study_ = self.study.with_tables(observational=None)
        groups = structure.groups_of(EXPERIMENTAL)
        other.marginaliser_ = self.marginaliser_.only([structure.tables.index(EXPERIMENTAL)], groups)
        found = self.fit_summary_
        decay = tuple(found.decay[group] for group in groups if found.decay)
        covariates = tuple(each for each in found.covariates if each.table == EXPERIMENTAL)
        other.fit_summary_ = replace(found, decay=decay, covariates=covariates)
        _forget(other)
        return other

    def validate_parameters(self) -> None:
        """Raise an error where a parameter is not known."""
        validate_fitted_quantity(self.quantity)
        validate_population(self.population)
        self.config.validate()

    # --- answering -------------------------------------------------------------------------------------

    def law_given(self, codes: Codes, counts: FloatArray) -> Law:
        """The law of each query."""
        return Law(self.structure, self._reconciled(codes, self._weights(None)).law)

    @property
    def capabilities(self) -> Capabilities:
        """The law of every query, of whichever people are asked about; an experiment alone is its own population."""
        return Capabilities(
            law=True,
            intervals=self.intervals,
            populations=("experimental",) if self.study.experiment_alone else get_args(Population),
            learns_across_profiles=True,
            simulates_studies=self.intervals,
        )

    def shares(self, codes: Codes, population: Population | None = None) -> FloatArray:
        """Share of the people of a population, by default the model's, that are in each query, shape (queries,).

        By the law of the covariates that the model has learned, so a query without rows has its share too.
        """
        return self.marginaliser_.shares(codes, self._weights(population))

    @property
    def interval_inflation(self) -> float:
        """What the standard errors from simulated studies are multiplied by, from held-out rows."""
        return self.fit_summary_.interval_inflation or 1.0

    def simulated(self, codes: Codes, population: Population | None = None) -> tuple[FloatArray, FloatArray]:
        """The law of each profile by the estimate, and draws of how far it may stray.

        Shapes (profiles, cells) and (draws, profiles, cells). They show how far a fit strays, and where alike.
        """
        if self.fit_summary_.interval_inflation is None:
            raise ModelError("this model was fitted without intervals, so no study was simulated; fit it with them.")
        law = self._model_law(codes, self._weights(population))
        error = self._errors(codes, self._weights(population)) / self.interval_inflation
        decay = np.array(self.fit_summary_.decay)
        return law, draw_errors(law, error, codes, decay, self.structure, _DRAWS, self.schema)

    def compute_bounds(self, codes: Codes, estimand: Estimand) -> BoundTable:
        """Bounds on the estimand for each query, with a confidence interval for each end.

        What a query does not name is averaged over the people of the estimand's population, by default the model's.
        """
        weights = self._weights(estimand.population)
        notes = (*self.notes(codes, estimand), *self._nearness(codes, weights))
        counts = self.counts(codes)
        found = self._reconciled(codes, weights)
        law = Law(self.structure, found.law)
        bound = self._bound(codes, estimand, weights)
        lower, upper, status = resolve_crossed_bounds(*bound(law), within=estimand.span)
        table = BoundTable(
            estimand.quantity.name,
            texts_when_needed(self.schema, codes),
            lower,
            upper,
            *self.support(counts),
            status,
            notes=notes,
            basis=self._basis(codes, counts, found),
        )
        if self.fit_summary_.interval_inflation is None:
            return table
        errors = drawn_errors(bound, law, found.rows, estimand.span)
        none = np.zeros(len(codes))
        excess = errors.excess if estimand.median_unbiased else (none, none)
        noise = MeanNoise((lower, upper), errors.ends, errors.width, excess, estimand.span)
        return add_intervals(replace(table, effective_rows=found.rows.min(axis=1)), noise, codes, estimand)

    def _nearness(self, codes: Codes, weights: FloatArray) -> tuple[Note, ...]:
        """How near the people are that a number was averaged over, where queries leave other covariates open."""
        found = self.marginaliser_.bandwidths(codes, weights)
        widths = [{"covariate": self.schema.names[j], "within": width} for j, width in sorted(found.items())]
        return (Note("averaged_near", {"widths": widths}),) if widths else ()

    def ends_given(self, codes: Codes, counts: FloatArray, estimand: Estimand) -> Ends:
        """Both ends of each query."""
        weights = self._weights(None)
        return self._bound(codes, estimand, weights)(Law(self.structure, self._reconciled(codes, weights).law))

    def law_and_error(self, codes: Codes, estimand: Estimand) -> tuple[Law, FloatArray]:
        """The law of each query, and how many rows it is worth; without intervals, the query's own."""
        found = self._reconciled(codes, self._weights(estimand.population))
        own = self.structure.by_group(self.counts(codes))
        return Law(self.structure, found.law), np.where(np.isnan(found.rows), own, found.rows)

    @property
    def caveats(self) -> tuple[Note, ...]:
        """What a reader of any answer should know, such as that nothing told people apart."""
        found = super().caveats
        if not self.fit_summary_.no_network or not self.schema.shape:
            return found
        return (*found, Note("same_for_everyone" if self._alike else "random_effects"))

    @cached_property
    def _alike(self) -> bool:
        """Whether what was learned about the study's profiles differs so little that it is called the same."""
        law = self._profile_laws
        return bool(len(law)) and float(np.ptp(law, axis=0).max()) < _ALIKE

    # --- the law of a query ----------------------------------------------------------------------------

    def _model_law(self, codes: Codes, weights: FloatArray) -> FloatArray:
        """What was learned about each query's people, shape (queries, cells)."""
        return self.structure.cell_probabilities(self.marginaliser_.types(codes, weights))

    def _errors(self, codes: Codes, weights: FloatArray) -> FloatArray:
        """Expected relative error of the model's law of each query, shape (queries, groups)."""
        decay = np.array(self.fit_summary_.decay)
        alike = mean_correlation(codes, self._frequencies, decay, self.schema)
        found = np.asarray(self.marginaliser_.errors(codes, weights) * np.sqrt(alike))
        sampling = self.marginaliser_.sampling_errors(codes, weights)
        return found if sampling is None else np.hypot(found, sampling)

    def _reconciled(self, codes: Codes, weights: FloatArray) -> Reconciled:
        """The law of each query, its own rows counted for it, and how many rows it is worth."""
        law, groups = self._model_law(codes, weights), len(self.structure.groups)
        if self.fit_summary_.interval_inflation is None:
            nothing = np.full((len(codes), groups), np.nan)
            return Reconciled(law, nothing, nothing)
        cells = self.structure.n_cells
        sums = lattice.sum_over(self.schema, codes, self.study.profiles, self._rows_and_residuals)
        own = self.structure.by_group(sums[:, :cells])
        found = reconcile(law, self._errors(codes, weights), own, sums[:, cells:], self.structure)
        return found._replace(rows=np.minimum(found.rows, self._effective_rows))

    @cached_property
    def _rows_and_residuals(self) -> FloatArray:
        """Effective rows of each profile, and what they show beyond what the model says, shape (profiles, 2 cells)."""
        structure = self.structure
        counts = effective_counts(self.study.effective_counts, self._profile_laws, structure)
        expected = structure.for_cells(structure.by_group(counts)) * self._profile_laws
        return np.concatenate([counts, counts - expected], axis=1)

    @property
    def _profile_laws(self) -> FloatArray:
        """What was learned about each profile of the study, shape (profiles, cells)."""
        return self.structure.cell_probabilities(self.marginaliser_.profile_types_at(self.study.profiles))

    @cached_property
    def _effective_rows(self) -> FloatArray:
        """Effective rows of each group, shape (groups,): nobody is known better than everyone."""
        worth = 1.0 if self.study.design is None else np.array(self.study.design.row_worth)
        if not self.study.partly_observed:
            return self._rows_by_group * worth
        everyone = np.nan_to_num(coarsened_shares(self.study.cell_rows, self.structure))
        rows = self.structure.by_group(effective_counts(self.study.cell_rows, everyone, self.structure))[0]
        return np.asarray(np.maximum(rows * worth, 1.0))

    @cached_property
    def _frequencies(self) -> list[FloatArray]:
        """How common each category of each covariate is in the study, one array a covariate."""
        rows, profiles = self.study.counts.sum(axis=1), self.schema.positions(self.study.profiles)
        return [
            np.bincount(profiles[:, j], rows, categories) / rows.sum() for j, categories in enumerate(self.schema.shape)
        ]

    def _basis(self, codes: Codes, counts: FloatArray, found: Reconciled) -> npt.NDArray[np.str_]:
        """What each answer rests on: its own rows where they are half of what it is worth, or what others taught."""
        own = self.structure.by_group(counts)
        mostly_rows = (own >= found.rows / 2).all(axis=1)  # never where no error is known
        far = self._nobody_near(codes, counts)
        return np.where(far, EXTRAPOLATED, np.where(mostly_rows & own.any(axis=1), ROWS, MODEL))

    def _nobody_near(self, codes: Codes, counts: FloatArray) -> BoolArray:
        """Whether a table has nobody like or near those asked about, shape (queries,); numbers of a group are near."""
        lacking = np.flatnonzero((self.structure.by_table(counts) == 0).any(axis=1))
        found = self._outside(codes)
        if len(lacking):
            asked = self.schema.positions(codes[lacking])
            found[lacking] |= ~np.all([people.somebody(asked) for people in self._people_of_tables], axis=0)
        return found

    def _outside(self, codes: Codes) -> BoolArray:
        """Whether a query fixes a number or range that lies outside the numbers seen, shape (queries,)."""
        found = np.zeros(len(codes), dtype=bool)
        for j, scale in self.schema.numeric.items():
            low, high = low_ends(codes[:, j]), high_ends(codes[:, j])
            found |= (np.isfinite(low) & (low > np.float32(scale.high))) | (high < np.float32(scale.low))
        return found

    @cached_property
    def _people_of_tables(self) -> list[NearPeople]:
        """The distinct people of each table that has some, numbers in groups."""
        grouped = self.study.grouped
        found = [grouped.profiles[rows > 0] for rows in self.structure.by_table(grouped.counts).T]
        return [NearPeople(people, self.schema.shape) for people in found if len(people)]

    # --- its ends --------------------------------------------------------------------------------------

    def _bound(self, codes: Codes, estimand: Estimand, weights: FloatArray) -> Callable[[Law], Ends]:
        """How laws of the queries are turned into ends.

        Refined ends lie within those of the average law, which hold as well.
        """
        if not estimand.refines(self.structure):
            return self._unrefined_bound(codes, estimand, weights)
        plain = self._unrefined_bound(codes, replace(estimand, refine="none"), weights)
        refined = self._profile_bound(codes, estimand, weights)
        return lambda law: _within(refined(law), plain(law))

    def _unrefined_bound(self, codes: Codes, estimand: Estimand, weights: FloatArray) -> Callable[[Law], Ends]:
        rows = self._rows_by_group
        if estimand.needs_profiles(self.structure):
            return self._profile_bound(codes, estimand, weights)
        return lambda law: estimand.bounds_at(law, rows)

    def _profile_bound(self, codes: Codes, estimand: Estimand, weights: FloatArray) -> Callable[[Law], Ends]:
        """The same where terms are made profile by profile."""
        rows, structure = self._rows_by_group, self.structure
        by_group = tuple(map(float, rows))
        means = self.marginaliser_.means(codes, weights, _ProfileTerms(estimand, by_group, structure))
        slopes = self.marginaliser_.means(codes, weights, _ProfileGradients(estimand, by_group, structure))
        terms = _MovedTerms(means, slopes.reshape(*means.shape, structure.n_cells), self._model_law(codes, weights))
        return lambda law: _uncrossed(*estimand.bounds_from_mean_terms(terms.at(law), structure, rows))

    @property
    def _rows_by_group(self) -> FloatArray:
        """Rows of each group of cells, shape (groups,)."""
        return np.asarray(self.structure.by_group(self.study.cell_rows)[0])

    def _weights(self, population: Population | None) -> FloatArray:
        """How much of each table's people a population has, shape (tables,)."""
        if population is not None:
            self.validate_population(population)
        if self.study.experiment_alone:
            return np.ones(1)
        rows = np.array(self.study.table_rows)
        weights = {
            "experimental": np.array([1.0, 0.0]),
            "observational": np.array([0.0, 1.0]),
            "pooled": rows / rows.sum(),
        }
        found: FloatArray = weights[population or self.population]
        return found

    def explain(self) -> str:
        """What was chosen, and on what evidence, in words."""
        _ = self.study
        return "\n".join([str(self.fit_summary_), *self.marginaliser_.explained()])

    # --- storing ---------------------------------------------------------------------------------------

    def parameters(self) -> Mapping[str, Any]:
        """What the constructor was given, as plain data."""
        return {
            **{each.name: getattr(self, each.name) for each in fields(self) if each.init},
            "config": self.config.plain(),
        }

    def state(self) -> tuple[Mapping[str, Any], Mapping[str, npt.NDArray[Any]]]:
        """What was chosen, how profiles are represented, and what was learned about them."""
        data = {"representation": self.marginaliser_.representation, **self.fit_summary_.plain(), "trial": None}
        arrays = dict(self.marginaliser_.arrays())
        if self.trial_model_ is not None:
            data["trial"], of_trial = self.trial_model_.state()
            arrays |= {f"{_TRIAL}{name}": array for name, array in of_trial.items()}
        return data, arrays

    def restore(self, study: Study, data: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Become the fitted model that `state` described."""
        self.study_ = study
        _forget(self)
        self.fit_summary_ = FitSummary.from_plain(data)
        self.marginaliser_ = _MARGINALISERS[data["representation"]].from_arrays(study.schema, study.profiles, arrays)
        self._check_restored()
        self.trial_model_ = None
        if data["trial"] is not None:
            of_trial = {name.removeprefix(_TRIAL): array for name, array in arrays.items() if name.startswith(_TRIAL)}
            self.trial_model_ = self.unfitted().restore(self._trial_study, data["trial"], of_trial)
        return self

    def _check_restored(self) -> None:
        """Choices about other tables than there are would be taken for choices about these."""
        chosen, groups = self.fit_summary_, len(self.structure.groups)
        expected = 0 if self.schema.numeric else len(self.structure.tables)
        if len(chosen.covariates) != expected:
            raise ValueError(f"learned.covariates describes {len(chosen.covariates)} tables; expected one for each")
        expected = 0 if chosen.interval_inflation is None else groups
        if len(chosen.decay) != expected:
            raise ValueError(f"learned.decay has {len(chosen.decay)} numbers; expected {expected}, one for each group")
        if chosen.networks < 1:
            raise ValueError(f"learned.networks is {chosen.networks}; an estimate is the mean of at least one")


def _forget(model: ResponseTypeModel) -> None:
    """Leave out what a copy has cached of the model that it was copied from."""
    for name in (
        "_rows_and_residuals",
        "_effective_rows",
        "_frequencies",
        "_alike",
        "_restricted_to_trial",
        "_people_of_tables",
    ):
        vars(model).pop(name, None)


@dataclass(frozen=True)
class _ProfileTerms:
    """What profiles bring to the mean over their people, from their types; equal ones give the same values."""

    estimand: Estimand
    rows: tuple[float, ...]
    structure: Structure

    def __call__(self, types: FloatArray) -> FloatArray:
        law = Law.from_types(types / types.sum(axis=1, keepdims=True), self.structure)
        return self.estimand.profile_terms(law, np.array(self.rows))


@dataclass(frozen=True)
class _ProfileGradients:
    """How that moves with the shares of the profiles' cells, shape (profiles, terms * cells)."""

    estimand: Estimand
    rows: tuple[float, ...]
    structure: Structure

    def __call__(self, types: FloatArray) -> FloatArray:
        law = Law.from_types(types / types.sum(axis=1, keepdims=True), self.structure)
        found = self.estimand.profile_gradients(law, np.array(self.rows))
        return found.reshape(len(found), found.shape[1] * found.shape[2])


class _MovedTerms(NamedTuple):
    """Mean terms of each query's profiles (queries, terms), and what they become, to first order, at another law.

    `slopes` (queries, terms, cells) are their derivatives, and `law` (queries, cells) is the one that they belong to.
    """

    means: FloatArray
    slopes: FloatArray
    law: FloatArray

    def at(self, law: Law) -> FloatArray:
        """Terms where every profile's law has moved as the query's has, shape (queries, terms)."""
        return np.asarray(self.means + np.einsum("qtc,qc->qt", self.slopes, law.cells - self.law))


def _within(ends: Ends, wider: Ends) -> Ends:
    """Ends no wider than others that hold as well."""
    lower, upper = (np.minimum(np.maximum(end, wider[0]), wider[1]) for end in ends)
    return _uncrossed(lower, upper)


def _uncrossed(lower: FloatArray, upper: FloatArray) -> Ends:
    """Ends that may have been moved past each other, to first order, meet halfway."""
    middle, crossed = (lower + upper) / 2, lower > upper
    return np.where(crossed, middle, lower), np.where(crossed, middle, upper)


def _check_rows(study: Study) -> None:
    """Without rows in both arms of the experiment nothing says what treatment does."""
    if not study.rows_of(EXPERIMENTAL).any():
        raise ModelError(
            "there is no experimental table; this model learns from one. The plug-in (--model plug-in) can answer from "
            "an observational table alone, under assume='exogenous' (--assume exogenous)."
        )
    for group, counts in study.structure.split(study.counts):
        _check_group(group, float(counts.sum()))


def _check_group(group: Group, rows: float) -> None:
    """Every arm needs a row, and so does the observational table if there is one."""
    if not rows and group.table == EXPERIMENTAL:
        raise ModelError(f"the experimental table has no {group.name} row that shows an outcome; a trial needs some.")
    if not rows:
        raise ModelError(f"the {group.table} table has no row; leave it out to learn from the experiment alone.")
    if rows < 1 - _ROUNDING:
        raise ModelError(
            f"the weights of the {group.name} rows add up to {rows:.3g}, so they stand for less than one row; a weight "
            "says how many rows a row stands for. Divide the weights of each table by their mean."
        )
