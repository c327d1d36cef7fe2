"""`pnsight demo`: the main job on a population whose truth is known."""

from __future__ import annotations

import pnsight
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
    truth, answer = population.bounds(queries), pnsight.PlugIn().fit(study).bounds(queries)
    print(f"\nBounds on PNS for everyone, for the rare profile {PROFILE}, and with one covariate left open (X)\n")
    columns = answer.columns()
    print(
        aligned(
            {
                "query": columns["query"],
                "true lower": truth.lower.tolist(),
                "true upper": truth.upper.tolist(),
                "plug-in lower": columns["lower"],
                "plug-in upper": columns["upper"],
                "rows": [
                    e + o
                    for e, o in zip(columns["support_experimental"], columns["support_observational"], strict=True)
                ],
                "status": columns["status"],
            }
        )
    )
    print(
        "\nThe plug-in uses a group's own rows only: right for everyone, wild or undefined for rare groups.\n"
        "\nThe same by hand:\n"
        f"  pnsight simulate mediator --experimental {ROWS} --observational {ROWS} --seed 1 --out data\n"
        "  pnsight fit data/experimental.parquet data/observational.parquet --treatment x --outcome y --out model\n"
        f"  pnsight query model '' {PROFILE} X{PROFILE[1:]}"
    )
