"""Each quantity as an event: which response types it counts, among which.

Only the law is identified, not the types, so these give truths of known populations and objectives of the linear
program, never estimates.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from pnsight._typing import FloatArray
from pnsight.data.law import RESPONSE_TYPES

_CHOSEN, _Y0, _Y1 = RESPONSE_TYPES.T == 1
_REALISED = np.where(_CHOSEN, _Y1, _Y0)
_EVERYONE = np.ones(len(RESPONSE_TYPES), dtype=bool)

EVENTS: Mapping[str, tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]] = {
    "pns": (_Y1 & ~_Y0, _EVERYONE),
    "pn": (~_Y0, _CHOSEN & _REALISED),
    "ps": (_Y1, ~_CHOSEN & ~_REALISED),
    "pd": (~_Y0, _REALISED),
    "pe": (_Y1, ~_REALISED),
    "harm": (~_Y1 & _Y0, _EVERYONE),
}
"""Each quantity as the probability of one set of types given another, each of shape (8,)."""


def true_value(types: FloatArray, quantity: str = "pns") -> FloatArray:
    """The quantity of populations with these shares of types, shape (rows, 8); NaN where it conditions on nobody."""
    event, given = EVENTS[quantity]
    total = types[:, given].sum(axis=1)
    part = types[:, event & given].sum(axis=1)
    return np.asarray(np.divide(part, total, out=np.full(len(types), np.nan), where=total > 0))
