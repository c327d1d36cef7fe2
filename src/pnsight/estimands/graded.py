"""Assumptions that say how much, as limits of the program: on those who are harmed, and on how outcomes go together."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pnsight.data.noncompliance import KIND as NONCOMPLIANCE
from pnsight.data.structure import WORST_CASE, Structure
from pnsight.errors import AssumptionError, join_names
from pnsight.estimands.assumptions import CORRELATION, GRADED, Assumption
from pnsight.estimands.contrast import Contrast, contrast_people, resolve_contrast
from pnsight.estimands.expressions import evaluate
from pnsight.estimands.limits import CovarianceLimit, Limit, Scores
from pnsight.estimands.quantities import HARM
from pnsight.estimands.sensitivity import outcome_scores, trial_group


def graded_limit(
    structure: Structure, contrast: Contrast | None, horizon: float | None, assumed: Assumption
) -> Limit | None:
    """What an assumption that says how much puts a limit on.

    Parameters
    ----------
    structure
        Arms and outcomes.
    contrast, horizon
        Which arms are compared, and when.
    assumed
        The assumption.

    Returns
    -------
    The limit; None where everything satisfies it, such as a harm of at most 1.
    """
    assert assumed.amount is not None  # of those that say how much
    sign, least, most = GRADED[assumed.kind]
    if assumed.amount == (most if sign == "<=" else least):
        return None
    _check_order(structure, assumed)
    people = contrast_people(structure, contrast, horizon)
    if assumed.kind == HARM.name:
        assert HARM.event is not None
        return Limit(_whole(evaluate(HARM.event, people) != 0), at_most=assumed.amount)
    _check_shown(structure, assumed)
    treated, reference = (_scores(structure, arm, horizon) for arm in resolve_contrast(structure, contrast))
    curve = CovarianceLimit(treated, reference, assumed.amount)
    return Limit(_whole(-people["Y1"] * people["Y0"]), curve=curve)


def _whole(values: npt.NDArray[np.generic]) -> tuple[int, ...]:
    return tuple(int(value) for value in values.tolist())


def _scores(structure: Structure, arm: str, horizon: float | None) -> Scores:
    """Columns of an arm of the trial, with how good the outcome of each is."""
    scores = outcome_scores(structure, arm, horizon)
    some = structure.group_slices[trial_group(structure, arm)]
    return tuple((column, int(scores[column])) for column in range(some.start, some.stop))


def _check_order(structure: Structure, assumed: Assumption) -> None:
    described = structure.description
    if not described.ordered and len(described.outcomes) > 2:
        raise AssumptionError(
            f"{assumed.name!r} was assumed, which is about better and worse outcomes, but "
            f"{join_names(described.outcomes)} have no order; leave it out."
        )


def _check_shown(structure: Structure, assumed: Assumption) -> None:
    described = structure.description
    if described.kind == NONCOMPLIANCE or described.missing == WORST_CASE:
        raise AssumptionError(
            f"{assumed.name!r} was assumed, which takes a trial that shows how people respond to each arm: not one in "
            f"which people do not do as assigned, or missing outcomes may be anything. Leave {CORRELATION} out."
        )
