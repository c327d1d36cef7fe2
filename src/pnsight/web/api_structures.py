"""What the JSON interface says of arms and outcomes by name, and which of several arms it decides for."""

from __future__ import annotations

from typing import Any

from pnsight.data.schema import Codes
from pnsight.data.structure import Structure
from pnsight.decisions import ArmDecisions, Decisions, decide, decided
from pnsight.decisions.usual_care import noting_usual_care
from pnsight.estimands.estimand import Estimand
from pnsight.estimands.quantities import EFFECT
from pnsight.queries.bound_table import BoundTable
from pnsight.web.api_fields import Decided
from pnsight.web.explorer import Explorer


def described(structure: Structure) -> dict[str, Any]:
    """The fields of `StructureFields`.

    Parameters
    ----------
    structure
        Arms and outcomes by name.

    Returns
    -------
    Plain data.
    """
    found = structure.description
    return {
        "kind": found.kind,
        "arms": list(found.arms),
        "outcomes": list(found.outcomes),
        "ordered": found.ordered,
        "tried": list(found.tried),
        "horizons": list(found.horizons),
        "event_is_bad": found.event_is_bad if found.horizons else None,
    }


def decide_arms(
    explorer: Explorer, codes: Codes, asked: Decided
) -> tuple[Decisions | ArmDecisions, Estimand, BoundTable]:
    """Decisions for queries: of two arms whether to treat, of more and without a contrast which arm.

    Parameters
    ----------
    explorer
        The model.
    codes
        The queries, shape (queries, covariates).
    asked
        How to decide.

    Returns
    -------
    The decisions, what was asked, of one of the arms if it was asked of several, and its answers.
    """
    arms, arguments = explorer.model.structure.description.arms, asked.arguments()
    several = len(arms) > 2 and asked.contrast is None and asked.statement is None
    estimand = explorer.model.estimand(**{**arguments, **({"contrast": (arms[1], arms[0])} if several else {})})
    if asked.leave:
        how = {"extrapolate": asked.extrapolate, "leave": True, **arguments}
        found = decide(explorer.model, codes, asked.threshold, asked.cautious, **how)
        assert isinstance(found, Decisions)  # what may be left to people is whether they are treated
        return found, explorer.model.estimand(EFFECT, level=asked.level, population=asked.population), found.answers
    answers = explorer.bounds(codes, estimand)  # refuses what would take too long
    rule = asked.threshold, asked.cautious
    if not several:
        found = noting_usual_care(explorer.model, decided(answers, *rule, asked.extrapolate), codes, estimand)
        return found, estimand, answers
    return decide(explorer.model, codes, *rule, extrapolate=asked.extrapolate, **arguments), estimand, answers
