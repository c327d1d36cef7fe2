"""From bounds to decisions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pnsight.law import FloatArray

TREAT, NOT, UNCERTAIN, NONE = "treat", "not", "uncertain", ""


def decisions(lower: FloatArray, upper: FloatArray, threshold: float = 0.5) -> npt.NDArray[np.str_]:
    """Treat where lower >= threshold, do not where upper < threshold, else uncertain; empty where there is no answer.

    Source: the decision rule of the paper's case study.
    """
    answered = ~(np.isnan(lower) | np.isnan(upper) | (lower > upper))
    confident = np.where(lower >= threshold, TREAT, np.where(upper < threshold, NOT, UNCERTAIN))
    return np.where(answered, confident, NONE)
