"""Study size: how many rows make intervals short enough, before there are data, from guesses, or from a pilot.

The ends of bounds are the largest and the smallest of terms that are linear in the law. With n rows in a group of
cells, a term whose coefficients there range over r has a variance of at most r^2 / 4n (T. Popoviciu 1935), which half
of the rows in either extreme cell would show; variances of groups add up. So no term needs more rows than those at
which the worst one has the half-width asked for. From guesses or a pilot the law is known better, and the rows expected
to do are those at which the intervals that the plug-in would give are as short; a simulated check draws studies of that
size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from pnsight._tabular import Tabular
from pnsight._typing import FloatArray
from pnsight.data.law import Law
from pnsight.data.structure import EXPERIMENTAL, Structure
from pnsight.data.structures import require_two_by_two
from pnsight.data.two_by_two import CONTROL, TREATED, TWO_BY_TWO, two_by_two_law
from pnsight.errors import QuantityError, QueryError, percent_hint
from pnsight.estimands.compiled import LinearTerms
from pnsight.estimands.confidence import end_intervals
from pnsight.estimands.critical_values import two_sided
from pnsight.estimands.estimand import Estimand
from pnsight.estimands.quantities import EFFECT, find_quantity
from pnsight.models import Model
from pnsight.notes import Note
from pnsight.queries.bound_table import plain_numbers, validate_level

WORST, EXPECTED = "worst", "expected"
EFFECT_ALONE, LOWER, UPPER = "effect", "lower", "upper"

_MOST_ROWS = 2**40
_ROUNDING = 1e-9

_LEAST_MARGIN, _LEAST_SHARE = 1e-6, 0.001
"""What is less is a slip of the pen, or takes more rows than there are people."""


@dataclass(frozen=True, repr=False)
class StudySize(Tabular):
    """Rows that are enough, one row for each end and case; arrays of shape (rows,).

    Attributes
    ----------
    case : ``worst`` whatever the law is, or ``expected`` from what is known of it
    of : ``effect``, from the experiment alone; or an end of the bounds, ``lower`` or ``upper``, from both tables
    per_arm, experimental, observational : rows of the smaller arm, and of each table; NaN where none is needed
    margin, level : half-width and confidence of the intervals
    simulated, within, coverage : of simulated studies of that size, the median half-width, the share of them that keep
        to the margin, and the share whose interval holds the truth; NaN where nothing was simulated
    notes : what a reader should know
    """

    quantity: str
    case: tuple[str, ...]
    of: tuple[str, ...]
    margin: float
    level: float
    notes: tuple[Note, ...]
    per_arm: FloatArray
    experimental: FloatArray
    observational: FloatArray
    simulated: FloatArray
    within: FloatArray
    coverage: FloatArray

    NUMBERS = ("per_arm", "experimental", "observational", "simulated", "within", "coverage")

    def __len__(self) -> int:
        return len(self.case)

    @property
    def caption(self) -> str:
        """What is asked for."""
        return f"rows at which {self.level:.0%} intervals on {self.quantity} are within {self.margin:g} on either side"

    def columns(self) -> dict[str, list[Any]]:
        """The case, what is estimated, rows, and what simulated studies showed."""
        numbers = {name: plain_numbers(getattr(self, name)) for name in self.NUMBERS}
        return {"case": list(self.case), "of": list(self.of), **numbers}


def size(
    margin: float,
    level: float = 0.95,
    quantity: str = "pns",
    prevalence: float | None = None,
    treated: float | None = None,
    chosen: float | None = None,
    pilot: Model | None = None,
    query: str = "",
    subgroups: int = 1,
    simultaneous: bool = False,
    assignment: float = 0.5,
    ratio: float = 1.0,
    simulations: int = 0,
    random_state: int = 0,
) -> StudySize:
    """How many rows a study needs for intervals of a given half-width.

    Parameters
    ----------
    margin
        Half-width that the interval of an end of the bounds, or of the effect, may have.
    level
        Confidence of the intervals.
    quantity
        What is to be bounded; one that conditions on an event needs guesses or a pilot.
    prevalence, treated, chosen
        Guesses, for an expected size beside the worst case: the share who respond untreated; who respond if treated, by
        default as many; and who choose the treatment, by default half. Choice is then taken to be independent.
    pilot, query
        In place of guesses a model of a pilot study, and the people of it who are meant.
    subgroups
        How many groups, equally large, are each to have such intervals.
    simultaneous
        Whether the intervals of all groups are to hold together at that confidence (Bonferroni).
    assignment
        Share of the experiment that is treated.
    ratio
        Observational rows for each experimental row.
    simulations
        Studies of the size found that are drawn, and their intervals looked at; none by default.
    random_state
        Seed of those studies.

    Returns
    -------
    Rows for the effect, from the experiment alone, and for both ends, from both tables; in the worst case, and as
    expected where something is known.
    """
    _validate(margin, level, subgroups, assignment, ratio)
    law = _law(prevalence, treated, chosen, pilot, query)
    asked = Estimand(find_quantity(quantity), level=_level(level, subgroups, simultaneous))
    if asked.quantity.has_payoffs or asked.quantity.scale == "time":
        raise QuantityError(f"the size of a study is not found for {quantity}; ask for a share, or for the effect.")
    design = _Design(margin, asked.level, assignment, ratio, subgroups)
    rows = [*_worst(design, asked, law is None), *([] if law is None else _expected(design, asked, law))]
    checks = [_simulate(design, one, law, simulations, random_state) for one in rows]
    arrays = np.array([[*design.counts(one), *check] for one, check in zip(rows, checks, strict=True)]).T
    numbers: dict[str, FloatArray] = dict(zip(StudySize.NUMBERS, arrays, strict=True))
    return StudySize(
        asked.quantity.name,
        tuple(one.case for one in rows),
        tuple(one.of for one in rows),
        margin=margin,
        level=level,
        **numbers,
        notes=_notes(design, simultaneous, law is None),
    )


@dataclass(frozen=True)
class _Design:
    """What is asked for, and how rows are spread over the groups of cells."""

    margin: float
    level: float
    assignment: float
    ratio: float
    subgroups: int

    def share(self, structure: Structure) -> FloatArray:
        """Rows of each group of cells for each experimental row, shape (groups,)."""
        of_group = {TREATED: self.assignment, CONTROL: 1 - self.assignment}
        return np.array([of_group.get(group.name, self.ratio) for group in structure.groups])

    def counts(self, found: _Size) -> tuple[float, float, float]:
        """Rows of the smaller arm, of the experiment and of the registry, of all subgroups together."""
        smaller = min(self.assignment, 1 - self.assignment)
        arm = self.subgroups * math.ceil(found.rows * smaller - _ROUNDING)
        both = math.ceil(found.rows - _ROUNDING)
        if found.of == EFFECT_ALONE:
            return float(arm), float(self.subgroups * math.ceil(arm / self.subgroups / smaller - _ROUNDING)), np.nan
        return (
            float(arm),
            float(self.subgroups * both),
            float(self.subgroups * math.ceil(both * self.ratio - _ROUNDING)),
        )


@dataclass(frozen=True)
class _Size:
    """Experimental rows of a subgroup, not rounded, at which an end is known well enough."""

    case: str
    of: str
    rows: float
    estimand: Estimand
    structure: Structure


def _targets(asked: Estimand) -> list[tuple[str, Estimand, Structure]]:
    effect = Estimand(EFFECT, level=asked.level)
    alone = (EFFECT_ALONE, effect, TWO_BY_TWO.only([EXPERIMENTAL]))
    if asked.quantity.name == EFFECT.name:
        return [alone]
    return [alone, (LOWER, asked, TWO_BY_TWO), (UPPER, asked, TWO_BY_TWO)]


def _worst(design: _Design, asked: Estimand, needed: bool) -> list[_Size]:
    """Rows that are enough whatever the law; of a conditional quantity there are none, as its event may be rare."""
    found = []
    for of, estimand, structure in _targets(asked):
        compiled = estimand.compiled(structure)
        if compiled.event is not None:
            if needed:
                raise QuantityError(
                    f"{estimand.quantity.name} conditions on an event, which may be as rare as you like in the worst "
                    "case; give guesses (--prevalence, --treated, --chosen) or a pilot (--pilot)."
                )
            continue
        terms = compiled.numerator.upper if of == UPPER else compiled.numerator.lower
        variance = _largest_variance(terms, structure, design.share(structure))
        found.append(_Size(WORST, of, variance * (two_sided(design.level) / design.margin) ** 2, estimand, structure))
    return found


def _largest_variance(terms: LinearTerms, structure: Structure, share: FloatArray) -> float:
    """Of one experimental row, of the term that can have most: the sum over groups of range^2 / 4 over their rows."""
    ranges = np.stack([np.ptp(terms.coefficients[:, columns], axis=1) for columns in structure.group_slices], axis=1)
    used = np.where(ranges > 0, ranges**2 / 4 / np.where(share > 0, share, np.nan), 0.0)
    return float(used.sum(axis=1).max())


def _expected(design: _Design, asked: Estimand, law: Law) -> list[_Size]:
    """Rows at which the intervals of the plug-in are as short at this law."""
    found = []
    for of, estimand, structure in _targets(asked):
        known = law if structure is TWO_BY_TWO else law.only(EXPERIMENTAL)
        width = partial(_half_width, design, estimand, known, of)
        rows = _smallest(width, design.margin)
        found.append(_Size(EXPECTED, of, rows, estimand, structure))
    return found


def _half_width(design: _Design, estimand: Estimand, law: Law, of: str, rows: float) -> float:
    intervals = end_intervals(estimand, law, rows * design.share(law.structure)[None, :])
    end = UPPER if of == UPPER else LOWER
    return float((getattr(intervals, f"{end}_high")[0] - getattr(intervals, f"{end}_low")[0]) / 2)


def _smallest(width: Callable[[float], float], margin: float) -> float:
    """The least number of rows at which the half-width is no more than the margin; it falls with the rows."""
    high = 2
    while width(float(high)) > margin:
        high *= 2
        if high > _MOST_ROWS:
            raise QueryError("no study that anybody could run has intervals as short; ask for a wider margin.")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if width(float(middle)) <= margin else (middle, high)
    return float(high)


def _simulate(
    design: _Design, found: _Size, law: Law | None, simulations: int, seed: int
) -> tuple[float, float, float]:
    """Median half-width, share within the margin and coverage, of studies of one subgroup at that size."""
    if not simulations:
        return np.nan, np.nan, np.nan
    whole = law if law is not None and found.case == EXPECTED else _balanced()
    known = whole if found.structure is TWO_BY_TWO else whole.only(EXPERIMENTAL)
    rows = np.maximum(1, np.round(math.ceil(found.rows - _ROUNDING) * design.share(known.structure))).astype(int)
    rng = np.random.default_rng(seed)
    counts = np.concatenate(
        [
            rng.multinomial(many, known.cells[0, columns] / known.cells[0, columns].sum(), simulations)
            for many, columns in zip(rows, known.structure.group_slices, strict=True)
        ],
        axis=1,
    ).astype(float)
    drawn = Law.from_counts(counts, known.structure)
    intervals = end_intervals(found.estimand, drawn, np.broadcast_to(rows.astype(float), (simulations, len(rows))))
    end = UPPER if found.of == UPPER else LOWER
    low, high = getattr(intervals, f"{end}_low"), getattr(intervals, f"{end}_high")
    truth = float(found.estimand.bounds_at(known)[1 if end == UPPER else 0][0])
    half = (high - low) / 2
    held = (low - _ROUNDING <= truth) & (truth <= high + _ROUNDING)
    return float(np.median(half)), float((half <= design.margin * 1.001).mean()), float(held.mean())


def _balanced() -> Law:
    """A law at which shares vary most."""
    half = np.array([0.5])
    return two_by_two_law(half, half, np.full((1, 4), 0.25))


def _law(
    prevalence: float | None, treated: float | None, chosen: float | None, pilot: Model | None, query: str
) -> Law | None:
    """What is known of the law, from a pilot or from guesses; None if nothing is."""
    guesses = {"prevalence": prevalence, "treated": treated, "chosen": chosen}
    for name, value in guesses.items():
        if value is not None and not 0 < value < 1:
            raise QueryError(f"{name} is {value:g}; give a share between 0 and 1{percent_hint(value)}")
    if pilot is not None:
        if any(value is not None for value in guesses.values()):
            raise QueryError("a pilot and guesses are both given; leave one of them out.")
        require_two_by_two(pilot.structure, "study sizes are found from pilots of", "guesses (--prevalence)")
        law = pilot.law(query)
        if law.structure.tables != TWO_BY_TWO.tables or np.isnan(law.cells).any():
            raise QueryError("the pilot does not know the law of both tables; fit one to both, or give guesses.")
        return Law(TWO_BY_TWO, law.cells)
    if query:
        raise QueryError(f"{query!r} asks about people of a pilot, but no pilot is given (--pilot, pilot=).")
    if prevalence is None:
        if treated is not None or chosen is not None:
            raise QueryError("guesses begin with how many respond untreated; give --prevalence (prevalence=) too.")
        return None
    a, b, x = treated if treated is not None else prevalence, prevalence, 0.5 if chosen is None else chosen
    joint = np.array([[x * a, x * (1 - a), (1 - x) * b, (1 - x) * (1 - b)]])
    return two_by_two_law(np.array([a]), np.array([b]), joint)


def _level(level: float, subgroups: int, simultaneous: bool) -> float:
    return 1 - (1 - level) / subgroups if simultaneous else level


def _validate(margin: float, level: float, subgroups: int, assignment: float, ratio: float) -> None:
    validate_level(level)
    if not _LEAST_MARGIN <= margin < 1:
        raise QueryError(
            f"the margin is {margin:g}; give a half-width from {_LEAST_MARGIN:g} to below 1{percent_hint(margin)}"
        )
    if subgroups < 1:
        raise QueryError(f"{subgroups} subgroups are asked for; give at least 1.")
    if not _LEAST_SHARE <= assignment <= 1 - _LEAST_SHARE:
        raise QueryError(
            f"the share assigned to treatment is {assignment:g}; give one between 0 and 1, with at least "
            f"{_LEAST_SHARE:g} in either arm."
        )
    if not _LEAST_SHARE <= ratio <= 1 / _LEAST_SHARE:
        raise QueryError(
            f"the ratio is {ratio:g}; give how many observational rows come with each experimental one, from "
            f"{_LEAST_SHARE:g} to {1 / _LEAST_SHARE:g}."
        )


def _notes(design: _Design, simultaneous: bool, worst_only: bool) -> tuple[Note, ...]:
    found = []
    if design.subgroups > 1:
        found.append(Note("size_of_subgroups", {"subgroups": design.subgroups, "simultaneous": simultaneous}))
    return (*found, Note("size_worst_only")) if worst_only else tuple(found)
