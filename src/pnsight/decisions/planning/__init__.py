"""Plan data: how many rows a study needs; and, as an experiment, which people to sample more of."""

from __future__ import annotations

from pnsight.decisions.planning.planner import Plan, check_plannable, plan
from pnsight.decisions.planning.study_size import StudySize, size
from pnsight.decisions.planning.variance_left import Table

__all__ = ["Plan", "StudySize", "Table", "check_plannable", "plan", "size"]
