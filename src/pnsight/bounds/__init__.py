"""Bounds as pure functions of a `Law`, and the linear program that referees them."""

from __future__ import annotations

from pnsight.bounds.causation import QUANTITIES, bounds, harm, pd, pe, pn, pns, ps

__all__ = ["QUANTITIES", "bounds", "harm", "pd", "pe", "pn", "pns", "ps"]
