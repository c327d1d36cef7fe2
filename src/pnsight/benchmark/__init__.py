"""The paper's experiment: settings, resumable runs, scores against the oracle, tables and figures."""

from __future__ import annotations

from pnsight.benchmark import figures, flagship, summary
from pnsight.benchmark.case_study import case_study
from pnsight.benchmark.coverage import without_support
from pnsight.benchmark.inspect import learning_curves, true_against_predicted
from pnsight.benchmark.results import Results
from pnsight.benchmark.run import run
from pnsight.benchmark.settings import PRESETS, Grid, Setting
from pnsight.benchmark.tables import table_of

__all__ = [
    "PRESETS",
    "Grid",
    "Results",
    "Setting",
    "case_study",
    "figures",
    "flagship",
    "learning_curves",
    "run",
    "summary",
    "table_of",
    "true_against_predicted",
    "without_support",
]
