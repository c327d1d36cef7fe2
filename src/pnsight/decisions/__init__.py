"""From bounds to decisions: who should be treated, what to ask first, whom to look at, and whom a budget is for."""

from __future__ import annotations

from pnsight.decisions.by_covariate import DecisionsBy, decisions_by
from pnsight.decisions.contradictions import answering_model
from pnsight.decisions.policies import POLICIES, Policies, policies, policy_values
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
from pnsight.decisions.thresholds import ThresholdCurve, threshold_curve
from pnsight.decisions.tipping_points import TippingPoints, tip
from pnsight.decisions.treated_groups import treated_groups
from pnsight.decisions.usual_care import LEAVE, ChoiceDecisions
from pnsight.decisions.value_of_information import Questions, ask, ask_beyond, left_open
from pnsight.decisions.what_if import WhatIf, what_if
from pnsight.decisions.which_arm import ArmDecisions, decide, decide_arm

__all__ = [
    "LEAVE",
    "NONE",
    "NOT",
    "POLICIES",
    "TREAT",
    "UNCERTAIN",
    "ArmDecisions",
    "ChoiceDecisions",
    "Decisions",
    "DecisionsBy",
    "Policies",
    "Questions",
    "Ranking",
    "Selection",
    "ThresholdCurve",
    "TippingPoints",
    "WhatIf",
    "answering_model",
    "ask",
    "ask_beyond",
    "decide",
    "decide_arm",
    "decided",
    "decisions",
    "decisions_by",
    "extrapolated",
    "left_open",
    "policies",
    "policy_values",
    "rank",
    "refuse_threshold",
    "select",
    "threshold_curve",
    "tip",
    "treated_groups",
    "usual_threshold",
    "what_if",
]
