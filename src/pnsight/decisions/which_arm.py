"""Which of several arms: the one that is certainly best by the bounds, or those among which that is uncertain.

Each arm is compared with the reference by the same quantity. An arm is best if its lower bound reaches the threshold
and is at least the upper bound of every other arm; the reference is, if no arm's upper bound reaches the threshold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pnsight._tabular import Tabular
from pnsight._typing import BoolArray, FloatArray
from pnsight.data.schema import Codes
from pnsight.decisions.rule import (
    NONE,
    UNCERTAIN,
    Decisions,
    cautious_ends,
    decided,
    extrapolated,
    refuse_threshold,
    usual_threshold,
    worth_little,
)
from pnsight.decisions.usual_care import decide_or_leave, noting_usual_care
from pnsight.estimands.contrast import Contrast
from pnsight.estimands.estimand import Estimand, EstimandLike
from pnsight.models import Model
from pnsight.notes import WARNING, Note
from pnsight.queries.bound_table import BoundTable
from pnsight.queries.query import QueryLike, encode

ARM = "arm:"
"""Before the name of the arm that is decided for."""


@dataclass(frozen=True, repr=False)
class ArmDecisions(Tabular):
    """The best arm for each query, with the answer that it rests on.

    Attributes
    ----------
    answers : by arm, bounds of each query against the reference
    reference : name of the arm that others are compared with
    decision : shape (queries,)
        ``arm:NAME`` or ``uncertain``; empty where an arm has no answer, or one that is extrapolated.
    decision_cautious : shape (queries,)
        The same by the far ends of the bounds' intervals; empty without intervals.
    between : for each query, the arms that may be best
    threshold : what a bound must reach for an arm to be better than the reference
    cautious : whether `decision` is the cautious one too
    """

    answers: Mapping[str, BoundTable]
    reference: str
    decision: npt.NDArray[np.str_]
    decision_cautious: npt.NDArray[np.str_]
    between: tuple[tuple[str, ...], ...]
    threshold: float
    cautious: bool

    def __len__(self) -> int:
        return len(self.decision)

    @property
    def contrast(self) -> Contrast:
        """One of the comparisons that were made."""
        return next(iter(self.answers)), self.reference

    @property
    def caption(self) -> str:
        """What is decided, and when."""
        first = next(iter(self.answers.values()))
        sure = f", with {first.level:.0%} confidence" if self.cautious else ""
        return (
            f"the arm with the largest {first.quantity} against {self.reference}, if that is at least "
            f"{self.threshold:g}{sure}"
        )

    @property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """What a reader of the answers should know, and how many decisions there are of each kind."""
        said = (note for answers in self.answers.values() for note in answers.notes)
        found = [note for note in said if note.kind not in ("contrast", "horizon")]
        left = int(self._extrapolated.sum())
        if left and (self.decision[self._extrapolated] == NONE).all():
            found.append(Note("extrapolated_undecided", {"queries": left, "of": len(self)}, WARNING))
        if len(self) > 1:
            words, counts = np.unique(self.decision, return_counts=True)
            named = [{"decision": str(word), "queries": int(n)} for word, n in zip(words, counts, strict=True)]
            found.append(Note("arms_counted", {"decisions": named, "of": len(self)}))
        return tuple(dict.fromkeys(found))

    @property
    def _extrapolated(self) -> BoolArray:
        return np.asarray(np.any([extrapolated(answers) for answers in self.answers.values()], axis=0))

    @property
    def best(self) -> npt.NDArray[np.intp]:
        """The arm whose lower bound is largest, of those compared, shape (queries,)."""
        lower = np.stack([answers.lower for answers in self.answers.values()])
        return np.asarray(np.nan_to_num(lower, nan=-np.inf).argmax(axis=0))

    def columns(self) -> dict[str, list[Any]]:
        """The query, its decision, plain and with caution, the arms it is between, and the answer of the best one."""
        arms = list(self.answers)
        rows = [list(answers.columns().items()) for answers in self.answers.values()]
        first = dict(rows[0])
        beside = {
            "query": first["query"],
            "decision": [str(word) for word in self.decision],
            "decision_cautious": [str(word) for word in self.decision_cautious],
            "between": ["|".join(names) for names in self.between],
            "arm": [arms[at] for at in self.best],
        }
        by_arm = [dict(columns) for columns in rows]
        rest = {name: [by_arm[at][name][row] for row, at in enumerate(self.best)] for name in first if name != "query"}
        return {**beside, **rest}

    def words(self) -> list[str]:
        """Each query, its decision and the bounds of every arm, in a sentence."""
        queries = next(iter(self.answers.values())).queries
        return [f"{query or 'everyone'}: {self.reason(row)}" for row, query in enumerate(queries)]

    def reason(self, row: int = 0) -> Note:
        """One decision, and the bounds of every arm."""
        first = next(iter(self.answers.values()))
        bounds = [
            {"arm": arm, "lower": _number(answers.lower[row]), "upper": _number(answers.upper[row])}
            for arm, answers in self.answers.items()
        ]
        values = {
            "decision": str(self.decision[row]).removeprefix(ARM),
            "between": self.between[row],
            "quantity": first.quantity,
            "reference": self.reference,
            "threshold": self.threshold,
            "bounds": bounds,
        }
        return Note("arm_decision", values)


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def decide(
    model: Model,
    queries: QueryLike = None,
    threshold: float | None = None,
    cautious: bool = False,
    quantity: EstimandLike = None,
    extrapolate: bool = False,
    leave: bool = False,
    **options: Any,
) -> Decisions | ArmDecisions:
    """Treat, do not treat or uncertain for each query, or which of several arms; what a query does not name is open.

    Parameters
    ----------
    model, queries
        A fitted model, and what `model.bounds` takes.
    threshold
        Treat where the quantity is at least this: by default one half, and 0 for benefit, whose threshold is what
        treating one person costs.
    cautious
        Decide only where the whole interval of the deciding end agrees; for models that give intervals. Those decisions
        stand beside the plain ones in any case, as `decision_cautious`.
    quantity, options
        What is asked, as `model.bounds` takes it. With more arms than two and no ``contrast``, every arm is compared
        with the reference.
    extrapolate
        Whether to decide also where the answer is extrapolated, as nobody like these people was seen.
    leave
        Whether it may also be left to them: treat, do not, or leave, by which has most respond. The threshold is then
        by how many more must respond than under usual care, by default any.

    Returns
    -------
    One decision a query, with the bounds that it rests on; none where the tables contradict each other.
    """
    if leave:
        return decide_or_leave(model, queries, threshold, cautious, extrapolate, quantity, **options)
    codes = encode(model.schema, queries)
    found = decide_without_notes(model, codes, threshold, cautious, quantity, extrapolate, **options)
    if isinstance(found, ArmDecisions):
        return found
    return noting_usual_care(model, found, codes, model.estimand(quantity, **options))


def decide_without_notes(
    model: Model,
    codes: Codes,
    threshold: float | None = None,
    cautious: bool = False,
    quantity: EstimandLike = None,
    extrapolate: bool = False,
    **options: Any,
) -> Decisions | ArmDecisions:
    """What `decide` finds, without asking a second time whether usual care would do better: for very many people.

    Parameters
    ----------
    model, threshold, cautious, quantity, extrapolate, options
        As `decide` takes them.
    codes : shape (queries, covariates)
        The queries.

    Returns
    -------
    One decision a query.
    """
    arms = model.structure.description.arms
    chosen = (
        isinstance(quantity, Estimand) or options.get("contrast") is not None or options.get("statement") is not None
    )
    if len(arms) <= 2 or chosen:
        return decided(model.bounds(codes, model.estimand(quantity, **options)), threshold, cautious, extrapolate)
    estimand = model.estimand(quantity, **{**options, "contrast": (arms[1], arms[0])})
    return decide_arm(model, codes, estimand, threshold, cautious, extrapolate)


def decide_arm(
    model: Model,
    queries: QueryLike,
    estimand: Estimand,
    threshold: float | None = None,
    cautious: bool = False,
    extrapolate: bool = False,
) -> ArmDecisions:
    """The best of all arms for each query, each compared with the reference.

    Parameters
    ----------
    model, queries
        A fitted model, and what `model.bounds` takes.
    estimand
        What is asked of each arm; its contrast is not looked at.
    threshold, cautious, extrapolate
        As `decide` takes them.

    Returns
    -------
    One decision a query.
    """
    reference, *others = model.structure.description.arms
    answers = {arm: model.bounds(queries, replace(estimand, contrast=(arm, reference))) for arm in others}
    return _best_arms(answers, reference, threshold, cautious, extrapolate)


def _best_arms(
    answers: Mapping[str, BoundTable], reference: str, threshold: float | None, cautious: bool, extrapolate: bool
) -> ArmDecisions:
    first = next(iter(answers.values()))
    least = usual_threshold(first.quantity) if threshold is None else threshold
    refuse_threshold(least, first.quantity)
    arms = list(answers)
    left_out = np.any([extrapolated(one) for one in answers.values()], axis=0) & (not extrapolate)
    plain, between = _choose(arms, reference, [(one.lower, one.upper) for one in answers.values()], least)
    surer = np.full(len(first), NONE, dtype=plain.dtype)
    surely_between = between
    if cautious or first.level is not None:
        surer, surely_between = _choose(arms, reference, [cautious_ends(one) for one in answers.values()], least)
        little = np.any([worth_little(one) for one in answers.values()], axis=0)
        surer = np.where(little & (surer != NONE), UNCERTAIN, surer)
    plain, surer = (np.where(left_out, NONE, found) for found in (plain, surer))
    shown = surely_between if cautious else between
    return ArmDecisions(answers, reference, surer if cautious else plain, surer, shown, least, cautious)


def _choose(
    arms: list[str], reference: str, ends: list[tuple[FloatArray, FloatArray]], threshold: float
) -> tuple[npt.NDArray[np.str_], tuple[tuple[str, ...], ...]]:
    """The best arm of each query or that it is uncertain, shape (queries,), and the arms that may be best."""
    lower, upper = (np.stack(each) for each in zip(*ends, strict=True))
    answered = ~(np.isnan(lower) | np.isnan(upper)).any(axis=0)
    bar = np.maximum(lower.max(axis=0), threshold)
    may_be = upper >= bar
    reference_may_be = lower.max(axis=0) < threshold
    found, between = [], []
    for query in range(lower.shape[1]):
        names = [arm for arm, possible in zip(arms, may_be[:, query], strict=True) if possible]
        names += [reference] if reference_may_be[query] else []
        between.append(tuple(names) if answered[query] else ())
        found.append(NONE if not answered[query] else f"{ARM}{names[0]}" if len(names) == 1 else UNCERTAIN)
    return np.array(found, dtype=np.str_), tuple(between)
