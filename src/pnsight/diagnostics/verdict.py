"""Verdict: what a part of the check comes to, a status and notes; and the error rate at which it raises an alarm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pnsight.notes import FAILURE, INFO, Note, Severity
from pnsight.notes import WARNING as WARNING_NOTE
from pnsight.wording import capitalised

OK, WARNING, FAILED = "ok", "warning", "failed"

USABLE, WITH_WARNINGS, NOT_USABLE = "usable", "usable with warnings", "not usable"
"""What all parts together come to."""

SIGNS = {OK: "✓", WARNING: "!", FAILED: "✕"}
"""A character that stands for each."""

FAMILYWISE_ALPHA = 0.05
"""Familywise error rate: the chance that a part raises an alarm although nothing is wrong, over all its tests."""

_SEVERITY: dict[str, Severity] = {OK: INFO, WARNING: WARNING_NOTE, FAILED: FAILURE}


@dataclass(frozen=True)
class Verdict:
    """One part's result, as data.

    Attributes
    ----------
    status : ``ok``, ``warning`` or ``failed``
    notes : what it rests on; the first one is the reason for the status
    """

    status: str
    notes: tuple[Note, ...]

    @property
    def text(self) -> str:
        """The notes as sentences."""
        first, *others = map(str, self.notes)
        return " ".join([first, *map(capitalised, others)])

    @property
    def warnings(self) -> tuple[Note, ...]:
        """Notes that somebody who reads an answer should know: the reason for a warning or failure, and the like."""
        return tuple(note for note in self.notes if note.severity != INFO)

    def details(self) -> dict[str, Any]:
        """Status, sentences and notes, as plain data."""
        return {"status": self.status, "text": self.text, "notes": [note.plain() for note in self.notes]}


def verdict(status: str, kind: str, *more: Note, **values: Any) -> Verdict:
    """A verdict whose reason is a note of this kind and these values, as severe as the status.

    Parameters
    ----------
    status
        ``ok``, ``warning`` or ``failed``.
    kind, values
        Of the note that is the reason.
    more
        Further notes.

    Returns
    -------
    the verdict
    """
    return Verdict(status, (Note(kind, values, _SEVERITY[status]), *more))
