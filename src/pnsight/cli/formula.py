"""`pnsight formula`: the bounds on a quantity as formulas, compiled from what the tables can show."""

from __future__ import annotations

from typing import Annotated

import typer

import pnsight
from pnsight.cli.estimand_options import OF_INTERVALS, EstimandOptions, estimand_options
from pnsight.cli.output import put


@estimand_options(*OF_INTERVALS, "population", "refine", "trial_alone")
def formula(
    *,
    asking: EstimandOptions,
    experiment_alone: Annotated[
        bool, typer.Option("--experiment-alone", help="Where there is no observational table.")
    ] = False,
    latex: Annotated[bool, typer.Option("--latex", help="Write LaTeX instead of plain text.")] = False,
) -> None:
    """Print the tight bounds on a quantity as formulas."""
    structure = pnsight.data.two_by_two.EXPERIMENT_ALONE if experiment_alone else pnsight.data.two_by_two.TWO_BY_TWO
    estimand = pnsight.Estimand.parse(**asking.arguments()).of_structure(structure)
    write = pnsight.output.formulas.formula_latex if latex else pnsight.output.formulas.formula_text
    put(write(estimand, structure) + "\n", None)
