"""A study: what the two tables say, counted once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from pnsight import _markup as markup
from pnsight._text import count_text, number_of
from pnsight._typing import FloatArray
from pnsight.data.schema import Codes, Schema
from pnsight.errors import ModelError, join_names

People: TypeAlias = Literal["observational", "experimental", "pooled"]
"""Whose people are meant: those of a table, or of both together. An experiment alone is its own population."""

MAX_ROWS = 2**53
"""Up to here every whole number has a float of its own, so that counts are exact."""


def validate_population(population: str) -> None:
    """A population that is none of `People` is the user's mistake."""
    if population not in get_args(People):
        raise ModelError(f"population is {population!r}; expected {join_names(get_args(People))}.")


def cell_counts(
    place: npt.NDArray[np.intp],
    profiles: int,
    x: npt.NDArray[np.integer[Any]],
    y: npt.NDArray[np.integer[Any]],
    rows: FloatArray | None = None,
) -> FloatArray:
    """Counts of each profile in the order of `law.COUNT_CELLS`, shape (profiles, 4).

    `place` says which profile each entry has, `x` and `y` its treatment and outcome, `rows` how many rows it stands
    for (one each if None).
    """
    cell = 4 * place + 2 * (1 - x) + (1 - y)
    counts = np.bincount(cell, weights=rows, minlength=4 * profiles)
    return np.asarray(counts, dtype=np.float64).reshape(profiles, 4)


@dataclass(frozen=True)
class Withheld:
    """What was taken out of a study because a count was small; see `pnsight.models.suppression`.

    Attributes
    ----------
    min_cell : counts from 1 to below this are not in the study
    rows, profiles : taken out of the experimental and of the observational table; rows are 0 or at least `min_cell`
    """

    min_cell: int
    rows: tuple[float, float] = (0.0, 0.0)
    profiles: tuple[int, int] = (0, 0)

    @property
    def note(self) -> str:
        """What was withheld, in words."""
        tables = zip(("experimental", "observational"), self.rows, self.profiles, strict=True)
        found = [f"{self._told(rows)} {table} rows of {number_of(n, 'profile')}" for table, rows, n in tables if n]
        return f"counts below {self.min_cell} are withheld: {' and '.join(found) or 'there were none'}"

    def _told(self, rows: float) -> str:
        return f"{'at most ' if rows <= self.min_cell else ''}{count_text(rows)}"


@dataclass(frozen=True)
class Study:
    """Distinct covariate profiles with their counts in both tables.

    Attributes
    ----------
    schema : Schema
    profiles : shape (profiles, covariates)
        Codes of the distinct profiles that have rows in either table.
    experimental : shape (profiles, 4)
        Rows of the experimental table in the order of `law.COUNT_CELLS`; zeros when there is none.
    observational : shape (profiles, 4), or None
        The same for the observational table; None when there is none.
    treatment, outcome : str
        Columns with the treatment and the outcome.
    dropped : dict
        Rows left out while counting, by reason.
    ignored : tuple
        Columns that only one of the tables has, and so were not used.
    notes : tuple
        What else a reader of the tables should know.
    treated, success : str
        Levels of the treatment and the outcome that mean true.
    withheld : Withheld, or None
        What was taken out because counts were small; None if nobody asked for that.

    Counts are whole numbers, unless rows had weights that are not.
    """

    schema: Schema
    profiles: Codes
    experimental: FloatArray
    observational: FloatArray | None
    treatment: str = "x"
    outcome: str = "y"
    dropped: dict[str, float] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    treated: str = "1"
    success: str = "1"
    withheld: Withheld | None = None

    def __post_init__(self) -> None:
        """Keep the profiles column by column: queries look at one covariate after another."""
        object.__setattr__(self, "profiles", np.asfortranarray(self.profiles))

    @cached_property
    def counts(self) -> FloatArray:
        """Both tables' counts side by side, shape (profiles, 8), or (profiles, 4) for an experiment alone."""
        if self.observational is None:
            return self.experimental
        return np.concatenate([self.experimental, self.observational], axis=1)

    @property
    def eight_counts(self) -> FloatArray:
        """The same with empty cells where there is no observational table, shape (profiles, 8)."""
        return np.asarray(np.pad(self.counts, ((0, 0), (0, 4))) if self.observational is None else self.counts)

    @cached_property
    def cell_rows(self) -> FloatArray:
        """Rows in each cell of `counts`, of all profiles together, shape (1, 8) or (1, 4)."""
        return np.asarray(self.counts.sum(axis=0, keepdims=True))

    @cached_property
    def table_rows(self) -> tuple[float, float]:
        """Rows of the experimental and of the observational table, those withheld included."""
        more = (0.0, 0.0) if self.withheld is None else self.withheld.rows
        return float(self.cell_rows[:, :4].sum()) + more[0], float(self.cell_rows[:, 4:].sum()) + more[1]

    def people(self, population: People = "observational") -> FloatArray:
        """Rows of the population in each profile, shape (profiles,)."""
        validate_population(population)
        trial = self.experimental.sum(axis=1)
        if self.observational is None or population == "experimental":
            return np.asarray(trial)
        return np.asarray(self.observational.sum(axis=1) + (trial if population == "pooled" else 0.0))

    def with_counts(self, counts: FloatArray) -> Study:
        """The same study with other counts in the layout of `counts`."""
        observational = None if self.observational is None else counts[:, 4:]
        return replace(self, experimental=counts[:, :4], observational=observational)

    def with_rows(self) -> Study:
        """The same study without profiles that have no row."""
        some = self.counts.any(axis=1)
        observational = None if self.observational is None else self.observational[some]
        return replace(
            self, profiles=self.profiles[some], experimental=self.experimental[some], observational=observational
        )

    def __repr__(self) -> str:
        observational = 0.0 if self.observational is None else float(self.observational.sum())
        return (
            f"Study(experimental rows: {count_text(self.experimental.sum())}, "
            f"observational rows: {count_text(observational)}, "
            f"covariates: {len(self.schema.names)}, distinct profiles: {len(self.profiles):,}, "
            f"treatment: {self.treatment!r}, outcome: {self.outcome!r})"
        )

    def _repr_html_(self) -> str:
        return markup.facts("Study", self.facts())

    def facts(self) -> dict[str, str]:
        """What the study is, by name, in words."""
        observational = "none" if self.observational is None else count_text(self.observational.sum())
        covariates = [f"{one.name} ({len(one.levels)})" for one in self.schema.covariates]
        left_out = [f"{count_text(rows)} {reason}" for reason, rows in self.dropped.items()]
        found = {
            "experimental rows": count_text(self.experimental.sum()),
            "observational rows": observational,
            "treatment": f"{self.treatment}; treated means {self.treated}",
            "outcome": f"{self.outcome}; to respond means {self.success}",
            "covariates (levels)": join_names(covariates) or "none",
            "distinct profiles": f"{len(self.profiles):,}",
            "left out": "; ".join(left_out),
            "notes": "; ".join([*self.notes, *([self.withheld.note] if self.withheld else [])]),
        }
        return {name: text for name, text in found.items() if text}
