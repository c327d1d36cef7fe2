"""How the tables of a population are drawn, and what their columns are called."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.noncompliance import KIND as NONCOMPLIANCE
from pnsight.data.schema import Codes
from pnsight.data.structure import TWO_BY_TWO_KIND, Description
from pnsight.data.two_by_two import BINARY
from pnsight.errors import PopulationError, join_names

Assignment: TypeAlias = float | Sequence[float] | None
"""Probability of the treatment, of two arms; or of each arm that the experiment has; None for the design's own."""

_SUM = 1e-9


@dataclass(frozen=True)
class FollowUp:
    """How long rows are followed: until the study ends for them or they drop out, whichever comes first.

    Given the covariates it says nothing about the event: censoring is uninformative.

    Attributes
    ----------
    shortest, longest : people enter at a steady pace, so that the time until the study ends is uniform between these
    dropout : mean time after which people drop out, exponentially distributed
    effects : by how much each covariate that holds, or does not, raises or lowers the logarithm of the rate of dropping
        out; a covariate that is not named has none
    """

    shortest: float
    longest: float
    dropout: float
    effects: tuple[float, ...] = ()

    def draw(self, rng: np.random.Generator, profiles: Codes) -> FloatArray:
        """Times at which people of these profiles are censored, shape (rows,)."""
        ends = rng.uniform(self.shortest, self.longest, len(profiles))
        rates = np.exp((2.0 * profiles[:, : len(self.effects)] - 1) @ np.array(self.effects))
        return np.asarray(np.minimum(ends, rng.exponential(self.dropout, len(profiles)) / rates))


@dataclass(frozen=True)
class TableDesign:
    """How tables are drawn.

    Attributes
    ----------
    treatment, outcome : names of the columns; of times to an event, `outcome` is the time
    event : column that says whether the event happened
    assigned : column of the experimental table with the arm assigned, where people may take another
    probabilities : of each arm that the experiment has; empty for equal ones
    follow_up : of times to an event, how long rows are followed; None for ever
    """

    treatment: str = "x"
    outcome: str = "y"
    event: str = "event"
    assigned: str = "assigned"
    probabilities: tuple[float, ...] = ()
    follow_up: FollowUp | None = None

    def arm_probabilities(self, description: Description, assignment: Assignment = None) -> FloatArray:
        """Probability of each arm that the experiment has, shape (arms tried,).

        Parameters
        ----------
        description
            Its arms.
        assignment
            What is asked for in place of the design's own.

        Returns
        -------
        The probabilities; `PopulationError` says what is wrong with those asked for.
        """
        tried = description.tried
        if assignment is None:
            return np.array(self.probabilities or (1 / len(tried),) * len(tried))
        if isinstance(assignment, int | float):
            return _of_two_arms(float(assignment), tried)
        found = np.array(assignment, dtype=np.float64)
        if found.shape != (len(tried),) or not (found > 0).all() or abs(found.sum() - 1) > _SUM:
            raise PopulationError(
                f"assignment is {','.join(f'{p:g}' for p in found)}; give a probability above 0 for each of the arms "
                f"{join_names(tried)}, together 1."
            )
        return found

    def reading(self, description: Description) -> dict[str, Any]:
        """What `read_study` is told so that it finds the structure in the tables.

        Parameters
        ----------
        description
            Arms and outcomes.

        Returns
        -------
        Its arguments but for the tables; the options of the command line have the same names.
        """
        found: dict[str, Any] = {"treatment": self.treatment}
        if description.kind == NONCOMPLIANCE:
            found["assigned"] = self.assigned
        if description.kind == TWO_BY_TWO_KIND:
            named = {} if description.arms == BINARY else {"treated": description.arms[1]}
            response = {} if description.outcomes == BINARY else {"success": description.outcomes[1]}
            return {**found, "outcome": self.outcome, **named, **response}
        if description.arms != BINARY:
            found["arms"] = list(description.arms)
        if description.horizons:
            event_is = "bad" if description.event_is_bad else "good"
            found |= {"time": self.outcome, "event": self.event, "event_is": event_is}
            return {**found, "horizons": list(description.horizons)}
        found["outcome"] = self.outcome
        if description.outcomes != BINARY:
            found["outcomes"] = list(description.outcomes)
        return found if description.ordered else {**found, "unordered": True}


FAIR_COIN = TableDesign()
"""Two arms that are equally likely, and the columns x and y."""


def _of_two_arms(treated: float, tried: Sequence[str]) -> FloatArray:
    if len(tried) != 2:
        raise PopulationError(
            f"assignment is {treated:g}, one probability; give one for each of the arms {join_names(tried)}, together "
            "1."
        )
    if not 0 < treated < 1 or math.isnan(treated):
        raise PopulationError(f"assignment is {treated}; give the probability of treatment, between 0 and 1.")
    return np.array([1 - treated, treated])
