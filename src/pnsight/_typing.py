"""Types of the arrays that modules hand to each other."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
Float32Array: TypeAlias = npt.NDArray[np.float32]
"""Single precision: what networks are trained and stored in."""

IndexArray: TypeAlias = npt.NDArray[np.intp]
"""Positions of rows in another array."""

BoolArray: TypeAlias = npt.NDArray[np.bool_]
