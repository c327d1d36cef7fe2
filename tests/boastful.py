"""A model that claims too much, for a second opinion to find out."""

from __future__ import annotations

from dataclasses import replace

import pnsight


class Boastful(pnsight.PlugIn):
    """A plug-in whose lower ends are too high by far."""

    def compute_bounds(self, codes, estimand):
        found = super().compute_bounds(codes, estimand)
        raised = {end: getattr(found, end) + 0.08 for end in ("lower", "lower_low", "lower_high")}
        return replace(found, **raised)
