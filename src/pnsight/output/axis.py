"""Axes that fit what they show, with round numbers on them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_MAX_TICKS = 6
_ROUNDING = 1e-9
_MARGIN = 0.03  # of its length that is left free at either end


@dataclass(frozen=True)
class Axis:
    """An axis from a low to a high number.

    Attributes
    ----------
    low, high : where it begins and stops
    ticks : round numbers on it, in order
    """

    low: float
    high: float
    ticks: tuple[float, ...]

    @property
    def span(self) -> tuple[float, float]:
        """From where to where to draw, with room for marks at both ends."""
        room = _MARGIN * (self.high - self.low)
        return self.low - room, self.high + room

    def share(self, value: float) -> float:
        """How far along `span` a number is, from 0 to 1."""
        low, high = self.span
        return (value - low) / (high - low)

    def text(self, tick: float) -> str:
        """A tick in as many digits as tell it from its neighbours."""
        step = self.ticks[1] - self.ticks[0] if len(self.ticks) > 1 else 1.0
        digits = max(0, -math.floor(math.log10(step) + _ROUNDING))
        digits += not math.isclose(step, round(step, digits), rel_tol=_ROUNDING)
        return f"{tick:,.{digits}f}"


def fit_axis(values: Iterable[float | None]) -> Axis:
    """The axis that numbers need, from one round number to another.

    Parameters
    ----------
    values
        Numbers that have to be on it; those that are missing are None or NaN.

    Returns
    -------
    Axis
        With at most 6 ticks; from 0 to 1 where there is no number.
    """
    known = [value for value in values if value is not None and math.isfinite(value)]
    if not known:
        return fit_axis((0.0, 1.0))
    low, high = min(known), max(known)
    if high - low < _ROUNDING * max(1.0, abs(low), abs(high)):
        low, high = low - 0.05 * abs(low), high + 0.05 * (abs(high) or 1.0)
    for step in _round_steps((high - low) / _MAX_TICKS):
        first, last = math.floor(low / step + _ROUNDING), math.ceil(high / step - _ROUNDING)
        if last - first < _MAX_TICKS:
            break
    ticks = tuple(step * k for k in range(first, last + 1))
    return Axis(ticks[0], ticks[-1], ticks)


def _round_steps(least: float) -> list[float]:
    """Round numbers from about `least` on; the last is always large enough for six of them."""
    size = 10.0 ** math.floor(math.log10(least))
    return [step * size * power for power in (1.0, 10.0) for step in _STEPS]
