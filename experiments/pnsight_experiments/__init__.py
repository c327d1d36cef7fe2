"""The paper's experiment: settings, resumable runs, scores against the oracle, tables and figures."""

from __future__ import annotations

from pnsight_experiments import decision_tables, figures, response_type_tables, summary
from pnsight_experiments.case_study import case_study
from pnsight_experiments.deciding import refuse_exact_learners
from pnsight_experiments.fit_inspection import learning_curves, true_against_predicted
from pnsight_experiments.result_schemas import DECISIONS, FITS, RIVAL_FITS
from pnsight_experiments.results import Results
from pnsight_experiments.run import run
from pnsight_experiments.settings import DECIDED, PRESETS, Grid, Setting
from pnsight_experiments.support import without_support
from pnsight_experiments.tables import sheet_of, table_of

__all__ = [
    "DECIDED",
    "DECISIONS",
    "FITS",
    "PRESETS",
    "RIVAL_FITS",
    "Grid",
    "Results",
    "Setting",
    "case_study",
    "decision_tables",
    "figures",
    "learning_curves",
    "refuse_exact_learners",
    "response_type_tables",
    "run",
    "sheet_of",
    "summary",
    "table_of",
    "true_against_predicted",
    "without_support",
]
