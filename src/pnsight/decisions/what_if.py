"""What if: the decision for people who differ from those asked about in one thing that is known of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pnsight.data.schema import OPEN, Codes, Schema, codes_of
from pnsight.decisions.rule import Decisions, decided
from pnsight.estimands.estimand import EstimandLike
from pnsight.models import Model
from pnsight.queries.query import QueryLike, encode


@dataclass(frozen=True)
class WhatIf:
    """Decisions if one thing that is known were otherwise, one row each.

    Attributes
    ----------
    covariates, levels : what would be otherwise, and how
    codes : shape (rows, covariates)
        The people there would be.
    decisions : about them
    """

    covariates: Sequence[str]
    levels: Sequence[str]
    codes: Codes
    decisions: Decisions

    def __len__(self) -> int:
        return len(self.covariates)


def what_if(
    model: Model,
    query: QueryLike = None,
    threshold: float | None = None,
    cautious: bool = False,
    quantity: EstimandLike = None,
    extrapolate: bool = False,
    **options: Any,
) -> WhatIf | None:
    """What the decision for one query would be, if one of the things that it fixes were otherwise.

    Other people, that is: nothing is said of what would become of these if they changed.

    Parameters
    ----------
    model
        A fitted model.
    query
        Whose people.
    threshold, cautious, extrapolate
        As `decide` takes them.
    quantity, options
        What is asked, as `model.bounds` takes it.

    Returns
    -------
    The other levels of each covariate that is fixed; None if there are none.
    """
    changed = _otherwise(model.schema, encode(model.schema, query)[0])
    if not changed:
        return None
    codes = codes_of([each for _, each in changed])
    found = decided(model.bounds(codes, model.estimand(quantity, **options)), threshold, cautious, extrapolate)
    covariates = [model.schema.covariates[place] for place, _ in changed]
    levels = [each.text(int(code[place])) for each, (place, code) in zip(covariates, changed, strict=True)]
    return WhatIf([each.name for each in covariates], levels, codes, found)


def _otherwise(schema: Schema, query: Codes) -> list[tuple[int, tuple[int, ...]]]:
    """Which covariate is otherwise, and the query then, for each other level of what a query fixes."""
    found = []
    for place in np.flatnonzero(query != OPEN):
        for code in schema.covariates[place].level_codes:
            if code != query[place]:
                other = query.copy()
                other[place] = code
                found.append((int(place), tuple(map(int, other))))
    return found
