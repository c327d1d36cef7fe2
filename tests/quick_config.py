"""A small configuration of the response-type model: all parts of a fit, in a second."""

from __future__ import annotations

from pnsight.models.response_types.capacity import CONSTANT, Capacity
from pnsight.models.response_types.config import Effort, LatentClassConfig, ResponseTypeConfig

EFFORT = Effort((CONSTANT, Capacity(2, 8, 0.05, 300)), networks=3, simulations=4)

QUICK = ResponseTypeConfig(effort=EFFORT, effort_if_few=EFFORT, latent_classes=LatentClassConfig(classes=(1, 2, 4)))
"""Two capacities, few networks, few simulated studies and few latent classes."""
