"""A figure to draw on, and how it is written; nothing here touches the settings of anybody else's figures.

Every figure is an object of its own, made without pyplot: it needs no screen, and threads may draw at the same time.
"""

from __future__ import annotations

import io
import re
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

import matplotlib
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pnsight._files import replacing
from pnsight._palette import BLACK, GREY, Look
from pnsight.errors import OutputError

STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "svg.hashsalt": "pnsight",
}
"""Settings of figures that are drawn within `matplotlib.rc_context`, and of all while they are written."""

TEXT, SMALL = 10.5, 9.5
"""Sizes of letters, in points of a figure that is 6 to 8 inches wide: half as large they can still be read."""

_LETTERS_AN_INCH = 11
_MARK_LETTERS = 8  # room for a mark of a legend and around it
_WRITING = Lock()  # Matplotlib has one set of settings for all threads
_IDENTIFIER = re.compile(r'(\bid="|url\(#|href="#)([^")]+)')


class Drawing(Figure):
    """A figure that a notebook shows by itself, without pyplot and whatever backend is chosen."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        with _WRITING, matplotlib.rc_context(STYLE), _without_glyph_warnings():
            self.savefig(buffer, format="png", dpi=120, metadata={"Software": None}, bbox_inches="tight")
        return buffer.getvalue()

    def _repr_svg_(self) -> str:
        buffer = io.StringIO()
        with _WRITING, matplotlib.rc_context(STYLE), _without_glyph_warnings():
            self.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None}, bbox_inches="tight")
        return buffer.getvalue()


@contextmanager
def _without_glyph_warnings() -> Iterator[None]:
    """Letters that the font lacks are drawn as boxes, or left to the reader's browser."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")
        yield


def canvas(width: float, height: float, columns: int = 1, **subplots: Any) -> tuple[Figure, list[Axes]]:
    """A white figure of so many inches, and its axes."""
    figure = Drawing(figsize=(width, height), layout="constrained", facecolor="white")
    axes = list(figure.subplots(1, columns, squeeze=False, **subplots)[0])
    for one in axes:
        plain(one)
    return figure, axes


def plain(axes: Axes) -> None:
    """Axes without a frame, with light lines along x, whatever the settings of the notebook are."""
    axes.set_facecolor("white")
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    axes.grid(visible=True, axis="both", color=GREY, alpha=0.25, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=SMALL, colors=BLACK)
    for text in (axes.title, axes.xaxis.label, axes.yaxis.label):
        text.set(fontsize=TEXT, color=BLACK)


def titled(figure: Figure, title: str) -> None:
    """A title on the left, with a capital, in as many lines as the width of the figure asks for."""
    words = wrapped([title[:1].upper() + title[1:]], int(_LETTERS_AN_INCH * figure.get_figwidth()))
    figure.suptitle(words, x=0.01, ha="left", fontsize=TEXT, color=BLACK, parse_math=False)


def below(figure: Figure, handles: Sequence[Artist]) -> None:
    """What the marks mean, below the figure in as many lines as its width asks for."""
    if handles:
        columns = _columns([str(handle.get_label()) for handle in handles], _LETTERS_AN_INCH * figure.get_figwidth())
        figure.legend(handles=handles, loc="outside lower left", ncols=columns, fontsize=SMALL, frameon=False)


def _columns(labels: Sequence[str], letters: float) -> int:
    """In how many columns the labels and their marks fit into so many letters, side by side if they can."""
    sizes = [len(label) + _MARK_LETTERS for label in labels]
    if sum(sizes) <= letters:
        return len(labels)
    return max(1, int(letters // max(sizes)))


def shortened(text: str, most: int) -> str:
    """No longer than that many characters, cut between words where that leaves most of it."""
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    at = cut.rfind(" ")
    return f"{cut[:at] if at > most // 2 else cut}…"


def wrapped(terms: Sequence[str], letters: int, most_lines: int = 4) -> str:
    """Terms with commas between them in lines of so many letters: broken between terms, and else between words.

    Parameters
    ----------
    terms
        What stands together if it can.
    letters
        In a line.
    most_lines
        What does not fit into as many is left out, and an ellipsis says so.

    Returns
    -------
    str
        The lines.
    """
    lines: list[str] = []
    for place, term in enumerate(terms):
        text = f"{term}," if place < len(terms) - 1 else term
        if lines and len(lines[-1]) + 1 + len(text) <= letters:
            lines[-1] += f" {text}"
        else:
            lines += textwrap.wrap(text, letters, break_on_hyphens=False) or [text]
    if len(lines) > most_lines:
        lines = [*lines[: most_lines - 1], f"{shortened(lines[most_lines - 1], letters - 2).rstrip('…')} …"]
    return "\n".join(lines)


def mark(look: Look) -> dict[str, Any]:
    """How Matplotlib draws the sign of a decision."""
    return {
        "marker": look.marker,
        "color": look.colour,
        "markerfacecolor": "white" if look.filling == "none" else look.colour,
        "linestyle": "none",
        "ms": 7,
        "mew": 1.6,
    }


def verbatim(axes: Axes) -> None:
    """Names on the axes and in texts as they are written, dollar signs too."""
    for text in (*axes.get_xticklabels(), *axes.get_yticklabels(), *axes.texts):
        text.set_parse_math(False)


def check_place(path: Path | None) -> None:
    """Refuse a file that `save` could not write, before long work rather than after it."""
    if path is not None and path.suffix not in (".svg", ".png", ".pdf"):
        raise OutputError(f"cannot draw {str(path)!r}: its ending is {path.suffix!r}; expected .svg, .png or .pdf.")
    try:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot draw {str(path)!r}: {error.strerror}.") from None


def save(figure: Figure, path: Path) -> None:
    """Write a figure, the same bytes for the same drawing."""
    check_place(path)
    metadata: dict[str, None] = {".svg": {"Date": None}, ".png": {"Software": None}}.get(path.suffix, {})
    try:
        with _WRITING, matplotlib.rc_context(STYLE), replacing(path) as scratch:
            figure.savefig(scratch, format=path.suffix[1:], dpi=160, metadata=metadata, bbox_inches="tight")
    except OSError as error:
        raise OutputError(f"cannot draw {str(path)!r}: {error.strerror}.") from None


def svg(figure: Figure, name: str, title: str) -> str:
    """The figure as an element for an HTML page, its letters as text; `name` sets its identifiers apart from others'.

    `title` is what a reader hears who does not see it.
    """
    buffer = io.StringIO()
    with _WRITING, matplotlib.rc_context({"svg.fonttype": "none"}), _without_glyph_warnings():
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None}, bbox_inches="tight")
    return _element(buffer.getvalue(), name, title)


def _element(document: str, name: str, title: str) -> str:
    """Without what only a file of its own needs, and with short identifiers."""
    short: dict[str, str] = {}
    inside = document[document.index("<svg") :]
    inside = re.sub(r"<metadata>.*?</metadata>", "", inside, flags=re.DOTALL)
    inside = _IDENTIFIER.sub(lambda found: found[1] + short.setdefault(found[2], f"{name}-{len(short)}"), inside)
    inside = re.sub(r"\n\s*", "\n", inside)
    return inside.replace("<svg ", f'<svg role="img" aria-label="{_attribute(title)}" ', 1)


def _attribute(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
