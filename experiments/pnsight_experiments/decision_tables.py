"""Tables of the benchmark of decisions: how often they are right, what a budget brings, and how good the best are.

Each begins with the means over the catalog's and over the random populations, then goes through them one by one, with
random populations of one kind put together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from pnsight.simulation import KINDS, NAMES
from pnsight_experiments.deciding import SHARES
from pnsight_experiments.scores import THETAS
from pnsight_experiments.settings import CAUTIONS, LEARNERS
from pnsight_experiments.summary import Row, as_percent, family, short

MEANS = CATALOG, RANDOM = "all of the catalog", "all random"
"""What the means over many populations are called."""

_ORDER = (*MEANS, *NAMES, *KINDS)

Columns = dict[str, list[Any]]


def decision_table(rows: Sequence[Row]) -> Columns:
    """Decisions over the exact and over all queries, at each threshold.

    Of all queries, the share with an answer, with a confident decision, and with the oracle's decision; of the
    confident ones, the share that the oracle contradicts outright, and the share where it is unsure.
    """

    def lines(found: Sequence[Row]) -> list[dict[str, Any]]:
        return [{"space": space, **_decided(found, space)} for space in ("exact", "mask")]

    return _table(rows, lines)


def _decided(rows: Sequence[Row], space: str) -> dict[str, str]:
    heads = {"confident": "confident", "agree": "agree", "wrong": "wrong", "unsure": "oracle unsure"}
    shown = {"answered": as_percent(row[f"{space}_answered"] for row in rows)}
    for theta in THETAS:
        for what, head in heads.items():
            shown[f"{head} at {theta}"] = as_percent(row[f"{space}_{what}_{theta}"] for row in rows)
    return shown


def selection_table(rows: Sequence[Row]) -> Columns:
    """What a budget surely gains, in shares of all people: by the oracle's choice, by the model's, and as promised.

    ``lost`` is the oracle's less the model's, beside it as a share of the oracle's; ``short of promise`` is what was
    promised less what is delivered, and ``kept`` says in how many fits nothing is missing.
    """

    def lines(found: Sequence[Row]) -> list[dict[str, Any]]:
        return [{"budget": f"{share:.0%}", **_spent(found, share)} for share in SHARES]

    return _table(rows, lines)


def _spent(rows: Sequence[Row], share: float) -> dict[str, str]:
    oracle, promised, delivered = (
        [float(row[f"{what}_{share}"]) for row in rows] for what in ("oracle_gain", "promised", "delivered")
    )
    lost = max(0.0, fmean(oracle) - fmean(delivered))  # no choice gains more than the oracle's, but digits are written
    missing = [p - d for p, d in zip(promised, delivered, strict=True)]
    return {
        "oracle": short(fmean(oracle)),
        "delivered": short(fmean(delivered)),
        "lost": short(lost),
        "lost of it": f"{lost / fmean(oracle):.1%}" if any(oracle) else "",
        "promised": short(fmean(promised)),
        "short of promise": short(fmean(missing)),
        "kept": f"{sum(m <= _WRITTEN for m in missing)} of {len(missing)}",
    }


_WRITTEN = 1e-6
"""Results are written with six digits, so differences below this say nothing."""


def top_table(rows: Sequence[Row]) -> Columns:
    """The hundred best groups and profiles by lower bound, and the list that `rank` gives.

    Share of them that the oracle has among its best, and their mean true lower bound beside that of the oracle's best;
    by how much the estimates that `rank` lists are above the truth on average, and by how much it says they are.
    """
    return _table(rows, lambda found: [_top(found)])


def _top(rows: Sequence[Row]) -> dict[str, str]:
    shown: dict[str, str] = {}
    for what in ("groups", "profiles"):
        shown[f"{what} right"] = as_percent(row[f"{what}_right"] for row in rows)
        shown[f"{what}, true"] = _mean(row[f"{what}_true_lower"] for row in rows)
        shown[f"{what}, oracle's"] = _mean(row[f"{what}_oracle_lower"] for row in rows)
    shown["listed by rank"] = _mean((row["rank_listed"] for row in rows), "{:.1f}")
    shown["too high by"] = _mean(row["rank_overstated"] for row in rows)
    shown["foretold"] = _mean(row["rank_foretold"] for row in rows)
    return shown


def _mean(values: Iterable[float | None], form: str = "{:.4f}") -> str:
    """The mean of the values there are."""
    found = [value for value in values if value is not None]
    return form.format(fmean(found)) if found else ""


def _table(rows: Sequence[Row], lines: Callable[[Sequence[Row]], list[dict[str, Any]]]) -> Columns:
    """The lines of each group of rows, below one another, with what the group is and how many fits it has."""
    columns: Columns = defaultdict(list)
    for (population, budget, learner, caution), found in sorted(_groups(rows).items(), key=_place):
        for line in lines(found):
            named = {"population": population, "rows": budget, "learner": learner, "caution": caution}
            for name, value in {**named, **line, "fits": len(found)}.items():
                columns[name].append(value)
    return dict(columns)


def _groups(rows: Sequence[Row]) -> Mapping[tuple[str, int, str, str], list[Row]]:
    groups: dict[tuple[str, int, str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if not row["note"]:
            for population in (CATALOG if row["population"] in NAMES else RANDOM, family(row)):
                groups[population, row["budget"], row["learner"], row["caution"]].append(row)
    return groups


def _place(item: tuple[tuple[str, int, str, str], list[Row]]) -> tuple[int, ...]:
    population, budget, learner, caution = item[0]
    return _ORDER.index(population), budget, list(LEARNERS).index(learner), CAUTIONS.index(caution)
