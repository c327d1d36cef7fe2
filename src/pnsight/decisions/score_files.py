"""Score a file or a table of a database: read, decide and write block by block, so that memory does not grow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from pnsight._progress import Progress, no_progress
from pnsight._tabular import kept_names
from pnsight.data.reading.open_table import Table, open_table
from pnsight.data.reading.write_batches import FileKind, writing_batches
from pnsight.decisions.scorer import BLOCK_ROWS, Scorer
from pnsight.notes import WARNING, Note
from pnsight.queries.query import check_columns, meant


def score_file(
    scorer: Scorer, people: Table, out: Path, kind: FileKind, progress: Progress = no_progress
) -> tuple[Note, ...]:
    """Score every person of a table, and write the table with decisions and answers beside it.

    Parameters
    ----------
    scorer
        The model, and what is asked of it.
    people
        A CSV or Parquet file, a pattern, a table of a database, or a data frame: whatever `read_study` takes.
    out, kind
        The file to write, which is replaced once the new one is complete, and its format.
    progress
        Called with the people scored so far.

    Returns
    -------
    tuple of Note
        What was done, and what to know about it.
    """
    table = open_table(people, "people")
    covariates = covariate_columns(scorer, table.names)
    names = kept_names(table.names, scorer.names)
    batches = table.batches(BLOCK_ROWS)
    first = next(batches, None)
    given = pa.schema([(name, pa.string()) for name in table.names]) if first is None else first.schema
    kept = [pa.field(name, each.type) for name, each in zip(names, given, strict=True)]
    with writing_batches(out, kind, pa.schema([*kept, *scorer.schema])) as file:
        for batch in chain([] if first is None else [first], batches):
            columns = {name: batch.column(column) for name, column in covariates.items()}
            answers = scorer.score(columns, batch.num_rows)
            file.write(_beside(batch, names, answers))
            progress(scorer.tally.people, 0, "people scored")
    return (*_column_notes(scorer, table.names, covariates, names), *scorer.notes, *scorer.tally.notes)


def _beside(batch: Any, names: Sequence[str], answers: Any) -> Any:
    return pa.Table.from_arrays([*batch.columns, *answers.columns], names=[*names, *answers.column_names])


def _column_notes(
    scorer: Scorer, given: Sequence[str], covariates: Mapping[str, str], names: Sequence[str]
) -> Iterator[Note]:
    """What was made of the columns of a table."""
    unused = [name for name in given if name not in covariates.values()]
    absent = [name for name in scorer.model.schema.names if name not in covariates]
    renamed = {old: new for old, new in zip(given, names, strict=True) if old != new}
    if unused:
        yield Note("columns_kept", {"columns": unused})
    if absent:
        yield Note("covariates_left_open", {"covariates": absent}, WARNING)
    if renamed:
        yield Note("columns_renamed", {"columns": renamed})


def covariate_columns(scorer: Scorer, names: Sequence[str]) -> dict[str, str]:
    """The columns of a table that are covariates of the model, by covariate; raises a `QueryError` if none is."""
    known = scorer.model.schema.names
    found = {meant(name, known): name for name in names}
    check_columns(scorer.model.schema, found)
    return {name: column for name, column in found.items() if name in known}
