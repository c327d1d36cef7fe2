"""Count files: how many people of one table have each combination of covariates, in each cell; no rows.

A count file is Parquet: a column for each covariate, then the cell of the table and how many people. What the cells
mean, how treatment and outcome are coded, the edges of bands and what is withheld stand in its metadata, as JSON.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pnsight._files import replacing
from pnsight.data.site_counts import SiteCounts, add_sites, site_counts
from pnsight.data.structure import EXPERIMENTAL, OBSERVATIONAL, Description
from pnsight.data.study import Study
from pnsight.errors import OutputError, TableError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

FORMAT = 1
"""Version of what a count file's metadata holds."""

_KEY = b"pnsight_counts"
_CELL, _PEOPLE = "cell", "people"


@dataclass(frozen=True)
class _Header:
    """What the metadata of a count file say; see `SiteCounts`."""

    __pydantic_config__ = {"extra": "forbid", "ser_json_inf_nan": "constants"}  # noqa: RUF012 (pydantic's own name)

    format: int
    table: Literal["experimental", "observational"]
    treatment: str
    outcome: str
    treated: str
    success: str
    structure: Description
    edges: dict[str, tuple[float, ...] | None]
    min_cell: int | None
    withheld: float


@cache
def _as_json() -> TypeAdapter[_Header]:
    """Reads and writes headers."""
    from pydantic import TypeAdapter  # which takes a moment to load

    return TypeAdapter(_Header)


def write_counts(study: Study, path: str | Path) -> None:
    """Write the counts of a table to a file, and nothing else.

    Parameters
    ----------
    study
        A study of one table; `pnsight.suppress` withholds its small counts.
    path
        The file, which is replaced once the new one is complete.

    Raises
    ------
    TableError
        If there are two tables, or counts that are not people.
    OutputError
        If the file cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    found = site_counts(study)
    header = _Header(
        FORMAT,
        "experimental" if found.table == EXPERIMENTAL else "observational",
        found.treatment,
        found.outcome,
        found.treated,
        found.success,
        found.description,
        dict(found.edges),
        found.min_cell,
        found.withheld,
    )
    whole = found.people if (found.people % 1).any() else found.people.astype(np.int64)
    columns = {**{name: pa.array(levels, pa.string()) for name, levels in found.levels.items()}}
    for name, values in ((_CELL, pa.array(found.cells, pa.string())), (_PEOPLE, pa.array(whole))):
        while name in columns:  # they are found by their place
            name += "_"
        columns[name] = values
    table = pa.table(columns).replace_schema_metadata({_KEY: _as_json().dump_json(header)})
    try:
        with replacing(Path(path)) as scratch:
            pq.write_table(table, scratch)
    except OSError as error:
        raise OutputError(f"cannot write {str(path)!r}: {error.strerror}.") from None


def read_counts(experimental: Sequence[str | Path], observational: Sequence[str | Path] = ()) -> Study:
    """Read count files of any number of sites, and add them up.

    Parameters
    ----------
    experimental, observational
        Files that `write_counts` or ``pnsight count`` wrote, of experiments and of observational tables.

    Returns
    -------
    Study
        All their people. `pnsight.check` says whether the sites agree.

    Raises
    ------
    TableError
        If a file is no count file, is of the other role, or does not go with the others.
    """
    if not experimental and not observational:
        raise TableError("no count file is given; give at least one.")
    given = {EXPERIMENTAL: experimental, OBSERVATIONAL: observational}
    return add_sites([_read(Path(path), table) for table, paths in given.items() for path in paths])


def find_count_files(text: str) -> list[Path] | None:
    """The count files that an argument names.

    Parameters
    ----------
    text
        A file, a pattern, or several of them with commas between.

    Returns
    -------
    list of Path, or None
        The files; None if the first of them is no count file, but something else to be read as a table.
    """
    named = [text] if os.path.exists(text) else [part.strip() for part in text.split(",")]
    found = [[name] if os.path.exists(name) else sorted(glob.glob(name, recursive=True)) for name in named]
    if not found[0] or _metadata(Path(found[0][0])) is None:
        return None
    lacking = [name for name, paths in zip(named, found, strict=True) if not paths]
    if lacking:
        raise TableError(f"there is no file {lacking[0]!r}, nor one that matches it; check the path.")
    return [Path(path) for paths in found for path in paths]


def _metadata(path: Path) -> bytes | None:
    """The metadata of a count file; None of any other file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if path.suffix not in (".parquet", ".pq"):
        return None
    try:
        found: Mapping[bytes, bytes] | None = pq.read_schema(path).metadata
    except (pa.ArrowInvalid, OSError):
        return None
    return (found or {}).get(_KEY)


def _read(path: Path, table: str) -> SiteCounts:
    header = _header(path, table)
    *covariates, cells, people = _columns(path)
    names = [name for name, _ in covariates]
    if names != list(header.edges):
        raise _broken(path, f"its columns are {names} and its metadata say {list(header.edges)}")
    counts = np.array(people[1], dtype=np.float64)
    if not len(counts) or not (np.isfinite(counts) & (counts > 0)).all():
        raise _broken(path, "it has a count that is not a positive number")
    return SiteCounts(
        path.stem,
        table,
        header.treatment,
        header.outcome,
        header.treated,
        header.success,
        header.structure,
        header.edges,
        dict(covariates),
        cells[1],
        counts,
        header.min_cell,
        header.withheld,
    )


def _header(path: Path, table: str) -> _Header:
    text = _metadata(path)
    if text is None:
        raise TableError(f"{str(path)!r} is no count file; expected one that `pnsight count` wrote.")
    try:
        header = _as_json().validate_json(text)
    except ValueError as error:  # pydantic's are
        raise _broken(path, f"its metadata are not understood: {' '.join(str(error).split())[:200]}") from None
    if header.format != FORMAT:
        raise _broken(path, f"it is of format {header.format}, and this version of pnsight reads {FORMAT}")
    if header.table != table:
        raise TableError(
            f"{str(path)!r} counts an {header.table} table, and an {table} one was expected; give the files of "
            "experiments first, and then those of observational tables."
        )
    return header


def _columns(path: Path) -> list[tuple[str, list[Any]]]:
    import pyarrow.parquet as pq

    table = pq.ParquetFile(path).read()
    found = [(name, column.to_pylist()) for name, column in zip(table.column_names, table.columns, strict=True)]
    if len(found) < 2 or any(None in values for _, values in found):
        raise _broken(path, "a value is missing")
    return found


def _broken(path: Path, why: str) -> TableError:
    return TableError(f"{str(path)!r} is a count file that cannot be used: {why}. Count the table again.")
