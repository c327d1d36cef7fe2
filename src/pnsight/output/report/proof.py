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
    columns = found.summary_columns
    models, measures = (tuple(dict.fromkeys(columns[name])) for name in ("model", "measure"))
    numbers = zip(columns["value"], columns["low"], columns["high"], strict=True)
    known = dict(zip(zip(columns["model"], columns["measure"], strict=True), numbers, strict=True))
    missing = (None, None, None)
    rows = tuple((measure, tuple(known.get((model, measure), missing) for model in models)) for measure in measures)
    names = ("model", "cell", "rows", "predicted", "observed", "error")
    table = found.calibration
    cells = tuple(
        row[:-2]
        for row in zip(*(table[name] for name in (*names, "tenth", "group")), strict=True)
        if row[-2] is None and row[-1] == "everyone" and row[0] == models[0]
    )
    return Proof(found.caption, models, rows, cells, tuple(map(str, found.notes)))
