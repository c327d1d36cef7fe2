"""The verdict on the tables in three words, and what follows from it for decisions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pnsight._text import number_of
from pnsight.data.study import Study
from pnsight.errors import PnsightError, join_names
from pnsight.models import Model
from pnsight.wording import capitalised

if TYPE_CHECKING:
    from pnsight.diagnostics import Check

COHERENCE = "coherence"
"""The part of the check whose failure concerns some groups only: those are without an answer one by one."""

_CONTRADICTION = "tables_contradict"
_CONCERNS = ", and whoever that concerns has no answer"


@dataclass(frozen=True)
class TablesVerdict:
    """Whether tables are usable, and which parts of the check speak against it.

    Attributes
    ----------
    failed, warned : names of the parts that failed, and of those that warn
    refused : why the tables could not be checked; empty if they were
    """

    failed: tuple[str, ...] = ()
    warned: tuple[str, ...] = ()
    refused: str = ""

    @classmethod
    def of_check(cls, found: Check) -> TablesVerdict:
        """The verdict of a check."""
        from pnsight.diagnostics.verdict import FAILED, WARNING  # loads SciPy, as a check does

        parts = {name: part.status for name, part in found.verdicts.items()}
        failed, warned = (tuple(name for name in parts if parts[name] == status) for status in (FAILED, WARNING))
        return cls(failed, warned)

    @classmethod
    def of_study(cls, study: Study) -> TablesVerdict:
        """The verdict on a study that is checked now, or why it cannot be."""
        from pnsight.diagnostics import check  # loads SciPy, which starting a server can do without

        try:
            return cls.of_check(check(study))
        except PnsightError as error:
            return cls(refused=str(error))

    @classmethod
    def of_model(cls, model: Model) -> TablesVerdict:
        """The verdict on the tables behind a model; by its warnings where counts are withheld.

        Tables from which small counts were taken out would look different although they are not.
        """
        if model.study.withheld is None:
            return cls.of_study(model.study)
        kinds = {note.kind for note in model.warnings}
        failed = (COHERENCE,) if _CONTRADICTION in kinds else ()
        return cls(failed, ("see its warnings",) if kinds - {_CONTRADICTION} else ())

    @property
    def words(self) -> str:
        """``usable``, ``usable with warnings``, ``not usable`` or ``not checked``."""
        if self.refused:
            return "not checked"
        return "not usable" if self.failed else "usable with warnings" if self.warned else "usable"

    @property
    def reasons(self) -> str:
        """Which parts speak against the tables, in a sentence."""
        if self.refused:
            return "The tables could not be checked."
        concerned = _CONCERNS if self.failed == (COHERENCE,) else ""
        found = [f"{join_names(self.failed)} failed{concerned}"] * bool(self.failed)
        found += [f"{number_of(len(self.warned), 'warning')}: {join_names(self.warned)}"] * bool(self.warned)
        return f"{capitalised('; '.join(found))}." if found else "Nothing that was looked at speaks against it."

    @property
    def undecided(self) -> str:
        """Why nothing is decided about anybody; empty if decisions are made."""
        found = _other_than_coherence(self.failed)
        if not found:
            return ""
        return (
            f"Nothing is decided: the tables are not usable as they are, since {join_names(found)} failed. The bounds "
            "are those that would hold otherwise."
        )


def _other_than_coherence(parts: Iterable[str]) -> list[str]:
    return [name for name in parts if name != COHERENCE]
