"""One profile for all property tests: the same examples on every run, on every machine; and fits that are quick."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.load_profile("fixed")


@pytest.fixture(scope="module")
def small_fits() -> Iterator[None]:
    """Response-type models with two rungs, few networks and few latent classes: all parts of a fit, in a second."""
    from pnsight.models.ladder import Rung

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pnsight.models.response_types.LADDER", (Rung(0, 0, 0.0), Rung(2, 8, 0.05, 300)))
        patch.setattr("pnsight.models.response_types.NETWORKS", 3)
        patch.setattr("pnsight.models.response_types.RESAMPLES", 4)
        patch.setattr("pnsight.models.covariate_law.CLASSES", (1, 2, 4))
        yield
