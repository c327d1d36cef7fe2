"""Whether two tables are usable, each by itself and together, before anybody trusts a number."""

from __future__ import annotations

from pnsight.diagnostics.assumption_tests import AssumptionTest, assumptions_of
from pnsight.diagnostics.balance import Balance
from pnsight.diagnostics.compatibility import Coherence, coherence_of
from pnsight.diagnostics.covariate_differences import Contrast
from pnsight.diagnostics.covariate_shift import Shift
from pnsight.diagnostics.fit_warnings import fit_warnings, study_warnings
from pnsight.diagnostics.pooling import pooling_concerns
from pnsight.diagnostics.run_check import Check, check
from pnsight.diagnostics.subgroup_tests import Comparisons
from pnsight.diagnostics.support import Support
from pnsight.diagnostics.verdict import Verdict

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
    "fit_warnings",
    "pooling_concerns",
    "study_warnings",
]
