"""Writing tables: results to the screen or a file, messages to standard error."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO, TypeVar

import pnsight
from pnsight._files import replacing
from pnsight._foreign_text import printable
from pnsight._tabular import drop_empty_columns
from pnsight._text import as_records, csv_text, format_table
from pnsight.cli.options import Format
from pnsight.errors import OutputError, join_names

Kind = TypeVar("Kind")


def say(message: str) -> None:
    """A message for the person, kept apart from results; where it cannot be written, results do not suffer."""
    try:
        print(printable(message), file=sys.stderr, flush=True)
    except OSError:
        silence(sys.stderr)


def silence(stream: TextIO) -> None:
    """Let what is still to be written to a stream that fails go nowhere, or its failure would be met again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def emit(columns: Mapping[str, Sequence[Any]], kind: Format | None, out: Path | None) -> None:
    """Write a table in the asked format; one to read leaves out what is wholly empty."""
    kind = check_output(kind, out)
    if out is not None and kind is Format.PARQUET:
        pnsight.data.reading.write_parquet(columns, out)
    elif kind is Format.JSON:
        put_json(as_records(columns), out)
    elif kind is Format.CSV:
        put_data(csv_text(columns), out)
    else:
        put(format_table(drop_empty_columns(columns)) + "\n", out)


def put(text: str, out: Path | None) -> None:
    """Write text that people read to the screen, or to a file, with control codes as escapes."""
    put_data(printable(text), out)


def put_data(text: str, out: Path | None) -> None:
    """Write text that programs read to the screen, or to a file, as it is; on a terminal control codes are escapes."""
    if out is not None:
        _write(out, text)
    else:
        sys.stdout.write(printable(text) if sys.stdout.isatty() else text)


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


def _kind_of(out: Path | None) -> Format:
    """The format that the file's ending says; a table on the screen."""
    return ending_of(out, {"": Format.TABLE, ".txt": Format.TABLE, **{f".{kind}": kind for kind in _FILES}})


def ending_of(out: Path | None, known: Mapping[str, Kind]) -> Kind:
    """What the file's ending stands for; one that is not known would promise what the file is not."""
    ending = "" if out is None else out.suffix.lower()
    if ending not in known:
        raise OutputError(
            f"{str(out)!r} ends in {ending!r}; expected one of {join_names(filter(None, known))}, or --format to "
            "say what to write."
        )
    return known[ending]


def _write(out: Path, text: str) -> None:
    try:
        with replacing(out) as scratch:
            scratch.write_text(text, encoding="utf-8", newline="")
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
