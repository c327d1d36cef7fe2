"""Whether two tables are usable, each by itself and together, before anybody trusts a number."""

from __future__ import annotations

from pnsight.checks.assumptions import AssumptionTest, assumptions_of
from pnsight.checks.balance import Balance
from pnsight.checks.coherence import Coherence, coherence_of
from pnsight.checks.comparisons import Comparisons
from pnsight.checks.contrast import Contrast
from pnsight.checks.report import Check, check
from pnsight.checks.shift import Shift
from pnsight.checks.support import Support
from pnsight.checks.verdict import Verdict

__all__ = [
    "AssumptionTest",
    "Balance",
    "Check",
    "Coherence",
    "Comparisons",
    "Contrast",
    "Shift",
    "Support",
    "Verdict",
    "assumptions_of",
    "check",
    "coherence_of",
]
