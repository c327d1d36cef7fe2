"""Writing tables: results to the screen or a file, messages to standard error."""

from __future__ import annotations

import glob
import json
import math
import os
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import pnsight
from pnsight._files import replacing
from pnsight._foreign_text import printable
from pnsight._text import as_records, csv_text
from pnsight.cli.options import Format
from pnsight.cli.screen import screen_style, wrap_message
from pnsight.errors import OutputError, join_names

if TYPE_CHECKING:
    from pnsight.data.labels import Labels
    from pnsight.data.schema import Schema

Kind = TypeVar("Kind")


def say(message: str) -> None:
    """A message for the person, kept apart from results; where it cannot be written, results do not suffer."""
    try:
        print(wrap_message(printable(message), sys.stderr), file=sys.stderr, flush=True)
    except OSError:
        silence(sys.stderr)


def silence(stream: TextIO) -> None:
    """Let what is still to be written to a stream that fails go nowhere, or its failure would be met again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def emit(
    columns: Mapping[str, Sequence[Any]],
    kind: Format | None,
    out: Path | None,
    schema: Schema | None = None,
    labels: Labels | None = None,
    first_to_go: Collection[str] = (),
) -> None:
    """Write a table in the asked format; one to read has few digits, groups by name, and what fits.

    Parameters
    ----------
    columns
        Values by column name.
    kind, out
        The format and the file; by default what the file's ending says, and the screen.
    schema, labels
        The covariates that the queries are about, and words for them.
    first_to_go
        Columns that a reader can do without first.
    """
    kind = check_output(kind, out)
    if out is not None and kind is Format.PARQUET:
        pnsight.data.reading.write_parquet(columns, out)
    elif kind is Format.JSON:
        put_json(as_records(columns), out)
    elif kind is Format.CSV:
        put_data(csv_text(columns), out)
    else:
        put_table(columns if schema is None else _in_words(columns, schema, labels, first_to_go), out, first_to_go)


def _in_words(
    columns: Mapping[str, Sequence[Any]], schema: Schema, labels: Labels | None, first_to_go: Collection[str]
) -> dict[str, Sequence[Any]]:
    """The table with groups by name, without a reader's own columns that the names repeat."""
    repeated = {*first_to_go} & {*schema.names}
    kept = {name: values for name, values in columns.items() if name not in repeated}
    return pnsight.output.naming.in_words(schema, labels or pnsight.data.labels.NO_LABELS, kept)


def put_table(columns: Mapping[str, Sequence[Any]], out: Path | None, first_to_go: Collection[str] = ()) -> None:
    """Write a table for people as wide as the screen, and say what there was no room for."""
    from pnsight.output.terminal_table import terminal_table

    style = screen_style(sys.stdout, to_file=out is not None)
    text, left_out = terminal_table(columns, style, first_to_go)
    if out is not None:
        _write(out, f"{text}\n")
    else:
        sys.stdout.write(f"{text}\n")
    if left_out:
        say(f"not shown, for lack of room: {join_names(left_out)}; --format csv has everything")


def put(text: str, out: Path | None) -> None:
    """Write text that people read to the screen, wrapped to its width, or to a file, with control codes as escapes."""
    put_data(wrap_message(printable(text), sys.stdout) if out is None else printable(text), out)


def put_data(text: str, out: Path | None) -> None:
    """Write text that programs read to the screen, or to a file, as it is; on a terminal control codes are escapes."""
    if out is not None:
        _write(out, text)
    else:
        sys.stdout.write(printable(text) if sys.stdout.isatty() else text)


def put_bytes(content: bytes, out: Path) -> None:
    """Write a file that is no text."""
    _write(out, content)


def put_json(value: Any, out: Path | None) -> None:
    """Write plain data as JSON; where the screen lacks letters, in escapes of JSON rather than of Python."""
    plain = out is None and not (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    put_data(json.dumps(_finite(value), ensure_ascii=plain, indent=1, default=str) + "\n", out)


def check_output(kind: Format | None, out: Path | None) -> Format:
    """The format to write in; a place that cannot be written is refused before long work rather than after it."""
    check_file(out)
    kind = kind or _kind_of(out)
    if out is None and kind is Format.PARQUET:
        raise OutputError("Parquet is not for the screen; name a file with --out FILE.parquet.")
    return kind


def check_file(out: Path | None) -> None:
    """Refuse a file that cannot be written."""
    if out is not None and (out.is_dir() or not out.parent.is_dir()):
        raise OutputError(f"cannot write {str(out)!r}: it must be a file in a folder that exists.")


def check_not_read(out: Path, table: str) -> None:
    """Refuse a file that is a table, or one of the files of a table, that is to be read."""
    files = [*glob.glob(glob.escape(table)), *glob.glob(table, recursive=True)]
    if out.exists() and any(out.samefile(file) for file in files):
        raise OutputError(f"{str(out)!r} is read from, and would be replaced; give --out another name.")


def _kind_of(out: Path | None) -> Format:
    """The format that the file's ending says; a table on the screen."""
    return ending_of(out, {"": Format.TABLE, ".txt": Format.TABLE, **{f".{kind}": kind for kind in _FILES}})


def ending_of(out: Path | None, known: Mapping[str, Kind], instead: str = "--format to say what to write") -> Kind:
    """What the file's ending stands for; one that is not known would promise what the file is not."""
    ending = "" if out is None else out.suffix.lower()
    if ending not in known:
        raise OutputError(
            f"{str(out)!r} ends in {ending!r}; expected one of {join_names(filter(None, known))}, or {instead}."
        )
    return known[ending]


def _write(out: Path, content: str | bytes) -> None:
    try:
        with replacing(out) as scratch:
            scratch.write_bytes(content if isinstance(content, bytes) else content.encode())
    except OSError as error:
        raise OutputError(f"cannot write {str(out)!r}: {error.strerror}.") from None


def _finite(value: Any) -> Any:
    """With null for numbers that JSON has no word for."""
    if isinstance(value, Mapping):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


_FILES = (Format.CSV, Format.JSON, Format.PARQUET)
