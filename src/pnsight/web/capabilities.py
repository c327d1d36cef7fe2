"""What a model can be asked: the pages offer only that, and say why not the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from pnsight.data.structure import Structure
from pnsight.data.study import Population
from pnsight.errors import PnsightError
from pnsight.estimands.estimand import Estimand
from pnsight.estimands.payoffs import Payoffs
from pnsight.estimands.quantities import QUANTITIES, Quantity, known_quantities
from pnsight.estimands.usual_question import usual_question
from pnsight.models import Model
from pnsight.models.base import Capabilities

UNIT_PAYOFFS = Payoffs(complier=1.0, always=0.0, never=0.0, defier=-1.0)
"""Payoffs until others are given: one for each person helped, minus one for each harmed."""


@dataclass(frozen=True)
class Ability:
    """What a model answers.

    Attributes
    ----------
    capabilities : what the model says of itself
    refused : quantities that it does not answer, with its reason
    both_tables : whether there is an observational table beside the experiment
    quantities : what the pages list, by name; with two arms and two outcomes without differences
    """

    capabilities: Capabilities
    refused: Mapping[str, str]
    both_tables: bool = True
    quantities: Mapping[str, Quantity] = field(default_factory=lambda: QUANTITIES)

    @classmethod
    def of(cls, model: Model) -> Ability:
        """What the model says, and what it refuses of one profile, which every model answers."""
        listed = quantities_of(model.structure)
        reasons = {name: _refusal(model, quantity) for name, quantity in listed.items()}
        refused = {name: reason for name, reason in reasons.items() if reason}
        return cls(model.capabilities, refused, model.study.observational is not None, listed)

    @property
    def intervals(self) -> bool:
        """Whether its bounds have intervals."""
        return self.capabilities.intervals

    @property
    def law(self) -> bool:
        """Whether it knows a law, so that assumptions and refinement mean something."""
        return self.capabilities.law

    @property
    def trial_alone(self) -> bool:
        """Whether the experiment alone can be asked instead: it knows a law, and there is another table."""
        return self.law and self.both_tables

    @property
    def populations(self) -> tuple[Population, ...]:
        """Whose people it can average over, if there is a choice."""
        known = self.capabilities.populations
        return known if len(known) > 1 else ()


def quantities_of(structure: Structure) -> Mapping[str, Quantity]:
    """The quantities that mean something for a structure, by name; the pages have a line of its own for the effect.

    Parameters
    ----------
    structure
        Arms and outcomes.

    Returns
    -------
    Those of two arms and two outcomes; with others differences too, and time gained where outcomes are times.
    """
    if structure.is_two_by_two:
        return QUANTITIES
    timed = bool(structure.description.horizons)
    return {name: one for name, one in known_quantities().items() if timed or one.scale != "time"}


def _refusal(model: Model, quantity: Quantity) -> str:
    """Why the model does not answer a quantity; empty if it does."""
    profile = model.schema.coded(np.zeros((1, len(model.schema.names)), dtype=np.int32))
    try:
        asked = Estimand(quantity, UNIT_PAYOFFS if quantity.has_payoffs else None)
        model.bounds(profile, usual_question(model.structure, asked))
    except PnsightError as error:
        return str(error)
    return ""
