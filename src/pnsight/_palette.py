"""Colours and signs, the same in plots, notebooks, the report and the explorer.

Colours are of the Okabe-Ito palette, which colour-blind readers can tell apart; a decision has its own shape as well,
so that it reads in grey.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

BLACK, DARK_GREY, GREY = "#000000", "#666666", "#767676"
BLUE, SKY, GREEN, VERMILION, ORANGE, PURPLE = "#0072B2", "#56B4E9", "#009E73", "#D55E00", "#E69F00", "#CC79A7"


@dataclass(frozen=True)
class Look:
    """How a decision is shown.

    Attributes
    ----------
    name : in words
    colour : of marks and letters, dark enough to read on white
    sign : a character that stands for it
    marker, filling : the same sign in Matplotlib's terms
    """

    name: str
    colour: str
    sign: str
    marker: str
    filling: Literal["full", "none"]


DECISIONS = {
    "treat": Look("treat", BLUE, "●", "o", "full"),
    "not": Look("do not treat", VERMILION, "□", "s", "none"),
    "uncertain": Look("uncertain", GREY, "◆", "D", "full"),
    "": Look("no answer", BLACK, "✕", "x", "none"),
}
"""Looks by the word in the `decision` column."""

NO_DECISION = Look("no decision", BLACK, "✕", "x", "none")
"""How an answer looks on which nothing is decided."""
