"""Models: from a study to the law, or the bounds, of every query."""

from __future__ import annotations

from pnsight.models.base import Model
from pnsight.models.bound_regressor import BoundRegressor, ExactMLP, MaskMLP
from pnsight.models.plug_in import PlugIn
from pnsight.models.response_types import ResponseTypeModel

__all__ = ["BoundRegressor", "ExactMLP", "MaskMLP", "Model", "PlugIn", "ResponseTypeModel"]
