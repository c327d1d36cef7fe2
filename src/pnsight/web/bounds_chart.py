"""Where everything is on the drawing of an answer, in per cent of its width."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pnsight.estimands.resolve import OK
from pnsight.queries.bound_table import BoundTable
from pnsight.web.state import Options

_TICKS = 4
_NAME = 22.0
"""Width that the name of a strip takes on a phone."""


@dataclass(frozen=True)
class Strip:
    """Bounds as a strip: its ends, and where the interval of each end begins and stops; None without intervals."""

    lower: float
    upper: float
    lower_interval: tuple[float, float] | None
    upper_interval: tuple[float, float] | None

    @property
    def leftmost(self) -> float:
        """Where the strip or its interval begins."""
        return min(self.lower, self.lower_interval[0]) if self.lower_interval else self.lower

    @property
    def rightmost(self) -> float:
        """Where the strip or its interval stops."""
        return max(self.upper, self.upper_interval[1]) if self.upper_interval else self.upper

    @property
    def width(self) -> float:
        """From end to end."""
        return round(self.upper - self.lower, 3)


@dataclass(frozen=True)
class Label:
    """Where the name of a strip is, and on which side of that place."""

    place: float
    right: bool


@dataclass(frozen=True)
class Bar:
    """The drawing: strips for the people asked about and for everyone, whose name is beside it; threshold and scale."""

    group: Strip | None
    everyone: Strip | None
    threshold: float | None
    ticks: tuple[tuple[float, str], ...]
    label: Label | None


@dataclass(frozen=True)
class Scale:
    """From values of a quantity to places."""

    low: float
    high: float

    @classmethod
    def of(cls, options: Options) -> Scale:
        """All values that the quantity can have."""
        low, high = options.estimand.span
        return cls(low, high) if low < high else cls(low - 1, high + 1)

    def place(self, value: float) -> float:
        """The place of a value."""
        return round(100 * (value - self.low) / (self.high - self.low), 3)

    def ticks(self) -> tuple[tuple[float, str], ...]:
        """Places and values to mark."""
        values = (self.low + k * (self.high - self.low) / _TICKS for k in range(_TICKS + 1))
        return tuple((self.place(value), f"{value:.4g}") for value in values)

    def strip(self, answer: BoundTable, row: int = 0) -> Strip | None:
        """The bounds in one row, None where there is no answer."""
        if answer.status[row] != OK:
            return None
        ends = float(answer.lower[row]), float(answer.upper[row])
        lower, upper = (self._interval(answer.interval(end), row) for end in ("lower", "upper"))
        return Strip(self.place(ends[0]), self.place(ends[1]), lower, upper)

    def _interval(self, interval: tuple[object, object], row: int) -> tuple[float, float] | None:
        low, high = (float(end[row]) for end in interval)  # type: ignore[index]
        return None if math.isnan(low) else (self.place(low), self.place(high))


def drawn(group: BoundTable, everyone: BoundTable | None, options: Options, threshold: float) -> Bar:
    """The drawing of one answer."""
    scale = Scale.of(options)
    line, beneath = scale.place(threshold), None if everyone is None else scale.strip(everyone)
    return Bar(
        scale.strip(group),
        beneath,
        line if 0 <= line <= 100 else None,
        scale.ticks(),
        None if beneath is None else _label(beneath, line),
    )


def _label(strip: Strip, threshold: float) -> Label:
    """A free place beside a strip: next to it, or next to the line of the threshold; without any, on the strip."""
    places = [Label(place, right) for place in (strip.rightmost, strip.leftmost, threshold) for right in (True, False)]
    return next((label for label in places if _is_free(label, strip, threshold)), Label(strip.lower, True))


def _is_free(label: Label, strip: Strip, threshold: float) -> bool:
    low, high = (label.place, label.place + _NAME) if label.right else (label.place - _NAME, label.place)
    beside = high <= strip.leftmost or low >= strip.rightmost
    return low >= 0 and high <= 100 and beside and not low < threshold < high
