"""Treat, do not treat, or uncertain: the decision that bounds support at a threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pnsight._tabular import Tabular
from pnsight._typing import FloatArray
from pnsight.errors import ModelError, QueryError, percent_hint
from pnsight.estimands.estimand import EstimandLike
from pnsight.estimands.quantities import find_quantity
from pnsight.models import Model
from pnsight.notes import Note
from pnsight.queries.bound_table import BoundTable
from pnsight.queries.query import QueryLike

TREAT, NOT, UNCERTAIN, NONE = "treat", "not", "uncertain", ""


def decisions(lower: FloatArray, upper: FloatArray, threshold: float) -> npt.NDArray[np.str_]:
    """Treat where lower >= threshold, do not where upper < threshold, else uncertain; empty where there is no answer.

    Source: the decision rule of the paper's case study.
    """
    answered = ~(np.isnan(lower) | np.isnan(upper) | (lower > upper))
    confident = np.where(lower >= threshold, TREAT, np.where(upper < threshold, NOT, UNCERTAIN))
    return np.where(answered, confident, NONE)


@dataclass(frozen=True, repr=False)
class Decisions(Tabular):
    """A decision for each query, with the answer that it rests on.

    Attributes
    ----------
    answers : bounds of each query
    decision : shape (queries,)
        ``treat``, ``not`` or ``uncertain``; empty where there is no answer.
    threshold : what the bounds are compared with
    cautious : whether the whole interval of an end had to agree
    """

    answers: BoundTable
    decision: npt.NDArray[np.str_]
    threshold: float
    cautious: bool

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def caption(self) -> str:
        """What is decided, and when."""
        sure = f", with {self.answers.level:.0%} confidence" if self.cautious else ""
        return f"treat if {self.answers.quantity} is at least {self.threshold:g}{sure}"

    @property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """What a reader of the answers should know, and how many decisions there are of each kind."""
        if len(self) < 2:
            return self.answers.notes
        named = {"treat": TREAT, "not_": NOT, "uncertain": UNCERTAIN, "unanswered": NONE}
        counted = {name: (self.decision == word).sum() for name, word in named.items()}
        return (*self.answers.notes, Note("decisions_counted", counted))

    def columns(self) -> dict[str, list[Any]]:
        """The query, its decision, then the columns of its answer."""
        return self.answers.columns(beside={"decision": [str(word) for word in self.decision]})

    def words(self) -> list[str]:
        """Each query, its decision and the reason, in a sentence."""
        return [f"{query or 'everyone'}: {self.reason(row)}" for row, query in enumerate(self.answers.queries)]

    def reason(self, row: int = 0) -> Note:
        """One decision and its reason: the bounds, the threshold, and the interval of the end that decides."""
        answers, decision = self.answers, str(self.decision[row])
        values = {
            "decision": decision,
            "quantity": answers.quantity,
            "lower": answers.lower[row] if decision else None,
            "upper": answers.upper[row] if decision else None,
            "threshold": self.threshold,
            "status": str(answers.status[row]),
            "interval": self._deciding_interval(row) if decision else None,
        }
        return Note("decision", values)

    def _deciding_interval(self, row: int) -> dict[str, Any] | None:
        """How far the interval of the deciding end reaches, and whether it agrees; None without one."""
        answers = self.answers
        plain = decisions(answers.lower[[row]], answers.upper[[row]], self.threshold)[0]
        if answers.level is None or plain == UNCERTAIN:
            return None
        lowest, highest = cautious_ends(answers)
        reaches = lowest[row] if plain == TREAT else highest[row]
        agrees = reaches >= self.threshold if plain == TREAT else reaches < self.threshold
        return {"level": answers.level, "reaches": reaches, "agrees": agrees}


def decide(
    model: Model,
    queries: QueryLike = None,
    threshold: float | None = None,
    cautious: bool = False,
    quantity: EstimandLike = None,
    **options: Any,
) -> Decisions:
    """Treat, do not treat or uncertain for each query; what a query does not name is left open.

    Parameters
    ----------
    model, queries
        A fitted model, and what `model.bounds` takes.
    threshold
        Treat where the quantity is at least this: by default one half, and 0 for benefit, whose threshold is what
        treating one person costs.
    cautious
        Decide only where the whole interval of the deciding end agrees; for models that give intervals.
    quantity, options
        What is asked, as `model.bounds` takes it.

    Returns
    -------
    One decision a query, with the bounds that it rests on.
    """
    return decided(model.bounds(queries, quantity, **options), threshold, cautious)


def decided(answers: BoundTable, threshold: float | None = None, cautious: bool = False) -> Decisions:
    """The decisions that a table of bounds supports."""
    threshold = usual_threshold(answers.quantity) if threshold is None else threshold
    refuse_threshold(threshold, answers.quantity)
    ends = cautious_ends(answers) if cautious else (answers.lower, answers.upper)
    return Decisions(answers, decisions(*ends, threshold), threshold, cautious)


def usual_threshold(quantity: str) -> float:
    """What a quantity must reach unless another number is given: one half, and any benefit at all."""
    return find_quantity(quantity).default_threshold


def refuse_threshold(threshold: float, quantity: str) -> None:
    """Refuse a number that bounds on the quantity cannot be compared with; a cost may be more than any benefit."""
    if not math.isfinite(threshold):
        raise QueryError(f"the threshold is {threshold}; give a number that the bounds can be compared with, as 0.5.")
    found = find_quantity(quantity)
    if not found.has_payoffs and not 0 <= threshold <= 1:
        raise QueryError(
            f"a threshold for {found.label} lies between 0 and 1, and {threshold:g} was given{percent_hint(threshold)}"
        )


def cautious_ends(answers: BoundTable) -> tuple[FloatArray, FloatArray]:
    """Where the interval of the lower end begins and that of the upper end stops, shape (queries,) each."""
    if answers.level is None:
        raise ModelError(
            "caution needs an interval for each bound, which this model does not give; leave --cautious "
            "(cautious=True) out, or fit a response-types model with intervals."
        )
    begins, stops = answers.interval("lower")[0], answers.interval("upper")[1]
    return np.minimum(answers.lower, begins), np.maximum(answers.upper, stops)
