"""The paper's experiment: settings, resumable runs, scores against the oracle, tables and figures."""

from __future__ import annotations

from pnsight.benchmark import decision_tables, figures, flagship, summary
from pnsight.benchmark.case_study import case_study
from pnsight.benchmark.coverage import without_support
from pnsight.benchmark.deciding import refuse_exact_learners
from pnsight.benchmark.inspect import learning_curves, true_against_predicted
from pnsight.benchmark.results import Results
from pnsight.benchmark.run import run
from pnsight.benchmark.settings import DECIDED, PRESETS, Grid, Setting
from pnsight.benchmark.sheets import DECISIONS, FITS
from pnsight.benchmark.tables import sheet_of, table_of

__all__ = [
    "DECIDED",
    "DECISIONS",
    "FITS",
    "PRESETS",
    "Grid",
    "Results",
    "Setting",
    "case_study",
    "decision_tables",
    "figures",
    "flagship",
    "learning_curves",
    "refuse_exact_learners",
    "run",
    "sheet_of",
    "summary",
    "table_of",
    "true_against_predicted",
    "without_support",
]
