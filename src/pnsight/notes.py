"""Notes: what a reader should know about data, an answer or a decision, as data.

A note has a kind and named values; `pnsight.wording` makes its sentence at the last moment. Code that depends on what a
note says reads the kind and the values, never the sentence.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypedDict

from pnsight import wording

Severity: TypeAlias = Literal["info", "warning", "failure"]
INFO: Severity = "info"
WARNING: Severity = "warning"
FAILURE: Severity = "failure"


class NoteData(TypedDict):
    """A note as JSON holds it."""

    kind: str
    values: dict[str, Any]
    severity: Severity


@dataclass(frozen=True)
class Note:
    """Something to say, as data; ``str`` gives its sentence.

    Parameters
    ----------
    kind
        One of `pnsight.wording.KINDS`.
    values
        What the sentence is made of: text, numbers, truth values, None, and sequences and mappings of these. Sequences
        are kept as tuples, and NumPy's numbers as Python's.
    severity
        ``"info"``, ``"warning"`` (answers may mislead) or ``"failure"`` (they do).
    """

    kind: str
    values: Mapping[str, Any] = field(default_factory=dict)
    severity: Severity = INFO

    def __post_init__(self) -> None:
        if self.kind not in wording.KINDS:
            raise ValueError(f"no note is of kind {self.kind!r}; its wording is missing in pnsight.wording")
        object.__setattr__(self, "values", _frozen(self.values))

    def __str__(self) -> str:
        return wording.sentence(self.kind, self.values)

    def __hash__(self) -> int:
        return hash((self.kind, json.dumps(self.values, sort_keys=True), self.severity))

    def plain(self) -> NoteData:
        """The note as JSON holds it.

        Returns
        -------
        dict with ``kind``, ``values`` and ``severity``
        """
        return {"kind": self.kind, "values": json.loads(json.dumps(self.values)), "severity": self.severity}

    @classmethod
    def from_plain(cls, data: NoteData) -> Note:
        """The note that `plain` wrote.

        Parameters
        ----------
        data
            A dictionary with ``kind``, ``values`` and ``severity``.

        Returns
        -------
        the same note
        """
        found = cls(data["kind"], data["values"], data["severity"])
        str(found)  # what is missing in a damaged file is missed now, and not when the note is read
        return found


def sentences(notes: Sequence[Note], form: wording.Form = "text") -> list[str]:
    """The sentence of each note.

    Parameters
    ----------
    notes
        What is to be said.
    form
        ``"text"`` for terminals and files, ``"page"`` for the explorer and reports, which take no options.

    Returns
    -------
    as many sentences
    """
    return [wording.sentence(note.kind, note.values, form) for note in notes]


def _frozen(value: Any) -> Any:
    """Plain Python data, with tuples for sequences, so that a note equals its copy that went through JSON."""
    if isinstance(value, Mapping):
        return {str(name): _frozen(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return tuple(map(_frozen, value))
    return value.item() if hasattr(value, "item") else value
