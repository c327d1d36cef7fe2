"""Attrition: how many rows have a treatment but no outcome, by arm and by level of each covariate.

Rows without an outcome are left out of the counts. Whether that matters depends on who they are, so it is counted how
many there are in either arm.
"""

from __future__ import annotations

from dataclasses import dataclass

Arms = tuple[float, ...]
"""A number for each arm: the treated, then the untreated; of other structures in the order of the experiment's arms."""


@dataclass(frozen=True)
class LevelAttrition:
    """Rows of each level of a covariate.

    Attributes
    ----------
    covariate : its name
    rows, missing : for each level, rows of either arm, and those of them without an outcome
    """

    covariate: str
    rows: tuple[Arms, ...]
    missing: tuple[Arms, ...]


@dataclass(frozen=True)
class TableAttrition:
    """Rows of one table that have a treatment.

    Attributes
    ----------
    table : its name
    rows, missing : rows of either arm, and those of them without an outcome
    arm_worth : how many independent rows a row of either arm is worth, for the share that is missing
    worth : the same for the difference of the two shares
    levels : by covariate; empty where no outcome is missing
    """

    table: str
    rows: Arms
    missing: Arms
    arm_worth: Arms = (1.0, 1.0)
    worth: float = 1.0
    levels: tuple[LevelAttrition, ...] = ()

    @property
    def shares(self) -> Arms:
        """Share of each arm without an outcome, 0 of none."""
        return tuple(few / (many or 1.0) for few, many in zip(self.missing, self.rows, strict=True))
