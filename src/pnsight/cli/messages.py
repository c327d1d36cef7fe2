"""What is said beside a table of answers: whom they are about, what to be warned of, and how to read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pnsight
from pnsight.cli.options import Format
from pnsight.cli.output import check_output, say


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


_MOST_NAMED = 20


def say_labels(model: pnsight.Model, queries: Sequence[str], kind: Format | None, out: Path | None) -> None:
    """Say what queries mean by the labels of a model, where a table for people follows."""
    names = pnsight.output.naming.labelled_names(model.study, queries)
    if names is None or check_output(kind, out) is not Format.TABLE:
        return
    for query, name in list(dict(zip(queries, names, strict=True)).items())[:_MOST_NAMED]:
        if query.strip("X"):
            say(f"{query} is {name}")
