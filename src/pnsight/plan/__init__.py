"""Plan the next data: which people to sample more of, so that most decisions are settled. Experimental."""

from __future__ import annotations

from pnsight.plan.doubt import Table
from pnsight.plan.planning import Plan, plan

__all__ = ["Plan", "Table", "plan"]
