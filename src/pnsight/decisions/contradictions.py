"""Tables that contradict each other: who can be left out, when nobody is left, and the experiment alone instead."""

from __future__ import annotations

from pnsight.errors import IncoherentError
from pnsight.estimands.estimand import Estimand
from pnsight.models import Model
from pnsight.notes import WARNING, Note
from pnsight.queries.bound_table import CONTRADICTED, BoundTable

GO_BY_TRIAL = "use --trial-alone (trial_alone=True) to go by the trial alone"
"""What to do where the tables contradict each other."""


def answering_model(model: Model, estimand: Estimand) -> Model:
    """The model whose people an estimand is about: that of the experiment if it is to answer alone.

    Parameters
    ----------
    model
        A fitted model.
    estimand
        What is asked.

    Returns
    -------
    The model itself, or that of the experiment.
    """
    return model.from_trial_alone() if estimand.trial_alone else model


def refuse_all_contradicted(answers: BoundTable, what: str, instead: str = GO_BY_TRIAL) -> None:
    """Refuse to choose among groups if the tables contradict each other about every one of them.

    Parameters
    ----------
    answers
        Bounds of the groups to choose from.
    what
        What cannot be done, as in ``no group can be ranked``.
    instead
        What to do, beside finding out where they do.

    Raises
    ------
    IncoherentError
        If there are groups, and the status of all is ``contradicted``.
    """
    if len(answers) and (answers.status == CONTRADICTED).all():
        raise IncoherentError(
            f"{what}: the tables contradict each other beyond chance, so that no population fits both. See pnsight "
            f"check for where they do; {instead}."
        )


def notes_when_left_out(answers: BoundTable, trial_can_answer: bool = True) -> tuple[Note, ...]:
    """The notes on answers where those that are contradicted are not shown, but left out and counted.

    Parameters
    ----------
    answers
        Bounds of all groups that were looked at.
    trial_can_answer
        Whether the same can be asked of the experiment alone.

    Returns
    -------
    The answers' notes, one of kind ``contradicted_left_out`` in place of ``answers_contradicted``.
    """
    count = {"groups": (answers.status == CONTRADICTED).sum(), "of": len(answers)}
    left_out = {**count, "trial_can_answer": trial_can_answer}
    return tuple(
        Note("contradicted_left_out", left_out, WARNING) if note.kind == "answers_contradicted" else note
        for note in answers.notes
    )
