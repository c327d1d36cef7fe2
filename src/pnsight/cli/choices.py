"""A question's possible answers as a list, to be answered by number or by name: nobody has to type a long name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Choices:
    """Names to choose from.

    Attributes
    ----------
    names : in the order in which they are numbered
    notes : by name, what is said beside it
    """

    names: Sequence[str]
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def numbered(self) -> bool:
        """Whether a number stands for a place: not where a name is a number itself."""
        return not any(name.isdecimal() for name in self.names)

    @property
    def prompt(self) -> str:
        """What is asked for."""
        return "Number or name" if self.numbered else "Name"

    def listed(self) -> str:
        """A line for each name, with its number."""
        width = len(str(len(self.names)))
        return "\n".join(
            f"  {f'{k:>{width}}  ' if self.numbered else ''}{name}"
            f"{f' ({self.notes[name]})' if name in self.notes else ''}"
            for k, name in enumerate(self.names, start=1)
        )

    def named(self, answer: str) -> str:
        """The name that an answer means; what is neither a name nor a number of one stays as it is."""
        text = answer.strip()
        if self.numbered and text.isdecimal() and 1 <= int(text) <= len(self.names):
            return self.names[int(text) - 1]
        return text

    def short(self, name: str) -> str:
        """The shortest answer that means a name."""
        return str(self.names.index(name) + 1) if self.numbered else name
