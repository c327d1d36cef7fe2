"""Text tables: as wide as they are, for `repr`, or fitted to a width, for a terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len, chop_cells

from pnsight._foreign_text import printable_cell
from pnsight._text import cell_text
from pnsight.errors import join_names

_NUMBER = re.compile(r"|-?(?:[\d,]*+\.\d++|[\d,]*+(?<=\d))(?:e[-+]\d++)?%?")  # nothing in it is tried twice
_GAP = "  "
_LEAST_TEXT = 16
"""A column of words is not made narrower than this before columns are left out."""

_NARROWEST = 8
"""What a column of words may still shrink to where nothing is left to leave out."""


def format_table(columns: Mapping[str, Sequence[Any]]) -> str:
    """Format columns as a text table, numbers aligned to the right and words to the left, control codes as escapes.

    Parameters
    ----------
    columns
        Values by column name, all of one length.

    Returns
    -------
    str
        A line of names, a line of dashes, and a line for each row.
    """
    return _lines([text_column(name, values) for name, values in columns.items()])


@dataclass(frozen=True)
class TextColumn:
    """A column that can be made narrower.

    Attributes
    ----------
    heading : what stands above it, broken at blanks and after underscores where it is too long
    natural, least : the width that it would like to have, and the least width of its cells
    cells : its cells at a width, each as its lines
    to_the_right : whether it is aligned to the right
    stretches : whether it takes what is left of the width
    colours : for each row, the code of a colour (SGR); empty for no colours
    title : what stands above it at a width, where that is not the heading
    unbroken : the width at which no word of its cells is broken
    """

    heading: str
    natural: int
    least: int
    cells: Callable[[int], Sequence[Sequence[str]]]
    to_the_right: bool = False
    stretches: bool = False
    colours: Sequence[str] = ()
    title: Callable[[int], str] | None = None
    unbroken: int = 0

    @property
    def narrowest(self) -> int:
        """The least width, heading included."""
        return max(self.least, *map(cell_len, _pieces(self.heading)))

    def titled(self, width: int) -> list[str]:
        """The lines that stand above it."""
        return _heading_lines(self.heading, width) if self.title is None else [self.title(width)]


@dataclass(frozen=True)
class FittedTable:
    """A table that fits a width.

    Attributes
    ----------
    text : its lines
    left_out : headings of the columns that there was no room for, in the order of the table
    """

    text: str
    left_out: tuple[str, ...]

    def __str__(self) -> str:
        """The lines, and one that says what is left out."""
        return f"{self.text}\n(no room for {join_names(self.left_out)})" if self.left_out else self.text


def text_column(heading: str, values: Sequence[Any], show: Callable[[Any], str] = cell_text) -> TextColumn:
    """A column of values: numbers stay whole, words are wrapped where they have to be.

    Parameters
    ----------
    heading
        What stands above it.
    values
        One for each row.
    show
        Makes a text of a value.

    Returns
    -------
    TextColumn
    """
    heading, *texts = (printable_cell(text) for text in (heading, *map(show, values)))
    longest = max(map(cell_len, texts), default=0)
    if any(texts) and all(_NUMBER.fullmatch(text) for text in texts):
        return TextColumn(heading, max(cell_len(heading), longest), longest, lambda _: [[text] for text in texts], True)
    natural, least = max(cell_len(heading), longest), min(longest, _LEAST_TEXT)
    word = max((cell_len(word) for text in texts for word in text.split(" ")), default=0)
    return TextColumn(heading, natural, least, lambda width: [wrap_cell(text, width) for text in texts], unbroken=word)


def fit_table(
    columns: Sequence[TextColumn],
    width: int,
    first_to_go: Sequence[Collection[str]] = (),
    last_to_go: Collection[str] = (),
) -> FittedTable:
    """Fit a table to a width: break headings, wrap words, and leave out what there is no room for.

    Parameters
    ----------
    columns
        The first of them always stays.
    width
        No line is longer, unless a single column is.
    first_to_go
        Headings of columns to leave out first, in this order, those named together at once; then the others go, from
        the right.
    last_to_go
        Headings of columns that go after all others.

    Returns
    -------
    FittedTable
    """
    left_out: set[int] = set()
    for together in _order_of_leaving(columns, first_to_go, last_to_go):
        if _total([column.narrowest for k, column in enumerate(columns) if k not in left_out]) <= width:
            break
        left_out |= together
    kept = [column for k, column in enumerate(columns) if k not in left_out]
    return FittedTable(_lines(kept, _widths(kept, width)), tuple(columns[k].heading for k in sorted(left_out)))


def _order_of_leaving(
    columns: Sequence[TextColumn], first_to_go: Sequence[Collection[str]], last_to_go: Collection[str]
) -> list[set[int]]:
    """Places of columns in the order in which they are left out, some at once."""
    places = range(len(columns) - 1, 0, -1)
    first = [{k for k in places if columns[k].heading in together} for together in first_to_go]
    rest = [k for k in places if not any(k in together for together in first)]
    last = [k for k in rest if columns[k].heading in last_to_go]
    return [*first, *({k} for k in rest if k not in last), *({k} for k in last)]


def wrap_cell(text: str, width: int) -> list[str]:
    """Break a text into lines, if it can be after a comma, else between words, else within one.

    Parameters
    ----------
    text
        Of one cell.
    width
        Of the column.

    Returns
    -------
    list of str
        At least one line.
    """
    return _packed(re.split(r"(?<=,) ", text), width, lambda term: _packed(term.split(" "), width, _chopped(width)))


def _chopped(width: int) -> Callable[[str], list[str]]:
    return lambda word: chop_cells(word, max(width, 1))


def _packed(parts: Sequence[str], width: int, broken: Callable[[str], list[str]]) -> list[str]:
    """Lines with as many parts as fit, blanks between them; a part that is too long by itself is broken."""
    lines: list[str] = []
    for part in parts:
        if lines and cell_len(lines[-1]) + 1 + cell_len(part) <= width:
            lines[-1] += f" {part}"
        elif cell_len(part) <= width:
            lines.append(part)
        else:
            lines += broken(part)
    return lines or [""]


def _widths(columns: Sequence[TextColumn], width: int) -> list[int]:
    """How wide each column is: first words get what they need, above all not to be broken, then headings, then bars."""
    widths = [column.narrowest for column in columns]
    words = [k for k, column in enumerate(columns) if not column.to_the_right and not column.stretches]
    for k in words:  # where even the least is too much
        widths[k] -= max(0, min(_total(widths) - width, widths[k] - _NARROWEST))
    _share_out(widths, {k: columns[k].unbroken for k in words}, width - _total(widths))
    stretching = [k for k, column in enumerate(columns) if column.stretches]
    for some in (words, [k for k in range(len(columns)) if k not in stretching], stretching):
        _share_out(widths, {k: columns[k].natural for k in some}, width - _total(widths))
    return widths


def _share_out(widths: list[int], natural: Mapping[int, int], left: int) -> None:
    """Widen columns up to what they would like, always the one that lacks most."""
    while left > 0:
        lacking = {k: want - widths[k] for k, want in natural.items() if want > widths[k]}
        if not lacking:
            return
        widths[max(lacking, key=lambda k: lacking[k])] += 1
        left -= 1


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _pieces(heading: str) -> list[str]:
    """Parts of a heading between which it may be broken."""
    return re.findall(r"[^ _]*_+|[^ _]+|^$", heading)


def _heading_lines(heading: str, width: int) -> list[str]:
    lines = [""]
    for word in heading.split(" "):
        glue = " " if lines[-1] else ""
        for piece in [word] if cell_len(word) <= width else _pieces(word):
            if cell_len(lines[-1]) + len(glue) + cell_len(piece) <= width:
                lines[-1] += glue + piece
            else:
                lines += chop_cells(piece, max(width, 1))
            glue = ""
    return [line for line in lines if line] or [""]


def _lines(columns: Sequence[TextColumn], widths: Sequence[int] | None = None) -> str:
    widths = [column.natural for column in columns] if widths is None else widths
    headings = [column.titled(width) for column, width in zip(columns, widths, strict=True)]
    depth = max(map(len, headings), default=0)
    headings = [[""] * (depth - len(lines)) + lines for lines in headings]
    cells = [column.cells(width) for column, width in zip(columns, widths, strict=True)]
    text = _row(columns, widths, headings)
    text.append(_GAP.join("-" * width for width in widths))
    for k, row in enumerate(zip(*cells, strict=True)):
        text += _row(columns, widths, row, k)
    return "\n".join(text)


def _row(
    columns: Sequence[TextColumn], widths: Sequence[int], cells: Sequence[Sequence[str]], row: int | None = None
) -> list[str]:
    """One row, as many lines as its highest cell has."""
    lines = []
    for at in range(max(map(len, cells), default=0)):
        texts = [cell[at] if at < len(cell) else "" for cell in cells]
        padded = [_placed(*each, row) for each in zip(columns, texts, widths, strict=True)]
        lines.append(_GAP.join(padded).rstrip())
    return lines


def _placed(column: TextColumn, text: str, width: int, row: int | None) -> str:
    blank = " " * (width - cell_len(text))
    if text and row is not None and column.colours and column.colours[row]:
        text = f"\x1b[{column.colours[row]}m{text}\x1b[0m"
    return blank + text if column.to_the_right else text + blank
