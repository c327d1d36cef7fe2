"""Models: from a study to the law, or the bounds, of every query."""

from __future__ import annotations

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from pnsight.models import persistence, registry, suppression
    from pnsight.models.base import Model
    from pnsight.models.bound_networks.regressor import BoundRegressor, ExactMLP, MaskMLP
    from pnsight.models.plug_in import PlugIn
    from pnsight.models.response_types.config import ResponseTypeConfig
    from pnsight.models.response_types.model import ResponseTypeModel

__getattr__, __dir__, _ = lazy_loader.attach(
    __name__,
    submodules=["persistence", "registry", "suppression"],
    submod_attrs={
        "base": ["Model"],
        "bound_networks.regressor": ["BoundRegressor", "ExactMLP", "MaskMLP"],
        "plug_in": ["PlugIn"],
        "response_types.config": ["ResponseTypeConfig"],
        "response_types.model": ["ResponseTypeModel"],
    },
)

__all__ = [
    "BoundRegressor",
    "ExactMLP",
    "MaskMLP",
    "Model",
    "PlugIn",
    "ResponseTypeConfig",
    "ResponseTypeModel",
    "persistence",
    "registry",
    "suppression",
]
