"""What a model can be asked: the pages offer only that, and say why not the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pnsight.errors import PnsightError, QueryError
from pnsight.models import Model, ResponseTypeModel
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
        choice = isinstance(model, ResponseTypeModel) and model.study.observational is not None
        return cls(refused, intervals, isinstance(model, LawModel), tuple(PEOPLE) if choice else ())


def refuse_population(model: Model, population: str | None) -> None:
    """Only a response-type model can be asked about other people than those it was fitted to."""
    if population is not None and not isinstance(model, ResponseTypeModel):
        raise QueryError(
            f"population {population!r} was given, but a {model.name} model has only the people it was fitted to; "
            "leave it out, or fit a response-types model."
        )
