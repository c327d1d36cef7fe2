"""A small configuration of the response-type model: all parts of a fit, in a second."""

from __future__ import annotations

from pnsight.models.response_types.capacity import CONSTANT, Capacity
from pnsight.models.response_types.config import Effort, LatentClassConfig, NumericConfig, ResponseTypeConfig

EFFORT = Effort((CONSTANT, Capacity(2, 8, 0.05, 300)), networks=3, simulations=4)

_SMALL = Capacity(0, 8, 0.5, 200)
_STEPPED = Capacity(0, 8, 0.5, 200, deep=True, sparsity=0.1, coding="stepped")
_EFFORT = Effort((CONSTANT, _SMALL, _STEPPED), folds=2, networks=2, simulations=2)
NUMERIC = NumericConfig(effort=_EFFORT, effort_if_few=_EFFORT, error_people=256)

QUICK = ResponseTypeConfig(
    effort=EFFORT, effort_if_few=EFFORT, latent_classes=LatentClassConfig(classes=(1, 2, 4)), numeric=NUMERIC
)
"""Two capacities, three where covariates are numbers, few networks, few simulated studies and few latent classes."""
