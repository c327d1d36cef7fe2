"""What held-out rows say about the model, as the template shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pnsight.decisions.validation import validate
from pnsight.notes import sentences
from pnsight.web.explorer import Explorer
from pnsight.web.views.format import NOTHING
from pnsight.wording import capitalised

SPLITS = 2
"""How often rows are held out for the page; the command line takes any number."""


@dataclass(frozen=True)
class Measure:
    """A measure, and for each model its value and interval in words."""

    name: str
    values: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class ProofView:
    """The measures, and how each cell is calibrated for everyone."""

    caption: str
    models: Sequence[str]
    measures: Sequence[Measure]
    cells: Sequence[Sequence[str]]
    notes: Sequence[str]


def proof_view(explorer: Explorer, quantity: str, level: float) -> ProofView:
    """Hold rows out, fit to the others, and compare, beside the plug-in."""
    model = explorer.model
    found = validate(model.study, model.unfitted(), SPLITS, quantity=quantity, level=level)
    return ProofView(
        capitalised(found.caption),
        found.models,
        [
            Measure(capitalised(name), [_value(*numbers) for numbers in values])
            for name, values in found.by_measure().items()
        ],
        [
            (cell, f"{rows:,.0f}", *(f"{each:.3f}" for each in (predicted, observed, error)))
            for _, cell, rows, predicted, observed, error in found.everyones_cells()
        ],
        sentences(found.notes, "page"),
    )


def _value(value: float | None, low: float | None, high: float | None) -> tuple[str, str]:
    interval = "" if low is None or high is None else f"{low:.4f} to {high:.4f}"
    return NOTHING if value is None else f"{value:.4f}", interval
