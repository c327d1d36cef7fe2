"""Scores of estimated bounds against the oracle."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from pnsight import simulation as populations
from pnsight._typing import FloatArray
from pnsight.data.schema import OPEN, Codes
from pnsight.decisions import NONE, NOT, TREAT, UNCERTAIN, decisions
from pnsight.estimands.resolve import ROUNDING
from pnsight.queries import lattice
from pnsight.queries.bound_table import BoundTable

THETAS = (0.3, 0.5)
"""Decision thresholds that every result is scored at."""


@dataclass(frozen=True)
class Truth:
    """Oracle bounds of all queries of a population, in the order of `lattice.all_queries`."""

    codes: Codes
    exact: npt.NDArray[np.bool_]
    lower: FloatArray
    upper: FloatArray


@cache
def truth(population: str, quantity: str = "pns") -> Truth:
    """Oracle bounds of all queries of the population of that name."""
    known = populations.get(population)
    codes = lattice.all_queries(known.schema)
    answer = known.bounds(codes, quantity)
    return Truth(codes, (codes != OPEN).all(axis=1), answer.lower, answer.upper)


def errors(
    known: Truth, lower: FloatArray, upper: FloatArray, scored: npt.NDArray[np.bool_]
) -> dict[str, float | int | None]:
    """Mean absolute error by space and end over the scored queries, and how many of each space those are."""
    result: dict[str, float | int | None] = {}
    for space, inside in {"exact": known.exact, "mask": np.ones_like(known.exact)}.items():
        rows = inside & scored
        result[f"{space}_scored"] = int(rows.sum())
        for end, ours, theirs in (("lower", lower, known.lower), ("upper", upper, known.upper)):
            result[f"{space}_{end}_mae"] = float(np.abs(ours - theirs)[rows].mean()) if rows.any() else None
    return result


def decision_scores(known: Truth, lower: FloatArray, upper: FloatArray) -> dict[str, float | None]:
    """By space and theta: share of decisions that agree with the oracle's, and of confident ones it contradicts.

    A query without an answer, or with lower above upper, agrees with nothing and is not confident.
    """
    result: dict[str, float | None] = {}
    for place, right, ours in _decided(known, lower, upper):
        contradicted = (right != ours) & (right != UNCERTAIN)
        result[f"{place[0]}_agree_{place[1]}"] = float((right == ours).mean()) if (ours != NONE).any() else None
        result[f"{place[0]}_wrong_{place[1]}"] = _share(contradicted, _confident(ours))
    return result


def confidence_scores(known: Truth, lower: FloatArray, upper: FloatArray) -> dict[str, float | None]:
    """By space, share of queries with an answer; by space and theta, with a confident decision, and its foundation.

    Of the confident decisions, ``unsure`` is the share that would be uncertain with unlimited data.
    """
    result: dict[str, float | None] = {}
    for place, right, ours in _decided(known, lower, upper):
        confident = _confident(ours)
        result[f"{place[0]}_answered"] = float((ours != NONE).mean())
        result[f"{place[0]}_confident_{place[1]}"] = float(confident.mean())
        result[f"{place[0]}_unsure_{place[1]}"] = _share(right == UNCERTAIN, confident)
    return result


def _decided(
    known: Truth, lower: FloatArray, upper: FloatArray
) -> Iterator[tuple[tuple[str, float], npt.NDArray[np.str_], npt.NDArray[np.str_]]]:
    """By (space, theta): the decisions of the oracle and ours."""
    for theta in THETAS:
        right, ours = decisions(known.lower, known.upper, theta), decisions(lower, upper, theta)
        for space, inside in {"exact": known.exact, "mask": np.ones_like(known.exact)}.items():
            yield (space, theta), right[inside], ours[inside]


def _confident(words: npt.NDArray[np.str_]) -> npt.NDArray[np.bool_]:
    return np.isin(words, (TREAT, NOT))


def _share(these: npt.NDArray[np.bool_], among: npt.NDArray[np.bool_]) -> float | None:
    """Share of these among those; None if there are none to be among."""
    return float(these[among].mean()) if among.any() else None


SUPPORT_BANDS = (0, 1, 30, 300)
"""Rows of both tables together from which on a query is in the next band of support."""


def interval_scores(known: Truth, answer: BoundTable) -> dict[str, float | None]:
    """Share of the oracle's ends inside their intervals, by space and end and by support; mean width by space.

    Empty for an answer without intervals.
    """
    if answer.level is None:
        return {}
    intervals = {"lower": answer.interval("lower"), "upper": answer.interval("upper")}
    true = {"lower": known.lower, "upper": known.upper}
    covered = {
        end: (low <= true[end] + ROUNDING) & (true[end] <= high + ROUNDING) for end, (low, high) in intervals.items()
    }
    width = np.mean([high - low for low, high in intervals.values()], axis=0)
    result: dict[str, float | None] = {}
    for space, inside in {"exact": known.exact, "mask": np.ones_like(known.exact)}.items():
        for end, hit in covered.items():
            result[f"{space}_{end}_covered"] = float(hit[inside].mean())
        result[f"{space}_width"] = float(width[inside].mean())
    band = np.searchsorted(SUPPORT_BANDS, answer.support_experimental + answer.support_observational, side="right") - 1
    both = (covered["lower"].astype(float) + covered["upper"]) / 2
    for place, start in enumerate(SUPPORT_BANDS):
        result[f"covered_from_{start}"] = float(both[band == place].mean()) if (band == place).any() else None
    return result


def crossings(known: Truth, lower: FloatArray, upper: FloatArray) -> dict[str, int]:
    """Queries with lower above upper, by space."""
    crossed = lower > upper
    return {"exact_crossed": int((crossed & known.exact).sum()), "mask_crossed": int(crossed.sum())}
