"""Few rows, rare people: what an answer about them rests on."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pnsight._text import count_text, number_of, percent
from pnsight.estimands.resolve import OK
from pnsight.models import Model
from pnsight.output.about_answers import FEW_ROWS
from pnsight.queries.bound_table import BoundTable

_RARE = 0.01
_RAREST = 1e-9
"""Shares below the first are told as one in so many, those below the second not to the last digit."""


def few(model: Model, found: BoundTable) -> npt.NDArray[np.bool_]:
    """Which answers rest on few people in either table, shape (queries,)."""
    rows = np.array(list(_rows(model, found).values()))
    return np.asarray((rows < FEW_ROWS).any(axis=0) & (found.status == OK))


def caveat(model: Model, found: BoundTable) -> str:
    """What a reader of the one answer should know if it rests on few people, otherwise nothing.

    Where counts are withheld, those who are left say nothing about how many there were.
    """
    if not few(model, found)[0]:
        return ""
    if model.study.withheld is not None:
        return f"Few people like this were seen, or their counts are withheld; {_rests_on(model)}."
    rows = {where: float(count[0]) for where, count in _rows(model, found).items()}
    lacking = {where: count for where, count in rows.items() if count < FEW_ROWS}
    everywhere = len(lacking) == len(rows)
    place = "" if everywhere else f" in the {' and the '.join(lacking)}"
    return f"{_only(sum(lacking.values()))} seen{place}; {_rests_on(model, '' if everywhere else 'in part ')}."


def caveat_of_many(model: Model, found: BoundTable) -> str:
    """The same for a table of answers."""
    number = int(few(model, found).sum())
    if not number:
        return ""
    told = "fewer" if model.study.withheld is None else "none or few"
    than = f" than {FEW_ROWS}" if model.study.withheld is None else ""
    return f"For {number_of(number, 'row')} {told}{than} people like this were counted in a table; {_rests_on(model)}"


def share_words(model: Model, share: float) -> str:
    """How many of all people these are; where counts are withheld, a rare share might tell one."""
    if share >= _RARE or share == 0 or model.study.withheld is not None:
        return f"{percent(share)} of all people"
    if share < _RAREST:
        return "fewer than 1 in a billion people"
    return f"about 1 in {float(f'{1 / share:.2g}'):,.0f} people"


def _rows(model: Model, found: BoundTable) -> dict[str, npt.NDArray[np.float64]]:
    experiment = {"experiment": found.support_experimental}
    if model.study.observational is None:
        return experiment
    return experiment | {"observational table": found.support_observational}


def _only(count: float) -> str:
    if not count:
        return "Nobody like this was"
    return f"Only {count_text(count)} {'person like this was' if count == 1 else 'people like this were'}"


def _rests_on(model: Model, part: str = "") -> str:
    if not model.capabilities.learns_across_profiles:
        return "this model goes by their rows alone, so the answer may be far off"
    return f"the answer rests {part}on what the model learned from others"
