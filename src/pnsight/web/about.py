"""What is known about the data and the model behind the pages, in words."""

from __future__ import annotations

from pnsight.models import Model, ResponseTypeModel
from pnsight.text import count_text

_MODELS = {
    "response-types": (
        "The response-type model learns from all rows of both tables how people of every profile would respond, and "
        "shrinks that to the profile's own rows where there are many. Its answers never contradict each other, and the "
        "bounds have intervals if it was fitted with them."
    ),
    "plug-in": (
        "The plug-in puts the rows of a group into the formulas. It says nothing where rows are missing, and is wild "
        "where they are few: look at the rows beside an answer before you trust it."
    ),
    "mask-mlp": (
        "Mask-MLP has learned the two bounds of one quantity from groups with many rows, with a network for each. It "
        "knows no law behind them, so it answers that quantity only, and its two networks may disagree."
    ),
    "exact-mlp": (
        "Exact-MLP has learned the two bounds of one quantity from fully described groups with many rows, with a "
        "network for each. It answers only where every covariate is known."
    ),
}


def in_words(model: Model) -> str:
    """What kind of model it is."""
    return _MODELS[model.name]


def explained(model: Model) -> str:
    """What the model chose while it was fitted, if it says so."""
    return model.explain() if isinstance(model, ResponseTypeModel) else ""


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
