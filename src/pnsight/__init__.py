"""Bounds on the probability of necessity and sufficiency for every subpopulation.

Names are loaded when first used, so that `import pnsight` and `pnsight --help` stay quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pnsight._version import __version__

if TYPE_CHECKING:
    from pnsight import (
        benchmark,
        bounds,
        checks,
        decide,
        disclosure,
        lattice,
        law,
        plan,
        plots,
        populations,
        report,
        schema,
        store,
        tables,
    )
    from pnsight.bound_table import BoundTable
    from pnsight.bounds import Payoffs
    from pnsight.bounds.program import Program
    from pnsight.checks import Check, check
    from pnsight.decide import ask, rank, select
    from pnsight.errors import PnsightError
    from pnsight.law import Law
    from pnsight.models import ExactMLP, MaskMLP, Model, PlugIn, ResponseTypeModel
    from pnsight.plots import plot
    from pnsight.schema import Covariate, Query, Schema
    from pnsight.store import load_model as load
    from pnsight.store import save_model as save
    from pnsight.study import Study
    from pnsight.tables import read_study
    from pnsight.web import serve

_HOMES = {
    "BoundTable": "pnsight.bound_table:BoundTable",
    "Check": "pnsight.checks:Check",
    "Covariate": "pnsight.schema:Covariate",
    "ExactMLP": "pnsight.models:ExactMLP",
    "Law": "pnsight.law:Law",
    "MaskMLP": "pnsight.models:MaskMLP",
    "Model": "pnsight.models:Model",
    "Payoffs": "pnsight.bounds:Payoffs",
    "PlugIn": "pnsight.models:PlugIn",
    "PnsightError": "pnsight.errors:PnsightError",
    "Program": "pnsight.bounds.program:Program",
    "Query": "pnsight.schema:Query",
    "ResponseTypeModel": "pnsight.models:ResponseTypeModel",
    "Schema": "pnsight.schema:Schema",
    "Study": "pnsight.study:Study",
    "ask": "pnsight.decide:ask",
    "benchmark": "pnsight.benchmark",
    "bounds": "pnsight.bounds",
    "check": "pnsight.checks:check",
    "checks": "pnsight.checks",
    "decide": "pnsight.decide",
    "disclosure": "pnsight.disclosure",
    "lattice": "pnsight.lattice",
    "law": "pnsight.law",
    "load": "pnsight.store:load_model",
    "plan": "pnsight.plan",
    "plot": "pnsight.plots:plot",
    "plots": "pnsight.plots",
    "populations": "pnsight.populations",
    "rank": "pnsight.decide:rank",
    "report": "pnsight.report",
    "schema": "pnsight.schema",
    "select": "pnsight.decide:select",
    "serve": "pnsight.web:serve",
    "store": "pnsight.store",
    "tables": "pnsight.tables",
    "read_study": "pnsight.tables:read_study",
    "save": "pnsight.store:save_model",
}

__all__ = [
    "BoundTable",
    "Check",
    "Covariate",
    "ExactMLP",
    "Law",
    "MaskMLP",
    "Model",
    "Payoffs",
    "PlugIn",
    "PnsightError",
    "Program",
    "Query",
    "ResponseTypeModel",
    "Schema",
    "Study",
    "__version__",
    "ask",
    "benchmark",
    "bounds",
    "check",
    "checks",
    "decide",
    "disclosure",
    "lattice",
    "law",
    "load",
    "plan",
    "plot",
    "plots",
    "populations",
    "rank",
    "read_study",
    "report",
    "save",
    "schema",
    "select",
    "serve",
    "store",
    "tables",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'pnsight' has no attribute {name!r}")
    module, _, attribute = _HOMES[name].partition(":")
    found = import_module(module)
    return getattr(found, attribute) if attribute else found


def __dir__() -> list[str]:
    return sorted(__all__)
