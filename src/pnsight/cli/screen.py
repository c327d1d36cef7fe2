"""The screen that people read: how wide it is, whether it shows colours, and text wrapped to it."""

from __future__ import annotations

import os
import shutil
import textwrap
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from pnsight.output.terminal_table import TerminalStyle

_USUAL_WIDTH = 80
_NARROWEST = 30


def screen_width() -> int:
    """How wide what people read may be: COLUMNS, else the terminal, else 80."""
    return max(shutil.get_terminal_size((_USUAL_WIDTH, 24)).columns, _NARROWEST)


def screen_style(stream: TextIO, to_file: bool) -> TerminalStyle:
    """What can be shown on a stream, or in a file.

    Parameters
    ----------
    stream
        Where results go.
    to_file
        Whether they go to a file instead.

    Returns
    -------
    Colours only on a terminal, and not where NO_COLOR is set (https://no-color.org).
    """
    from pnsight.output.terminal_table import TerminalStyle

    terminal = stream.isatty() and not to_file
    colours = terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    lines = to_file or (stream.encoding or "utf-8").lower().startswith("utf")
    return TerminalStyle(screen_width(), colours, lines)


def wrap_message(message: str, stream: TextIO) -> str:
    """A message, wrapped on words where a person reads it; in a log file it stays one line that can be searched."""
    read = stream.isatty() or os.environ.get("COLUMNS")
    return wrap_text(message, screen_width()) if read else message


def wrap_text(text: str, width: int) -> str:
    """Wrap the lines that are too long, on words, further lines two blanks further in.

    Parameters
    ----------
    text
        Lines; blanks at their beginning stay.
    width
        Of the screen; a word that is longer, such as the path of a file, stays whole.

    Returns
    -------
    str
    """
    return "\n".join(_wrapped(line, width) for line in text.split("\n"))


def _wrapped(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    indent = " " * (len(line) - len(line.lstrip(" ")) + 2)
    lines = textwrap.wrap(
        line,
        width,
        drop_whitespace=True,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
    )
    return "\n".join(lines)
