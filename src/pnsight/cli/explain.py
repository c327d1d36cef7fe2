"""`pnsight explain`: what a model was fitted to, what was chosen, and on what evidence."""

from __future__ import annotations

import pnsight
from pnsight.cli.output import put
from pnsight.cli.query import ModelArgument


def explain(model: ModelArgument) -> None:
    """Say what a model was fitted to, what was chosen when fitting, and on what evidence."""
    fitted = pnsight.load(model)
    put(f"{fitted.name} model of {fitted.study!r}\n\n{fitted.explain()}\n", None)
