"""Treat, do not treat, or uncertain: the decision that bounds support at a threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pnsight._tabular import Tabular
from pnsight._typing import BoolArray, FloatArray
from pnsight.errors import ModelError, QueryError, percent_hint
from pnsight.estimands.quantities import find_quantity
from pnsight.estimands.resolve import ROUNDING
from pnsight.notes import WARNING, Note
from pnsight.queries.bound_table import EXTRAPOLATED, OK, ROWS, BoundTable, plain_numbers

TREAT, NOT, UNCERTAIN, NONE = "treat", "not", "uncertain", ""

MIN_EFFECTIVE_ROWS = 30.0
"""An answer that is worth fewer rows of its own than this is never decided upon with caution."""

LEARNED_MARGIN = 1.3
"""By what the interval of an answer that others taught is stretched for a cautious decision.

Intervals hold as often as they should on average over populations; where the truth is rougher than what networks learn
of it, errors are about that much larger than expected. Set on development populations.
"""


def reaches(values: FloatArray, threshold: float) -> BoolArray:
    """Whether numbers are at least a threshold; one that rounding leaves just below it has met it.

    Parameters
    ----------
    values
        Any shape.
    threshold
        What they are compared with.

    Returns
    -------
    Of the same shape; false for NaN.
    """
    return np.asarray(values >= threshold - ROUNDING * max(1.0, abs(threshold)))


def rank_with_ties(values: FloatArray) -> npt.NDArray[np.intp]:
    """Rank numbers, the largest first; those that differ by rounding only share a rank.

    Parameters
    ----------
    values : shape (n,)
        Numbers; NaN ranks last.

    Returns
    -------
    Shape (n,): 0 for the largest, 1 for the next that is smaller, and so on.
    """
    known = np.nan_to_num(values, nan=-np.inf)
    order = np.argsort(-known, kind="stable")
    tolerance = ROUNDING * np.abs(values[np.isfinite(values)]).max(initial=0.0)
    with np.errstate(invalid="ignore"):  # between two without a number
        falls = -np.diff(known[order]) > tolerance
    ranks = np.empty(len(values), dtype=np.intp)
    ranks[order] = np.concatenate([[0], np.cumsum(falls)])[: len(values)]
    return ranks


def decisions(lower: FloatArray, upper: FloatArray, threshold: float) -> npt.NDArray[np.str_]:
    """Treat where lower >= threshold, do not where upper < threshold, else uncertain; empty where there is no answer.

    A threshold is met in spite of rounding, as `reaches` has it.
    Source: the decision rule of the paper's case study.
    """
    answered = ~(np.isnan(lower) | np.isnan(upper) | (lower > upper))
    confident = np.where(reaches(lower, threshold), TREAT, np.where(reaches(upper, threshold), UNCERTAIN, NOT))
    return np.where(answered, confident, NONE)


@dataclass(frozen=True, repr=False)
class Decisions(Tabular):
    """A decision for each query, with the answer that it rests on.

    Attributes
    ----------
    answers : bounds of each query
    decision : shape (queries,)
        ``treat``, ``not`` or ``uncertain``; empty where there is no answer, or one that is extrapolated.
    decision_cautious : shape (queries,)
        The same where the whole interval of the deciding end has to agree, stretched by `LEARNED_MARGIN` where others
        taught the answer, and the answer has to be worth `MIN_EFFECTIVE_ROWS` rows of the people asked about; empty
        without intervals.
    threshold : what the bounds are compared with
    cautious : whether `decision` is the cautious one too
    """

    answers: BoundTable
    decision: npt.NDArray[np.str_]
    decision_cautious: npt.NDArray[np.str_]
    threshold: float
    cautious: bool

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def contrast(self) -> None:
        """None: which arms are compared was given, or there are only two."""
        return None

    @property
    def caption(self) -> str:
        """What is decided, and when."""
        sure = f", with {self.answers.level:.0%} confidence" if self.cautious else ""
        return f"treat if {self.answers.quantity} is at least {self.threshold:g}{sure}"

    @property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """What a reader of the answers should know, and how many decisions there are of each kind."""
        left = int((extrapolated(self.answers) & (self.decision == NONE)).sum())
        found = self.answers.notes
        if left:
            found += (Note("extrapolated_undecided", {"queries": left, "of": len(self)}, WARNING),)
        if len(self) < 2:
            return found
        named = {"treat": TREAT, "not_": NOT, "uncertain": UNCERTAIN, "unanswered": NONE}
        counted = {name: (self.decision == word).sum() for name, word in named.items()}
        return (*found, Note("decisions_counted", counted))

    def columns(self) -> dict[str, list[Any]]:
        """The query, its decision, plain and with caution, then the columns of its answer."""
        words = {"decision": self.decision, "decision_cautious": self.decision_cautious}
        return self.answers.columns(beside={name: found.tolist() for name, found in words.items()})

    def arrays(self) -> dict[str, Any]:
        """The same as arrays, but for the query."""
        return {"decision": self.decision, "decision_cautious": self.decision_cautious, **self.answers.arrays()}

    def words(self) -> list[str]:
        """Each query, its decision, the reason and the rows behind it, in a sentence."""
        return [f"{query or 'everyone'}: {self.reason(row)}" for row, query in enumerate(self.answers.queries)]

    def reason(self, row: int = 0) -> Note:
        """One decision and its reason: the bounds, the threshold, the interval of the end that decides, and the rows.

        Where nothing is decided, why: the status, what the answer rests on, and what the experiment alone says.
        """
        answers, decision = self.answers, str(self.decision[row])
        answered = answers.status[row] == OK
        values = {
            "decision": decision,
            "quantity": answers.quantity,
            "lower": answers.lower[row] if answered else None,
            "upper": answers.upper[row] if answered else None,
            "threshold": self.threshold,
            "status": str(answers.status[row]),
            "interval": self._deciding_interval(row) if decision else None,
            "worth": self._too_few_rows(row),
            "basis": "" if answers.basis is None else str(answers.basis[row]),
            "trial": self._trial_alone(row),
            "rows": [answers.support_experimental[row], answers.support_observational[row]],
        }
        return Note("decision", values)

    def _too_few_rows(self, row: int) -> float | None:
        """Rows that the answer is worth, where they are too few for the cautious decision that the interval allows."""
        rows, interval = self.answers.effective_rows, self._deciding_interval(row)
        held_back = self.cautious and self.decision[row] == UNCERTAIN and interval is not None and interval["agrees"]
        return float(rows[row]) if held_back and rows is not None else None

    def _trial_alone(self, row: int) -> list[float | None] | None:
        """Both ends that the experiment alone has; None where it does not bound the quantity, or was not asked."""
        lower, upper = self.answers.trial_lower, self.answers.trial_upper
        if lower is None or upper is None or np.isnan(lower[row]):
            return None
        return plain_numbers(np.array([lower[row], upper[row]]))

    def _deciding_interval(self, row: int) -> dict[str, Any] | None:
        """How far the interval of the deciding end reaches, and whether it agrees; None without one."""
        answers = self.answers
        plain = decisions(answers.lower[[row]], answers.upper[[row]], self.threshold)[0]
        if answers.level is None or plain == UNCERTAIN:
            return None
        lowest, highest = cautious_ends(answers)
        end = lowest[row] if plain == TREAT else highest[row]
        if np.isnan(end):
            return None
        return {
            "level": answers.level,
            "reaches": end,
            "agrees": reaches(end, self.threshold) == (plain == TREAT),
            "stretched": bool(_margins(answers)[row] > 1),
        }


def decided(
    answers: BoundTable, threshold: float | None = None, cautious: bool = False, extrapolate: bool = False
) -> Decisions:
    """The decisions that a table of bounds supports; arguments as `pnsight.decisions.decide` has them."""
    threshold = usual_threshold(answers.quantity) if threshold is None else threshold
    refuse_threshold(threshold, answers.quantity)
    open_ends = np.full(len(answers), np.nan)
    careful = cautious_ends(answers) if cautious or answers.level is not None else (open_ends, open_ends)
    undecided = extrapolated(answers) & (not extrapolate)
    plain, surer = (
        np.where(undecided, NONE, decisions(lower, upper, threshold))
        for lower, upper in ((answers.lower, answers.upper), careful)
    )
    surer = np.where(worth_little(answers) & (surer != NONE), UNCERTAIN, surer)
    return Decisions(answers, surer if cautious else plain, surer, threshold, cautious)


def worth_little(answers: BoundTable) -> BoolArray:
    """Which answers are worth too few rows for a cautious decision, shape (queries,)."""
    if answers.effective_rows is None:
        return np.zeros(len(answers), dtype=bool)
    return np.asarray(answers.effective_rows < MIN_EFFECTIVE_ROWS)


def extrapolated(answers: BoundTable) -> BoolArray:
    """Which answers rest on nobody like the people asked about, shape (queries,)."""
    if answers.basis is None:
        return np.zeros(len(answers), dtype=bool)
    return np.asarray((answers.basis == EXTRAPOLATED) & (answers.status == OK))


def usual_threshold(quantity: str) -> float:
    """What a quantity must reach unless another number is given: one half, and any benefit at all."""
    return find_quantity(quantity).default_threshold


def refuse_threshold(threshold: float, quantity: str) -> None:
    """Refuse a number that bounds on the quantity cannot be compared with; a cost may be more than any benefit."""
    if not math.isfinite(threshold):
        raise QueryError(f"the threshold is {threshold}; give a number that the bounds can be compared with, as 0.5.")
    found = find_quantity(quantity)
    if found.is_share and not 0 <= threshold <= 1:
        raise QueryError(
            f"a threshold for {found.label} lies between 0 and 1, and {threshold:g} was given{percent_hint(threshold)}"
        )


def cautious_ends(answers: BoundTable) -> tuple[FloatArray, FloatArray]:
    """Both ends as a cautious decision sees them, shape (queries,) each.

    The lower end where its interval begins and the upper one where its stops, stretched where others taught the answer.
    """
    if answers.level is None:
        raise ModelError(
            "caution needs an interval for each bound, which this model does not give; leave --cautious "
            "(cautious=True) out, or fit a response-types model with intervals."
        )
    begins, stops = answers.interval("lower")[0], answers.interval("upper")[1]
    margin = _margins(answers)
    below = margin * np.maximum(answers.lower - begins, 0.0)
    above = margin * np.maximum(stops - answers.upper, 0.0)
    return answers.lower - below, answers.upper + above


def _margins(answers: BoundTable) -> FloatArray:
    """By what the interval of each answer is stretched, shape (queries,)."""
    if answers.basis is None:
        return np.ones(len(answers))
    return np.where((answers.basis == ROWS) | (answers.basis == ""), 1.0, LEARNED_MARGIN)
