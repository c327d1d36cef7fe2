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
from pnsight.data.noncompliance import KIND as NONCOMPLIANCE
from pnsight.data.structure import OBSERVATIONAL, WORST_CASE, Structure
from pnsight.data.study import Population, validate_population
from pnsight.errors import AssumptionError, QuantityError, join_names
from pnsight.estimands.assumptions import (
    CORRELATION,
    EXOGENOUS,
    MONOTONE,
    NO_DEFIERS,
    ONE_SIDED,
    AssumeLike,
    find_assumption,
    project_onto_assumptions,
    read_assumptions,
)
from pnsight.estimands.compiled import compile_bounds, identified_terms, is_contradictory
from pnsight.estimands.compiled_ratio import IMPOSSIBLE, CompiledRatio, Ends
from pnsight.estimands.contrast import (
    Contrast,
    contrast_people,
    horizon_index,
    read_contrast,
    resolve_contrast,
    vocabulary,
)
from pnsight.estimands.expressions import evaluate
from pnsight.estimands.graded import graded_limit
from pnsight.estimands.limits import Limit, merge_limits
from pnsight.estimands.nearest_law import nearest_law, project_onto_inequalities
from pnsight.estimands.payoffs import Payoffs, PayoffsLike
from pnsight.estimands.quantities import BENEFIT, PNS, STATEMENT, Quantity, find_quantity
from pnsight.estimands.resolve import resolve_crossed_bounds
from pnsight.estimands.sensitivity import Slack, SlackLike, misread_limits, read_misread, slack_limits
from pnsight.notes import Note

Refine: TypeAlias = Literal["none", "covariates"]
"""Bounds of the average law of a query's people, or the average of their profiles' own bounds."""

Among: TypeAlias = Literal["everyone", "compliers"]
"""Of whom a quantity is asked: all, or those who take what they are assigned, whichever arm of the contrast it is."""

EstimandLike: TypeAlias = "Estimand | Quantity | str | None"
"""An estimand, a quantity or its name; None for the default."""

