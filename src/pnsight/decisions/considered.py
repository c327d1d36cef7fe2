"""Which profiles are considered where people are treated profile by profile, and who is not."""

from __future__ import annotations

from collections.abc import Mapping

from pnsight._typing import BoolArray, FloatArray
from pnsight.data.schema import Codes
from pnsight.data.study import Study
from pnsight.estimands.resolve import ROUNDING
from pnsight.models.response_types.config import MAX_ENUMERATED_PROFILES
from pnsight.notes import Note
from pnsight.queries import lattice


def possible_profiles(study: Study) -> Codes:
    """All profiles if they can be listed, else those that have rows."""
    listed = not study.schema.numeric and study.schema.n_profiles <= MAX_ENUMERATED_PROFILES
    return lattice.all_profiles(study.schema) if listed else study.profiles


def not_considered(share: FloatArray, left_out: Mapping[str, BoolArray]) -> list[Note]:
    """Who was not considered, and why."""
    people = {why: float(share[which].sum()) for why, which in left_out.items()}
    people["no_rows"] = 1 - float(share.sum())
    return [
        Note("not_considered", {"share": size, "why": why}, "warning")
        for why, size in people.items()
        if size > ROUNDING
    ]
