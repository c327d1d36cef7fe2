"""Plan data: how many rows a study needs; and, as an experiment, which people to sample more of."""

from __future__ import annotations

from pnsight.decisions.planning.planner import Plan, plan
from pnsight.decisions.planning.study_size import StudySize, size
from pnsight.decisions.planning.variance_left import Table

__all__ = ["Plan", "StudySize", "Table", "plan", "size"]
