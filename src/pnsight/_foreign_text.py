"""Foreign text, from tables and models, where it could act: as a formula in a spreadsheet, or on a terminal.

Names of columns and levels are anybody's. `csv_text` of `_text`, `_text_table` and the output of the command line
pass them through here, and nothing else has to think of it.
"""

from __future__ import annotations

from typing import Any

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What begins a formula in a spreadsheet, where full-width signs may be taken for plain ones."""

_APOSTROPHE = "'"

_SHOWN = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}
_CONTROLS = (*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""What moves the cursor, colours, renames or answers on a terminal, and what turns the direction of writing."""

_ESCAPED = {code: _SHOWN.get(chr(code), f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}") for code in _CONTROLS}
_ESCAPED_IN_LINES = {code: text for code, text in _ESCAPED.items() if chr(code) not in "\n\t"}


def as_spreadsheet_cell(value: Any) -> Any:
    """A value for a CSV file that no spreadsheet takes for a formula.

    Parameters
    ----------
    value
        Anything; only text is changed.

    Returns
    -------
    The value; text that begins as a formula does, and is neither a number nor a sign alone, follows an apostrophe.
    """
    return f"{_APOSTROPHE}{value}" if isinstance(value, str) and _acts(value) else value


def without_apostrophe(text: str) -> str:
    """The text that `as_spreadsheet_cell` was given.

    Parameters
    ----------
    text
        From a CSV file.

    Returns
    -------
    The text without an apostrophe that keeps it from being a formula.
    """
    return text[1:] if text.startswith(_APOSTROPHE) and _acts(text[1:]) else text


def _acts(text: str) -> bool:
    return text.startswith(_FORMULA) and len(text.strip()) > 1 and not _is_number(text)


def _is_number(text: str) -> bool:
    try:
        float(text.removesuffix("%").replace(",", ""))
    except ValueError:
        return False
    return True


def printable(text: str) -> str:
    """Lines for a terminal, with control codes as escapes that one can read.

    Parameters
    ----------
    text
        Lines; ends of lines and tabs stay.

    Returns
    -------
    str
    """
    return text.translate(_ESCAPED_IN_LINES)


def printable_cell(text: str) -> str:
    """A cell of a table for a terminal: as `printable`, and on one line.

    Parameters
    ----------
    text
        Of one cell.

    Returns
    -------
    str
    """
    return text.translate(_ESCAPED)
