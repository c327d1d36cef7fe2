"""The section of a report that holds the model's refined bounds against a second opinion, as plain data."""

from __future__ import annotations

from typing import Any

from pnsight._progress import Progress
from pnsight.decisions.second_opinion import second_opinion
from pnsight.errors import PnsightError
from pnsight.output.opinion_words import WORDS, group_names, other_notes, verdict
from pnsight.output.report.data import Opinion, OpinionRow
from pnsight.output.report.sections import ReportRequest


def compare_opinions(asked: ReportRequest, progress: Progress) -> Opinion:
    """Fit the model anew without each fold of the rows, and bound everyone and large groups whatever it is worth."""
    try:
        found = second_opinion(asked.model, quantity=asked.estimand, progress=progress)
    except PnsightError as error:
        return Opinion(refused=str(error))
    names, columns = group_names(asked.model.study, found), found.columns()
    numbers = zip(names, zip(*columns.values(), strict=True), strict=True)
    rows = [_row(name, dict(zip(columns, row, strict=True))) for name, row in numbers]
    return Opinion(found.level, tuple(rows), verdict(found, names), asked.notes(other_notes(found)))


def _row(name: str, columns: dict[str, Any]) -> OpinionRow:
    return OpinionRow(name=name, words=WORDS[columns["agreement"]], **columns)
