"""Figures of the pages on plots and the report, from a study that is the same on every machine."""

from __future__ import annotations

from pages import FIGURES

import pnsight
from pnsight.output import plots

QUERIES = ["", "z4=1,z9=1", "z1=1,z9=0", "z8=1", "z4=0", "1101001110"]


def draw() -> None:
    """The forest plot that `docs/report.md` shows."""
    study = pnsight.simulation.get("mediator").sample(experimental=200_000, observational=200_000, seed=1)
    model = pnsight.PlugIn().fit(study)
    plots.save(pnsight.plot(model, QUERIES, threshold=0.4), FIGURES / "forest.svg")
