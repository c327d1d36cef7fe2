"""Response-type models with two rungs, few networks and few latent classes: all parts of a fit, in a second."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def quick_fits() -> Iterator[None]:
    """Fit quickly for as long as it lasts."""
    from pnsight.models.response_types.capacity import Rung

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pnsight.models.response_types.fit.LADDER", (Rung(0, 0, 0.0), Rung(2, 8, 0.05, 300)))
        patch.setattr("pnsight.models.response_types.fit.NETWORKS", 3)
        patch.setattr("pnsight.models.response_types.fit.RESAMPLES", 4)
        patch.setattr("pnsight.models.response_types.latent_classes.CLASSES", (1, 2, 4))
        yield
