"""Coding: whether treatment and outcome seem to mean the same in both tables.

Two tables with the same values can still mean opposite things by them. That shows in two ways: the tables contradict
each other but would not if one of them were recoded; or the shares of people who respond mirror each other in both
arms. Neither is proof, so that it is a warning and a hint what to look at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_ndtr

from pnsight._typing import FloatArray
from pnsight.data.structure import OBSERVATIONAL, Structure
from pnsight.data.study import Study
from pnsight.data.two_by_two import N_X, N_X0, X0N, X0Y, XN, XY, Y_X, Y_X0
from pnsight.diagnostics.compatibility import INEQUALITIES
from pnsight.diagnostics.inequalities import evidence_of
from pnsight.diagnostics.subgroup_tests import MIN_ROWS
from pnsight.diagnostics.verdict import FAMILYWISE_ALPHA, OK, WARNING, Verdict
from pnsight.notes import WARNING as WARNING_NOTE
from pnsight.notes import Note

_BOTH = "treatment and outcome"
_RECODED = {"outcome": (XN, XY, X0N, X0Y), "treatment": (X0Y, X0N, XY, XN), _BOTH: (X0N, X0Y, XN, XY)}
"""By what is recoded in the observational table, the cell that takes the place of each of its cells."""

_MIRRORED, _APART = 0.1, 0.3
_MIN_EXPECTED = 20.0


@dataclass(frozen=True)
class Coding:
    """How the tables seem to be coded.

    Attributes
    ----------
    recoding : what would have to be recoded in one table for the tables not to contradict each other, if that helps
    mirrored : shares of people who respond, treated and untreated of the experiment and then of the other table, where
        they mirror each other
    constant : tables in which everybody has the same outcome, though it varies in the other, with that outcome
    """

    recoding: tuple[str, ...]
    mirrored: tuple[float, float, float, float] | None
    constant: tuple[tuple[str, bool], ...]

    @property
    def notes(self) -> tuple[Note, ...]:
        """What to be warned of."""
        return tuple(self._notes())

    def _notes(self) -> Iterator[Note]:
        if self.recoding:
            yield Note("recoding_fits", {"what": self.recoding}, WARNING_NOTE)
        elif self.mirrored is not None:
            names = ("treated", "untreated", "chose", "did_not")
            yield Note("responses_mirrored", dict(zip(names, self.mirrored, strict=True)), WARNING_NOTE)
        for table, responds in self.constant:
            yield Note("outcome_constant", {"table": table, "responds": responds}, WARNING_NOTE)

    @property
    def verdict(self) -> Verdict:
        """A warning where a table seems to be coded the other way round."""
        return Verdict(WARNING, self.notes) if self.notes else Verdict(OK, (Note("coded_alike"),))

    def details(self) -> dict[str, Any]:
        """Everything, as plain data."""
        return {
            "recoding": list(self.recoding),
            "mirrored": None if self.mirrored is None else list(self.mirrored),
            "constant": [{"table": table, "responds": responds} for table, responds in self.constant],
        }


@dataclass(frozen=True)
class CodingNotChecked:
    """That coding was not looked at: what would be a recoding is not known but for two arms and two outcomes."""

    notes: tuple[Note, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """That it was not looked at, and why."""
        return Verdict(OK, (Note("coding_not_checked"),))

    def details(self) -> dict[str, Any]:
        """Nothing but that."""
        return {"checked": False}


def coding_of(study: Study) -> Coding | CodingNotChecked | None:
    """Coding of the tables of a study.

    Parameters
    ----------
    study
        Both tables, or an experiment alone.

    Returns
    -------
    what seems to be coded differently; None for an experiment alone
    """
    if study.observational is None:
        return None
    if not study.structure.is_two_by_two:
        return CodingNotChecked()
    return Coding(_recodings(study), _mirrored(study), tuple(_constant(study)))


def _recodings(study: Study) -> tuple[str, ...]:
    """What to recode in one table so that everyone's contradiction is gone; nothing where there is none."""
    if not _contradicted(study.cell_evidence):
        return ()
    fits = [what for what in _RECODED if not _contradicted(_recoded(study, what))]
    return tuple(what for what in fits if what != _BOTH or fits == [_BOTH])


def _recoded(study: Study, what: str) -> FloatArray:
    counts = study.cell_evidence.copy()
    counts[:, study.structure.columns_of(OBSERVATIONAL)] = _cells(study.structure, counts, _RECODED[what])
    return counts


def _cells(structure: Structure, counts: FloatArray, names: tuple[str, ...]) -> FloatArray:
    return counts[:, [structure.column(name) for name in names]]


def _contradicted(counts: FloatArray) -> bool:
    """Whether everyone breaks an inequality by more than chance explains."""
    whole = evidence_of(counts, INEQUALITIES)
    everyone = type(whole)(*(part.sum(axis=0, keepdims=True) for part in vars(whole).values()))
    return bool((log_ndtr(-everyone.score) + np.log(len(INEQUALITIES)) < np.log(FAMILYWISE_ALPHA)).any())


def _mirrored(study: Study) -> tuple[float, float, float, float] | None:
    """Shares that respond, if those of the tables are close to one less each other in both arms and far apart."""
    rows = {cell.name: rows for cell, rows in zip(study.structure.cells, study.cell_evidence.sum(axis=0), strict=True)}
    pairs = ((Y_X, N_X), (Y_X0, N_X0), (XY, XN), (X0Y, X0N))
    if min(rows[yes] + rows[no] for yes, no in pairs) < MIN_ROWS:
        return None
    shares = np.array([rows[yes] / (rows[yes] + rows[no]) for yes, no in pairs])
    trial, registry = shares[:2], shares[2:]
    mirrored = np.abs(trial + registry - 1) <= _MIRRORED
    apart = np.abs(trial - registry) >= _APART
    a, b, chose, did_not = shares.tolist()
    return (a, b, chose, did_not) if (mirrored & apart).all() else None


def _constant(study: Study) -> Iterator[tuple[str, bool]]:
    """Tables in which all respond or nobody does, though enough would differ at the other table's rate."""
    responds = {"experimental": ((Y_X, Y_X0), (N_X, N_X0)), OBSERVATIONAL: ((XY, X0Y), (XN, X0N))}
    totals = study.cell_evidence.sum(axis=0, keepdims=True)
    rows = {
        table: [float(_cells(study.structure, totals, cells).sum()) for cells in both]
        for table, both in responds.items()
    }
    for table, other in (("experimental", OBSERVATIONAL), (OBSERVATIONAL, "experimental")):
        for lacking in (0, 1):
            expected = sum(rows[table]) * rows[other][lacking] / (sum(rows[other]) or 1.0)
            if rows[table][lacking] == 0 and expected >= _MIN_EXPECTED:
                yield table, lacking == 1
