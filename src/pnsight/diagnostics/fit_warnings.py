"""Warnings about fitting: tables that contradict each other, and rows that should not be added up."""

from __future__ import annotations

from pnsight.data.study import Study
from pnsight.diagnostics.compatibility import coherence_of
from pnsight.diagnostics.pooling import pooling_concerns
from pnsight.notes import WARNING, Note


def fit_warnings(study: Study, pools_rows: bool) -> tuple[Note, ...]:
    """What whoever fits a model to a study should be warned of.

    Parameters
    ----------
    study
        The tables.
    pools_rows
        Whether the model adds up the rows of queries that leave covariates open.

    Returns
    -------
    notes of kind ``tables_contradict`` and ``rows_pooled``; empty where nothing is wrong
    """
    contradicting = _contradiction(study)
    concerns = pooling_concerns(study) if pools_rows else []
    if not concerns:
        return contradicting
    # to the digits that are shown: a model that is handed on keeps this
    varies = {note.kind: round(note.values["variation"], 2) for note in concerns}
    pooled = {"assignment": varies.get("assignment_varies"), "mix": varies.get("mix_varies")}
    return (*contradicting, Note("rows_pooled", pooled, WARNING))


def _contradiction(study: Study) -> tuple[Note, ...]:
    """The most certain contradiction, and codes of the subgroups found, each of shape (subgroups, covariates).

    `codes` are those that explain the others, and `also` the others: they are contradicted as a whole, but people
    within them may not be.
    """
    found = coherence_of(study)
    if found is None or not found.reported:
        return ()
    explaining = found.reported_codes if found.all_reported else found.broken_codes
    values = {"found": found.worst.values, "codes": explaining.tolist(), "also": found.broken_codes.tolist()}
    return (Note("tables_contradict", values, WARNING),)
