"""Plan the next data: which people to sample more of, so that most decisions are settled. Experimental."""

from __future__ import annotations

from pnsight.decisions.planning.planner import Plan, check_plannable, plan
from pnsight.decisions.planning.variance_left import Table

__all__ = ["Plan", "Table", "check_plannable", "plan"]