DEFAULT_LEVEL = 0.9

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
    contrast : the arm that is asked about, and the one that it is compared with; None where there are only two
    horizon : of times to an event, when to look; None for the intervals themselves
    among : of whom it is asked
    slack : by how much the trial's people may respond otherwise than those asked about; None for not at all
    misread_outcome : share of the outcomes of each arm and table that may be recorded wrongly
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
    contrast: Contrast | None = None
    horizon: float | None = None
    among: Among = "everyone"
    slack: Slack | None = None
    misread_outcome: float = 0.0

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
        contrast: str | Contrast | None = None,
        statement: str | None = None,
        given: str | None = None,
        horizon: float | None = None,
        among: str = "everyone",
        slack: SlackLike = None,
        misread_outcome: float | None = 0.0,
        default: str = PNS.name,
    ) -> Estimand:
        """The estimand that the arguments describe.

        Parameters
        ----------
        quantity
            A quantity or its name; None means benefit if there are payoffs, else `default`. An estimand is returned
            as it is, and takes no other arguments.
        payoffs
            For the benefit: what treating a person is worth who is helped, who always responds, who never does, and who
            is harmed.
        assume
            ``"monotone"``, ``"exogenous"``, or both; with noncompliance also ``"no-defiers"`` or ``"one-sided"``. How
            much, of the group asked about: ``"harm<=0.05"``, ``"correlation>=0.2"``.
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
        contrast
            Two arms, as ``"high:placebo"``: the one that is asked about, and the one that it is compared with.
        statement, given
            A statement about people in place of a quantity, and another that it is conditioned on; the module
            `pnsight.estimands.expressions` explains them.
        horizon
            Of times to an event, when to look.
        among
            ``"everyone"``, or with noncompliance ``"compliers"``, who take either arm of the contrast as assigned.
        slack
            By how much P(y_x) and P(y_x') of the people asked about may differ from the trial's: ``0.05``, ``"+0.05"``
            for only more, ``"-0.05"`` for only less, ``"treated=0.05,control=0.02"`` by arm.
        misread_outcome
            Share of the outcomes of each arm and table that may be recorded wrongly, in any pattern.
        default
            Name of the quantity to take if none is given.

        Returns
        -------
        The estimand; a `QuantityError` says what does not go together.
        """
        if isinstance(quantity, Estimand):
            return quantity
        found = _asked_quantity(quantity, payoffs, default, statement, given)
        _validate_payoffs(found, payoffs)
        if among not in get_args(Among):
            raise QuantityError(f"among is {among!r}; expected one of {join_names(map(repr, get_args(Among)))}.")
        if refine not in get_args(Refine):
            raise QuantityError(f"refine is {refine!r}; expected one of {join_names(map(repr, get_args(Refine)))}.")
        if population is not None:
            validate_population(population)
        chosen: Any = refine
        whose: Any = population
        worth = None if payoffs is None else Payoffs.of(payoffs)
        of_whom: Any = among
        return cls(
            found,
            worth,
            read_assumptions(assume),
            chosen,
            level,
            whose,
            trial_alone,
            median_unbiased,
            simultaneous,
            read_contrast(contrast),
            None if horizon is None else float(horizon),
            of_whom,
            Slack.parse(slack),
            read_misread(misread_outcome),
        )

    def of_quantity(self, quantity: Quantity) -> Estimand:
        """The same question about another quantity; payoffs are kept only where they are used."""
        return replace(self, quantity=quantity, payoffs=self.payoffs if quantity.has_payoffs else None)

    # --- what it is ------------------------------------------------------------------------------------

    def refines(self, structure: Structure) -> bool:
        """Whether profiles are bounded before they are averaged; what the law determines is left alone."""
        return self.refine == "covariates" and not self.compiled(structure).is_point

    def needs_profiles(self, structure: Structure) -> bool:
        """Whether the law of a query is not enough, and those of its profiles are needed."""
        return self.refines(structure) or any(not find_assumption(name).of_mixtures for name in self.assume)

    @property
    def span(self) -> tuple[float, float]:
        """The least and the largest value that it can have."""
        if self.payoffs is not None:
            return self.payoffs.span
        if self.quantity.scale == "time":
            return -(self.horizon or np.inf), self.horizon or np.inf
        return (-1.0, 1.0) if self.quantity.scale == "difference" else (0.0, 1.0)

    def of_structure(self, structure: Structure) -> Estimand:
        """The same question about the people of a structure, once it is found to make sense there.

        Parameters
        ----------
        structure
            Arms, outcomes and tables.

        Returns
        -------
        The estimand, with the horizon that is meant where none is given; an error says what does not go together.
        """
        described = structure.description
        self.validate_assumptions(structure)
        if self.quantity.scale == "time" and not described.horizons:
            raise QuantityError(
                "time gained is asked of a study whose outcomes are no times to an event; read the tables with --time "
                "(time=), or ask for another quantity."
            )
        found = self
        if self.quantity.scale == "time" and self.horizon is None:
            found = replace(self, horizon=described.horizons[-1])
        if self.among == "compliers" and described.kind != NONCOMPLIANCE:
            raise QuantityError(
                "compliers are asked about (--among, among=), but nobody was assigned an arm; read the table with "
                "--assigned (assigned=)."
            )
        if horizon_index(structure, self.horizon) is not None and self.is_statement and not self.assume:
            raise QuantityError(
                "a statement and a horizon are both given; say the time in the statement, as in T[arm] > "
                f"{self.horizon:g}, and leave --horizon (horizon=) out."
            )
        found.value(structure)
        found.given(structure)
        return found

    def validate_assumptions(self, structure: Structure) -> None:
        """Refuse assumptions that mean nothing for a structure."""
        for name in self.assume:
            if find_assumption(name).of_assignment and structure.description.kind != NONCOMPLIANCE:
                raise AssumptionError(
                    f"{name!r} was assumed, which is about people who do not take what they are assigned; leave it "
                    "out, or read the table with --assigned (assigned=)."
                )
        if MONOTONE in self.assume and _lacks_order(structure):
            raise AssumptionError(
                f"{MONOTONE!r} was assumed, which says that no outcome is worse for the treatment, but the outcomes "
                f"{join_names(structure.description.outcomes)} have no order; leave it out, or leave --unordered out."
            )
        if EXOGENOUS in self.assume and not (structure.is_two_by_two or not structure.description.kind):
            raise AssumptionError(
                f"{EXOGENOUS!r} was assumed, which works with two arms and two outcomes only; leave it out."
            )
        if self.relaxations(structure):
            self._check_relaxed()
        self.limits(structure)

    def _check_relaxed(self) -> None:
        """Refuse assumptions that mean nothing where the people asked about may not respond as the trial's do."""
        for name in self.assume:
            if name == EXOGENOUS or find_assumption(name).kind == CORRELATION:
                raise AssumptionError(
                    f"{name!r} was assumed together with slack or misread outcomes. It takes the shares that the trial "
                    "shows for those of the people asked about; leave one of them out."
                )

    def notes(self, structure: Structure) -> tuple[Note, ...]:
        """What an answer is about beyond the name of the quantity."""
        found = [*self._statement_notes(), *self._contrast_notes(structure)]
        found += [] if self.payoffs is None else [Note("payoffs", asdict(self.payoffs))]
        found += self.sensitivity_notes
        return (*found, Note("refined")) if self.refines(structure) else tuple(found)

    @property
    def sensitivity_notes(self) -> tuple[Note, ...]:
        """How far the people asked about may differ from what the tables show."""
        slack = () if self.slack is None else (Note("slack", {"slack": str(self.slack)}),)
        return (*slack, Note("misread_outcome", {"share": self.misread_outcome})) if self.misread_outcome else slack

    def _statement_notes(self) -> list[Note]:
        if not self.is_statement:
            return []
        values = {"statement": self.quantity.event, "given": self.quantity.given}
        return [Note("statement" if self.quantity.given is None else "statement_given", values)]

    def _contrast_notes(self, structure: Structure) -> list[Note]:
        described = structure.description
        if self.is_statement or (structure.is_two_by_two and self.contrast is None):
            return []
        treated, reference = resolve_contrast(structure, self.contrast)
        arms = {"treated": treated, "reference": reference}
        found = [Note("contrast", arms)]
        if self.quantity.scale == "time":
            found.append(Note("time_convention", {"horizon": self.horizon or described.horizons[-1]}))
        elif self.horizon is not None:
            found.append(Note("horizon", {"horizon": self.horizon}))
        return [*found, Note("among_compliers", arms)] if self.among == "compliers" else found

    @property
    def is_statement(self) -> bool:
        """Whether a statement is asked about in place of a quantity."""
        return self.quantity.name == STATEMENT.name

    def _evaluate(self, text: str, structure: Structure) -> npt.NDArray[Any]:
        """What a statement, of the user's or of a quantity, says of each type, shape (types,)."""
        if self.is_statement:
            return evaluate(text, vocabulary(structure))
        return evaluate(text, contrast_people(structure, self.contrast, self.horizon))

    def value(self, structure: Structure) -> FloatArray:
        """Its value for each response type, shape (types,): one where the event holds, a difference, or the payoff."""
        described = structure.description
        if self.quantity.by_order and _lacks_order(structure):
            raise QuantityError(
                f"{self.quantity.name} asks which outcome is better, but the outcomes {join_names(described.outcomes)} "
                "have no order; ask with --statement (statement=), or leave --unordered out."
            )
        if self.payoffs is not None:
            return self.payoffs.of_types(contrast_people(structure, self.contrast, self.horizon))
        assert self.quantity.event is not None  # without payoffs there is an event
        found = self._evaluate(self.quantity.event, structure)
        return np.asarray(found != 0 if self.quantity.scale == "share" else found, dtype=np.float64)

    def given(self, structure: Structure) -> npt.NDArray[np.bool_]:
        """Which response types it conditions on, shape (types,)."""
        found = np.ones(structure.n_types, dtype=bool)
        if self.quantity.given is not None:
            found &= self._evaluate(self.quantity.given, structure) != 0
        if self.among == "compliers":
            found &= evaluate("D1 == 1 and D0 == 0", contrast_people(structure, self.contrast, None)) != 0
        return found

    def possible(self, structure: Structure) -> npt.NDArray[np.bool_]:
        """Which response types the assumptions leave, shape (types,)."""
        found = np.ones(structure.n_types, dtype=bool)
        for name in self.assume:
            statement = find_assumption(name).possible
            if statement is not None:
                found &= evaluate(statement, contrast_people(structure, self.contrast, self.horizon)) != 0
        return found

    @property
    def graded(self) -> tuple[str, ...]:
        """Those of the assumptions that say how much."""
        return tuple(name for name in self.assume if find_assumption(name).amount is not None)

    @property
    def is_relaxed(self) -> bool:
        """Whether the people asked about may respond otherwise than the trial's, or outcomes be misread."""
        return self.slack is not None or self.misread_outcome > 0

    def relaxations(self, structure: Structure) -> tuple[Limit, ...]:
        """How far populations may differ from a law: by the slack, and by misread outcomes."""
        slack = () if self.slack is None else slack_limits(structure, self.contrast, self.slack)
        misread = misread_limits(structure, self.misread_outcome) if self.misread_outcome else ()
        return merge_limits([*slack, *misread])

    def limits(self, structure: Structure) -> tuple[Limit, ...]:
        """All limits of its program: `relaxations`, and the assumptions that say how much."""
        graded = (graded_limit(structure, self.contrast, self.horizon, find_assumption(name)) for name in self.graded)
        return (*self.relaxations(structure), *(limit for limit in graded if limit is not None))

    @property
    def unassumed(self) -> Estimand:
        """The same without assumptions."""
        return replace(self, assume=())

    def project(self, law: Law, assume: tuple[str, ...], rows: FloatArray | None = None) -> Law:
        """The nearest law under some of the assumptions; for `rows` see `project_onto_assumptions`.

        With limits, a law that no population has whatever is assumed is left as it is.
        """
        structure = law.structure
        asked = replace(self, assume=assume)
        if asked.limits(structure):
            coherence = asked.compiled(structure).numerator.coherence
            contradictory = is_contradictory(law, asked.relaxations(structure))
            return project_onto_inequalities(law, coherence, rows, unless=contradictory)
        arms = structure.description.arms
        plain = structure.is_two_by_two or not arms
        if plain and self.contrast in (None, (arms[-1], arms[0]) if arms else None):
            return project_onto_assumptions(law, assume, rows)
        return nearest_law(law, asked.possible(structure), rows)

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
        return Estimand(
            self.quantity,
            self.payoffs,
            self.assume,
            contrast=self.contrast,
            horizon=self.horizon,
            among=self.among,
            slack=self.slack,
            misread_outcome=self.misread_outcome,
        )

    def bounds_at(self, law: Law, rows: FloatArray | None = None) -> Ends:
        """Both ends at the law of a query, shape (rows,) each.

        Of the assumptions only those are used that hold of a mixture if they hold of its parts. For `rows` see
        `project_onto_assumptions`.
        """
        return self.compiled(law.structure).bounds(self.projected(law, rows))

    def projected(self, law: Law, rows: FloatArray | None = None) -> Law:
        """The nearest law under those assumptions that hold of a mixture if they hold of its parts."""
        holding = tuple(name for name in self.assume if find_assumption(name).of_mixtures)
        return self.project(law, holding, rows) if holding else law

    def profile_bounds(self, law: Law, rows: FloatArray | None = None) -> Ends:
        """Both ends at the law of a profile, of which every assumption holds, shape (rows,) each."""
        return self.bounds_at(self.project(law, self.assume, rows) if self.assume else law, rows)

    def profile_terms(self, law: Law, rows: FloatArray | None = None, may_cross: bool = False) -> FloatArray:
        """What a profile brings to the mean over its people, from its law; NaN without an answer.

        Its law, with choice exogenous if that is assumed; or, refined, both ends times the probability of the event
        that the quantity conditions on, and that probability. A profile in which the event is impossible brings
        nothing. What monotonicity makes of an estimate is left to the mean, as noise of profiles would not cancel
        after it. Ends that cross are no answer, and neither is a law that no population has where the event is
        impossible, so that there are no ends to cross; unless they `may_cross`.

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
        nothing = np.zeros(len(law))
        if not may_cross:
            lower, upper, _ = resolve_crossed_bounds(lower, upper, within=self.span)
            nothing[is_contradictory(law, self.relaxations(law.structure))] = np.nan
        brought = np.column_stack([lower * event, upper * event, event])
        return np.where((event <= IMPOSSIBLE)[:, None], nothing[:, None], brought)

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
            lower.gradients(law, lower(law).argmax(axis=0)),
            upper.gradients(law, upper(law).argmin(axis=0)),
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


def usual_estimand(structure: Structure) -> Estimand:
    """What is asked of a structure where nothing in particular is: PNS of the last arm against the reference.

    Parameters
    ----------
    structure
        Arms and outcomes.

    Returns
    -------
    The estimand; of outcomes without order, whether the last is had because of the last arm.
    """
    described = structure.description
    contrast = (described.arms[-1], described.arms[0]) if len(described.arms) > 2 else None
    if not _lacks_order(structure):
        return Estimand(contrast=contrast)
    return Estimand(replace(PNS, event="Y1 == top and Y0 < top", by_order=False), contrast=contrast)


def _asked_quantity(
    quantity: Quantity | str | None,
    payoffs: PayoffsLike | None,
    default: str,
    statement: str | None,
    given: str | None,
) -> Quantity:
    if statement is not None:
        if quantity is not None or payoffs is not None:
            raise QuantityError(
                "a statement and a quantity are both given; ask for one of them (--statement, or --quantity and "
                "--payoffs)."
            )
        return replace(STATEMENT, event=statement, given=given)
    if given is not None:
        raise QuantityError(
            f"{given!r} is given, but no statement that it is a condition of; add --statement (statement=)."
        )
    return quantity if isinstance(quantity, Quantity) else _named(quantity, payoffs, default)


def _named(quantity: str | None, payoffs: PayoffsLike | None, default: str) -> Quantity:
    if quantity is None:
        return find_quantity(default) if payoffs is None else BENEFIT
    return find_quantity(quantity)


def _validate_payoffs(quantity: Quantity, payoffs: PayoffsLike | None) -> None:
    if quantity.has_payoffs and payoffs is None:
        raise QuantityError(
            f"{quantity.name} needs payoffs: what treating a person is worth who is helped, who always responds, who "
            "never does, and who is harmed, such as --payoffs 100,-60,0,-140 (payoffs=(100, -60, 0, -140))."
        )
    if not quantity.has_payoffs and payoffs is not None:
        raise QuantityError(
            f"payoffs are given, but {quantity.name} has none; ask for --quantity benefit (quantity='benefit'), or "
            "leave them out."
        )


def _lacks_order(structure: Structure) -> bool:
    """Whether no outcome is better than another; of two, the second is the one asked about."""
    described = structure.description
    return not described.ordered and len(described.outcomes) > 2


@lru_cache(maxsize=256)
def _compiled(estimand: Estimand, structure: Structure) -> CompiledRatio:
    given, possible, limits = estimand.given(structure), estimand.possible(structure), estimand.limits(structure)
    left = None if estimand.among == "everyone" else possible
    relaxed = tuple(each for each in limits if each.is_relaxation)
    event = None if given.all() else identified_terms(structure, given, left, relaxed)
    if event is None and not given.all():
        raise QuantityError(_unidentified(estimand, structure))
    return CompiledRatio(compile_bounds(structure, estimand.value(structure) * given, possible, limits), event)


def _unidentified(estimand: Estimand, structure: Structure) -> str:
    quantity = estimand.quantity
    asked = "the statement is conditioned" if estimand.is_statement else f"{quantity.name} conditions"
    if estimand.among == "compliers":
        return (
            "how many compliers there are is not known unless nobody takes the treatment only if not assigned to it; "
            f"add --assume {NO_DEFIERS}, or --assume {ONE_SIDED} where nobody takes it without (assume=)."
        )
    if OBSERVATIONAL not in structure.tables:
        return (
            f"{asked} on what people chose, which an experiment alone does not show; "
            "add an observational table, or ask for pns, harm or benefit."
        )
    if estimand.is_relaxed and _is_identified(replace(estimand, slack=None, misread_outcome=0.0), structure):
        return (
            f"{asked} on how people responded, whose share is not known where outcomes may be "
            "misread; ask for pns, harm or benefit, or leave --misread-outcome (misread_outcome=) out."
        )
    if structure.description.missing == WORST_CASE:
        return (
            f"{asked} on outcomes that people show, and in the worst case a missing one may be any; read the tables "
            "with --missing-outcome set (missing_outcome='set'), or ask for pns, harm or benefit."
        )
    return (
        f"{asked} on {quantity.given!r}, whose probability the tables do not show; they show what is chosen (X) and "
        "what then happens, and what happens under each arm that was tried, one at a time."
    )


def _is_identified(estimand: Estimand, structure: Structure) -> bool:
    """Whether the tables show the probability of what it conditions on."""
    return identified_terms(structure, estimand.given(structure)) is not None


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
