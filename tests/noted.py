"""Notes by their kind, for tests that assert what is said and not how it is worded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pnsight.notes import Note


def kinds(notes: Iterable[Note]) -> list[str]:
    return [note.kind for note in notes]


def values(notes: Iterable[Note], kind: str) -> Mapping[str, Any]:
    """Values of the one note of this kind."""
    (found,) = (note.values for note in notes if note.kind == kind)
    return found


def remark(text: str) -> Note:
    """A note in words of one's own."""
    return Note("remark", {"text": text})


def rows_without(*covariates: str, table: str = "experimental") -> Note:
    """Why rows were left out."""
    return Note("rows_without_covariates", {"table": table, "covariates": covariates})


def rows_without_treatment_or_outcome(table: str = "experimental") -> Note:
    return Note("rows_without_treatment_or_outcome", {"table": table})
