"""A study: what the two tables say, counted once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from pnsight import _markup as markup
from pnsight._text import count_text
from pnsight._typing import FloatArray
from pnsight.data.attrition import TableAttrition
from pnsight.data.coarsened import PRIOR_ROWS, coarsened_shares, effective_counts
from pnsight.data.labels import NO_LABELS, Labels
from pnsight.data.profiles import ProfileLookup, distinct_profiles
from pnsight.data.sampled_rows import SampledRows, sum_by
from pnsight.data.sampling import SamplingDesign
from pnsight.data.schema import Codes, Schema
from pnsight.data.sources import TableSource
from pnsight.data.structure import EXPERIMENTAL, OBSERVATIONAL, Structure
from pnsight.data.two_by_two import TWO_BY_TWO
from pnsight.errors import ModelError, join_names
from pnsight.notes import INFO, WARNING, Note

Population: TypeAlias = Literal["observational", "experimental", "pooled"]
"""Whose people are meant: those of a table, or of both together. An experiment alone is its own population."""

POOLED = "pooled"

MAX_ROWS = 2**53
"""Up to here every whole number has a float of its own, so that counts are exact."""


def validate_population(population: str) -> None:
    """A population that is none of `Population` is the user's mistake."""
    if population not in get_args(Population):
        raise ModelError(f"population is {population!r}; expected {join_names(get_args(Population))}.")


MANY_WITHHELD = 0.1
"""Readers are warned where more than this share of a table is withheld."""


