"""What is said beside a table of answers: whom they are about, what to be warned of, and how to read them."""

from __future__ import annotations

from collections.abc import Iterable

import pnsight
from pnsight.cli.output import say


def say_about(
    model: pnsight.Model, estimand: pnsight.Estimand, notes: Iterable[pnsight.Note], caption: str = ""
) -> None:
    """Say what a reader of answers should know, each thing once.

    Parameters
    ----------
    model, estimand
        Who answers, and what was asked.
    notes
        What is to be said about these answers.
    caption
        What is shown, said first.
    """
    if caption:
        say(caption)
    about = pnsight.output.about_answers.about_answers(model, estimand)
    for note in dict.fromkeys((*about, *notes)):
        say(f"warning: {note}" if note in about and note.severity != "info" else str(note))
