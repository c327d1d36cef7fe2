"""The response-type model: learn the law of every profile from both tables at once; all bounds follow.

Every person is one of eight response types: the treatment they would choose, their outcome if untreated and if treated.
A small network gives each profile a distribution over the types, and all that either table can show is linear in it. So
one likelihood fits both tables, and every answer is one that some population could have: 0 <= lower <= upper <= 1 for
every quantity, with no threshold and no filter. Only the law is identified, not the types: they are never reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import islice
from statistics import NormalDist
from typing import Any, ClassVar, Self, get_args

import numpy as np
import numpy.typing as npt

from pnsight._progress import Progress, no_progress
from pnsight._typing import FloatArray
from pnsight.data.law import Law
from pnsight.data.schema import Codes
from pnsight.data.structure import EXPERIMENTAL, OBSERVATIONAL, Group, Structure
from pnsight.data.study import Population, Study, validate_population
from pnsight.errors import ModelError
from pnsight.estimands.estimand import Ends, Estimand, validate_fitted_quantity
from pnsight.estimands.resolve import resolve_crossed_bounds
from pnsight.models.base import Capabilities, LawModel
from pnsight.models.response_types.config import ResponseTypeConfig, default_config
from pnsight.models.response_types.enumerated_profiles import EnumeratedProfiles
from pnsight.models.response_types.fit import FitProcedure
from pnsight.models.response_types.fit_summary import FitSummary, PlainSummary
from pnsight.models.response_types.intervals import MEMBERS_PER_SIMULATION, error_variance
from pnsight.models.response_types.marginalise import Marginaliser
from pnsight.models.response_types.replace_counts import CountReplacement, EmpiricalPart
from pnsight.models.response_types.sampled_profiles import SampledProfiles
from pnsight.queries.bound_table import BoundTable
from pnsight.queries.query import format_queries

_MAX_LAWS_AT_ONCE = 4096
"""Laws, of queries and members, that are bounded in one go: the members of a few queries, or one member of many."""

_ROUNDING = 1e-9

_MARGINALISERS: dict[str, type[Marginaliser]] = {
    kind.representation: kind for kind in (EnumeratedProfiles, SampledProfiles)
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

    name: ClassVar[str] = "response-types"
    learns: ClassVar[Any] = PlainSummary
    method: ClassVar[str] = (
        "The response-type model. Every person is one of eight kinds: the treatment they would choose, and the outcome "
        "they would have with and without it. Small networks give each profile its mix of the eight kinds, fitted to "
        "both tables at once; how large they are, and how far a profile's own rows count, was chosen on rows held out. "
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
        procedure = FitProcedure(self.study_, self.config, self.random_state, self.intervals, progress)
        self.fit_summary_, self.marginaliser_ = procedure.run()
        return self

    def with_study(self, study: Study) -> Self:
        """The same networks with this study's counts, which profiles are shrunk to and mixed by.

        Parameters
        ----------
        study : Study
            Other counts of the same profiles.

        Returns
        -------
        ResponseTypeModel
            A copy.
        """
        other, found = super().with_study(study), self.fit_summary_
        replacement = CountReplacement(
            self.study.counts,
            study.counts,
            found.prior_rows,
            [EmpiricalPart(each.empirical_weight, each.pooled) for each in found.covariates],
            np.array([0, *range(1, self.marginaliser_.members, MEMBERS_PER_SIMULATION)]),
            self.structure,
            self.config.shrinkage,
        )
        covariates = tuple(
            each._replace(empirical_weight=part.empirical_weight)
            for each, part in zip(found.covariates, replacement.empirical_parts_after, strict=True)
        )
        other.fit_summary_ = replace(found, covariates=covariates)
        other.marginaliser_ = self.marginaliser_.replace_counts(replacement, self.study.profiles)
        return other

    def validate_parameters(self) -> None:
        """Raise an error where a parameter is not known."""
        validate_fitted_quantity(self.quantity)
        validate_population(self.population)
        self.config.validate()

    # --- answering -------------------------------------------------------------------------------------

    def law_given(self, codes: Codes, counts: FloatArray) -> Law:
        """The law of each query."""
        return self._law(next(self.marginaliser_.types(codes, self._weights(None), members=1)))

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
        """Types of each query by the estimate, and how far fits to simulated studies strayed from the law behind them.

        Shapes (queries, types) and (studies, queries, types). They show how far a fit strays, and where alike.
        """
        if self.fit_summary_.interval_inflation is None:
            raise ModelError("this model was fitted without intervals, so no study was simulated; fit it with them.")
        each = self.marginaliser_.types(codes, self._weights(population), self.marginaliser_.members)
        estimate = next(each)
        return estimate, np.stack([(once + again) / 2 - law for law, once, again in _by_simulation(each)])

    def compute_bounds(self, codes: Codes, estimand: Estimand) -> BoundTable:
        """Bounds on the estimand for each query, with a confidence interval for each end.

        What a query does not name is averaged over the people of the estimand's population, by default the model's.
        """
        notes = self.notes(codes, estimand)
        ends, spread = self._ends(codes, estimand, self._weights(estimand.population))
        lower, upper, status = resolve_crossed_bounds(ends[0], ends[1], within=estimand.span)
        table = format_queries(self.schema, codes), lower, upper, *self.support(self.counts(codes)), status
        name = estimand.quantity.name
        if spread is None:
            return BoundTable(name, *table, notes=notes)
        reach = NormalDist().inv_cdf((1 + estimand.level) / 2) * spread
        low, high = np.clip(ends - reach, *estimand.span), np.clip(ends + reach, *estimand.span)
        return BoundTable(name, *table, low[0], high[0], low[1], high[1], estimand.level, notes=notes)

    def ends_given(self, codes: Codes, counts: FloatArray, estimand: Estimand) -> Ends:
        """Both ends of each query."""
        lower, upper = next(self._each(codes, estimand, self._weights(None), members=1))
        return lower, upper

    def _each(self, codes: Codes, estimand: Estimand, weights: FloatArray, members: int) -> Iterator[FloatArray]:
        """Both ends, shape (2, queries), for each of the first members."""
        rows, structure = self._rows_by_group, self.structure
        if estimand.needs_profiles(structure):
            terms = _ProfileTerms(estimand, tuple(map(float, rows)), structure)
            means = self.marginaliser_.means(codes, weights, members, terms)
            return _of_members(means, lambda some: estimand.bounds_from_mean_terms(some, structure, rows), len(codes))
        types = self.marginaliser_.types(codes, weights, members)
        return _of_members(types, lambda some: estimand.bounds_at(self._law(some), rows), len(codes))

    def _ends(self, codes: Codes, estimand: Estimand, weights: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        """Both ends, shape (2, queries), and their standard errors of the same shape."""
        each = self._each(codes, estimand, weights, self.marginaliser_.members)
        estimate = next(each)
        inflation = self.fit_summary_.interval_inflation
        if inflation is None:
            return estimate, None
        variance = error_variance(_by_simulation(each), self.fit_summary_.networks)
        width = estimand.span[1] - estimand.span[0]
        return estimate, inflation * np.sqrt(variance + (width * self._one_row) ** 2)

    @property
    def _one_row(self) -> float:
        """What one row is worth: no share is known more finely than this."""
        experimental, observational = self.study.table_rows
        return 1 / min(experimental, observational or np.inf)

    @property
    def _rows_by_group(self) -> FloatArray:
        """Rows of each group of cells, shape (groups,), those withheld included."""
        rows: FloatArray = self.structure.by_group(self.study.cell_rows)[0]
        if self.study.withheld is None:
            return rows
        for table, total in zip((EXPERIMENTAL, OBSERVATIONAL), self.study.table_rows, strict=True):
            groups = self.structure.groups_of(table)
            known = len(groups) and rows[groups].all()
            rows[groups] = total * (rows[groups] / rows[groups].sum() if known else 1 / max(1, len(groups)))
        return rows

    def _law(self, types: FloatArray) -> Law:
        return Law.from_types(types, self.structure)

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
        return str(self.fit_summary_)

    # --- storing ---------------------------------------------------------------------------------------

    def parameters(self) -> Mapping[str, Any]:
        """What the constructor was given, as plain data."""
        return {**{each.name: getattr(self, each.name) for each in fields(self)}, "config": self.config.plain()}

    def state(self) -> tuple[Mapping[str, Any], Mapping[str, npt.NDArray[Any]]]:
        """What was chosen and how the members are represented, and the members."""
        represented = {
            "representation": self.marginaliser_.representation,
            "members_per_simulation": MEMBERS_PER_SIMULATION,
        }
        return {**represented, **self.fit_summary_.plain()}, self.marginaliser_.arrays()

    def restore(self, study: Study, data: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Become the fitted model that `state` described."""
        self.study_ = study
        self.fit_summary_ = FitSummary.from_plain(data)
        self.marginaliser_ = _MARGINALISERS[data["representation"]].from_arrays(study.schema, study.profiles, arrays)
        self._check_restored(data["members_per_simulation"])
        return self

    def _check_restored(self, members_per_simulation: int) -> None:
        """Choices about other networks or tables than there are would be taken for choices about these."""
        chosen, members = self.fit_summary_, self.marginaliser_.members
        if members_per_simulation != MEMBERS_PER_SIMULATION:
            raise ValueError(
                f"learned.members_per_simulation is {members_per_simulation}; expected {MEMBERS_PER_SIMULATION}, the "
                "law behind a simulated study and two fits to it"
            )
        if len(chosen.covariates) != len(self.structure.tables):
            raise ValueError(f"learned.covariates describes {len(chosen.covariates)} tables; expected one for each")
        if members != 1 + chosen.simulations * members_per_simulation:
            raise ValueError(
                f"{members} members are not an estimate and {members_per_simulation} for each simulated study, of "
                f"which learned.simulations says {chosen.simulations}"
            )
        if (chosen.interval_inflation is None) != (chosen.simulations == 0):
            raise ValueError(
                f"learned.interval_inflation is {chosen.interval_inflation} with {chosen.simulations} simulated "
                "studies; intervals take both"
            )
        if chosen.networks < 1:
            raise ValueError(f"learned.networks is {chosen.networks}; an estimate is the mean of at least one")


