"""How many withheld counts an attacker works out of what is published without small counts.

Studies with rare levels are made at random, unweighted, with survey weights, with weights that count rows, with
clusters, and with all at once. To each a model is fitted and handed on without counts below 10 (`pnsight.suppress`, as
`pnsight export` does). The attacks of `disclosure_attacks` then have the folder, the report, what the program prints
and the JSON interface, and know the tables' totals besides. For studies without weights, whose counts are numbers of
people, the same attacks on a model of which nothing is withheld show that they can succeed. And for one study in ten,
other tables are made that differ in the withheld rows only, to compare every output that `published_outputs` lists.
With `--trials` the studies have other structures: several arms and outcomes, times, noncompliance, missing outcomes.
With `--out` each study is a line of that file, and a run that was stopped goes on where it was. Run:

    python experiments/benchmarks/disclosure_attack.py --studies 200 --out attack.jsonl
    python experiments/benchmarks/disclosure_attack.py --studies 50 --trials
"""

from __future__ import annotations

import argparse
import json
import logging
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
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


def attacked(found: Published, secrets: Secrets) -> dict[str, int]:
    """How many withheld counts each attack recovers."""
    return {name: len(recovered(found, secrets, name)) for name in ATTACKS}


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


@dataclass(frozen=True)
class Result:
    """What came of one study.

    Attributes
    ----------
    number : of the study
    plain : whether it has two arms and outcomes, and neither weights nor clusters
    withheld : counts that are withheld
    recovered : how many of them each attack recovers
    control : how many it recovers of a model of which nothing is withheld; None where that was not tried
    naming : outputs that name a level that nobody is left at
    compared : outputs compared with those of tables with other small cells
    different : those of them that differ
    """

    number: int
    plain: bool
    withheld: int
    recovered: dict[str, int]
    control: dict[str, int] | None
    naming: list[str]
    compared: int
    different: list[str]


def attack_study(number: int, ways: Sequence[Mapping[str, Any]], rows: int, trials: bool) -> Result:
    """Make a study, publish its model, and attack it."""
    how, twin = ways[number % len(ways)], number // COMPARE_EVERY
    study = read(rare_tables(number, rows), **how)
    fitted, secrets, control, different = unfitted(number).fit(study), Secrets(study, MIN_CELL), None, []
    compare = number % COMPARE_EVERY == 0
    with tempfile.TemporaryDirectory() as folder:
        found = publish(pnsight.suppress(fitted, MIN_CELL), Path(folder) / "protected")
        if trials or not how:
            control = attacked(publish(fitted, Path(folder) / "all"), secrets)
        if compare:
            different = compared(twin, rows, ways[twin % len(ways)], Path(folder))
        return Result(
            number,
            not how,
            len(secrets.small_cells) + len(secrets.level_counts),
            attacked(found, secrets),
            control,
            names_found(found, secrets, NAMED),
            len(OUTPUTS) if compare else 0,
            different,
        )


def finished(out: Path | None) -> dict[int, Result]:
    """Results that a file has, by number of the study."""
    if out is None or not out.exists():
        return {}
    return {one.number: one for one in (Result(**json.loads(line)) for line in out.read_text("utf-8").splitlines())}


def show(results: Sequence[Result], kind: str) -> None:
    """Print what came of all studies."""
    withheld = sum(one.withheld for one in results)
    controls = [one for one in results if one.control is not None]
    other = sum(not one.plain for one in results)
    print(f"{len(results)} studies, {other} of them {kind}; {withheld:,} counts withheld")
    shown = f"of {sum(one.withheld for one in controls):,} if not withheld"
    print(f"{'attack':24}{'recovered':>12}{shown:>28}")
    for name in ATTACKS:
        control = sum(one.control[name] for one in controls if one.control)
        print(f"{name:24}{sum(one.recovered[name] for one in results):12,}{control:28,}")
    different = [f"{one.number}: {name}" for one in results for name in one.different]
    print(f"outputs that name a withheld level: {sum(len(one.naming) for one in results)}")
    print(
        f"outputs compared with those of other small cells: {sum(one.compared for one in results):,}, "
        f"of which {len(different)} differ{''.join(f'; {each}' for each in different)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="number of the first study")
    parser.add_argument("--trials", action="store_true", help="studies of other structures than two arms and outcomes")
    parser.add_argument("--out", type=Path, help="file of results, a line a study, to go on where a run was stopped")
    asked = parser.parse_args()
    logging.disable(logging.WARNING)
    ways, rows = (list(TRIALS.values()), 6000) if asked.trials else (list(WAYS.values()), 800)
    results = finished(asked.out)
    numbers = range(asked.first, asked.first + asked.studies)
    for number in numbers:
        if number not in results:
            results[number] = attack_study(number, ways, rows, asked.trials)
            if asked.out is not None:
                with asked.out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(results[number])) + "\n")
    show([results[number] for number in numbers], "of other structures" if asked.trials else "with weights or clusters")


if __name__ == "__main__":
    main()
