"""The page of a report that shows how the model fares on rows that it has not seen, as plain data."""

from __future__ import annotations

from pnsight._progress import Progress
from pnsight.decisions.validation import Validation, validate
from pnsight.errors import PnsightError
from pnsight.models import Model
from pnsight.output.report.data import Proof


def prove(model: Model, quantity: str, level: float, splits: int, progress: Progress) -> Proof:
    """Fit the model anew to part of its rows, several times, and compare it with the others."""
    try:
        found = validate(model.study, model.unfitted(), splits, quantity=quantity, level=level, progress=progress)
    except PnsightError as error:
        return Proof("", refused=str(error))
    return proof_of(found)


def proof_of(found: Validation) -> Proof:
    """The measures of all models beside each other, and how each cell is calibrated for everyone."""
    rows = tuple((measure, tuple(values)) for measure, values in found.by_measure().items())
    return Proof(found.caption, found.models, rows, tuple(found.everyones_cells()), tuple(map(str, found.notes)))
