"""What stands beside an answer where there are more than two arms, or outcomes are times: the best arm, and curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pnsight.errors import PnsightError
from pnsight.estimands.quantities import HARM, PNS
from pnsight.notes import Note
from pnsight.output.naming import named
from pnsight.queries.bound_table import BoundTable
from pnsight.web.curve_chart import Panel, panel, top_of
from pnsight.web.explorer import Explorer
from pnsight.web.state import State
from pnsight.wording import capitalised


@dataclass(frozen=True)
class Beside:
    """The best of all arms in a sentence, empty with two; and curves over time, none where outcomes are no times."""

    arm: str
    curves: Sequence[Panel]
    unit: str


def beside(explorer: Explorer, state: State) -> Beside | None:
    """What stands beside the answer to a state; None with two arms and outcomes that are no times."""
    described = explorer.model.structure.description
    if len(described.arms) < 3 and not described.horizons:
        return None
    return Beside(_arm(explorer, state), _curves(explorer, state), explorer.model.study.outcome)


def _arm(explorer: Explorer, state: State) -> str:
    options = state.options
    if len(explorer.model.structure.description.arms) < 3 or explorer.undecided(options.estimand):
        return ""
    if options.estimand.is_statement or options.estimand.quantity.direction != "gain":
        return ""
    try:
        reason = explorer.best_arm(state).reason()
    except PnsightError:
        return ""  # what is wrong with the question is said in place of the answer
    label = {"quantity": options.estimand.quantity.label}
    return f"Of all arms: {Note(reason.kind, {**reason.values, **label})}"


def _curves(explorer: Explorer, state: State) -> list[Panel]:
    """PNS and harm at each horizon, one beside the other on the same scale."""
    horizons, study = explorer.model.structure.description.horizons, explorer.model.study
    if not horizons:
        return []
    try:
        found = {quantity: explorer.over_time(state, quantity) for quantity in (PNS, HARM)}
    except PnsightError:
        return []
    top = top_of([table for tables in found.values() for table in tables])
    at = state.options.estimand.horizon

    def drawn(name: str, meaning: str, tables: Sequence[BoundTable]) -> Panel:
        return panel(name, meaning, horizons, tables, top, at)

    words = {quantity: named(quantity, study, replace(state.options.estimand, horizon=at)) for quantity in found}
    return [
        drawn(capitalised(words[quantity].label), words[quantity].phrase, tables) for quantity, tables in found.items()
    ]
