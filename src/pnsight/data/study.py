"""A study: what the two tables say, counted once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from pnsight import _markup as markup
from pnsight._text import count_text
from pnsight._typing import FloatArray
from pnsight.data.attrition import TableAttrition
from pnsight.data.sampling import SamplingDesign
from pnsight.data.schema import Codes, Schema
from pnsight.data.structure import EXPERIMENTAL, OBSERVATIONAL, Structure
from pnsight.data.two_by_two import TWO_BY_TWO
from pnsight.errors import ModelError, join_names
from pnsight.notes import Note

Population: TypeAlias = Literal["observational", "experimental", "pooled"]
"""Whose people are meant: those of a table, or of both together. An experiment alone is its own population."""

POOLED = "pooled"

MAX_ROWS = 2**53
"""Up to here every whole number has a float of its own, so that counts are exact."""


def validate_population(population: str) -> None:
    """A population that is none of `Population` is the user's mistake."""
    if population not in get_args(Population):
        raise ModelError(f"population is {population!r}; expected {join_names(get_args(Population))}.")


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
    def note(self) -> Note:
        """What was withheld."""
        tables = zip(("experimental", "observational"), self.rows, self.profiles, strict=True)
        found = [{"table": table, "rows": rows, "profiles": n} for table, rows, n in tables if n]
        return Note("counts_withheld", {"min_cell": self.min_cell, "tables": found})


@dataclass(frozen=True)
class Study:
    """Distinct covariate profiles with their counts in both tables.

    Attributes
    ----------
    schema : Schema
    profiles : shape (profiles, covariates)
        Codes of the distinct profiles that have rows in either table.
    counts : shape (profiles, cells)
        Rows of each profile in the structure's cells.
    structure : Structure
        Which tables there are, and their cells.
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
    design : SamplingDesign, or None
        What the counts are worth where rows weigh unequally or come in clusters; None where every row counts once.
    attrition : tuple, or None
        For each table, rows that have a treatment and those of them without an outcome; None where that is not known.

    Counts are whole numbers, unless rows had weights that are not.
    """

    schema: Schema
    profiles: Codes
    counts: FloatArray
    structure: Structure = TWO_BY_TWO
    treatment: str = "x"
    outcome: str = "y"
    dropped: dict[Note, float] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    treated: str = "1"
    success: str = "1"
    withheld: Withheld | None = None
    design: SamplingDesign | None = None
    attrition: tuple[TableAttrition, ...] | None = None

    def __post_init__(self) -> None:
        """Keep the profiles column by column: queries look at one covariate after another."""
        object.__setattr__(self, "profiles", np.asfortranarray(self.profiles))

    @classmethod
    def from_tables(
        cls,
        schema: Schema,
        profiles: Codes,
        experimental: FloatArray | None,
        observational: FloatArray | None = None,
        structure: Structure = TWO_BY_TWO,
        **more: Any,
    ) -> Study:
        """A study from the counts of each table.

        Parameters
        ----------
        schema, profiles
            Covariates, and the codes of the distinct profiles, shape (profiles, covariates).
        experimental, observational : shape (profiles, cells of the table), or None
            Counts in the order of the structure's cells; None where there is no such table.
        structure
            The cells of both tables.
        more
            Other attributes of a study.

        Returns
        -------
        The study, with the structure of the tables that it has.
        """
        given = {EXPERIMENTAL: experimental, OBSERVATIONAL: observational}
        counts = {name: table for name, table in given.items() if table is not None}
        kept = structure.only(counts)
        return cls(schema, profiles, np.concatenate([counts[name] for name in kept.tables], axis=1), kept, **more)

    def table(self, name: str) -> FloatArray | None:
        """Counts of a table, shape (profiles, its cells); None where there is no such table."""
        return self.counts[:, self.structure.columns_of(name)] if name in self.structure.tables else None

    @property
    def experimental(self) -> FloatArray:
        """Counts of the experimental table, shape (profiles, its cells); without columns where there is none."""
        return self.counts[:, self.structure.columns_of(EXPERIMENTAL)]

    @property
    def observational(self) -> FloatArray | None:
        """Counts of the observational table, shape (profiles, its cells); None where there is none."""
        return self.table(OBSERVATIONAL)

    @property
    def experiment_alone(self) -> bool:
        """Whether there is no observational table."""
        return OBSERVATIONAL not in self.structure.tables

    @cached_property
    def cell_rows(self) -> FloatArray:
        """Rows in each cell, of all profiles together, shape (1, cells)."""
        return np.asarray(self.counts.sum(axis=0, keepdims=True))

    @cached_property
    def table_rows(self) -> tuple[float, float]:
        """Rows of the experimental and of the observational table, those withheld included."""
        more = (0.0, 0.0) if self.withheld is None else self.withheld.rows
        experimental, observational = (
            float(self.cell_rows[:, self.structure.columns_of(name)].sum()) for name in (EXPERIMENTAL, OBSERVATIONAL)
        )
        return experimental + more[0], observational + more[1]

    def profile_counts(self, population: Population = "observational") -> FloatArray:
        """Rows of the population in each profile, shape (profiles,)."""
        validate_population(population)
        trial = self.experimental.sum(axis=1)
        if self.observational is None or population == EXPERIMENTAL:
            return np.asarray(trial)
        return np.asarray(self.observational.sum(axis=1) + (trial if population == POOLED else 0.0))

    @cached_property
    def effective_counts(self) -> FloatArray:
        """Independent rows that the counts are worth, shape (profiles, cells); the counts where rows count once each.

        Unequal weights and clusters make rows worth less: whoever asks how certain something is asks these.
        """
        return self.counts if self.design is None else self.counts * self.design.cell_worth(self.structure)

    def comparison_worth(self, of: Literal["arms", "tables"]) -> tuple[float, ...]:
        """What a counted row is worth when the covariates of two sides are compared.

        Parameters
        ----------
        of
            The arms of the experiment, or the two tables.

        Returns
        -------
        For each covariate, and last for whole profiles; one each where rows count once.
        """
        plain = (1.0,) * (len(self.schema.names) + 1)
        if self.design is None:
            return plain
        return (self.design.arm_worth if of == "arms" else self.design.mix_worth) or plain

    def with_counts(self, counts: FloatArray) -> Study:
        """The same study with other counts, shape (profiles, cells)."""
        return replace(self, counts=counts, design=None if self.design is None else self.design.without_folds())

    def with_tables(self, **tables: FloatArray | None) -> Study:
        """The same study with other counts of some tables, by name; None leaves a table out."""
        counts = {**{name: self.table(name) for name in self.structure.tables}, **tables}
        kept = {name: table for name, table in counts.items() if table is not None}
        structure = self.structure.only(kept)
        design = None if self.design is None else self.design.of_tables(self.structure, structure)
        if design is not None and any(table is not None for table in tables.values()):
            design = design.without_folds()
        counted = np.concatenate([kept[name] for name in structure.tables], 1)
        return replace(self, counts=counted, structure=structure, design=design)

    def drop_empty_profiles(self) -> Study:
        """The same study without profiles that have no row."""
        some = np.asarray(self.counts.any(axis=1))
        design = None if self.design is None else self.design.of_profiles(some)
        return replace(self, profiles=self.profiles[some], counts=self.counts[some], design=design)

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
            "notes": "; ".join(map(str, [*self.notes, *([self.withheld.note] if self.withheld else [])])),
        }
        return {name: text for name, text in found.items() if text}
