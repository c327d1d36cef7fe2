"""Bounds on the probability of necessity and sufficiency for every subpopulation.

Names are loaded when first used, so that `import pnsight` and `pnsight --help` stay quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import lazy_loader

from pnsight._version import __version__

if TYPE_CHECKING:
    from pnsight import data, decisions, diagnostics, estimands, models, output, queries, simulation
    from pnsight.data.law import Law
    from pnsight.data.reading import read_counts, read_study, write_counts
    from pnsight.data.schema import Covariate, Schema
    from pnsight.data.study import Study
    from pnsight.decisions.planning import plan, size
    from pnsight.decisions.policies import policies
    from pnsight.decisions.ranking import rank
    from pnsight.decisions.score_frames import score
    from pnsight.decisions.second_opinion import SecondOpinion, second_opinion
    from pnsight.decisions.selection import select
    from pnsight.decisions.tipping_points import tip
    from pnsight.decisions.validation import Validation, validate
    from pnsight.decisions.value_of_information import ask
    from pnsight.decisions.which_arm import decide
    from pnsight.diagnostics import Check, check
    from pnsight.errors import PnsightError
    from pnsight.estimands.estimand import Estimand
    from pnsight.estimands.linear_program import Program
    from pnsight.estimands.payoffs import Payoffs
    from pnsight.models import ExactMLP, MaskMLP, Model, PlugIn, ResponseTypeModel
    from pnsight.models.persistence import load, save
    from pnsight.models.suppression import suppress
    from pnsight.notes import Note
    from pnsight.output.plots import plot
    from pnsight.queries.bound_table import BoundTable
    from pnsight.queries.query import Query
    from pnsight.web import serve

__getattr__, __dir__, _ = lazy_loader.attach(
    __name__,
    submodules=["data", "decisions", "diagnostics", "estimands", "models", "output", "queries", "simulation"],
    submod_attrs={
        "data.law": ["Law"],
        "data.reading": ["read_counts", "read_study", "write_counts"],
        "data.schema": ["Covariate", "Schema"],
        "data.study": ["Study"],
        "decisions.planning": ["plan", "size"],
        "decisions.policies": ["policies"],
        "decisions.ranking": ["rank"],
        "decisions.which_arm": ["decide"],
        "decisions.score_frames": ["score"],
        "decisions.selection": ["select"],
        "decisions.tipping_points": ["tip"],
        "decisions.value_of_information": ["ask"],
        "diagnostics": ["Check", "check"],
        "decisions.second_opinion": ["SecondOpinion", "second_opinion"],
        "decisions.validation": ["Validation", "validate"],
        "errors": ["PnsightError"],
        "estimands.estimand": ["Estimand"],
        "estimands.linear_program": ["Program"],
        "estimands.payoffs": ["Payoffs"],
        "models": ["ExactMLP", "MaskMLP", "Model", "PlugIn", "ResponseTypeModel"],
        "models.persistence": ["load", "save"],
        "models.suppression": ["suppress"],
        "notes": ["Note"],
        "output.plots": ["plot"],
        "queries.bound_table": ["BoundTable"],
        "queries.query": ["Query"],
        "web": ["serve"],
    },
)

__all__ = [
    "BoundTable",
    "Check",
    "Covariate",
    "Estimand",
    "ExactMLP",
    "Law",
    "MaskMLP",
    "Model",
    "Note",
    "Payoffs",
    "PlugIn",
    "PnsightError",
    "Program",
    "Query",
    "ResponseTypeModel",
    "Schema",
    "SecondOpinion",
    "Study",
    "Validation",
    "__version__",
    "ask",
    "check",
    "data",
    "decide",
    "decisions",
    "diagnostics",
    "estimands",
    "load",
    "models",
    "output",
    "plan",
    "plot",
    "policies",
    "queries",
    "rank",
    "read_counts",
    "read_study",
    "save",
    "score",
    "second_opinion",
    "select",
    "serve",
    "simulation",
    "size",
    "suppress",
    "tip",
    "validate",
    "write_counts",
]
