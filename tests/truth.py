"""What is true of a population when the eight response types are known; written out, not shared with the package."""

from __future__ import annotations

from itertools import product

import numpy as np

TYPES = tuple(product((0, 1), repeat=3))
"""(X chosen, Y untreated, Y treated), in the order the package documents for `law.TWO_BY_TWO.types`."""


def probability(shares: np.ndarray, event) -> float:
    """Share of the types for which ``event(x, y0, y1)`` holds."""
    return float(sum(share for share, kind in zip(shares, TYPES, strict=True) if event(*kind)))


def conditional(shares: np.ndarray, event, given) -> float:
    """P(event | given), NaN where the condition is impossible."""
    whole = probability(shares, given)
    return probability(shares, lambda *kind: event(*kind) and given(*kind)) / whole if whole > 0 else float("nan")


def realised(x: int, y0: int, y1: int) -> int:
    """The outcome a person shows under their own choice."""
    return y1 if x else y0


def true_value(shares: np.ndarray, quantity: str) -> float:
    """The quantity of that name, by its definition."""
    return {
        "pns": lambda: probability(shares, lambda x, y0, y1: not y0 and y1),
        "harm": lambda: probability(shares, lambda x, y0, y1: y0 and not y1),
        "pn": lambda: conditional(shares, lambda x, y0, y1: not y0, lambda x, y0, y1: x and y1),
        "ps": lambda: conditional(shares, lambda x, y0, y1: y1, lambda x, y0, y1: not x and not y0),
        "pd": lambda: conditional(shares, lambda x, y0, y1: not y0, lambda *kind: realised(*kind)),
        "pe": lambda: conditional(shares, lambda x, y0, y1: y1, lambda *kind: not realised(*kind)),
    }[quantity]()
