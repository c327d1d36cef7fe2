"""What is known about the data behind the pages, in words."""

from __future__ import annotations

from pnsight._text import count_text
from pnsight.data.study import Study
from pnsight.models import Model


def _columns(study: Study) -> list[tuple[str, str]]:
    """Treatment and outcome; with their values where these are not just true and false."""
    if study.structure.is_two_by_two:
        labels = study.labels
        return [("Treatment", labels.column(study.treatment)), ("Outcome", labels.column(study.outcome))]
    described = study.structure.description
    known = [f"{each:g}" for each in described.horizons] or described.outcomes
    outcome = ("Outcome", f"{study.outcome}, until the event") if described.horizons else ("Outcome", study.outcome)
    return [
        ("Treatment", f"{study.treatment}: {', '.join(described.arms)}"),
        outcome,
        ("Horizons" if described.horizons else "Outcomes", ", ".join(known)),
    ]


def facts(model: Model) -> list[tuple[str, str]]:
    """The study in figures."""
    study = model.study
    experimental, observational = study.table_rows
    found = [
        *_columns(study),
        ("Experiment", f"{count_text(experimental)} rows"),
        ("Observational table", f"{count_text(observational)} rows" if study.observational is not None else "none"),
        ("Covariates", str(len(study.schema.names))),
        ("Profiles with rows", f"{len(study.profiles):,}"),
        *((f"Left out: {reason}", count_text(rows)) for reason, rows in study.dropped.items()),
    ]
    return [*found, ("Not used", ", ".join(study.ignored))] if study.ignored else found
