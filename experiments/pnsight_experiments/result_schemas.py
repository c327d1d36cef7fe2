"""What is measured: a sheet is one file of results, its columns, and the function that makes the rows of a fit."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TypeAlias

from pnsight_experiments.deciding import SHARES, fit_and_decide
from pnsight_experiments.fit import Row, fit_and_score
from pnsight_experiments.scores import SUPPORT_BANDS, THETAS
from pnsight_experiments.settings import BASELINE, CAUTIONS, CONVENTIONS, FLAGSHIP, Setting

Measure: TypeAlias = Callable[[Setting], list[Row]]

_SETTING = tuple(field.name for field in fields(Setting))
_SPACES = ("exact", "mask")
_LAST = ("seconds", "run", "note")


@dataclass(frozen=True)
class Sheet:
    """One file of results.

    Attributes
    ----------
    name : of the file
    columns : in order
    part : the column that tells the rows of one fit apart
    parts : what that column says in them, by learner; other learners have one row
    measure : from a setting to its rows
    """

    name: str
    columns: Sequence[str]
    part: str
    parts: Mapping[str, Sequence[str]]
    measure: Measure

    def goes_on(self, line: str) -> bool:
        """Whether a line is not the last of its fit, so that the rest is missing if nothing follows it."""
        row = dict(zip(self.columns, next(csv.reader([line]), []), strict=False))
        return row.get(self.part) in self.parts.get(row.get("learner", ""), ())[:-1]


FITS = Sheet(
    "fits.csv",
    (
        *_SETTING,
        "dropped",
        "chosen_threshold",
        "examples",
        "lower_epoch",
        "upper_epoch",
        *(f"{space}_{what}" for space in _SPACES for what in ("lower_mae", "upper_mae", "scored", "crossed")),
        *(f"{space}_{what}_{theta}" for space in _SPACES for theta in THETAS for what in ("agree", "wrong")),
        *(f"{space}_{what}" for space in _SPACES for what in ("lower_covered", "upper_covered", "width")),
        *(f"covered_from_{start}" for start in SUPPORT_BANDS),
        "held_out_queries",
        "held_out_lower_mae",
        "held_out_upper_mae",
        *_LAST,
    ),
    part="dropped",
    parts={BASELINE: CONVENTIONS},
    measure=fit_and_score,
)
"""Errors of the bounds, their intervals and their decisions."""

RIVAL_FITS = replace(FITS, name="rivals.csv")
"""The same of the rivals and ours, at another number of rows than the paper's."""

DECISIONS = Sheet(
    "decisions.csv",
    (
        *_SETTING,
        "caution",
        *(f"{space}_answered" for space in _SPACES),
        *(
            f"{space}_{what}_{theta}"
            for space in _SPACES
            for theta in THETAS
            for what in ("confident", "agree", "wrong", "unsure")
        ),
        *(f"{what}_{share}" for share in SHARES for what in ("oracle_gain", "promised", "delivered")),
        *(f"{what}_{end}" for what in ("groups", "profiles") for end in ("right", "true_lower", "oracle_lower")),
        "rank_listed",
        "rank_overstated",
        "rank_foretold",
        *_LAST,
    ),
    part="caution",
    parts={FLAGSHIP: CAUTIONS},
    measure=fit_and_decide,
)
"""What it is worth to decide, to spend a budget and to rank by a model."""
