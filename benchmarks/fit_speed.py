"""The response-type model against Mask-MLP with the paper's protocol and five thresholds, in one run.

Run it with: python benchmarks/fit_speed.py

Prints the seconds of both, of the model with intervals, with twice the rows, and of single queries.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import TypeVar

import pnsight

ROWS = 200_000
THRESHOLDS = (100, 300, 500, 1000, 2000)

T = TypeVar("T")


def timed(what: str, run: Callable[[], T]) -> tuple[T, float]:
    start = time.perf_counter()
    result = run()
    took = time.perf_counter() - start
    print(f"{what:<64}{took:8.1f} s", flush=True)
    return result, took


def main() -> None:
    population = pnsight.populations.get("mediator")
    study = population.sample(ROWS, ROWS, seed=1)
    doubled = population.sample(2 * ROWS, 2 * ROWS, seed=1)
    _, bare = timed(
        "response-types, no intervals, the first fit of the process",
        lambda: pnsight.ResponseTypeModel(intervals=False).fit(study),
    )
    model, _ = timed("response-types with intervals", lambda: pnsight.ResponseTypeModel().fit(study))
    timed("response-types with intervals, twice the rows", lambda: pnsight.ResponseTypeModel().fit(doubled))
    seconds = [
        timed(
            f"mask-mlp, the paper's protocol, threshold {threshold}",
            partial(pnsight.MaskMLP(threshold=threshold, validation="queries").fit, study),
        )[1]
        for threshold in THRESHOLDS
    ]
    print(f"mask-mlp with five thresholds takes {sum(seconds) / bare:.1f} times as long as response-types")
    took = []
    for query in pnsight.lattice.one_open("1101001110"):
        start = time.perf_counter()
        model.bounds(query)
        took.append(time.perf_counter() - start)
    print(f"one query: {1000 * median(took):.1f} ms (median of {len(took)}, with intervals)")


if __name__ == "__main__":
    main()
