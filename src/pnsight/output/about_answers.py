"""What holds of every answer of a model: whom it is about, and what a reader is warned of."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pnsight.data.study import Population
from pnsight.decisions import answering_model
from pnsight.estimands.estimand import Estimand
from pnsight.models import Model
from pnsight.notes import Note
from pnsight.wording import EXTRAPOLATED

PeopleAveraged: TypeAlias = Population | Literal["each"]
"""Whose people an open covariate is averaged over; "each" where each table's rows are added up as they are."""

FEW_ROWS = 30
"""Where either table has fewer people like those asked about, an answer says so."""

RESTS_ON = {
    "": "",
    "rows": "own rows",
    "model": "learned from others",
    "extrapolated": EXTRAPOLATED,
}
"""What an answer rests on, in words, by `basis`."""


def people_averaged(model: Model, estimand: Estimand) -> PeopleAveraged | None:
    """Whose people an open covariate is averaged over.

    Parameters
    ----------
    model
        A fitted model.
    estimand
        What is asked of it.

    Returns
    -------
    The population; None for a model that answers complete profiles only, which averages over nobody.
    """
    able = model.capabilities
    if able.exact_only:
        return None
    if estimand.trial_alone or model.study.observational is None:
        return "experimental"
    if able.pools_rows and not (able.law and estimand.needs_profiles(model.structure)):
        return "each"
    own: Population = getattr(model, "population", "observational")
    return estimand.population or own


def about_answers(model: Model, estimand: Estimand) -> tuple[Note, ...]:
    """Whom answers are about, then what the model warns of.

    Parameters
    ----------
    model
        A fitted model.
    estimand
        What is asked of it.

    Returns
    -------
    A note of kind ``people_averaged``, unless the answers say themselves that they are the experiment's, and the
    warnings of the model that answers.
    """
    population = people_averaged(model, estimand)
    named = () if population is None or estimand.trial_alone else (Note("people_averaged", {"population": population}),)
    return (*named, *answering_model(model, estimand).warnings)
