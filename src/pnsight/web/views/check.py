"""The check of the tables, part by part, as the template shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pnsight.web.explorer import Explorer
from pnsight.web.state import State
from pnsight.wording import capitalised

QUESTIONS = {
    "support": "Are there enough rows?",
    "balance": "Was the treatment randomised?",
    "shift": "Are both tables about the same mix of people?",
    "coherence": "Does any population fit both tables?",
    "overlap": "Has the trial people like those of the other table, in both arms?",
    "attrition": "Are outcomes missing, and whose?",
    "coding": "Do treatment and outcome mean the same in both tables?",
    "columns": "Are the covariates coarse enough?",
    "sampling": "What do weights and clusters leave of the rows?",
    "compliance": "Did people take what they were assigned?",
    "sites": "Do the sites agree?",
}
"""What each part of the check asks."""


@dataclass(frozen=True)
class Part:
    """A part of the check: its name, what it asks, what it came to and why."""

    name: str
    question: str
    status: str
    sign: str
    text: str


def check_parts(explorer: Explorer, state: State) -> Sequence[Part] | None:
    """All parts; None where counts are withheld, so that the tables cannot be checked any more."""
    from pnsight.diagnostics.verdict import SIGNS  # loads SciPy, as a check does

    found = explorer.checked(state.options.estimand)
    if found is None:
        return None
    return [
        Part(name, QUESTIONS[name], part.status, SIGNS[part.status], capitalised(part.text))
        for name, part in found.verdicts.items()
    ]
