"""Forest plots: the bounds of one query a row, with the intervals of both ends and the decision they support."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pnsight._palette import BLACK, DECISIONS, GREY, NO_DECISION, Look
from pnsight._text import count_text, share_text
from pnsight._typing import FloatArray
from pnsight.decisions import Decisions, Ranking, decided
from pnsight.estimands.quantities import find_quantity
from pnsight.estimands.resolve import OK
from pnsight.output.axis import Axis, fit_axis
from pnsight.output.plots.canvas import SMALL, below, canvas, mark, titled, verbatim, wrapped
from pnsight.queries.bound_table import BoundTable
from pnsight.queries.query import query_terms

MOST_ROWS = 60
"""Queries that one figure shows; of more, the first."""

_UNDECIDED = Look("bounds", BLACK, "●", "o", "full")
_DASHES = (0, (5, 3))
_NAME_LINES = 6
_INCHES_A_LINE, _INCHES_AROUND, _LINES_BETWEEN, _INCHES_OF_ROWS = 0.17, 1.3, 0.7, 1.1


class _Size(NamedTuple):
    """How wide a figure is, and how many letters of a name it has room for in a line."""

    inches: float
    letters: int


_WIDE, _NARROW = _Size(7.2, 34), _Size(4.4, 17)


@dataclass(frozen=True)
class _Rows:
    """What is drawn, a row each: answers, how they look, what they are called, and columns of text on the right."""

    answers: BoundTable
    looks: Sequence[Look]
    names: Sequence[str]
    beside: dict[str, list[str]]
    threshold: float | None
    size: _Size = _WIDE

    @property
    def inches(self) -> float:
        """How wide the figure is: wider where rows stand beside a decision, so that bars keep their length."""
        return self.size.inches + _INCHES_OF_ROWS * (self.threshold is not None)

    @property
    def heights(self) -> FloatArray:
        """Of each row, in lines of text: somewhat more than its name has."""
        return np.array([1.0 + _LINES_BETWEEN + name.count("\n") for name in self.names])

    @property
    def places(self) -> FloatArray:
        """Where the middle of each row is."""
        return np.asarray(np.cumsum(self.heights) - self.heights / 2)


def forest(
    found: BoundTable | Decisions,
    title: str | None = None,
    narrow: bool = False,
    names: Sequence[Sequence[str]] | None = None,
) -> Figure:
    """Bounds as bars, the interval of each end as a line with caps, and each decision by colour and shape.

    A narrow figure can be read on a phone, and two of them stand side by side on a page. `names` are the terms that
    each group is called by, in place of the text of its query.
    """
    size = _NARROW if narrow else _WIDE
    if isinstance(found, Decisions):
        answers, threshold = _first(found.answers), found.threshold
        looks = _looks(found)
    else:
        answers, threshold = _first(found), None
        looks = _undecided(answers)
    called = [group_name(group, size.letters) for group in groups_of(answers.queries, names)[: len(answers)]]
    beside = {"lower to upper": ends_text(answers), **({} if threshold is None else rows_text(answers))}
    return _drawn(_Rows(answers, looks, called, beside, threshold, size), title or _title(found))


def ranking(
    found: Ranking,
    threshold: float | None = None,
    title: str | None = None,
    cautious: bool = False,
    names: Sequence[Sequence[str]] | None = None,
) -> Figure:
    """The same for a ranking, best first, with the share of people whom each query describes."""
    answers = _first(found.answers)
    looks = _undecided(answers) if threshold is None else _looks(decided(answers, threshold, cautious))
    groups = enumerate(groups_of(answers.queries, names)[: len(answers)], start=1)
    called = [group_name(_numbered(place, group)) for place, group in groups]
    beside = {"lower to upper": ends_text(answers), "people": list(map(share_text, found.share))}
    if threshold is not None:
        beside |= rows_text(answers)
    return _drawn(_Rows(answers, looks, called, beside, threshold), title or _title(found))


def _numbered(place: int, group: Sequence[str]) -> list[str]:
    """The terms of a group, the first after its place."""
    first, *others = group or ["everyone"]
    return [f"{place}. {first}", *others]


def _title(found: BoundTable | Decisions | Ranking) -> str:
    """What a figure shows, in words."""
    if isinstance(found, BoundTable):
        return f"{find_quantity(found.quantity).title}: bounds for each group"
    label = find_quantity(found.answers.quantity).label
    if isinstance(found, Ranking):
        return f"Groups in order of the bounds on {label}, the best first"
    sure = f", with {found.answers.level:.0%} confidence" if found.cautious and found.answers.level else ""
    return f"Treat where {label} is at least {found.threshold:g}{sure}"


def name_of(query: str, letters: int = _WIDE.letters) -> str:
    """What a query is called in a figure, in several lines if it is long."""
    return group_name(query_terms(query), letters)


def group_name(terms: Sequence[str], letters: int = _WIDE.letters) -> str:
    """A group by what is known of it, in several lines if that is long."""
    return wrapped(terms, letters, _NAME_LINES) or "everyone"


def groups_of(queries: Sequence[str], names: Sequence[Sequence[str]] | None) -> Sequence[Sequence[str]]:
    """The terms of each group: as given, or as its query says."""
    return [query_terms(query) for query in queries] if names is None else names


def ends_text(answers: BoundTable) -> list[str]:
    """Both ends of each answer, or why there is none."""
    digits = ".3f" if find_quantity(answers.quantity).is_share else ".4g"
    rows = zip(answers.lower, answers.upper, answers.status, strict=True)
    return [f"{lower:{digits}} – {upper:{digits}}" if status == OK else str(status) for lower, upper, status in rows]


def rows_text(answers: BoundTable) -> dict[str, list[str]]:
    """Rows behind each answer, under a heading: of the experiment, and of the observational table if it has any."""
    if not answers.support_observational.any():
        return {"rows": list(map(_short_count, answers.support_experimental))}
    pairs = zip(answers.support_experimental, answers.support_observational, strict=True)
    return {"trial + obs. rows": [f"{_short_count(trial)} + {_short_count(observed)}" for trial, observed in pairs]}


def _short_count(rows: float) -> str:
    """A number of rows in few letters: ``37``, ``1.3k``, ``200k``, ``12M``; small ones are exact."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if rows >= size:
            return f"{rows / size:.2g}{letter}" if rows < 10 * size else f"{rows / size:,.0f}{letter}"
    return count_text(rows)


