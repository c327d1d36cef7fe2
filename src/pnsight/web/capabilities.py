"""What a model can be asked: the pages offer only that, and say why not the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pnsight.errors import PnsightError
from pnsight.models import Model
from pnsight.models.base import LawModel
from pnsight.web.words import PEOPLE, QUANTITIES

UNIT_PAYOFFS: tuple[float, ...] = (1.0, 0.0, 0.0, -1.0)
"""Payoffs until others are given: one for each person helped, minus one for each harmed."""


@dataclass(frozen=True)
class Ability:
    """What a model answers.

    Attributes
    ----------
    refused : quantities that it does not answer, with its reason
    intervals : whether its bounds have intervals
    law : whether it knows a law, so that assumptions and refinement mean something
    populations : whose people it can average over, if there is a choice
    """

    refused: Mapping[str, str]
    intervals: bool
    law: bool
    populations: tuple[str, ...]

    @classmethod
    def of(cls, model: Model) -> Ability:
        """Find out by asking about one profile, which every model answers."""
        profile = np.zeros((1, len(model.schema.names)), dtype=np.int32)
        refused, intervals = {}, False
        for quantity in QUANTITIES:
            payoffs = UNIT_PAYOFFS if quantity == "benefit" else None
            try:
                intervals |= model.bounds(profile, quantity, payoffs=payoffs).level is not None
            except PnsightError as error:
                refused[quantity] = str(error)
        choice = tuple(name for name in PEOPLE if name in model.populations)
        return cls(refused, intervals, isinstance(model, LawModel), choice if len(choice) > 1 else ())
