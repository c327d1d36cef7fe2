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
from pnsight.estimands.estimand import BENEFIT
from pnsight.models import Model
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
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """What a reader of the answers should know, and how many decisions there are of each kind."""
        if len(self) < 2:
            return self.answers.notes
        named = {TREAT: TREAT, NOT: NOT, UNCERTAIN: UNCERTAIN, NONE: "no answer"}
        found = ((name, int((self.decision == word).sum())) for word, name in named.items())
        counted = ", ".join(f"{name} {count:,}" for name, count in found if count)
        return (*self.answers.notes, f"{len(self):,} decisions: {counted}")

    def columns(self) -> dict[str, list[Any]]:
        """The query, its decision, then the columns of its answer."""
        return self.answers.columns(beside={"decision": [str(word) for word in self.decision]})

    def words(self) -> list[str]:
        """Each query, its decision and the reason, in a sentence."""
        return [f"{query or 'everyone'}: {self.reason(row)}" for row, query in enumerate(self.answers.queries)]

    def reason(self, row: int = 0) -> str:
        """One decision and its reason, in a sentence."""
        answers, theta = self.answers, f"{self.threshold:g}"
        lower, upper = answers.lower[row], answers.upper[row]
        name = answers.quantity
        reason = {
            TREAT: f"treat: {name} is at least {lower:.3f}, not below {theta}{self._surely(row, 'lower')}",
            NOT: f"do not treat: {name} is at most {upper:.3f}, below {theta}{self._surely(row, 'upper')}",
            UNCERTAIN: f"uncertain: {name} is between {lower:.3f} and {upper:.3f}{self._why_uncertain(row)}",
            NONE: f"no decision: the answer is {answers.status[row]}",
        }
        return f"{reason[str(self.decision[row])]}."

    def _surely(self, row: int, end: str) -> str:
        """Whether the interval of the end that decides agrees, if there is one."""
        if self.answers.level is None:
            return ""
        lowest, highest = cautious_ends(self.answers)
        far = lowest[row] if end == "lower" else highest[row]
        agrees = far >= self.threshold if end == "lower" else far < self.threshold
        interval = f"the {self.answers.level:.0%} interval of that bound reaches {far:.3f}"
        return f", and {interval}, on the same side" if agrees else f", but {interval}, on the other side"

    def _why_uncertain(self, row: int) -> str:
        plain = decisions(self.answers.lower[[row]], self.answers.upper[[row]], self.threshold)[0]
        if plain == UNCERTAIN:
            return f", on both sides of {self.threshold:g}"
        return self._surely(row, "lower" if plain == TREAT else "upper")


def decide(
    model: Model, queries: QueryLike = None, threshold: float | None = None, cautious: bool = False, **options: Any
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
    options
        Further arguments of `model.bounds`, such as `quantity` and `level`.
    """
    return decided(model.bounds(queries, **options), threshold, cautious)


def decided(answers: BoundTable, threshold: float | None = None, cautious: bool = False) -> Decisions:
    """The decisions that a table of bounds supports."""
    threshold = usual_threshold(answers.quantity) if threshold is None else threshold
    refuse_threshold(threshold, answers.quantity)
    ends = cautious_ends(answers) if cautious else (answers.lower, answers.upper)
    return Decisions(answers, decisions(*ends, threshold), threshold, cautious)


def usual_threshold(quantity: str) -> float:
    """What a quantity must reach unless another number is given: one half, and any benefit at all."""
    return 0.0 if quantity == BENEFIT else 0.5


def refuse_threshold(threshold: float, quantity: str) -> None:
    """Refuse a number that bounds on the quantity cannot be compared with; a cost may be more than any benefit."""
    if not math.isfinite(threshold):
        raise QueryError(f"the threshold is {threshold}; give a number that the bounds can be compared with, as 0.5.")
    if quantity != BENEFIT and not 0 <= threshold <= 1:
        name = quantity if quantity == "harm" else quantity.upper()
        raise QueryError(
            f"a threshold for {name} lies between 0 and 1, and {threshold:g} was given{percent_hint(threshold)}"
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
