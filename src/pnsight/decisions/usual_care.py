"""Usual care: whether to treat people, not to, or leave it to them, by how many respond; and when that is best.

Of a group the two tables identify how many respond if all are treated, if none is, and if they choose for themselves.
The three differences have the signs of the effect, of the effect on the untreated (treating all against leaving it to
them: P(y_x) - P(y) = P(x') ETU) and of the effect on the treated (leaving it to them against treating none:
P(y) - P(y_x') = P(x) ETT).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pnsight._typing import BoolArray, FloatArray
from pnsight.data.schema import Codes
from pnsight.data.structure import OBSERVATIONAL
from pnsight.decisions.policies import validate_policies
from pnsight.decisions.rule import (
    NONE,
    NOT,
    TREAT,
    UNCERTAIN,
    Decisions,
    cautious_ends,
    extrapolated,
    reaches,
    worth_little,
)
from pnsight.errors import QuantityError, QueryError
from pnsight.estimands.compiled_ratio import Ends
from pnsight.estimands.estimand import DEFAULT_LEVEL, Estimand
from pnsight.estimands.quantities import EFFECT, Quantity
from pnsight.estimands.resolve import ROUNDING
from pnsight.models import Model
from pnsight.notes import WARNING, Note
from pnsight.queries.bound_table import BoundTable, plain_numbers
from pnsight.queries.query import QueryLike, decode, encode, format_queries

LEAVE = "leave"
"""The decision to leave it to them."""

TREATING_OVER_USUAL = replace(EFFECT, name="treating-over-usual", event="(Y1 > Y) - (Y1 < Y)")
NOT_OVER_USUAL = replace(EFFECT, name="not-over-usual", event="(Y0 > Y) - (Y0 < Y)")
"""By how many more respond if all are treated, or none, than if they choose for themselves; both are identified."""


@dataclass(frozen=True, repr=False)
class ChoiceDecisions(Decisions):
    """Treat, do not, or leave it to them, for each query; `answers` are about the effect.

    Attributes
    ----------
    treating, not_treating : by how many more respond if all are treated, or none, than if they choose for themselves
    usual, if_treated, if_untreated : shape (queries,)
        Shares who respond if they choose for themselves, if all are treated, and if none is.
    """

    treating: BoundTable
    not_treating: BoundTable
    usual: FloatArray
    if_treated: FloatArray
    if_untreated: FloatArray

    SHARES = ("usual", "if_treated", "if_untreated")

    @property
    def caption(self) -> str:
        """What is decided, and when."""
        sure = f", with {self.answers.level:.0%} confidence" if self.cautious else ""
        margin = f" by at least {self.threshold:g}" if self.threshold else ""
        return f"treat all or none where more respond than if it is left to them{margin}{sure}"

    @property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """What a reader of the answers should know, and how many decisions there are of each kind."""
        if len(self) < 2:
            return self.answers.notes
        named = {"treat": TREAT, "not_": NOT, "leave": LEAVE, "uncertain": UNCERTAIN, "unanswered": NONE}
        counted = {name: (self.decision == word).sum() for name, word in named.items()}
        return (*self.answers.notes, Note("choices_counted", counted))

    def columns(self) -> dict[str, list[Any]]:
        """Those of any decision, then how many respond in each case."""
        return {**super().columns(), **{name: plain_numbers(getattr(self, name)) for name in self.SHARES}}

    def reason(self, row: int = 0) -> Note:
        """One decision, and how many respond in each case."""
        shares = {name: plain_numbers(getattr(self, name)[[row]])[0] for name in self.SHARES}
        rows = [self.answers.support_experimental[row], self.answers.support_observational[row]]
        return Note("choice_decision", {"decision": str(self.decision[row]), **shares, "rows": rows})


def decide_or_leave(
    model: Model,
    queries: QueryLike = None,
    threshold: float | None = None,
    cautious: bool = False,
    extrapolate: bool = False,
    quantity: Any = None,
    **options: Any,
) -> ChoiceDecisions:
    """Treat, do not treat, or leave it to them, by which of the three has most respond.

    Parameters
    ----------
    model, queries
        A fitted model that knows the law of two arms and two outcomes from both tables, and what `model.bounds` takes.
    threshold
        By how many more must respond than under usual care for people to be overruled; by default any at all.
    cautious
        Decide only where it is so with the confidence of the intervals; those decisions stand beside the plain ones in
        any case.
    extrapolate
        Whether to decide also where the answer is extrapolated.
    quantity, options
        ``level`` and ``population``, as `model.bounds` takes them; it is the effect that is asked about, and nothing
        is assumed.

    Returns
    -------
    One decision a query: ``treat``, ``not``, ``leave``, ``uncertain``, or empty without an answer.
    """
    validate_policies(model)
    least = 0.0 if threshold is None else threshold
    if not 0 <= least <= 1:
        raise QueryError(
            f"the threshold is {least:g}; with --leave (leave=True) it is by how many more must respond than under "
            "usual care, from 0 to 1."
        )
    _refuse_other_questions(quantity, options)
    codes = encode(model.schema, queries)
    asked = model.estimand(EFFECT, level=options.get("level", DEFAULT_LEVEL), population=options.get("population"))
    effect, treating, not_treating = (
        model.bounds(codes, asked.of_quantity(one)) for one in (EFFECT, TREATING_OVER_USUAL, NOT_OVER_USUAL)
    )
    tables = (effect, treating, not_treating)
    plain = _choose([(table.lower, table.upper) for table in tables], least)
    surer = np.full(len(codes), NONE, dtype=plain.dtype)
    if effect.level is not None:
        surer = _choose([cautious_ends(table) for table in tables], least)
        surer = np.where(worth_little(effect) & (surer != NONE), UNCERTAIN, surer)
    elif cautious:
        raise QueryError("caution needs intervals, which this model does not give; leave --cautious (cautious=) out.")
    undecided = extrapolated(effect) & (not extrapolate)
    plain, surer = (np.where(undecided, NONE, found) for found in (plain, surer))
    shares = _shares(model, codes, asked, effect, treating)
    return ChoiceDecisions(
        effect, surer if cautious else plain, surer, least, cautious, treating, not_treating, *shares
    )


def _refuse_other_questions(quantity: Any, options: dict[str, Any]) -> None:
    asked = quantity.quantity if isinstance(quantity, Estimand) else quantity
    name = asked.name if isinstance(asked, Quantity) else asked
    others = {key for key, value in options.items() if key not in ("level", "population") and _says(key, value)}
    if name not in (None, EFFECT.name) or others:
        given = ", ".join(sorted({*others, *([] if name in (None, EFFECT.name) else [str(name)])}))
        raise QuantityError(
            f"--leave (leave=True) compares how many respond, and {given} is asked for too; leave that out, or --leave."
        )


def _says(key: str, value: Any) -> bool:
    """Whether an option asks for something."""
    return value not in (None, "", (), [], False, {"refine": "none", "among": "everyone"}.get(key))


def _shares(
    model: Model, codes: Codes, asked: Estimand, effect: BoundTable, treating: BoundTable
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Shares who respond under usual care, all treated and none treated, which agree with the differences."""
    treated = model.bounds(codes, asked.of_quantity(_RESPONSE_IF_TREATED)).lower
    known = ~np.isnan(effect.lower)
    usual, untreated = treated - treating.lower, treated - effect.lower
    return tuple(np.where(known, each, np.nan) for each in (usual, treated, untreated))  # type: ignore[return-value]


