"""What pages and reports on a structure are about until something else is asked."""

from __future__ import annotations

from dataclasses import replace

from pnsight.data.structure import Structure
from pnsight.estimands.estimand import Estimand, usual_estimand
from pnsight.estimands.quantities import PNS


def usual_question(structure: Structure, asked: Estimand) -> Estimand:
    """What is asked of a structure where not everything is said.

    Parameters
    ----------
    structure
        Arms and outcomes.
    asked
        What was asked: a contrast and a horizon may be missing.

    Returns
    -------
    The same of the last arm against the reference, at the last horizon; of two arms and two outcomes as it is.
    """
    if structure.is_two_by_two:
        return asked
    usual, horizons = usual_estimand(structure), structure.description.horizons
    quantity = usual.quantity if asked.quantity == PNS else asked.quantity
    horizon = asked.horizon if asked.horizon is not None else horizons[-1] if horizons else None
    return replace(asked, quantity=quantity, contrast=asked.contrast or usual.contrast, horizon=horizon)
