"""Models: from a study to the law, or the bounds, of every query."""

from __future__ import annotations

from pnsight.models.base import Model
from pnsight.models.plug_in import PlugIn

__all__ = ["Model", "PlugIn"]
