"""HTML fragments for notebooks: tables and lists of facts that are legible in light and dark themes.

There is no script and no background colour; text has the notebook's colour, and only decision symbols have their own.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

from pnsight._palette import DECISIONS
from pnsight._text import cell_text

_MARKED = {"decision": tuple(DECISIONS), "decision_cautious": tuple(filter(None, DECISIONS))}
"""Words that have a symbol, by column; caution that a model has no intervals for is left empty."""
_TABLE = '<table style="color:inherit">'


def table(columns: Mapping[str, Sequence[Any]], caption: str, below: Sequence[str] = ()) -> str:
    """Format columns as an HTML table, numbers rounded and aligned to the right, decisions with their symbol.

    Parameters
    ----------
    columns
        Values by column name, all of one length.
    caption
        Title of the table.
    below
        Lines of text after the table.

    Returns
    -------
    str
        The HTML.
    """
    sides = {name: "right" if _numeric(values) else "left" for name, values in columns.items()}
    head = "".join(f'<th style="text-align:{sides[name]}">{html.escape(name)}</th>' for name in columns)
    rows = (
        "".join(_cell(name, value, sides[name]) for name, value in zip(columns, row, strict=True))
        for row in zip(*columns.values(), strict=True)
    )
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    after = "".join(f'<div style="opacity:0.8">{html.escape(line)}</div>' for line in below)
    title = f'<caption style="text-align:left">{html.escape(caption)}</caption>'
    return f"{_TABLE}{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{after}"


def facts(title: str, found: Mapping[str, str]) -> str:
    """Format named facts as an HTML table of two columns under a title.

    Parameters
    ----------
    title
        What the facts are about.
    found
        Facts by name.

    Returns
    -------
    str
        The HTML.
    """
    lines = "".join(
        f'<tr><th style="text-align:left">{html.escape(name)}</th>'
        f'<td style="text-align:left">{html.escape(text)}</td></tr>'
        for name, text in found.items()
    )
    return f"<div><b>{html.escape(title)}</b>{_TABLE}<tbody>{lines}</tbody></table></div>"


def _numeric(values: Sequence[Any]) -> bool:
    """Whether a column has numbers, apart from what is missing."""
    present = [value for value in values if value is not None]
    return bool(present) and all(isinstance(value, int | float) for value in present)


def _cell(name: str, value: Any, side: str) -> str:
    text = _decision(value) if value in _MARKED.get(name, ()) else html.escape(_text(value))
    return f'<td style="text-align:{side}">{text}</td>'


def _decision(word: str) -> str:
    look = DECISIONS[word]
    return f'<span style="color:{look.colour}">{look.sign}</span>&nbsp;{html.escape(look.name)}'


def _text(value: Any) -> str:
    """A value in few digits; very small and very large numbers as elsewhere."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if not isinstance(value, float) or not math.isfinite(value):
        return cell_text(value)
    if value == 0 or 5e-5 <= abs(value) < 2:
        return f"{value:.4f}"
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e12 else f"{value:,.4g}"
