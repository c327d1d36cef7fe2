"""Models fit to hand on: everything in them is computed from counts none of which is small.

A model is fitted again to the study without small counts, with the same parameters. What it learned, what it was warned
of and what it says then depend on nothing else; see `pnsight.data.suppression` for what is left of the study.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, overload

from pnsight._progress import Progress, no_progress
from pnsight._text import count_text
from pnsight.data.study import Study
from pnsight.data.suppression import suppress_study
from pnsight.errors import ModelError, join_names
from pnsight.models import Model

AnyModel = TypeVar("AnyModel", bound=Model)


@overload
def suppress(found: AnyModel, min_cell: int, progress: Progress = no_progress) -> AnyModel: ...
@overload
def suppress(found: Study, min_cell: int, progress: Progress = no_progress) -> Study: ...
def suppress(found: Model | Study, min_cell: int, progress: Progress = no_progress) -> Model | Study:
    """The study without small counts of people, or the model fitted again to such a study.

    A profile in which from 1 to below `min_cell` people share a cell of a table is withheld from that table, and so are
    as many others as it takes that what is withheld of a table is itself no small count in any cell. Everything else,
    levels that nobody is left at included, is as if those rows had not been in the tables, and a note on every answer
    says how much is withheld. A model is fitted again to what is left, with its own parameters and seed, which takes as
    long as fitting it did. See the documentation for what this protects, and what not.

    Parameters
    ----------
    found : Model or Study
        What is to be handed on.
    min_cell : int
        Smallest number of people that may be shown, at least 2.
    progress : Progress
        Called as a model is fitted.

    Returns
    -------
    Model or Study
        Of the kind that was given; the same object if its small counts were already withheld, up to this limit or a
        higher one.

    Raises
    ------
    QueryError
        If the limit makes no sense, or is higher than that of a study whose small counts are already withheld.
    ModelError
        If nothing is left of a table, or too little to fit the model.
    """
    if isinstance(found, Study):
        return suppress_study(found, min_cell)
    if found.study.withheld is not None:
        suppress_study(found.study, min_cell)  # which refuses a higher limit
        return found
    return fit_suppressed(found.unfitted(), found.study, min_cell, progress)


def fit_suppressed(model: AnyModel, study: Study, min_cell: int, progress: Progress = no_progress) -> AnyModel:
    """Fit a model to a study without its small counts.

    Parameters
    ----------
    model : Model
        What to fit.
    study : Study
        All counts.
    min_cell : int
        Smallest number of people that may be shown, at least 2.
    progress : Progress
        Called as the model is fitted.

    Returns
    -------
    Model
        The model itself.
    """
    left = suppress_study(study, min_cell)
    gone = [table for table in study.structure.tables if _rows(study, table) and not _rows(left, table)]
    if not left.counts.any():
        raise _nothing_left(study, gone, min_cell)
    try:
        return model.fit(left, progress)
    except ModelError:
        if gone:
            raise _nothing_left(study, gone, min_cell) from None
        raise


def _rows(study: Study, table: str) -> float:
    return float(study.counts[:, study.structure.all_columns_of(table)].sum())


def _nothing_left(study: Study, tables: Sequence[str], min_cell: int) -> ModelError:
    rows = join_names([f"{count_text(_rows(study, table))} {table} rows" for table in tables])
    return ModelError(
        f"nothing is left of the {rows}: in each profile fewer than {min_cell:,} people share a treatment and an "
        "outcome, or it was withheld so that these cannot be worked out. Use fewer or coarser covariates "
        "(--covariates, --bands, --merge-rare), or a lower limit (--min-cell)."
    )
