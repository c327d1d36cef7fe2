"""Text of CSV files: what keeps one from being read, and says so where DuckDB would guess or list many causes."""

from __future__ import annotations

import csv
import gzip
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

from pnsight.data.reading.engine import check_unique_names
from pnsight.errors import TableError

_SPREADSHEET = "it is a spreadsheet{}; save the table from there as CSV."
_ENCODING = (
    'it is not in UTF-8; save it from the spreadsheet as "CSV UTF-8", or convert it, for example with: '
    "iconv -f LATIN1 -t UTF-8 FILE > NEW_FILE."
)
_NOT_TEXT = {
    b"\xff\xfe": _ENCODING.replace("LATIN1", "UTF-16"),
    b"\xfe\xff": _ENCODING.replace("LATIN1", "UTF-16"),
    b"\x1f\x8b": "it is compressed by gzip; end its name in .csv.gz.",
    b"PAR1": "it is a Parquet file; end its name in .parquet.",
    b"PK\x03\x04": _SPREADSHEET.format(" or another zip archive"),
    b"\xd0\xcf\x11\xe0": _SPREADSHEET.format(" in the format of Excel 97"),
    b"%PDF": "it is a PDF; expected a table as CSV.",
}
"""First bytes of files that are not plain text, and what to do with them."""

MAX_LINE_BYTES = 2 << 20
"""Longest line of a CSV file; what is longer is no table with a row a line, and would have to be held in memory."""

_CHUNK_BYTES = 1 << 20
_MAX_SHOWN = 300  # characters of a header


def unreadable_file_error(path: Path, role: str, why: str) -> TableError:
    """Make the error about a file that cannot be read.

    Parameters
    ----------
    path, role
        The file, and the role of its table.
    why
        What is wrong with it, and what to do.

    Returns
    -------
    TableError
        The error to raise.
    """
    return TableError(f"the {role} table {str(path)!r} cannot be read: {why}")


def check_bytes(path: Path, role: str) -> None:
    """Check the bytes of a file, before DuckDB reads it.

    Parameters
    ----------
    path, role
        A CSV file, and the role of its table.

    Raises
    ------
    TableError
        If it is not text, or has a line of more than `MAX_LINE_BYTES`.
    EOFError
        If it is compressed and cut short, which DuckDB would accept.
    """
    line = _Line(1, 0)
    with _opened(path) as file:
        part = file.read(_CHUNK_BYTES)
        for beginning, why in _NOT_TEXT.items():
            if part.startswith(beginning):
                raise unreadable_file_error(path, role, why)
        if part.lstrip()[:9].lower().startswith((b"<!doctype", b"<html")):
            raise unreadable_file_error(
                path, role, "it is a web page, perhaps the one that was to lead to the table; expected CSV."
            )
        while part:
            if b"\0" in part:
                raise unreadable_file_error(
                    path, role, "it holds NUL bytes, which no text does; export it again as CSV."
                )
            if line.longest_within(part) > MAX_LINE_BYTES:
                raise unreadable_file_error(path, role, _too_long(line.number))
            line = line.after(part)
            part = file.read(_CHUNK_BYTES)


def _too_long(line: int) -> str:
    return (
        f"the row in line {line:,} has more than {MAX_LINE_BYTES:,} bytes; expected a header line and one line for "
        "each row. Look at the file there, and export it again as CSV."
    )


class _Line(NamedTuple):
    """The line that a file has been read up to: its number, and how many bytes of it have been read."""

    number: int
    read: int

    def longest_within(self, part: bytes) -> int:
        """Bytes of this line once the next part is read; lines that begin within it are no longer than a part."""
        ends = [at for at in (part.find(b"\n"), part.find(b"\r")) if at >= 0]
        return self.read + min(ends, default=len(part))

    def after(self, part: bytes) -> _Line:
        """The line that the file has been read up to after the next part."""
        ends = max(part.count(b"\n"), part.count(b"\r"))
        begins = max(part.rfind(b"\n"), part.rfind(b"\r")) + 1
        return _Line(self.number + ends, len(part) - begins if ends else self.read + len(part))


def check_text(path: Path, role: str) -> None:
    """Find the reason why DuckDB could not read a file, where it lists many possible causes; do nothing if unknown.

    Parameters
    ----------
    path, role
        A CSV file, and the role of its table.

    Raises
    ------
    TableError
        If the reason is found.
    """
    opened, quoted, ends, size, longest = 1, False, set(), 0, (0, 0)
    with _opened(path, "rt", encoding="utf-8", newline="") as file:
        try:
            for number, line in enumerate(file, start=1):
                opened, size = (opened, size) if quoted else (number, 0)
                size += len(line.encode())
                longest = max(longest, (size, opened))
                quoted ^= line.count('"') % 2 == 1
                if not quoted:
                    ends.add(line[len(line.rstrip("\r\n")) :])
        except UnicodeDecodeError:
            raise unreadable_file_error(path, role, _ENCODING) from None
    if quoted:
        raise unreadable_file_error(
            path, role, f"the quotation mark in line {opened:,} is not closed; close it or take it out."
        )
    if longest[0] > MAX_LINE_BYTES:
        raise unreadable_file_error(path, role, _too_long(longest[1]))
    if len(ends - {""}) > 1:
        raise unreadable_file_error(
            path, role, "its lines end in different ways (LF, CRLF or CR); save it with one of them."
        )


def check_header(path: Path, columns: list[str], role: str) -> None:
    """Check that DuckDB found the columns that the first line names.

    Parameters
    ----------
    path, role
        A CSV file, and the role of its table.
    columns
        Names of the columns that DuckDB found.

    Raises
    ------
    TableError
        If it renamed a column, since another has the name, or could not split the lines.
    """
    table = f"the {role} table {str(path)!r}"
    with _opened(path, "rt", encoding="utf-8-sig", errors="replace") as file:
        header = file.readline()
    if not header.strip():
        raise TableError(f"{table} begins with a blank line; its first line must name the columns. Take it out.")
    for delimiter in ",;\t|":
        with suppress(csv.Error):  # parts too long for a name, where this is not the delimiter of a wide table
            names = next(csv.reader([header], delimiter=delimiter), [])
            if len(names) == len(columns):
                check_unique_names(names, table)
    if len(columns) == 1 and any(mark in columns[0] for mark in ",;\t|"):
        raise TableError(
            f"{table} cannot be split into columns: its header is {columns[0][:_MAX_SHOWN]!r}, but not every line "
            "has as many fields. Correct the lines that have more or fewer."
        )


def _opened(path: Path, mode: str = "rb", **text: str) -> IO[Any]:
    opener: Any = gzip.open if path.name.lower().endswith(".gz") else open
    file: IO[Any] = opener(path, mode, **text)
    return file
