"""Studies and models fit to hand on: no count of people that is small, and none that can be worked out by subtraction.

Whatever can be shown of a study is a sum of its cells, so small cells are taken out before anything is added up. A
profile with a small cell loses all its counts in that table; then no sum, and no difference of two sums, contains a
part of it. Profiles go on being taken out, those with fewest rows first, until what is withheld of a table is itself
no small count in any cell: totals that are known from elsewhere do not give it away.

Where rows weigh unequally a count says less about how many rows there are: a cell is then small if it could be made up
of too few rows, each of the largest weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar, overload

import numpy as np
import numpy.typing as npt

from pnsight._typing import FloatArray
from pnsight.data.study import Study, Withheld
from pnsight.errors import QueryError
from pnsight.models import Model
from pnsight.notes import Note

AnyModel = TypeVar("AnyModel", bound=Model)
Number = TypeVar("Number", int, float)


@overload
def suppress(found: AnyModel, min_cell: int) -> AnyModel: ...
@overload
def suppress(found: Study, min_cell: int) -> Study: ...
def suppress(found: Model | Study, min_cell: int) -> Model | Study:
    """The model or study without counts from 1 to below `min_cell`.

    Everything that is said about rows then comes from what is left, and a note on every answer says how much is not. A
    plug-in has no answer where nothing is left. A response-type model goes by its networks there, without the rows of
    the profiles concerned. Networks stay as they are, trained on everything: they give no count away, but shares that
    they learned do depend a little on every row. See the documentation for what this protects, and what not.

    Parameters
    ----------
    found : Model or Study
        What is to be handed on.
    min_cell : int
        Smallest count that may be shown, at least 2.

    Returns
    -------
    Model or Study
        Of the kind that was given.
    """
    if isinstance(min_cell, bool) or not isinstance(min_cell, int | np.integer) or min_cell < 2:
        raise QueryError(f"the smallest count to show is {min_cell!r}; give a whole number of at least 2, such as 10.")
    if isinstance(found, Study):
        return _suppressed(found, int(min_cell)).drop_empty_profiles()
    shown = found.with_study(_suppressed(found.study, int(min_cell)))
    shown.keep_warnings([_without_shares(warning) for warning in found.warnings])
    return shown


def _suppressed(study: Study, min_cell: int) -> Study:
    """The study with zeros in place of what is withheld, its profiles as they were."""
    before = study.withheld or Withheld(min_cell)
    min_cell = max(min_cell, before.min_cell)
    blocks = [study.counts[:, study.structure.columns_of(table)] for table in study.structure.tables]
    weights = [_largest_weight(study, table) for table in study.structure.tables]
    hidden = [_hidden(counts, min_cell * weight) for counts, weight in zip(blocks, weights, strict=True)]
    left = [np.where(rows[:, None], 0.0, counts) for rows, counts in zip(hidden, blocks, strict=True)]
    taken = [_reported_rows(counts[rows].sum(), min_cell) for rows, counts in zip(hidden, blocks, strict=True)]
    small = {reason: rows for reason, rows in study.dropped.items() if 0 < rows < min_cell}
    design = None if study.design is None else study.design.without_small_counts(min_cell)
    worth = () if design is None else design.notes
    notes = [note for note in study.notes if note.kind != "rows_worth"]
    return replace(
        study.with_counts(np.concatenate(left, axis=1)),
        design=design,
        attrition=None,
        dropped={reason: rows for reason, rows in study.dropped.items() if reason not in small},
        notes=(*notes, *worth, *(_few_left_out(reason, min_cell) for reason in small)),
        withheld=Withheld(
            min_cell,
            _added(before.rows, taken),
            _added(before.profiles, [int(rows.sum()) for rows in hidden]),
        ),
    )


def _largest_weight(study: Study, table: str) -> float:
    """As how many rows one row of a table counts at most, at least one."""
    sampling = None if study.design is None else study.design.sampling_of(table)
    return 1.0 if sampling is None else max(1.0, sampling.largest_weight)


_WITH_SHARES = ("tables_contradict", "outcomes_missing_by_arm", "outcomes_missing_by_covariate")
"""Warnings whose values are shares of rows, from which counts might be worked out."""


def _without_shares(warning: Note) -> Note:
    if warning.kind not in _WITH_SHARES:
        return warning
    which = {name: values for name, values in warning.values.items() if name in ("codes", "also")}
    return Note(warning.kind, which, warning.severity)


def _few_left_out(reason: Note, min_cell: int) -> Note:
    return Note("few_rows_left_out", {"reason": reason.plain(), "min_cell": min_cell})


def _hidden(counts: FloatArray, min_cell: float) -> npt.NDArray[np.bool_]:
    """Which profiles of a table are withheld, shape (profiles,), from their counts, shape (profiles, cells)."""
    hidden: npt.NDArray[np.bool_] = np.asarray(((counts > 0) & (counts < min_cell)).any(axis=1))
    for cell in range(counts.shape[1]):
        others = np.flatnonzero(~hidden & (counts[:, cell] > 0))
        fewest_first = iter(others[np.argsort(counts[others].sum(axis=1), kind="stable")])
        while 0 < counts[hidden, cell].sum() < min_cell and (more := next(fewest_first, None)) is not None:
            hidden[more] = True
    return hidden


def _reported_rows(rows: float, min_cell: int) -> float:
    """Rows withheld of a table; if it has but few in all, the least number that may be shown."""
    return float(max(rows, min_cell)) if rows else 0.0


def _added(before: tuple[Number, Number], taken: Sequence[Number]) -> tuple[Number, Number]:
    """By table; an experiment alone has nothing withheld of the other table."""
    return before[0] + taken[0], before[1] + (taken[1] if len(taken) > 1 else 0)
