"""Suppression: the study of the same tables without the people who are in small cells.

What is published is computed from this study alone, and this study is what reading the tables without the rows of the
withheld profiles gives: counts, weights over their mean, what rows are worth, folds and levels. So whoever knows all
that is published, and how, knows nothing of those rows but about how many there are and that they are not here. See the
page "Disclosure" of the documentation for what that promises, and what not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from pnsight._typing import BoolArray, FloatArray, IndexArray
from pnsight.data.arms_and_outcomes import MISSING
from pnsight.data.attrition import TableAttrition
from pnsight.data.counted_rows import count_rows
from pnsight.data.protected_numbers import in_protected_bands, with_drawn_numbers
from pnsight.data.sampled_rows import INDEPENDENT, SampledRows, row_weights
from pnsight.data.schema import OTHER, Codes, Covariate, Schema
from pnsight.data.small_cells import withheld_profiles
from pnsight.data.structure import DROP, EXPERIMENTAL, OBSERVATIONAL
from pnsight.data.structures import outcome_codes, places
from pnsight.data.study import Study, Withheld
from pnsight.errors import QueryError
from pnsight.notes import Note

_HARMLESS = (
    "rows_counted_once",
    "rows_independent",
    "coded_differently",
    "rows_reweighted",
    "fewer_bands",
    "sites_added",
    "withheld_at_sites",
)
"""Notes about columns that say nothing about single people; a kind that is not named here is not published."""


def suppress_study(study: Study, min_cell: int) -> Study:
    """The study without the people of profiles that have a count from 1 to below `min_cell`.

    Parameters
    ----------
    study
        The tables.
    min_cell
        Smallest number of people that may be shown, at least 2.

    Returns
    -------
    The study of the rows that are left; the same study where small counts were already withheld.

    Raises
    ------
    QueryError
        If the limit makes no sense, or is higher than that of a study whose small counts are already withheld.
    """
    _check_limit(min_cell)
    if study.withheld is not None:
        _check_not_raised(study.withheld, min_cell)
        return study
    _check_whole_rows(study)
    if study.schema.numeric:
        return _suppress_numbers(study, min_cell)
    if study.design is not None and study.sampled is None:
        raise QueryError(
            "how many people are behind the weighted counts of this study is not known, so small ones cannot be "
            "withheld; read the tables again."
        )
    all_people, structure = study.people, study.structure
    people = {table: all_people[:, structure.all_columns_of(table)] for table in structure.tables}
    sizes = np.asarray(all_people.sum(axis=1))
    hidden = {table: withheld_profiles(found, sizes, min_cell) for table, found in people.items()}
    left = _without(study, hidden)
    design = None if left.design is None else left.design.without_small_counts(min_cell)
    withheld = _record(people, hidden, min_cell)
    return replace(
        left,
        treatment=study.treatment,
        outcome=study.outcome,
        treated=study.treated,
        success=study.success,
        ignored=study.ignored,
        dropped=_dropped(study, left, min_cell),
        attrition=_attrition(study, left, withheld),
        notes=(*_notes(study, left), *(() if design is None else design.notes)),
        design=design,
        withheld=withheld,
        sampled=None,
    ).with_labels(study.labels)


def _suppress_numbers(study: Study, min_cell: int) -> Study:
    """The same with numbers in bands, and then new numbers for the people of each band that is left."""
    banded = in_protected_bands(study, min_cell)
    left = suppress_study(banded.grouped, min_cell)
    named = [banded.schema.names[j] for j in banded.schema.numeric]
    if not left.counts.any():
        return left
    drawn = with_drawn_numbers(left, banded.schema)
    note = Note(
        "numbers_drawn", {"covariates": named, "bands": max(banded.schema.shape[j] for j in banded.schema.numeric)}
    )
    return replace(left, schema=drawn.schema, profiles=drawn.profiles, counts=drawn.counts, notes=(*left.notes, note))


def _check_limit(min_cell: int) -> None:
    if isinstance(min_cell, bool) or not isinstance(min_cell, int | np.integer) or min_cell < 2:
        raise QueryError(f"the smallest count to show is {min_cell!r}; give a whole number of at least 2, such as 10.")


def _check_whole_rows(study: Study) -> None:
    """A row that was censored within an interval counts in parts, by what all rows of its arm show."""
    if study.structure.description.horizons and study.partly_observed:
        raise QueryError(
            "some rows were censored before the last horizon, and how they count depends on all rows of their arm, "
            "also on those that would be withheld, so small counts of these times cannot be withheld (--min-cell). "
            "Give only horizons up to which nobody was censored (--horizons)."
        )


def _check_not_raised(withheld: Withheld, min_cell: int) -> None:
    if min_cell > withheld.min_cell:
        raise QueryError(
            f"counts below {min_cell} are to be withheld, but here those below {withheld.min_cell} already are, and "
            "what is left does not tell who else would have to be; start from the tables, or from the model that was "
            "fitted to all of them."
        )


# --- rows that are left ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Renumbering:
    """Profiles and levels that are left.

    Attributes
    ----------
    schema : covariates without levels that nobody is left at; bands have their names from edges and stay
    profiles : shape (profiles left, covariates)
    place : shape (profiles before,)
        The number of each profile that is left, among those left.
    kept : shape (profiles before,)
    """

    schema: Schema
    profiles: Codes
    place: IndexArray
    kept: BoolArray


def _without(study: Study, hidden: Mapping[str, BoolArray]) -> Study:
    """The study of rows whose profile is not withheld from their table, by masks of shape (profiles,)."""
    shown = study.counts.copy()
    for table, gone in hidden.items():
        shown[np.ix_(gone, study.structure.all_columns_of(table))] = 0
    left = _renumbered(study, np.asarray(shown.any(axis=1)))
    if study.sampled is None:
        return Study(left.schema, left.profiles, shown[left.kept], study.structure)
    rows = {table: found.take(~hidden[table][found.profile]) for table, found in study.sampled.items()}
    renewed = {
        table: replace(found, weight=row_weights(found.survey, found.propensity, found.rows)).with_profiles(left.place)
        for table, found in rows.items()
        if len(found.rows)
    }
    return count_rows(left.schema, study.structure, left.profiles, _number_clusters(renewed))


def _renumbered(study: Study, kept: BoolArray) -> _Renumbering:
    codes = study.profiles[kept]
    covariates, columns = [], []
    for covariate, column in zip(study.schema.covariates, codes.T, strict=True):
        present = np.isin(np.arange(len(covariate.levels)), column)
        present[: len(covariate.edges or (0,)) - 1] = True
        levels = tuple(level for level, here in zip(covariate.levels, present, strict=True) if here)
        covariates.append(Covariate(covariate.name, levels, covariate.edges))
        columns.append((np.cumsum(present) - 1)[column])
    profiles = np.array(columns, dtype=np.int32).T.reshape(codes.shape)
    return _Renumbering(Schema(tuple(covariates)), profiles, np.cumsum(kept) - 1, kept)


def _number_clusters(tables: Mapping[str, SampledRows]) -> dict[str, SampledRows]:
    """Clusters of all tables together without gaps, in the order that they had."""
    found = np.unique(np.concatenate([rows.cluster for rows in tables.values()] or [np.empty(0, np.intp)]))
    found = found[found != INDEPENDENT]
    return {
        table: replace(
            rows, cluster=np.where(rows.independent, INDEPENDENT, np.searchsorted(found, rows.cluster)).astype(np.intp)
        )
        for table, rows in tables.items()
    }


# --- what is said about them ----------------------------------------------------------------------------


def _record(people: Mapping[str, FloatArray], hidden: Mapping[str, BoolArray], min_cell: int) -> Withheld:
    """About how many people were taken out of each table, and how many are left."""
    gone, left = (
        {table: float(found[hidden[table] == out].sum()) for table, found in people.items()} for out in (True, False)
    )
    about = {table: max(_about(rows, min_cell), float(min_cell)) if rows else 0.0 for table, rows in gone.items()}
    rows, rest = ((of.get(EXPERIMENTAL, 0.0), of.get(OBSERVATIONAL, 0.0)) for of in (about, left))
    return Withheld(int(min_cell), rows, rest)


def _about(rows: float, min_cell: int) -> float:
    """A number of people as a multiple of the limit."""
    return float(min_cell * round(rows / min_cell))


def _rows_are_people(left: Study) -> bool:
    """Whether each row that is left is a person; those that are withheld have no say, or they would be told of."""
    return left.sampled is None or all(rows.rows_are_people for rows in left.sampled.values())


def _rows_are_independent(left: Study) -> bool:
    return left.sampled is None or all(rows.independent.all() for rows in left.sampled.values())


def _dropped(study: Study, left: Study, min_cell: int) -> dict[Note, float]:
    """Rows left out while counting, if they are people, and not few; without the columns that they lack."""
    if not _rows_are_people(left):
        return {}
    return {
        Note(reason.kind, {**reason.values, **({"covariates": ()} if "covariates" in reason.values else {})}): rows
        for reason, rows in study.dropped.items()
        if rows >= min_cell
    }


def _attrition(study: Study, left: Study, withheld: Withheld) -> tuple[TableAttrition, ...] | None:
    """About how many outcomes of each arm are missing, if rows are people and independent; not by level.

    Nothing but what is published enters, and how many rows were left out, so that no withheld row can change it.
    """
    if study.attrition is None or not (_rows_are_people(left) and _rows_are_independent(left)):
        return None
    kept = study.structure.description.missing != DROP
    found = [one for one in study.attrition if one.table in left.structure.tables]
    return tuple(_missing_kept(left, one.table) if kept else _missing_left_out(one, left, withheld) for one in found)


def _missing_kept(left: Study, table: str) -> TableAttrition:
    """Where rows without an outcome are cells like others: of the people who are left."""
    rows, missing = _people_by_arm(left, table), _people_by_arm(left, table, MISSING)
    return TableAttrition(table, tuple(rows.tolist()), tuple(missing.tolist()), (1.0,) * len(rows))


def _missing_left_out(found: TableAttrition, left: Study, withheld: Withheld) -> TableAttrition:
    """Where such rows were left out: to a multiple of the limit, with withheld people shared out as those left are."""
    gone = withheld.rows[(EXPERIMENTAL, OBSERVATIONAL).index(found.table)]
    shown = _people_by_arm(left, found.table)
    missing = [_about(arm, withheld.min_cell) for arm in found.missing]
    rows = [_about(arm, withheld.min_cell) for arm in shown * (1 + gone / (shown.sum() or 1.0)) + missing]
    return TableAttrition(found.table, tuple(rows), tuple(missing), (1.0,) * len(rows))


def _people_by_arm(study: Study, table: str, outcome: str | None = None) -> FloatArray:
    """People of each arm of a table in the order of `Arms`, shape (arms,); of one outcome, or of all."""
    structure = study.structure
    people = study.people[:, structure.all_columns_of(table)].sum(axis=0)
    at = places(structure, table)
    if outcome is not None:
        at = at[..., [outcome_codes(structure.description).index(outcome)]]
    at = at.reshape(len(at), -1)
    found = np.where(at >= 0, people[at], 0.0).sum(axis=1)
    return np.asarray(found[::-1] if structure.is_two_by_two else found)


def _notes(study: Study, left: Study) -> tuple[Note, ...]:
    """What the notes say about columns, and about the rows and levels that are left."""
    found = [note for note in study.notes if note.kind in _HARMLESS]
    found += [
        Note(note.kind, {**note.values, "rows": rows})
        for note in study.notes
        if note.kind == "outcomes_kept" and (rows := _rows_without_outcome(left, note.values["table"]))
    ]
    for before, covariate in zip(study.schema.covariates, left.schema.covariates, strict=True):
        if before.rare_levels and OTHER in covariate.levels:
            found.append(Note("rare_levels_merged", {"covariate": covariate.name, "levels": ()}))
        if len(covariate.levels) == 1:
            found.append(Note("single_level", {"covariate": covariate.name, "level": covariate.levels[0]}))
    return tuple(found)


def _rows_without_outcome(study: Study, table: str) -> float:
    """Rows of a table whose outcome is missing, and that are kept nevertheless."""
    structure = study.structure
    missing = places(structure, table)[..., outcome_codes(structure.description).index(MISSING)]
    missing = missing[missing >= 0]  # of arms that the table may have
    if study.sampled is None:
        return float(study.counts[:, structure.all_columns_of(table)[missing]].sum())
    found = study.sampled.get(table)
    return 0.0 if found is None else float(found.rows[np.isin(found.cell, missing)].sum())
