"""Sources: which files the tables of a study were read from, and of which day they are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TableSource:
    """The file, or the files, that a table was read from.

    Attributes
    ----------
    table : its role, experimental or observational
    name : of the file without its folder, or the pattern that several files match
    files : how many there are
    changed : the day on which the newest of them was last changed, as in 2026-01-31, in UTC
    """

    table: str
    name: str
    files: int
    changed: str
