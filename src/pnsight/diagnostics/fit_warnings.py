"""Warnings about a study that belong beside every answer: what is stored with a model and shown with its bounds."""

from __future__ import annotations

from pnsight.data.study import Study
from pnsight.diagnostics.coding import coding_of
from pnsight.diagnostics.compatibility import Coherence, coherence_of
from pnsight.diagnostics.missing_outcomes import missing_outcomes_of
from pnsight.diagnostics.overlap import overlap_of
from pnsight.diagnostics.pooling import pooling_concerns
from pnsight.diagnostics.sampling_check import sampling_of
from pnsight.notes import WARNING, Note


def study_warnings(study: Study) -> tuple[Note, ...]:
    """What whoever reads any answer from a study should be warned of, whichever model gives it.

    Parameters
    ----------
    study
        The tables.

    Returns
    -------
    tables that contradict each other (``tables_contradict``) or, where they do not, seem to be coded differently;
    outcomes that are missing unevenly or often; people whom the experiment hardly covers, with their share; and few
    clusters. Empty where nothing is wrong
    """
    study = study.grouped
    parts = (missing_outcomes_of(study), overlap_of(study), sampling_of(study))
    return (*_disagreement(study), *(note for part in parts if part is not None for note in part.notes))


def _disagreement(study: Study) -> tuple[Note, ...]:
    """That the tables contradict each other, or else that they seem to be coded differently."""
    found, coding = coherence_of(study), coding_of(study)
    if found is not None and found.reported:
        return (_contradiction(found),)
    return () if coding is None else coding.notes


def _contradiction(found: Coherence) -> Note:
    """The most certain contradiction, and codes of the subgroups found, each of shape (subgroups, covariates).

    `codes` are those that explain the others, and `also` the others: they are contradicted as a whole, but people
    within them may not be.
    """
    explaining = found.reported_codes if found.all_reported else found.broken_codes
    values = {"found": found.worst.values, "codes": explaining.tolist(), "also": found.broken_codes.tolist()}
    if found.between_arms:
        values["alone"] = True
    return Note("tables_contradict", values, WARNING)


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
    `study_warnings`, and a note of kind ``rows_pooled`` where the model adds up rows that should not be
    """
    found = study_warnings(study)
    concerns = pooling_concerns(study.grouped) if pools_rows else []
    if not concerns:
        return found
    # to the digits that are shown: a model that is handed on keeps this
    varies = {note.kind: round(note.values["variation"], 2) for note in concerns}
    pooled = {"assignment": varies.get("assignment_varies"), "mix": varies.get("mix_varies")}
    return (*found, Note("rows_pooled", pooled, WARNING))
