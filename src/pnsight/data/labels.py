"""Labels: what columns and values are called for people to read; tables, queries and data files keep the raw names."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pnsight.errors import TableError
from pnsight.notes import Note


@dataclass(frozen=True)
class Labels:
    """Words for columns and their values; what has none is called by its own name.

    Attributes
    ----------
    columns
        By column, what it is called.
    values
        By column, what its values are called.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether anything has a label."""
        return bool(self.columns or self.values)

    def column(self, name: str) -> str:
        """What a column is called."""
        return self.columns.get(name, name)

    def value(self, column: str, value: str) -> str:
        """What a value of a column is called."""
        return self.values.get(column, {}).get(value, value)

    def term(self, column: str, value: str) -> str:
        """One thing that is known about people: ``Sex = female``, or ``Age >=65`` where the value has a sign."""
        text = self.value(column, value)
        return f"{self.column(column)} {text}" if text.startswith(("<", ">")) else f"{self.column(column)} = {text}"

    def words(self, fixed: Mapping[str, str]) -> str:
        """People of whom some things are known, as `Query.fixed` has them: ``Sex = female, Age = 65+``."""
        return ", ".join(self.term(name, value) for name, value in fixed.items()) or "everyone"

    def note(self, note: Note) -> Note:
        """A note that calls the covariate which it is about by its label."""
        if "covariate" not in note.values:
            return note
        return Note(note.kind, {**note.values, "covariate": self.column(note.values["covariate"])}, note.severity)

    def of(self, known: Mapping[str, tuple[str, ...]]) -> Labels:
        """Those of some columns.

        Parameters
        ----------
        known
            By column, its values.

        Returns
        -------
        Labels
            Without those of other columns and values.
        """
        values = {
            name: {value: text for value, text in texts.items() if value in known[name]}
            for name, texts in self.values.items()
            if name in known
        }
        columns = {name: text for name, text in self.columns.items() if name in known}
        return Labels(columns, {name: texts for name, texts in values.items() if texts})


NO_LABELS = Labels()


def read_labels(file: Path) -> Labels:
    """Read labels from a TOML file.

    Parameters
    ----------
    file
        With a table ``[columns]``, and one ``[values.COLUMN]`` for each column whose values have labels.

    Returns
    -------
    Labels
        What the file says.

    Raises
    ------
    TableError
        If it cannot be read, or holds something else.
    """
    try:
        with file.open("rb") as opened:
            found = tomllib.load(opened)
    except OSError as error:
        raise TableError(f"the labels {str(file)!r} cannot be read: {error.strerror}; check the path.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TableError(f"the labels {str(file)!r} are not TOML: {error}; {_EXPECTED}") from None
    columns, values = found.pop("columns", {}), found.pop("values", {})
    if found or not _texts(columns) or not isinstance(values, dict) or not all(map(_texts, values.values())):
        other = f" and {next(iter(found))!r}" if found else ""
        raise TableError(f"the labels {str(file)!r} hold something else than words{other}; {_EXPECTED}")
    return Labels(columns, values)


_EXPECTED = """expected a table [columns] with lines such as sex = "Sex", and [values.sex] with f = "female"."""


def _texts(table: Any) -> bool:
    return isinstance(table, dict) and all(isinstance(text, str) for text in table.values())
