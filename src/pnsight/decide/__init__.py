"""From bounds to decisions: who should be treated, what to ask first, whom to look at, and whom a budget is for."""

from __future__ import annotations

from pnsight.decide.questions import Questions, ask, ask_beyond, left_open
from pnsight.decide.ranking import Ranking, rank
from pnsight.decide.rule import (
    NONE,
    NOT,
    TREAT,
    UNCERTAIN,
    Decisions,
    decide,
    decided,
    decisions,
    refuse_threshold,
    usual_threshold,
)
from pnsight.decide.selection import Selection, select

__all__ = [
    "NONE",
    "NOT",
    "TREAT",
    "UNCERTAIN",
    "Decisions",
    "Questions",
    "Ranking",
    "Selection",
    "ask",
    "ask_beyond",
    "decide",
    "decided",
    "decisions",
    "left_open",
    "rank",
    "refuse_threshold",
    "select",
    "usual_threshold",
]