@dataclass(frozen=True)
class Withheld:
    """What was taken out of a study because a count was small; see `pnsight.data.suppression`.

    Attributes
    ----------
    min_cell : counts of people from 1 to below this are not in the study
    rows : people taken out of the experimental and of the observational table, as a multiple of `min_cell`
    left : people who are left in either
    """

    min_cell: int
    rows: tuple[float, float] = (0.0, 0.0)
    left: tuple[float, float] = (0.0, 0.0)

    @property
    def share(self) -> float:
        """About which share of a table is withheld, of that which lost more."""
        return max(rows / (rows + left) if rows else 0.0 for rows, left in zip(self.rows, self.left, strict=True))

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was withheld and, where anything was, whom answers are about."""
        tables = zip((EXPERIMENTAL, OBSERVATIONAL), self.rows, self.left, strict=True)
        found = [{"table": table, "rows": rows, "of": rows + left} for table, rows, left in tables if rows]
        about = Note("counts_withheld", {"min_cell": self.min_cell, "tables": found})
        if not found:
            return (about,)
        severity = WARNING if self.share > MANY_WITHHELD else INFO
        return about, Note("people_with_counts_only", {"share": round(self.share, 2)}, severity)


@dataclass(frozen=True)
class SiteTable:
    """One table of one site, where a study was added up from several.

    Attributes
    ----------
    site, table : what the site is called, and the table's role
    counts : shape (profiles, cells + sets)
        Its part of the study's counts.
    min_cell : counts of its people from 1 to below this are withheld; None if all are there
    """

    site: str
    table: str
    counts: FloatArray
    min_cell: int | None = None


@dataclass(frozen=True)
class Study:
    """Distinct covariate profiles with their counts in both tables.

    Attributes
    ----------
    schema : Schema
    profiles : shape (profiles, covariates)
        Codes of the distinct profiles that have rows in either table.
    counts : shape (profiles, cells + sets)
        Rows of each profile in the structure's cells, then those that show one of its observation sets only.
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
    sampled : mapping, or None
        By table, its rows with their weights and clusters, where counts are not numbers of people or rows were sampled
        by a design; None where counts say all, and where what they do not say is not to be known.
    sites : tuple
        The parts of several sites that were added up; empty where the tables were read. Models do not store them.
    labels : Labels
        What columns and values are called for people to read.
    sources : tuple
        The files that the tables were read from, where they were files; nothing of them is published.

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
    sampled: Mapping[str, SampledRows] | None = field(default=None, compare=False, repr=False)
    sites: tuple[SiteTable, ...] = field(default=(), compare=False, repr=False)
    labels: Labels = NO_LABELS
    sources: tuple[TableSource, ...] = field(default=(), compare=False, repr=False)

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
        experimental, observational : shape (profiles, cells of the table, and its sets), or None
            Counts in the order of the structure's cells and then sets; None where there is no such table.
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
        return cls(schema, profiles, _in_columns(counts, kept), kept, **more)

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
        """Rows in each cell and set, of all profiles together, shape (1, cells + sets)."""
        return np.asarray(self.counts.sum(axis=0, keepdims=True))

    @property
    def partly_observed(self) -> bool:
        """Whether there are rows that show less than a cell."""
        return bool(self.cell_rows[:, self.structure.n_cells :].any())

    def rows_of(self, table: str) -> FloatArray:
        """Rows of a table in each profile, shape (profiles,), whatever they show."""
        return np.asarray(self.counts[:, self.structure.all_columns_of(table)].sum(axis=1))

    @cached_property
    def table_rows(self) -> tuple[float, float]:
        """Rows of the experimental and of the observational table."""
        experimental, observational = (
            float(self.cell_rows[:, self.structure.all_columns_of(name)].sum())
            for name in (EXPERIMENTAL, OBSERVATIONAL)
        )
        return experimental, observational

    @property
    def people(self) -> FloatArray:
        """How many people are in each cell, whatever they weigh, shape (profiles, cells)."""
        if self.sampled is None:
            return self.counts
        found = np.zeros_like(self.counts)
        for table, rows in self.sampled.items():
            columns = self.structure.all_columns_of(table)
            found[:, columns] = rows.summed(rows.people, len(self.profiles), len(columns))
        return found

    def profile_counts(self, population: Population = "observational") -> FloatArray:
        """Rows of the population in each profile, shape (profiles,)."""
        validate_population(population)
        trial = self.rows_of(EXPERIMENTAL)
        if self.observational is None or population == EXPERIMENTAL:
            return trial
        return np.asarray(self.rows_of(OBSERVATIONAL) + (trial if population == POOLED else 0.0))

    @cached_property
    def effective_counts(self) -> FloatArray:
        """Independent rows that the counts are worth, in their shape; the counts where rows count once each.

        Unequal weights and clusters make rows worth less: whoever asks how certain something is asks these.
        """
        return self.counts if self.design is None else self.counts * self.design.cell_worth(self.structure)

    @cached_property
    def cell_evidence(self) -> FloatArray:
        """Effective rows of each cell, shape (profiles, cells), for tests of shares.

        Rows that show less than a cell are shared out as the profile's others are, and count as what they are worth.
        Shared out as everyone's are, they would draw the two tables of a profile to different people's law.
        """
        if not self.partly_observed:
            return self.effective_counts[:, : self.structure.n_cells]
        everyone = np.nan_to_num(coarsened_shares(self.cell_rows, self.structure))
        smoothed = self.effective_counts.copy()
        smoothed[:, : self.structure.n_cells] += PRIOR_ROWS * everyone
        own = coarsened_shares(smoothed, self.structure)
        law = np.where(np.isnan(own), everyone, own)
        return np.maximum(effective_counts(self.effective_counts, law, self.structure), 0.0)

    @property
    def arm_rows(self) -> FloatArray:
        """Rows of each arm of the experiment, as assigned, shape (profiles, arms), in the order of its groups."""
        return self.structure.by_group(self.counts)[:, self.structure.groups_of(EXPERIMENTAL)]

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
        """The same study with other counts, shape (profiles, cells + sets)."""
        design = None if self.design is None else self.design.without_folds()
        return replace(self, counts=counts, design=design, sampled=None, sites=())

    def with_tables(self, **tables: FloatArray | None) -> Study:
        """The same study with other counts of some tables, by name; None leaves a table out."""
        own = {name: self.counts[:, self.structure.all_columns_of(name)] for name in self.structure.tables}
        counts: dict[str, FloatArray | None] = {**own, **tables}
        kept = {name: table for name, table in counts.items() if table is not None}
        structure = self.structure.only(kept)
        design = None if self.design is None else self.design.of_tables(self.structure, structure)
        sampled = self.sampled and {name: rows for name, rows in self.sampled.items() if name in kept}
        if any(table is not None for table in tables.values()):
            design, sampled = None if design is None else design.without_folds(), None
        counted = _in_columns(kept, structure)
        return replace(self, counts=counted, structure=structure, design=design, sampled=sampled, sites=())

    @cached_property
    def lookup(self) -> ProfileLookup:
        """Finds profiles among those of the study."""
        return ProfileLookup(self.schema, self.profiles)

    @cached_property
    def grouped(self) -> Study:
        """The same rows with numbers in groups, for what counts rows by level; the study itself without numbers."""
        if not self.schema.numeric:
            return self
        schema = self.schema.grouped
        profiles, place = distinct_profiles(schema, self.schema.positions(self.profiles))
        counts = np.stack([sum_by(place, column, len(profiles)) for column in self.counts.T], axis=1)
        design = None if self.design is None else self.design.without_folds()
        sampled = self.sampled and {name: rows.with_profiles(place) for name, rows in self.sampled.items()}
        return replace(self, schema=schema, profiles=profiles, counts=counts, design=design, sampled=sampled)

    def drop_empty_profiles(self) -> Study:
        """The same study without profiles that have no row."""
        some = np.asarray(self.counts.any(axis=1))
        if some.all():
            return self
        design = None if self.design is None else self.design.of_profiles(some)
        place = np.cumsum(some) - 1
        sampled = self.sampled and {name: rows.with_profiles(place) for name, rows in self.sampled.items()}
        profiles, counts = self.profiles[some], self.counts[some]
        return replace(self, profiles=profiles, counts=counts, design=design, sampled=sampled, sites=())

    def with_labels(self, labels: Labels) -> Study:
        """The same study with words for its columns and values; those that it has not are left out."""
        described = self.structure.description
        known = {covariate.name: covariate.levels for covariate in self.schema.covariates}
        shown = {self.treatment: (self.treated, *described.arms), self.outcome: (self.success, *described.outcomes)}
        return replace(self, labels=labels.of({**known, **shown}))

    def __repr__(self) -> str:
        experimental, observational = (self.rows_of(table).sum() for table in (EXPERIMENTAL, OBSERVATIONAL))
        return (
            f"Study(experimental rows: {count_text(experimental)}, "
            f"observational rows: {count_text(observational)}, "
            f"covariates: {len(self.schema.names)}, distinct profiles: {len(self.profiles):,}, "
            f"treatment: {self.treatment!r}, outcome: {self.outcome!r})"
        )

    def _repr_html_(self) -> str:
        return markup.facts("Study", self.facts())

    def facts(self) -> dict[str, str]:
        """What the study is, by name, in words."""
        experimental, observational = (count_text(self.rows_of(table).sum()) for table in (EXPERIMENTAL, OBSERVATIONAL))
        described = self.structure.description
        covariates = [
            f"{one.name} ({len(one.levels) if one.number is None else 'number'})" for one in self.schema.covariates
        ]
        left_out = [f"{count_text(rows)} {reason}" for reason, rows in self.dropped.items()]
        found = {
            "experimental rows": experimental,
            "observational rows": "none" if self.observational is None else observational,
            **(
                {
                    "treatment": f"{self.treatment}; treated means {self.treated}",
                    "outcome": f"{self.outcome}; to respond means {self.success}",
                }
                if self.structure.is_two_by_two
                else {
                    "treatment": f"{self.treatment}: {join_names(described.arms)}",
                    "outcome": f"{self.outcome}: {join_names(described.outcomes)}",
                }
            ),
            "covariates (levels)": join_names(covariates) or "none",
            "distinct profiles": f"{len(self.profiles):,}",
            "left out": "; ".join(left_out),
            "notes": "; ".join(map(str, [*self.notes, *(self.withheld.notes if self.withheld else ())])),
        }
        return {name: text for name, text in found.items() if text}


def _in_columns(tables: Mapping[str, FloatArray], structure: Structure) -> FloatArray:
    """Counts of each table, its cells and then its sets, in the columns of a study, shape (profiles, cells + sets)."""
    found = np.zeros((len(next(iter(tables.values()))), structure.n_columns))
    for name, counts in tables.items():
        found[:, structure.all_columns_of(name)[: counts.shape[1]]] = counts
    return found
