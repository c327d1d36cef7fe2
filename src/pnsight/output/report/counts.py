"""Rows of a study by arm: by outcome, by each level of each covariate (Table 1), and events in groups.

Everything here is added up from the counts of the study that a report is on, which are protected where small ones are
withheld.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from pnsight._text import count_text
from pnsight._typing import BoolArray, FloatArray
from pnsight.data.noncompliance import KIND as NONCOMPLIANCE
from pnsight.data.number_codes import low_ends, of_numbers
from pnsight.data.schema import Codes
from pnsight.data.structure import EXPERIMENTAL, OBSERVATIONAL, Structure
from pnsight.data.structures import outcome_codes, places
from pnsight.data.study import Study
from pnsight.estimands.contrast import resolve_contrast
from pnsight.estimands.estimand import Estimand
from pnsight.notes import Note
from pnsight.output.naming import arm_names, value_name
from pnsight.output.report.data import (
    ArmColumn,
    Counts,
    CovariateRows,
    Events,
    LevelRows,
    Quartiles,
    TableOne,
)
from pnsight.queries import lattice

TABLES = {EXPERIMENTAL: "The experiment", OBSERVATIONAL: "The observational table"}
"""What the tables are called."""

MOST_COVARIATES, MOST_LEVELS = 60, 24
"""Covariates in Table 1, the first of them, and levels of each, those that most rows have."""


def rows_by_arm(study: Study, codes: Codes, table: str) -> FloatArray:
    """Rows of a table in some groups.

    Parameters
    ----------
    study
        The counts.
    codes : shape (groups, covariates)
        Which groups.
    table
        One that the study has.

    Returns
    -------
    Shape (groups, arms, what a row shows): by the arm, and by the outcome or what is known of it; of an experiment with
    noncompliance by the arm assigned, and then by arm taken and outcome.
    """
    where = places(study.structure, table)
    where = where.reshape(len(where), -1)
    counts = study.counts[:, study.structure.all_columns_of(table)]
    found = lattice.sum_over(study.schema, codes, study.profiles, counts)
    return np.asarray(np.where(where >= 0, found[:, np.maximum(where, 0)], 0.0))


# --- arms and outcomes ------------------------------------------------------------------------------------


def arms_and_outcomes(study: Study) -> tuple[Counts, ...]:
    """Rows by arm and outcome, of each table that has any."""
    return tuple(_counted(study, table) for table in TABLES if table in study.structure.tables)


def _counted(study: Study, table: str) -> Counts:
    described = study.structure.description
    found = rows_by_arm(study, _everyone(study), table)[0]
    assigned = described.kind == NONCOMPLIANCE and table == EXPERIMENTAL
    arms = [_arm(study, arm) for arm in described.arms]
    names: list[tuple[str, ...]] = [(arm,) for arm in arms]
    if assigned:
        names = [(one, other) for one in arms for other in arms]
        found = found.reshape(len(names), -1)
    heads, cells = _columns(study, found)
    column = study.labels.column(study.treatment)
    shown = [(*name, *map(count_text, row)) for name, row in zip(names, cells, strict=True) if sum(row) > 0]
    return Counts(
        f"{TABLES[table]}: rows by {'arm assigned, ' if assigned else ''}arm and outcome",
        ("Assigned", f"Took ({column})") if assigned else (column,),
        heads,
        tuple(shown),
    )


def _everyone(study: Study) -> Codes:
    return lattice.queries_fixing_at_most(study.schema, 0)


def _arm(study: Study, arm: str) -> str:
    return study.labels.value(study.treatment, arm)


def _columns(study: Study, found: FloatArray) -> tuple[tuple[str, ...], list[Sequence[float]]]:
    """Heads and numbers: outcomes one by one, then all that is known less of; of times, events and the censored."""
    described = study.structure.description
    known = len(described.outcomes)
    heads = [study.labels.value(study.outcome, outcome) for outcome in described.outcomes]
    if described.horizons:
        ends = [f"{each:g}" for each in (0, *described.horizons)]
        heads = [f"event {begin} to {end}" for begin, end in pairwise(ends)] + [f"no event by {ends[-1]}"]
    cells = found[:, :known]
    if len(outcome_codes(described)) > known:
        heads.append("censored before" if described.horizons else "not known")
        everyone = found.sum(axis=1)
        if described.horizons:  # who was censored within an interval counts in part as followed through it
            cells, everyone = np.round(cells), np.round(everyone)
        cells = np.column_stack([cells, everyone - cells.sum(axis=1)])
    return (*heads, "all"), [[*row, float(sum(row))] for row in cells.tolist()]


# --- Table 1 ----------------------------------------------------------------------------------------------


def table_one(study: Study) -> TableOne:
    """Rows of each arm of each table at each level, and quartiles of numbers."""
    grouped = study.grouped
    tables = [table for table in TABLES if table in study.structure.tables]
    everyone = np.concatenate([_by_arm(grouped, _everyone(grouped), table)[0] for table in tables])
    kept = everyone > 0
    arms = [(TABLES[table], _arm(study, arm)) for table in tables for arm in study.structure.description.arms]
    columns = [ArmColumn(*name, float(rows)) for name, rows in zip(arms, everyone, strict=True)]
    names = study.schema.names[:MOST_COVARIATES]
    more = len(study.schema.names) - len(names)
    return TableOne(
        tuple(column for column, has in zip(columns, kept, strict=True) if has),
        tuple(_covariate(study, j, tables, kept) for j in range(len(names))),
        (str(Note("covariates_not_shown", {"covariates": more})),) if more else (),
    )


def _by_arm(study: Study, codes: Codes, table: str) -> FloatArray:
    """Rows, shape (groups, arms)."""
    return np.asarray(rows_by_arm(study, codes, table).sum(axis=2))


def _covariate(study: Study, place: int, tables: Sequence[str], kept: BoolArray) -> CovariateRows:
    grouped, labels = study.grouped, study.labels
    covariate = grouped.schema.covariates[place]
    codes = np.repeat(_everyone(grouped), len(covariate.levels), axis=0)
    codes[:, place] = np.arange(len(covariate.levels))
    rows = np.concatenate([_by_arm(grouped, codes, table) for table in tables], axis=1)[:, kept]
    shown = np.sort(np.argsort(-rows.sum(axis=1), kind="stable")[:MOST_LEVELS])
    found = [LevelRows(labels.value(covariate.name, covariate.levels[k]), tuple(rows[k].tolist())) for k in shown]
    rest = len(rows) - len(shown)
    if rest:
        others = rows.sum(axis=0) - rows[shown].sum(axis=0)
        found.append(LevelRows(f"{rest:,} other levels", tuple(others.tolist())))
    return CovariateRows(labels.column(covariate.name), tuple(found), tuple(_quartiles(study, place, tables, kept)))


def _quartiles(study: Study, place: int, tables: Sequence[str], kept: BoolArray) -> list[Quartiles]:
    """Of a covariate of numbers, in each arm of each table; none of other covariates."""
    if study.schema.covariates[place].number is None:
        return []
    codes = study.profiles[:, place]
    known = np.flatnonzero(of_numbers(codes))
    numbers = low_ends(codes[known]).astype(np.float64)
    order = np.argsort(numbers, kind="stable")
    found = []
    for table in tables:
        where = places(study.structure, table)
        counts = study.counts[:, study.structure.all_columns_of(table)]
        for cells in where.reshape(len(where), -1):
            rows = counts[np.ix_(known, cells[cells >= 0])].sum(axis=1)[order]
            found.append(_weighted_quartiles(numbers[order], rows))
    return [quartiles for quartiles, has in zip(found, kept, strict=True) if has]


def _weighted_quartiles(numbers: FloatArray, rows: FloatArray) -> Quartiles:
    """The numbers, in order, that a quarter, a half and three quarters of the rows do not exceed."""
    reached = np.cumsum(rows)
    if not len(reached) or reached[-1] <= 0:
        return Quartiles(None, None, None)
    at = np.searchsorted(reached, np.array([0.25, 0.5, 0.75]) * reached[-1])
    return Quartiles(*map(float, numbers[np.minimum(at, len(numbers) - 1)]))


# --- events -----------------------------------------------------------------------------------------------


def events_counted(study: Study, estimand: Estimand) -> Events | None:
    """What counts as an event in the arms that are compared; None where there is no experiment."""
    described = study.structure.description
    if EXPERIMENTAL not in study.structure.tables:
        return None
    if described.horizons:
        horizon = described.horizons[-1] if estimand.horizon is None else estimand.horizon
        return Events(f"event by {horizon:g}", arm_names(study, estimand))
    best = study.labels.value(study.outcome, described.outcomes[-1])
    return Events(value_name(study.labels.column(study.outcome), best), arm_names(study, estimand))


def count_events(study: Study, estimand: Estimand, codes: Codes) -> FloatArray:
    """Events in groups of the experiment, in the two arms that are compared.

    Parameters
    ----------
    study
        The counts.
    estimand
        Which arms, and until when.
    codes : shape (groups, covariates)
        Which groups.

    Returns
    -------
    Shape (groups, 2 arms, 2): events, and the rows that they are of; rows whose outcome is not known are left out, but
    those that were followed for a shorter time are not.
    """
    arms = list(study.structure.description.arms)
    compared = [arms.index(arm) for arm in resolve_contrast(study.structure, estimand.contrast)]
    found = rows_by_arm(study, codes, EXPERIMENTAL)[:, compared]
    known = len(outcome_codes(study.structure.description))
    taken = found.shape[2] // known
    found = found.reshape(*found.shape[:2], taken, known).sum(axis=2)  # whatever arm was taken
    events, counted = _which_outcomes(study.structure, estimand.horizon, known)
    return np.stack([np.round(found[..., events].sum(axis=-1), 6), np.round(found[..., counted].sum(axis=-1), 6)], -1)


def _which_outcomes(structure: Structure, horizon: float | None, known: int) -> tuple[BoolArray, BoolArray]:
    """Which of what rows show are events, and which are counted at all, shape (what a row shows,)."""
    described, outcome = structure.description, np.arange(known)
    if not described.horizons:
        return outcome == len(described.outcomes) - 1, outcome < len(described.outcomes)
    until = described.horizons[-1] if horizon is None else horizon
    ends = np.full(known, np.inf)
    ends[: len(described.horizons)] = described.horizons
    return ends <= until, np.ones(known, dtype=bool)
