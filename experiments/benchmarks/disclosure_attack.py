"""How many withheld counts an attacker works out of what is published without small counts.

Studies with rare levels are made at random, unweighted, with survey weights, with weights that count rows, with
clusters, and with all at once. To each a model is fitted and handed on without counts below 10 (`pnsight.suppress`, as
`pnsight export` does). The attacks of `disclosure_attacks` then have the folder, the report, what the program prints
and the JSON interface, and know the tables' totals besides. For studies without weights, whose counts are numbers of
people, the same attacks on a model of which nothing is withheld show that they can succeed. And for one study in ten,
other tables are made that differ in the withheld rows only, to compare every output that `published_outputs` lists.
Run:

    python experiments/benchmarks/disclosure_attack.py --studies 200
"""

from __future__ import annotations

import argparse
import logging
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from disclosure_attacks import ATTACKS, Secrets, recovered
from published_outputs import FOLDER, OUTPUTS, Published
from rare_people import OTHER_RARE, RARE, WAYS, rare_tables, read, twins

import pnsight
from pnsight.models.response_types.capacity import CONSTANT, Capacity
from pnsight.models.response_types.config import Effort, LatentClassConfig, ResponseTypeConfig
from pnsight.models.suppression import fit_suppressed

MIN_CELL = 10
COMPARE_EVERY = 10
"""For one study in so many, outputs are compared with those of other tables."""

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


def names_found(found: Published) -> int:
    """How many names of rare levels are in what is given."""
    given = b"".join([found.give("folder"), found.give("report of the program"), found.give("API: the model")])
    return sum(rare.encode() in given for rare in RARE)


def compared(number: int, how: Mapping[str, Any], place: Path) -> tuple[int, list[str]]:
    """How many outputs of tables that differ in withheld rows only were compared, and which of them differ."""
    first, second = (
        publish(fit_suppressed(unfitted(number), read(tables, **how), MIN_CELL), place / str(k))
        for k, tables in enumerate(twins(number, MIN_CELL, **how))
    )
    different = [name for name in OUTPUTS if first.give(name) != second.give(name)]
    named = [name for name in OUTPUTS if any(rare.encode() in first.give(name) for rare in (*RARE, *OTHER_RARE))]
    return len(OUTPUTS), [*different, *named]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="number of the first study, to go on where a run ended")
    asked = parser.parse_args()
    studies, numbers = asked.studies, range(asked.first, asked.first + asked.studies)
    logging.disable(logging.WARNING)
    started, ways = time.perf_counter(), list(WAYS.values())
    withheld, names, hits, control = 0, 0, Counter[str](), Counter[str]()
    for number in numbers:
        study = read(rare_tables(number), **ways[number % len(ways)])
        fitted, secrets = unfitted(number).fit(study), Secrets(study, MIN_CELL)
        with tempfile.TemporaryDirectory() as folder:
            found = publish(pnsight.suppress(fitted, MIN_CELL), Path(folder) / "protected")
            hits, names = hits + attacked(found, secrets), names + names_found(found)
            counts = len(secrets.small_cells) + len(secrets.level_counts)
            withheld += counts
            if not ways[number % len(ways)]:
                control += attacked(publish(fitted, Path(folder) / "all"), secrets) + Counter({"withheld": counts})
    outputs, different = 0, 0
    for number in (number // COMPARE_EVERY for number in numbers if number % COMPARE_EVERY == 0):
        with tempfile.TemporaryDirectory() as folder:
            more, differ = compared(number, ways[number % len(ways)], Path(folder))
        outputs, different = outputs + more, different + len(differ)
    weighted = sum(bool(ways[number % len(ways)]) for number in numbers)
    print(f"{studies} studies, {weighted} of them with weights or clusters; {withheld:,} counts withheld")
    shown = f"of {control['withheld']:,} if not withheld"
    print(f"{'attack':24}{'recovered':>12}{shown:>28}")
    for name in ATTACKS:
        print(f"{name:24}{hits[name]:12,}{control[name]:28,}")
    print(f"names of rare levels found: {names}")
    print(f"outputs compared with those of other small cells: {outputs:,}, of which {different} differ")
    print(f"{time.perf_counter() - started:,.0f} s")


if __name__ == "__main__":
    main()
