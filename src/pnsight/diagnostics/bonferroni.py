"""Bonferroni: one comparison of many, whose p-value is multiplied by how many there are."""

from __future__ import annotations

from pnsight.diagnostics.covariate_differences import DIFFERS
from pnsight.diagnostics.verdict import FAMILYWISE_ALPHA, OK


class OneOfMany:
    """A comparison that is one of several.

    Attributes
    ----------
    p_value : of no difference, for this look alone
    tests : how many looks there are
    """

    p_value: float
    tests: int

    @property
    def adjusted(self) -> float:
        """P-value that allows for all looks."""
        return min(1.0, self.tests * self.p_value)

    @property
    def differs(self) -> bool:
        """Whether there is a difference that chance does not explain."""
        return self.adjusted < FAMILYWISE_ALPHA

    @property
    def status(self) -> str:
        """The same as a row of `Check.looks` has it."""
        return DIFFERS if self.differs else OK