@dataclass(frozen=True)
class _ProfileTerms:
    """What profiles bring to the mean over their people, from their types; equal ones give the same values."""

    estimand: Estimand
    rows: tuple[float, ...]
    structure: Structure

    def __call__(self, types: FloatArray) -> FloatArray:
        law = Law.from_types(types / types.sum(axis=1, keepdims=True), self.structure)
        return self.estimand.profile_terms(law, np.array(self.rows))


def _of_members(each: Iterator[FloatArray], ends: Callable[[FloatArray], Ends], queries: int) -> Iterator[FloatArray]:
    """Both ends, shape (2, queries), of each member, computed for several members at once."""
    for some in _together(each, queries):
        found = np.stack(ends(some.reshape(-1, some.shape[2])))
        yield from np.moveaxis(found.reshape(2, len(some), -1), 1, 0)


def _by_simulation(each: Iterator[FloatArray]) -> Iterator[tuple[FloatArray, ...]]:
    """What there is of the members of one simulated study after another."""
    return zip(*[each] * MEMBERS_PER_SIMULATION, strict=True)


def _together(each: Iterator[FloatArray], queries: int) -> Iterator[FloatArray]:
    """What there is of each member, of several members stacked: of more the fewer the queries are."""
    while some := list(islice(each, max(1, _MAX_LAWS_AT_ONCE // max(1, queries)))):
        yield np.stack(some)


def _check_rows(study: Study) -> None:
    """Without rows in both arms of the experiment nothing says what treatment does."""
    if not study.experimental.any():
        raise ModelError(
            "there is no experimental table; this model learns from one. The plug-in (--model plug-in) can answer from "
            "an observational table alone, under assume='exogenous' (--assume exogenous)."
        )
    for group, counts in study.structure.split(study.counts):
        _check_group(group, float(counts.sum()))


def _check_group(group: Group, rows: float) -> None:
    """Every arm needs a row, and so does the observational table if there is one."""
    if not rows and group.table == EXPERIMENTAL:
        raise ModelError(f"the experimental table has no {group.name} row; a trial needs both.")
    if not rows:
        raise ModelError(f"the {group.table} table has no row; leave it out to learn from the experiment alone.")
    if rows < 1 - _ROUNDING:
        raise ModelError(
            f"the weights of the {group.name} rows add up to {rows:.3g}, so they stand for less than one row; a weight "
            "says how many rows a row stands for. Divide the weights of each table by their mean."
        )
