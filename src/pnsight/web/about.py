"""What is known about the data behind the pages, in words."""

from __future__ import annotations

from pnsight._text import count_text
from pnsight.models import Model


def facts(model: Model) -> list[tuple[str, str]]:
    """The study in figures."""
    study = model.study
    experimental, observational = study.table_rows
    found = [
        ("Treatment", study.treatment),
        ("Outcome", study.outcome),
        ("Experiment", f"{count_text(experimental)} rows"),
        ("Observational table", f"{count_text(observational)} rows" if study.observational is not None else "none"),
        ("Covariates", str(len(study.schema.names))),
        ("Profiles with rows", f"{len(study.profiles):,}"),
        *((f"Left out: {reason}", count_text(rows)) for reason, rows in study.dropped.items()),
    ]
    return [*found, ("Not used", ", ".join(study.ignored))] if study.ignored else found
