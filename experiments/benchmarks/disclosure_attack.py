"""How many withheld counts an attacker works out of what is published without small counts.

Studies with rare levels are made at random, unweighted, with survey weights, with weights that count rows, with
clusters, and with all at once. To each a model is fitted and handed on without counts below 10 (`pnsight.suppress`, as
`pnsight export` does). The attacks of `disclosure_attacks` then have the folder, the report, what the program prints
and the JSON interface, and know the tables' totals besides. For studies without weights, whose counts are numbers of
people, the same attacks on a model of which nothing is withheld show that they can succeed. And for one study in ten,
other tables are made that differ in the withheld rows only, to compare every output that `published_outputs` lists.
With `--trials` the studies have other structures: several arms and outcomes, times, noncompliance, missing outcomes.
Run:

    python experiments/benchmarks/disclosure_attack.py --studies 200
    python experiments/benchmarks/disclosure_attack.py --studies 50 --trials
"""

from __future__ import annotations

import argparse
import logging
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from disclosure_attacks import ATTACKS, Secrets, recovered
from published_outputs import FOLDER, OUTPUTS, Published
from rare_people import TRIALS, WAYS, rare_tables, read, twins

import pnsight
from pnsight.models.response_types.capacity import CONSTANT, Capacity
from pnsight.models.response_types.config import Effort, LatentClassConfig, ResponseTypeConfig
from pnsight.models.suppression import fit_suppressed

MIN_CELL = 10
COMPARE_EVERY = 10
"""For one study in so many, outputs are compared with those of other tables."""

NAMED = ("folder", "report of the program", "API: the model", "program: score")
"""Outputs of every study that are searched for names."""

_EFFORT = Effort((CONSTANT, Capacity(2, 8, 0.05, 200)), networks=2, simulations=4)
_SMALL = ResponseTypeConfig(effort=_EFFORT, effort_if_few=_EFFORT, latent_classes=LatentClassConfig(classes=(1, 2, 4)))
"""All parts of a fit, in about a second."""


def unfitted(number: int) -> pnsight.Model:
    """Response types for one study in four, and the plug-in for the rest."""
    return pnsight.ResponseTypeModel(config=_SMALL) if number % 4 == 1 else pnsight.PlugIn()


def publish(fitted: pnsight.Model, place: Path) -> Published:
    """Write the folder of a model."""
    pnsight.save(fitted, place / FOLDER)
    return Published(place)


def attacked(found: Published, secrets: Secrets) -> Counter[str]:
    """How many withheld counts each attack recovers."""
    return Counter({name: len(recovered(found, secrets, name)) for name in ATTACKS})


def names_found(found: Published, secrets: Secrets, outputs: Iterable[str]) -> list[str]:
    """Outputs in which a level is named that nobody is left at."""
    return [name for name in outputs if any(rare.encode() in found.give(name) for rare in secrets.names)]


def compared(number: int, rows: int, how: Mapping[str, Any], place: Path) -> list[str]:
    """Outputs that differ between tables that differ in withheld rows only, or name a level that nobody is left at."""
    studies = [read(tables, **how) for tables in twins(number, MIN_CELL, rows, **how)]
    first, second = (
        publish(fit_suppressed(unfitted(number), study, MIN_CELL), place / str(k)) for k, study in enumerate(studies)
    )
    different = [name for name in OUTPUTS if first.give(name) != second.give(name)]
    return [*different, *(name for study in studies for name in names_found(first, Secrets(study, MIN_CELL), OUTPUTS))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="number of the first study, to go on where a run ended")
    parser.add_argument("--trials", action="store_true", help="studies of other structures than two arms and outcomes")
    asked = parser.parse_args()
    studies, numbers = asked.studies, range(asked.first, asked.first + asked.studies)
    logging.disable(logging.WARNING)
    started, ways, rows = time.perf_counter(), list(WAYS.values()), 800
    if asked.trials:
        ways, rows = list(TRIALS.values()), 6000
    withheld, names, hits, control = 0, 0, Counter[str](), Counter[str]()
    for number in numbers:
        study = read(rare_tables(number, rows), **ways[number % len(ways)])
        fitted, secrets = unfitted(number).fit(study), Secrets(study, MIN_CELL)
        with tempfile.TemporaryDirectory() as folder:
            found = publish(pnsight.suppress(fitted, MIN_CELL), Path(folder) / "protected")
            hits, names = hits + attacked(found, secrets), names + len(names_found(found, secrets, NAMED))
            counts = len(secrets.small_cells) + len(secrets.level_counts)
            withheld += counts
            if asked.trials or not ways[number % len(ways)]:
                control += attacked(publish(fitted, Path(folder) / "all"), secrets) + Counter({"withheld": counts})
    outputs, different = 0, 0
    for number in (number // COMPARE_EVERY for number in numbers if number % COMPARE_EVERY == 0):
        with tempfile.TemporaryDirectory() as folder:
            differ = compared(number, rows, ways[number % len(ways)], Path(folder))
        outputs, different = outputs + len(OUTPUTS), different + len(differ)
    other = sum(bool(ways[number % len(ways)]) for number in numbers)
    kind = "of other structures" if asked.trials else "with weights or clusters"
    print(f"{studies} studies, {other} of them {kind}; {withheld:,} counts withheld")
    shown = f"of {control['withheld']:,} if not withheld"
    print(f"{'attack':24}{'recovered':>12}{shown:>28}")
    for name in ATTACKS:
        print(f"{name:24}{hits[name]:12,}{control[name]:28,}")
    print(f"outputs that name a withheld level: {names}")
    print(f"outputs compared with those of other small cells: {outputs:,}, of which {different} differ")
    print(f"{time.perf_counter() - started:,.0f} s")


if __name__ == "__main__":
    main()
