"""Tables of results for a terminal: what fits its width, in few digits and in words. Files have the rest."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pnsight._foreign_text import printable_cell
from pnsight._text import cell_text
from pnsight._text_table import FittedTable, TextColumn, fit_table, text_column

Values = Sequence[Any]

_PAIRS = {
    "lower_low": ("lower_high", "lower_low - lower_high", "-"),
    "upper_low": ("upper_high", "upper_low - upper_high", "-"),
    "support_experimental": ("support_observational", "support exp. + obs.", "+"),
    "value_low": ("value_high", "value_low - value_high", "-"),
    "trial_lower": ("trial_upper", "trial_lower - trial_upper", "-"),
    "low": ("high", "low - high", "-"),
    "gain_low": ("gain_high", "gain_low - gain_high", "-"),
}
"""Columns that share one, by the first of them: the second, the heading, and what stands between two numbers."""

_HEADING = {first: heading for first, (_, heading, _) in _PAIRS.items()}
_BAR = "bar"
_FIRST_TO_GO = (
    (_HEADING["value_low"],),
    (_BAR,),
    ("basis",),
    (_HEADING["lower_low"], _HEADING["upper_low"]),
)
"""What there is no room for first; intervals of one end alone would mislead, so both go at once. What the trial alone
says is there only where the tables contradict each other, and stays for that."""

_LAST_TO_GO = ("decision", "lower", "upper", _HEADING["support_experimental"], "status")
_LEAST_BAR, _LONGEST_BAR = 22, 42
_NOISE = 1e-9  # what is left of zero after sums

DECISION_COLOURS = {"treat": "36", "not": "33", "uncertain": "2", "leave": "35"}
"""Codes of colours (SGR) by decision: cyan, yellow, dim and magenta, near those of plots and pages."""


@dataclass(frozen=True)
class TerminalStyle:
    """What a terminal can show.

    Attributes
    ----------
    width : of its lines
    colours : whether it shows colours
    lines : whether it has letters that are lines, for bars
    """

    width: int
    colours: bool = False
    lines: bool = True


def terminal_table(
    columns: Mapping[str, Values], style: TerminalStyle, first_to_go: Collection[str] = ()
) -> tuple[str, tuple[str, ...]]:
    """Show results as a table of a given width.

    Parameters
    ----------
    columns
        Values by column name, as files have them.
    style
        What the terminal can show.
    first_to_go
        Names of columns that are left out first where room is lacking.

    Returns
    -------
    The lines, and the names of columns with content that there was no room for.
    """
    with_content = _with_content(columns)
    shown, sources = _paired(with_content)
    if style.colours:
        shown = [_coloured(column, with_content) for column in shown]
    if (bar := _bar(with_content, style.lines)) is not None:
        shown.append(bar)
    own = ((name,) for name in reversed(list(first_to_go)))
    fitted = fit_table(shown, style.width, (*own, *_FIRST_TO_GO), _LAST_TO_GO)
    return fitted.text, _left_out(fitted, sources)


def _with_content(columns: Mapping[str, Values]) -> dict[str, Values]:
    """Columns that have something in some row, and decisions, of which none is an answer too."""
    found = {
        name: values
        for name, values in columns.items()
        if name == "decision" or any(value not in (None, "") for value in values)
    }
    return found if any(map(len, columns.values())) else dict(columns)


def _left_out(fitted: FittedTable, sources: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(name for heading in fitted.left_out for name in sources.get(heading, ()))


def _paired(columns: Mapping[str, Values]) -> tuple[list[TextColumn], dict[str, tuple[str, ...]]]:
    """Columns to show, and by heading the names of those that each of them shows."""
    shown: list[TextColumn] = []
    sources: dict[str, tuple[str, ...]] = {}
    seconds = {second for first, (second, _, _) in _PAIRS.items() if first in columns}
    for name, values in columns.items():
        second, heading, between = _PAIRS.get(name, ("", "", ""))
        if second in columns:
            shown.append(_pair(heading, values, columns[second], between))
            sources[heading] = (name, second)
        elif name not in seconds:
            shown.append(text_column(name, values, short_text))
            sources[printable_cell(name)] = (name,)
    return shown, sources


def _pair(heading: str, firsts: Values, seconds: Values, between: str) -> TextColumn:
    """Two columns of numbers in one; a dash between them is no minus sign."""
    if between == "-" and any(value is not None and value < 0 for value in (*firsts, *seconds)):
        between = " to "
    one, other = (list(map(short_text, values)) for values in (firsts, seconds))
    left, right = (max(map(len, texts), default=0) for texts in (one, other))
    texts = [
        f"{a:>{left}}{between if a or b else ' ' * len(between)}{b:<{right}}" for a, b in zip(one, other, strict=True)
    ]
    size = left + len(between) + right
    return TextColumn(heading, max(len(heading), size), size, lambda _: [[text] for text in texts], True)


def short_text(value: Any) -> str:
    """Format one value for a reader: three decimals, and what is small but not zero with one digit.

    Parameters
    ----------
    value
        Anything; only numbers that are not whole are shortened.

    Returns
    -------
    str
    """
    if not isinstance(value, float) or not math.isfinite(value) or (value == int(value) and abs(value) >= 2):
        return cell_text(value)
    if abs(value) < _NOISE:
        return "0.000"
    return f"{value:,.3f}" if abs(value) >= 5e-4 else f"{value:.0e}"


# --- colours ------------------------------------------------------------------------------------------------


def _coloured(column: TextColumn, columns: Mapping[str, Values]) -> TextColumn:
    if column.heading not in ("decision", "decision_cautious"):
        return column
    return replace(column, colours=[_colour(str(word)) for word in columns[column.heading]])


def _colour(decision: str) -> str:
    """The colour of a decision; an arm that is best is one to treat with."""
    return DECISION_COLOURS.get("treat" if decision.startswith("arm:") else decision, "")


# --- a bar of the bounds ----------------------------------------------------------------------------------------


def _bar(columns: Mapping[str, Values], lines: bool) -> TextColumn | None:
    """A picture of the bounds from 0 to 1, or over all of them where one is outside; None where there are none."""
    if not {"lower", "upper"} <= columns.keys():
        return None
    lower, upper = columns["lower"], columns["upper"]
    low, high = columns.get("lower_low", lower), columns.get("upper_high", upper)
    ends = [tuple(map(_number, row)) for row in zip(low, lower, upper, high, strict=True)]
    known = [number for row in ends for number in row if not math.isnan(number)]
    if not known:
        return None
    start, stop = min(0.0, *known), max(1.0, *known)
    thick, thin = "━─" if lines else "=-"

    def cells(width: int) -> list[list[str]]:
        places = [[(number - start) / (stop - start) * width for number in row] for row in ends]
        return [[_stroke(row, width, thick, thin)] for row in places]

    def title(width: int) -> str:
        first, last = f"{start:.3g}", f"{stop:.3g}"
        return first + " " * (width - len(first) - len(last)) + last

    return TextColumn(_BAR, _LONGEST_BAR, _LEAST_BAR, cells, stretches=True, title=title)


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _stroke(places: Sequence[float], width: int, thick: str, thin: str) -> str:
    """A thick line from end to end, and a thin one as far as their intervals reach; nothing without an answer."""
    if any(map(math.isnan, places)):
        return ""
    low, lower, upper, high = places
    letters = [" "] * width
    for first, last, letter in ((low, high, thin), (lower, upper, thick)):
        begin = min(int(first + _NOISE), width - 1)
        for at in range(begin, max(begin + 1, math.ceil(last - _NOISE))):
            letters[at] = letter
    return "".join(letters)
