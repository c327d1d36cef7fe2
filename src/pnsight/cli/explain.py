"""`pnsight explain`: what a model was fitted to, what was chosen, and on what evidence."""

from __future__ import annotations

from pnsight.cli.loading import load_model
from pnsight.cli.output import put
from pnsight.cli.query import ModelArgument


def explain(model: ModelArgument) -> None:
    """Say what a model was fitted to, what was chosen when fitting, and on what evidence."""
    fitted = load_model(model)
    put(f"{fitted.name} model of {fitted.study!r}\n\n{fitted.explain()}\n", None)
