"""`pnsight demo`: the main job on a population whose truth is known."""

from __future__ import annotations

import pnsight
from pnsight.cli.bar import bar
from pnsight.cli.output import say
from pnsight.text import aligned

PROFILE = "1101001110"
ROWS = 200_000


def demo() -> None:
    """Simulate a study, fit it, and set the answers beside the truth."""
    population = pnsight.populations.get("mediator")
    say(f"Sampling {ROWS:,} experimental and {ROWS:,} observational rows of population 'mediator' (seed 1).")
    study = population.sample(experimental=ROWS, observational=ROWS, seed=1)
    say(repr(study))
    queries = ["", *pnsight.lattice.one_open(PROFILE)]
    with bar("training") as progress:
        model = pnsight.ResponseTypeModel().fit(study, progress)
    truth, answer, plug_in = (
        population.bounds(queries),
        model.bounds(queries),
        pnsight.PlugIn().fit(study).bounds(queries),
    )
    print(f"\nBounds on PNS for everyone, for the rare profile {PROFILE}, and with one covariate left open (X)\n")
    print(
        aligned(
            {
                "query": list(answer.queries),
                "truth": _pairs(truth),
                "response types": _pairs(answer),
                "90% interval of lower": _intervals(answer.interval("lower")),
                "and of upper": _intervals(answer.interval("upper")),
                "plug-in": _pairs(plug_in),
                "rows": (answer.support_experimental + answer.support_observational).astype(int).tolist(),
            }
        )
    )
    print(
        "\nThe plug-in uses a group's own rows only: right for everyone, wild or undefined for rare groups.\n"
        "The response-type model, the default of `pnsight fit`, learns from all rows of both tables.\n"
        "\nThe same by hand:\n"
        f"  pnsight simulate mediator --experimental {ROWS} --observational {ROWS} --seed 1 --out data\n"
        "  pnsight fit data/experimental.parquet data/observational.parquet --treatment x --outcome y --out model\n"
        f"  pnsight query model '' {PROFILE} X{PROFILE[1:]}"
    )


def _pairs(table: pnsight.BoundTable) -> list[str]:
    """Both ends of each answer, or why there is none."""
    rows = zip(table.lower, table.upper, table.status, strict=True)
    return [f"{lower:.3f} - {upper:.3f}" if status == "ok" else str(status) for lower, upper, status in rows]


def _intervals(ends: tuple[pnsight.law.FloatArray, pnsight.law.FloatArray]) -> list[str]:
    return [f"{low:.3f} - {high:.3f}" for low, high in zip(*ends, strict=True)]
