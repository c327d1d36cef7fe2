"""The response-type model against Mask-MLP with the paper's protocol and five thresholds, in one run.

Run it with: python experiments/benchmarks/fit_speed.py

Prints the seconds of both, of the model with intervals, of single queries, and of each stage of a fit to more and more
rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import TypeVar

import pnsight
from pnsight._text_table import format_table
from pnsight.simulation import Population

ROWS = 200_000
TIMES_THE_ROWS = (1, 2, 4, 8)
THRESHOLDS = (100, 300, 500, 1000, 2000)

T = TypeVar("T")


def timed(what: str, run: Callable[[], T]) -> tuple[T, float]:
    start = time.perf_counter()
    result = run()
    took = time.perf_counter() - start
    print(f"{what:<64}{took:8.1f} s", flush=True)
    return result, took


def main() -> None:
    population = pnsight.simulation.get("mediator")
    study = population.sample(ROWS, ROWS, seed=1)
    _, bare = timed(
        "response-types, no intervals, the first fit of the process",
        lambda: pnsight.ResponseTypeModel(intervals=False).fit(study),
    )
    model, _ = timed("response-types with intervals", lambda: pnsight.ResponseTypeModel().fit(study))
    seconds = [
        timed(
            f"mask-mlp, the paper's protocol, threshold {threshold}",
            partial(pnsight.MaskMLP(min_rows=threshold, validation="queries").fit, study),
        )[1]
        for threshold in THRESHOLDS
    ]
    print(f"mask-mlp with five thresholds takes {sum(seconds) / bare:.1f} times as long as response-types")
    took = []
    for query in pnsight.queries.lattice.profile_and_parents("1101001110"):
        start = time.perf_counter()
        model.bounds(query)
        took.append(time.perf_counter() - start)
    print(f"one query: {1000 * median(took):.1f} ms (median of {len(took)}, with intervals)\n")
    print(growth(population))


def growth(population: Population) -> str:
    """A table of the seconds of each stage by rows: of a second fit without intervals, so that nothing is compiled."""
    columns: dict[str, list[str]] = {}
    for times in TIMES_THE_ROWS:
        study = population.sample(times * ROWS, times * ROWS, seed=1)
        for _ in range(2):
            stages = Stages()
            pnsight.ResponseTypeModel(intervals=False).fit(study, stages)
            stages(0, 0, "the rest")
        line = {"rows of a table": f"{times * ROWS:,}", "profiles": f"{len(study.profiles):,}"}
        line |= {stage: f"{seconds:.1f}" for stage, seconds in stages.seconds.items()}
        line |= {"in all": f"{sum(stages.seconds.values()):.1f}"}
        for name, text in line.items():
            columns.setdefault(name, []).append(text)
    return format_table(columns)


class Stages:
    """Listens to the progress of a fit and keeps the seconds of each of its stages."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._heard = time.perf_counter()

    def __call__(self, done: int, total: int, note: str) -> None:
        """Put the time since the last call down to the stage that is named."""
        now = time.perf_counter()
        self.seconds[note] = self.seconds.get(note, 0.0) + now - self._heard
        self._heard = now


if __name__ == "__main__":
    main()
