"""Estimand: what is asked, as one value: a quantity, with payoffs, under assumptions, refined or not, of whom.

Assumptions and refinement work profile by profile, and a query is a mean over its profiles. So an estimand says what to
take the mean of (`profile_terms`), and how to make bounds of the mean (`bounds_from_mean_terms`); models and
populations only mix.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from pnsight._typing import FloatArray
from pnsight.data.law import Law
from pnsight.data.structure import OBSERVATIONAL, Structure
from pnsight.data.study import Population, validate_population
from pnsight.errors import QuantityError, join_names
from pnsight.estimands.assumptions import (
    ASSUMPTIONS,
    EXOGENOUS,
    AssumeLike,
    project_onto_assumptions,
    read_assumptions,
)
from pnsight.estimands.compiled import CompiledBounds, LinearTerms, compile_bounds, identified_terms
from pnsight.estimands.expressions import evaluate
from pnsight.estimands.payoffs import Payoffs, PayoffsLike
from pnsight.estimands.quantities import BENEFIT, PNS, Quantity, find_quantity
from pnsight.estimands.resolve import resolve_crossed_bounds
from pnsight.notes import Note

Ends: TypeAlias = tuple[FloatArray, FloatArray]
"""Lower and upper ends, shape (rows,) each."""

Refine: TypeAlias = Literal["none", "covariates"]
"""Bounds of the average law of a query's people, or the average of their profiles' own bounds."""

EstimandLike: TypeAlias = "Estimand | Quantity | str | None"
"""An estimand, a quantity or its name; None for the default."""

DEFAULT_LEVEL = 0.9

_ROUNDING = 1e-12
"""Sums of a few probabilities are wrong by less; an event less likely than this is taken for impossible."""

_STEP = 1e-6
"""By how much shares are moved to find derivatives."""


@dataclass(frozen=True)
class Estimand:
    """What is asked of a law; `Estimand.parse` makes one from what a person gives.

    Attributes
    ----------
    quantity : what is bounded
    payoffs : of the benefit; None for other quantities
    assume : names of assumptions, in the order of `ASSUMPTIONS`
    refine : whether to bound the average law of a query's profiles, or to average the profiles' own bounds
    level : confidence of intervals, of models that give any
    population : whose people an open covariate is averaged over; None for the model's own
    trial_alone : whether to go by the experiment alone, as if there were no observational table
    median_unbiased : whether ends are corrected for being the largest and the smallest of noisy terms
    simultaneous : whether all intervals of a table are to hold together, rather than each by itself
    """

    quantity: Quantity = PNS
    payoffs: Payoffs | None = None
    assume: tuple[str, ...] = ()
    refine: Refine = "none"
    level: float = DEFAULT_LEVEL
    population: Population | None = None
    trial_alone: bool = False
    median_unbiased: bool = False
    simultaneous: bool = False

    @classmethod
    def parse(
        cls,
        quantity: EstimandLike = None,
        *,
        payoffs: PayoffsLike | None = None,
        assume: AssumeLike = (),
        refine: str = "none",
        level: float = DEFAULT_LEVEL,
        population: str | None = None,
        trial_alone: bool = False,
        median_unbiased: bool = False,
        simultaneous: bool = False,
        default: str = PNS.name,
    ) -> Estimand:
        """The estimand that the arguments describe.

        Parameters
        ----------
        quantity
            A quantity or its name; None means benefit if there are payoffs, else `default`. An estimand is returned
            as it is, and takes no other arguments.
        payoffs
            For the benefit: what treating a complier, an always-taker, a never-taker and a defier is worth.
        assume
            ``"monotone"``, ``"exogenous"``, or both.
        refine
            ``"none"`` or ``"covariates"``.
        level
            Confidence of the intervals.
        population
            Whose people an open covariate is averaged over.
        trial_alone
            Whether to go by the experiment alone, as if there were no observational table.
        median_unbiased
            Whether to move ends outwards until each claims too much at most half of the time: the largest of several
            noisy estimates is too large, the smallest too small.
        simultaneous
            Whether all intervals of a table are to hold together with that confidence, rather than each by itself.
        default
            Name of the quantity to take if none is given.

        Returns
        -------
        The estimand; a `QuantityError` says what does not go together.
        """
        if isinstance(quantity, Estimand):
            return quantity
        found = quantity if isinstance(quantity, Quantity) else _named(quantity, payoffs, default)
        _validate_payoffs(found, payoffs)
        if refine not in get_args(Refine):
            raise QuantityError(f"refine is {refine!r}; expected one of {join_names(map(repr, get_args(Refine)))}.")
        if population is not None:
            validate_population(population)
        chosen: Any = refine
        whose: Any = population
        worth = None if payoffs is None else Payoffs.of(payoffs)
        how = {"trial_alone": trial_alone, "median_unbiased": median_unbiased, "simultaneous": simultaneous}
        return cls(found, worth, read_assumptions(assume), chosen, level, whose, **how)

    def of_quantity(self, quantity: Quantity) -> Estimand:
        """The same question about another quantity; payoffs are kept only where they are used."""
        return replace(self, quantity=quantity, payoffs=self.payoffs if quantity.has_payoffs else None)

    # --- what it is ------------------------------------------------------------------------------------

    def refines(self, structure: Structure) -> bool:
        """Whether profiles are bounded before they are averaged; what the law determines is left alone."""
        return self.refine == "covariates" and not self.compiled(structure).is_point

    def needs_profiles(self, structure: Structure) -> bool:
        """Whether the law of a query is not enough, and those of its profiles are needed."""
        return self.refines(structure) or any(not ASSUMPTIONS[name].of_mixtures for name in self.assume)

    @property
    def span(self) -> tuple[float, float]:
        """The least and the largest value that it can have."""
        return (0.0, 1.0) if self.payoffs is None else self.payoffs.span

    def notes(self, structure: Structure) -> tuple[Note, ...]:
        """What an answer is about beyond the name of the quantity."""
        found = [] if self.payoffs is None else [Note("payoffs", asdict(self.payoffs))]
        return (*found, Note("refined")) if self.refines(structure) else tuple(found)

    def value(self, structure: Structure) -> FloatArray:
        """Its value for each response type: one where the event holds, or the payoff; shape (types,)."""
        if self.payoffs is not None:
            return self.payoffs.of_types(structure)
        assert self.quantity.event is not None  # without payoffs there is an event
        return np.asarray(evaluate(self.quantity.event, structure.people) != 0, dtype=np.float64)

    def given(self, structure: Structure) -> npt.NDArray[np.bool_]:
        """Which response types it conditions on, shape (types,)."""
        if self.quantity.given is None:
            return np.ones(structure.n_types, dtype=bool)
        return np.asarray(evaluate(self.quantity.given, structure.people) != 0)

    def possible(self, structure: Structure) -> npt.NDArray[np.bool_]:
        """Which response types the assumptions leave, shape (types,)."""
        found = np.ones(structure.n_types, dtype=bool)
        for name in self.assume:
            statement = ASSUMPTIONS[name].possible
            if statement is not None:
                found &= evaluate(statement, structure.people) != 0
        return found

    def truth(self, types: FloatArray, structure: Structure) -> FloatArray:
        """The value in populations with these shares of types, shape (rows, types); NaN if it conditions on nobody."""
        given = self.given(structure)
        total = types[:, given].sum(axis=1)
        part = types[:, given] @ self.value(structure)[given]
        return np.asarray(np.divide(part, total, out=np.full(len(types), np.nan), where=total > 0))

    # --- bounds ----------------------------------------------------------------------------------------

    def compiled(self, structure: Structure) -> CompiledRatio:
        """Its bounds as formulas of the law."""
        return _compiled(self._asked, structure)

    @property
    def _asked(self) -> Estimand:
        """What bounds depend on: two estimands that differ in level or population share their formulas."""
        return Estimand(self.quantity, self.payoffs, self.assume)

    def bounds_at(self, law: Law, rows: FloatArray | None = None) -> Ends:
        """Both ends at the law of a query, shape (rows,) each.

        Of the assumptions only those are used that hold of a mixture if they hold of its parts. For `rows` see
        `project_onto_assumptions`.
        """
        holding = tuple(name for name in self.assume if ASSUMPTIONS[name].of_mixtures)
        if holding:
            law = project_onto_assumptions(law, holding, rows)
        return self.compiled(law.structure).bounds(law)

    def profile_bounds(self, law: Law, rows: FloatArray | None = None) -> Ends:
        """Both ends at the law of a profile, of which every assumption holds, shape (rows,) each."""
        return self.bounds_at(project_onto_assumptions(law, self.assume, rows), rows)

    def profile_terms(self, law: Law, rows: FloatArray | None = None, may_cross: bool = False) -> FloatArray:
        """What a profile brings to the mean over its people, from its law; NaN without an answer.

        Its law, with choice exogenous if that is assumed; or, refined, both ends times the probability of the event
        that the quantity conditions on, and that probability. A profile in which the event is impossible brings
        nothing. What monotonicity makes of an estimate is left to the mean, as noise of profiles would not cancel
        after it. Ends that cross are no answer, unless they `may_cross`.

        Returns
        -------
        Shape (profiles, terms).
        """
        if EXOGENOUS in self.assume:
            law = project_onto_assumptions(law, (EXOGENOUS,), rows)
        if not self.refines(law.structure):
            return law.cells
        event = self.compiled(law.structure).conditioning_probability(law)
        lower, upper = self.bounds_at(law, rows)
        if not may_cross:
            lower, upper, _ = resolve_crossed_bounds(lower, upper, within=self.span)
        brought = (np.where(event <= _ROUNDING, 0.0, end * event) for end in (lower, upper))
        return np.column_stack([*brought, np.where(event <= _ROUNDING, 0.0, event)])

    def profile_gradients(self, law: Law, rows: FloatArray | None = None) -> FloatArray:
        """Derivatives of `profile_terms` by the shares of the cells, at the law of each profile.

        Where several functions of the law are as large, that of the first is taken.

        Returns
        -------
        Shape (profiles, terms, cells).
        """
        inner = np.broadcast_to(np.eye(law.structure.n_cells), (len(law), *[law.structure.n_cells] * 2))
        if EXOGENOUS in self.assume:
            inner, law = _projection_gradients(law, rows), project_onto_assumptions(law, (EXOGENOUS,), rows)
        if not self.refines(law.structure):
            return inner
        compiled = self.compiled(law.structure)
        lower, upper = compiled.numerator.lower, compiled.numerator.upper
        event = np.zeros(law.structure.n_cells) if compiled.event is None else compiled.event.coefficients[0]
        outer = (
            lower.coefficients[lower(law).argmax(axis=0)],
            upper.coefficients[upper(law).argmin(axis=0)],
            np.broadcast_to(event, law.cells.shape),
        )
        return np.asarray(np.stack(outer, axis=1) @ inner)

    def bounds_from_mean_terms(self, terms: FloatArray, structure: Structure, rows: FloatArray | None = None) -> Ends:
        """Both ends of queries from the means of `profile_terms`, shape (queries,) each."""
        if not self.refines(structure):
            return self.bounds_at(Law(structure, terms), rows)
        lower, upper, event = terms.T
        possible = np.where(event > 0, event, np.nan)
        return lower / possible, upper / possible


def _projection_gradients(law: Law, rows: FloatArray | None) -> FloatArray:
    """Derivatives of what exogeneity makes of laws, by the shares of their cells, shape (laws, cells, cells)."""
    found = np.empty((len(law), *[law.structure.n_cells] * 2))
    for cell, step in enumerate(_STEP * np.eye(law.structure.n_cells)):
        sides = (
            project_onto_assumptions(Law(law.structure, law.cells + off), (EXOGENOUS,), rows) for off in (step, -step)
        )
        after, before = (side.cells for side in sides)
        found[:, :, cell] = (after - before) / (2 * _STEP)
    return found


def _named(quantity: str | None, payoffs: PayoffsLike | None, default: str) -> Quantity:
    if quantity is None:
        return find_quantity(default) if payoffs is None else BENEFIT
    return find_quantity(quantity)


def _validate_payoffs(quantity: Quantity, payoffs: PayoffsLike | None) -> None:
    if quantity.has_payoffs and payoffs is None:
        raise QuantityError(
            f"{quantity.name} needs payoffs: what treating a complier, an always-taker, a never-taker and a defier is "
            "worth, such as --payoffs 100,-60,0,-140 (payoffs=(100, -60, 0, -140))."
        )
    if not quantity.has_payoffs and payoffs is not None:
        raise QuantityError(
            f"payoffs are given, but {quantity.name} has none; ask for --quantity benefit (quantity='benefit'), or "
            "leave them out."
        )


@dataclass(frozen=True)
class CompiledRatio:
    """Bounds on a value given an event whose probability the law determines.

    Attributes
    ----------
    numerator : bounds on the mean of the value times the event
    event : probability of the event; None for everyone
    is_point : whether both ends are one linear function of the law
    """

    numerator: CompiledBounds
    event: LinearTerms | None
    is_point: bool

    def conditioning_probability(self, law: Law) -> FloatArray:
        """Probability of the event conditioned on, shape (rows,); one where that is nothing."""
        return np.ones(len(law)) if self.event is None else self.event(law)[0]

    def bounds(self, law: Law) -> Ends:
        """Both ends, shape (rows,) each, undefined where the event is impossible.

        Ends that cross by the rounding of probabilities are made equal before a rare event would magnify it.
        """
        lower, upper = self.numerator.bounds(law)
        if self.event is None:
            return lower, upper
        rounded = (lower > upper) & (lower - upper < _ROUNDING)
        lower = np.where(rounded, upper, lower)
        event = self.conditioning_probability(law)
        possible = np.where(event > _ROUNDING, event, np.nan)
        return lower / possible, upper / possible


@lru_cache(maxsize=256)
def _compiled(estimand: Estimand, structure: Structure) -> CompiledRatio:
    given = estimand.given(structure)
    event = None if given.all() else identified_terms(structure, given)
    if event is None and not given.all():
        raise QuantityError(_unidentified(estimand.quantity, structure))
    found = compile_bounds(structure, estimand.value(structure) * given, estimand.possible(structure))
    return CompiledRatio(found, event, _coincide(found))


def _coincide(found: CompiledBounds) -> bool:
    lower, upper = found.lower, found.upper
    return (
        len(lower.constant) == len(upper.constant) == 1
        and np.allclose(lower.coefficients, upper.coefficients)
        and np.allclose(lower.constant, upper.constant)
    )


def _unidentified(quantity: Quantity, structure: Structure) -> str:
    if OBSERVATIONAL not in structure.tables:
        return (
            f"{quantity.name} conditions on what people chose, which an experiment alone does not show; "
            "add an observational table, or ask for pns, harm or benefit."
        )
    return f"{quantity.name} conditions on an event whose probability the tables do not show: {quantity.given}."


def validate_fitted_quantity(quantity: str) -> None:
    """Refuse a quantity that a model cannot be fitted for."""
    if find_quantity(quantity).has_payoffs:
        raise QuantityError(
            f"a model is not fitted for {quantity}, whose payoffs are given when asking; fit without --quantity, then "
            f"ask with --quantity {quantity} --payoffs."
        )


def bounds(
    law: Law, quantity: EstimandLike = None, *, payoffs: PayoffsLike | None = None, assume: AssumeLike = ()
) -> Ends:
    """Tight bounds at a law, each row of it being a group within which the assumptions hold.

    Parameters
    ----------
    law
        Probabilities of the cells, one group a row.
    quantity, payoffs, assume
        As `Estimand.parse` takes them.

    Returns
    -------
    Lower and upper ends, shape (rows,) each; they may cross where no population has the law.
    """
    return Estimand.parse(quantity, payoffs=payoffs, assume=assume).profile_bounds(law)
