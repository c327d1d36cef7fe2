"""What the tables say: covariates, structure, counted studies, and how any table becomes one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from pnsight.data import (
        arms_and_outcomes,
        labels,
        law,
        noncompliance,
        profiles,
        reading,
        sampling,
        schema,
        structure,
        structures,
        study,
        time_to_event,
        two_by_two,
    )

__getattr__, __dir__, _ = lazy_loader.attach(
    __name__,
    submodules=[
        "arms_and_outcomes",
        "labels",
        "law",
        "noncompliance",
        "profiles",
        "reading",
        "sampling",
        "schema",
        "structure",
        "structures",
        "study",
        "time_to_event",
        "two_by_two",
    ],
)

__all__ = [
    "arms_and_outcomes",
    "labels",
    "law",
    "noncompliance",
    "profiles",
    "reading",
    "sampling",
    "schema",
    "structure",
    "structures",
    "study",
    "time_to_event",
    "two_by_two",
]