def _looks(found: Decisions) -> list[Look]:
    """By the decision; an answer on which nothing is decided is told apart from none."""
    rows = zip(found.decision, found.answers.status, strict=True)
    return [NO_DECISION if not word and status == OK else DECISIONS[str(word)] for word, status in rows][:MOST_ROWS]


def _first(answers: BoundTable) -> BoundTable:
    return answers.take(np.arange(min(len(answers), MOST_ROWS)))


def _undecided(answers: BoundTable) -> list[Look]:
    return [_UNDECIDED if status == OK else DECISIONS[""] for status in answers.status]


def _drawn(rows: _Rows, title: str) -> Figure:
    height = float(rows.heights.sum()) or 2.0
    figure, (axes,) = canvas(rows.inches, _INCHES_AROUND + _INCHES_A_LINE * height)
    if rows.threshold is not None:
        axes.axvline(rows.threshold, color=BLACK, linewidth=1.2, linestyle=_DASHES, zorder=1)
    for row, place in enumerate(rows.places):
        _bar(axes, rows.answers, row, place, rows.looks[row])
    axes.set_yticks(rows.places, rows.names)
    axes.set_ylim(height, 0)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    axis = _axis(rows)
    axes.set_xlim(*axis.span)
    axes.set_xticks(axis.ticks, [axis.text(tick) for tick in axis.ticks])
    axes.set_xlabel(_axis_name(rows.answers))
    _beside(axes, rows)
    _key(figure, rows)
    titled(figure, title)
    verbatim(axes)
    return figure


def _bar(axes: Axes, answers: BoundTable, row: int, place: float, look: Look) -> None:
    """One query: a bar between the ends, a line with caps through each of them, and a mark on it."""
    if answers.status[row] != OK:
        axes.plot(0.02, place, transform=axes.get_yaxis_transform(), **mark(look))
        return
    ends = answers.lower[row], answers.upper[row]
    axes.plot(ends, (place, place), color=look.colour, linewidth=6, alpha=0.35, solid_capstyle="butt", zorder=2)
    for end, (low, high) in zip(ends, (answers.interval("lower"), answers.interval("upper")), strict=True):
        capped(axes, low[row], high[row], place, look.colour)
        axes.plot(end, place, zorder=4, clip_on=False, **mark(look))


def capped(axes: Axes, low: float, high: float, place: float, colour: str) -> None:
    """A thin line with caps; nothing where an end is missing."""
    axes.plot((low, high), (place, place), color=colour, linewidth=1.4, marker="|", ms=8, mew=1.4, zorder=3)


def _axis(rows: _Rows) -> Axis:
    """As long as bounds, intervals and the threshold need."""
    answers = rows.answers
    known = [answers.lower, answers.upper, *answers.interval("lower"), *answers.interval("upper")]
    values = np.concatenate(known).tolist()
    return fit_axis(values if rows.threshold is None else [*values, rows.threshold])


def _beside(axes: Axes, rows: _Rows) -> None:
    """Columns of text on the right of the axes, one line a row under a heading."""
    points = 8.0
    for name, values in rows.beside.items():
        points += 0.62 * SMALL * max(map(len, [name, *values]), default=0)
        for place, text in [(-0.6, name), *zip(rows.places, values, strict=True)]:
            axes.annotate(
                text,
                (1, place),
                xytext=(points, 0),
                xycoords=axes.get_yaxis_transform(),
                textcoords="offset points",
                ha="right",
                va="center",
                fontsize=SMALL,
                color=GREY if place < 0 else BLACK,
                annotation_clip=False,
            )
        points += 10


def _axis_name(answers: BoundTable) -> str:
    name = find_quantity(answers.quantity).label
    return name if answers.level is None else f"{name}; thin lines: {answers.level:.0%} interval of each end"


def _key(figure: Figure, rows: _Rows) -> None:
    """What the marks mean."""
    present = [look for look in (*DECISIONS.values(), NO_DECISION) if look in rows.looks]
    handles = [Line2D([], [], label=look.name, **mark(look)) for look in present]
    if rows.threshold is not None:
        label = f"threshold {rows.threshold:g}"
        handles.append(Line2D([], [], color=BLACK, linestyle=_DASHES, linewidth=1.2, label=label))
    below(figure, handles)
