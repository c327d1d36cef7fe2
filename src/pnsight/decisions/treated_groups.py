"""Whom a budget is spent on, in short: which people are more common among those treated than among all."""

from __future__ import annotations

from typing import Any

import numpy as np

from pnsight.data.schema import OPEN
from pnsight.decisions.contradictions import answering_model
from pnsight.decisions.selection import Selection
from pnsight.estimands.estimand import Estimand
from pnsight.models import Model
from pnsight.queries import lattice
from pnsight.queries.query import decode, encode


def treated_groups(model: Model, found: Selection, estimand: Estimand, top: int = 10) -> dict[str, list[Any]]:
    """The values of covariates that set those treated apart.

    Parameters
    ----------
    model
        Who was asked.
    found
        Whom the budget is spent on.
    estimand
        What was asked, and of which people.
    top
        How many values to list.

    Returns
    -------
    dict
        The covariate, its value, and the share who have it of those treated and of all; those first whose share grows
        most.
    """
    some = np.flatnonzero(found.treated > 0)
    profiles = encode(model.schema, [found.answers.queries[row] for row in some.tolist()])
    values = lattice.queries_fixing_at_most(model.schema, 1)
    values = values[(values != OPEN).any(axis=1)]
    treated = lattice.membership_matrix(values, profiles) @ found.treated[some] / (found.treated.sum() or 1.0)
    everyone = answering_model(model, estimand).shares(values, estimand.population)
    order = [row for row in np.argsort(everyone - treated, kind="stable") if treated[row] > everyone[row]][:top]
    terms = [next(iter(decode(model.schema, values[row]).fixed.items())) for row in order]
    return {
        "covariate": [name for name, _ in terms],
        "level": [level for _, level in terms],
        "of_treated": [float(treated[row]) for row in order],
        "of_all": [float(everyone[row]) for row in order],
    }