_RESPONSE_IF_TREATED = replace(EFFECT, name="response-if-treated", event="Y1 == top", scale="share")


def _choose(ends: Sequence[Ends], threshold: float) -> npt.NDArray[np.str_]:
    """The decision where it is the same at all values between the ends, uncertain elsewhere, empty without ends.

    `ends` are those of the effect, of treating over usual care, and of not treating over it.
    """
    effect, treating, not_treating = ends
    answered = ~np.isnan([*effect, *treating, *not_treating]).any(axis=0)
    treat = reaches(treating[0], threshold) & reaches(effect[0], 0.0)
    not_ = reaches(not_treating[0], threshold) & ~reaches(effect[1], ROUNDING)
    leave = ~reaches(treating[1], threshold) & ~reaches(not_treating[1], threshold)
    found = np.select([treat, not_, leave], [TREAT, NOT, LEAVE], UNCERTAIN)
    return np.where(answered, found, NONE)


# --- what usual care does where something else is decided ------------------------------------------------


def knows_usual_care(model: Model, estimand: Estimand) -> bool:
    """Whether the model says how many respond if they choose for themselves, of what an estimand asks."""
    both = model.structure.is_two_by_two and OBSERVATIONAL in model.structure.tables
    return both and model.capabilities.law and not estimand.trial_alone and estimand.quantity.direction == "gain"


def usual_care_notes(
    model: Model, codes: Codes, treated: BoolArray, untreated: BoolArray, estimand: Estimand
) -> tuple[Note, ...]:
    """Say for how many groups more respond under usual care than if they are treated, or not, as was decided.

    Parameters
    ----------
    model
        A fitted model.
    codes : shape (queries, covariates)
        The groups.
    treated, untreated : shape (queries,)
        Which are to be treated, and which not.
    estimand
        What was asked, by which they are.

    Returns
    -------
    A note, or none where there is no such group, or where usual care is not known. Where the model gives intervals,
    it is so beyond chance.
    """
    if not (treated | untreated).any() or not knows_usual_care(model, estimand):
        return ()
    asked = Estimand(EFFECT, level=estimand.level, population=estimand.population)
    gain = np.full(len(codes), np.nan)
    worse = np.zeros(len(codes), dtype=bool)
    for chosen, quantity in ((treated, TREATING_OVER_USUAL), (untreated, NOT_OVER_USUAL)):
        if chosen.any():
            table = model.bounds(codes[chosen], asked.of_quantity(quantity))
            gain[chosen] = table.upper
            worse[chosen] = (table.upper if table.level is None else table.interval("upper")[1]) < -ROUNDING
    if not worse.any():
        return ()
    most = int(np.where(worse, gain, np.inf).argmin())
    values = {
        "groups": worse.sum(),
        "of": (treated | untreated).sum(),
        "query": format_queries(model.schema, codes[[most]])[0],
        "group": model.study.labels.words(decode(model.schema, codes[most]).fixed),
        "treat": bool(treated[most]),
        "fewer": -gain[most],
    }
    return (Note("usual_care_better", values, WARNING),)


def noting_usual_care(model: Model, found: Decisions, codes: Codes, estimand: Estimand) -> Decisions:
    """The decisions, with a note where more respond under usual care than if people are treated, or not, so."""
    notes = usual_care_notes(model, codes, found.decision == TREAT, found.decision == NOT, estimand)
    return replace(found, answers=replace(found.answers, notes=(*found.answers.notes, *notes))) if notes else found
