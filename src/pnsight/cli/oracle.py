"""`pnsight oracle`: the exact answer for a known population."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import pnsight
from pnsight.cli.estimand_options import OF_INTERVALS, EstimandOptions, estimand_options
from pnsight.cli.options import FormatOption, OutOption, QueriesArgument, Space
from pnsight.cli.output import emit
from pnsight.errors import QueryError
from pnsight.estimands.quantities import PNS


@estimand_options(*OF_INTERVALS, "population", "trial_alone")
def oracle(
    population: Annotated[
        str,
        typer.Argument(
            help="toxic-drug; confounder, covariate, direct, direct-positive or mediator; three-doses, five-grades, "
            "survival, noncompliance, noncompliance-alone or untried-arm; or kind:seed for a random one."
        ),
    ],
    queries: QueriesArgument = None,
    space: Annotated[Space | None, typer.Option("--space", help="All profiles, or all groups.")] = None,
    *,
    asking: EstimandOptions,
    format: FormatOption = None,
    out: OutOption = None,
) -> None:
    """Show the bounds that unlimited data would give, and the true value, which no data identify."""
    known = pnsight.simulation.get(population)
    if space is None:
        codes = pnsight.queries.query.encode(known.schema, queries or [""])
    elif queries:
        raise QueryError(f"both queries and --space {space} are given; use one of them.")
    elif space is Space.OBSERVED:
        raise QueryError("a population has no rows, so --space observed means nothing here; use exact or mask.")
    else:
        codes = pnsight.queries.lattice.SPACES[space](known.schema)
    estimand = known.estimand(**asking.arguments())
    found = known.bounds(codes, estimand)
    answer = found.columns()
    columns: dict[str, Any] = {
        "query": answer["query"],
        "mass": known.mixture(codes)[0].tolist(),
        "lower": answer["lower"],
        "upper": answer["upper"],
    }
    if not estimand.is_statement:
        columns["pns"] = known.true_value(codes, estimand.of_quantity(PNS)).tolist()
    emit({**columns, found.quantity: known.true_value(codes, estimand).tolist()}, format, out, known.schema)
