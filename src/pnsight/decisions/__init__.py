"""From bounds to decisions: who should be treated, what to ask first, whom to look at, and whom a budget is for."""

from __future__ import annotations

from pnsight.decisions.contradictions import answering_model
from pnsight.decisions.ranking import Ranking, rank
from pnsight.decisions.rule import (
    NONE,
    NOT,
    TREAT,
    UNCERTAIN,
    Decisions,
    decided,
    decisions,
    extrapolated,
    refuse_threshold,
    usual_threshold,
)
from pnsight.decisions.selection import Selection, select
from pnsight.decisions.tipping_points import TippingPoints, tip
from pnsight.decisions.value_of_information import Questions, ask, ask_beyond, left_open
from pnsight.decisions.which_arm import ArmDecisions, decide, decide_arm

__all__ = [
    "NONE",
    "NOT",
    "TREAT",
    "UNCERTAIN",
    "ArmDecisions",
    "Decisions",
    "Questions",
    "Ranking",
    "Selection",
    "TippingPoints",
    "answering_model",
    "ask",
    "ask_beyond",
    "decide",
    "decide_arm",
    "decided",
    "decisions",
    "extrapolated",
    "left_open",
    "rank",
    "refuse_threshold",
    "select",
    "tip",
    "usual_threshold",
]
