"""Before anybody trusts a number: are the two tables usable, and together?"""

from __future__ import annotations

from pnsight.checks.balance import Balance
from pnsight.checks.check import Check, check
from pnsight.checks.coherence import Coherence, coherence_of
from pnsight.checks.contrast import Contrast
from pnsight.checks.shift import Shift
from pnsight.checks.support import Support
from pnsight.checks.verdict import Verdict

__all__ = ["Balance", "Check", "Coherence", "Contrast", "Shift", "Support", "Verdict", "check", "coherence_of"]
