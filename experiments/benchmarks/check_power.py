"""How often `pnsight check` cries wolf about coherent studies, and what contradictions it finds.

Run it with: python experiments/benchmarks/check_power.py [--studies 200] [--seed 1]

False alarms: random coherent studies, every second one at the very edge of coherence, with twelve profiles or with the
ten covariates of the random populations, with and without covariate shift and stratified allocation, and with 2,000,
20,000 and 200,000 rows a table. Power: tables that contradict each other in one of twelve subgroups. Correction: the
score that a comparison must reach, by the correction used and by simulating the largest score of all.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from dataclasses import dataclass, replace
from statistics import median

import numpy as np
from scipy.special import ndtri

import pnsight
from pnsight import simulation as populations
from pnsight._typing import FloatArray
from pnsight.data.schema import Covariate, Schema
from pnsight.data.structure import OBSERVATIONAL
from pnsight.data.two_by_two import TWO_BY_TWO, Y_X, Y_X0
from pnsight.diagnostics.compatibility import INEQUALITIES, coherence_of
from pnsight.diagnostics.inequalities import evidence_of
from pnsight.diagnostics.subgroups import enumerate_subgroups
from pnsight.diagnostics.verdict import FAMILYWISE_ALPHA
from pnsight.queries import lattice

OBSERVED = TWO_BY_TWO.incidence[TWO_BY_TWO.columns_of(OBSERVATIONAL)]
"""Which response types show up in which cell of the observational table."""

RESPONDS = {cell: TWO_BY_TWO.incidence[TWO_BY_TWO.column(cell)] for cell in (Y_X, Y_X0)}
"""Which response types respond if treated, and if untreated."""

ROWS = (2_000, 20_000, 200_000)
TOLERATED = 18
"""More false alarms than this of 200 come from a test of level 5% in 6 of 1,000 cases."""


@dataclass(frozen=True)
class Truth:
    """What a study is drawn from; arrays have one row a profile.

    `types` has shape (profiles, 8); `mass` holds P(z) in either table, shape (2, profiles); `allocation` P(x) in the
    experiment, shape (profiles,).
    """

    schema: Schema
    types: FloatArray
    mass: FloatArray
    allocation: FloatArray

    def draw(self, rng: np.random.Generator, rows: int) -> pnsight.Study:
        """As many rows of each table, counted."""
        treated, untreated = self.types @ RESPONDS[Y_X], self.types @ RESPONDS[Y_X0]
        return self.draw_cells(rng, rows, treated, untreated)

    def draw_cells(
        self, rng: np.random.Generator, rows: int, treated: FloatArray, untreated: FloatArray
    ) -> pnsight.Study:
        """The same with responses in the experiment that need not be those of the types."""
        arms = np.stack([self.allocation, 1 - self.allocation], axis=1).repeat(2, axis=1)
        cells = arms * np.stack([treated, 1 - treated, untreated, 1 - untreated], axis=1)
        tables = (cells, self.types @ OBSERVED.T)
        counts = [
            rng.multinomial(rows, _proper(mass[:, None] * cells).ravel()).reshape(-1, 4).astype(float)
            for mass, cells in zip(self.mass, tables, strict=True)
        ]
        profiles = lattice.all_profiles(self.schema)
        seen = sum(count.sum(axis=1) for count in counts) > 0
        return pnsight.Study.from_tables(self.schema, profiles[seen], counts[0][seen], counts[1][seen])


def _proper(cells: FloatArray) -> FloatArray:
    """Without rounding below zero, and summing to one."""
    cells = np.maximum(cells, 0)
    return np.asarray(cells / cells.sum())


# --- coherent truths -----------------------------------------------------------------------------------------


def few_profiles(rng: np.random.Generator) -> Truth:
    """Twelve profiles of two covariates, with any mix of response types."""
    levels = (3, 4)
    schema = Schema(tuple(Covariate(f"c{j}", tuple(map(str, range(n)))) for j, n in enumerate(levels)))
    types = rng.dirichlet(np.full(8, rng.choice([0.3, 1.0, 3.0])), size=schema.n_profiles)
    return _evenly(schema, types, rng.dirichlet(np.full(schema.n_profiles, 3.0)))


def ten_covariates(rng: np.random.Generator) -> Truth:
    """A random population; seeds 1 to 5 only, since others are for reporting."""
    kind = populations.KINDS[rng.integers(len(populations.KINDS))]
    population = populations.random_population(kind, int(rng.integers(1, 6)))
    profiles = lattice.all_profiles(population.schema)
    return _evenly(population.schema, population.types(profiles), population.covariates.mass(profiles))


def _evenly(schema: Schema, types: FloatArray, mass: FloatArray) -> Truth:
    return Truth(schema, types, np.stack([mass, mass]), np.full(len(mass), 0.5))


def at_the_edge(truth: Truth, rng: np.random.Generator) -> Truth:
    """With equality in one inequality of each arm: the same in all profiles, or one of its own in four of five.

    Equality in the treated arm means that of those who choose no treatment all, or none, would respond to it; in the
    control arm the same of those who choose treatment. Shares of choices and of the other response stay.
    """
    profiles, uniform = len(truth.types), rng.random() < 0.5
    types = truth.types.copy()
    for chosen in (0, 1):
        wanted = rng.integers(2, size=1 if uniform else profiles).repeat(profiles if uniform else 1)
        moved = np.ones(profiles, dtype=bool) if uniform else rng.random(profiles) < 0.8
        for kind, (x, y0, y1) in enumerate(TWO_BY_TWO.types):
            hidden = y1 if chosen == 0 else y0  # the response under the treatment that was not chosen
            away = moved & (hidden != wanted) & (x == chosen)
            twin = kind ^ (1 if chosen == 0 else 2)  # the same but for that response
            types[away, twin] += types[away, kind]
            types[away, kind] = 0.0
    return replace(truth, types=types)


def shifted(truth: Truth, rng: np.random.Generator) -> Truth:
    """The observational table with another mix of profiles."""
    tilt = np.exp(rng.normal(size=len(truth.types)) * 0.5 + _slope(truth.schema, rng))
    other = truth.mass[1] * tilt
    return replace(truth, mass=np.stack([truth.mass[0], other / other.sum()]))


def stratified(truth: Truth, rng: np.random.Generator) -> Truth:
    """An experiment that allocates some profiles differently."""
    return replace(truth, allocation=1 / (1 + np.exp(-_slope(truth.schema, rng))))


def _slope(schema: Schema, rng: np.random.Generator) -> FloatArray:
    """A score of each profile that one or two covariates decide."""
    profiles = lattice.all_profiles(schema)
    score = np.zeros(len(profiles))
    for j in rng.choice(len(schema.names), size=2, replace=False):
        score += rng.normal(size=schema.shape[j])[profiles[:, j]]
    return score


def coherent_study(number: int, seed: int) -> tuple[dict[str, str], pnsight.Study]:
    """The study of that number and what is special about it."""
    rng = np.random.default_rng([seed, number])
    edge, many = number % 2 == 0, number // 2 % 2 == 0
    shift, strata = number // 4 % 2 == 0, number // 8 % 2 == 0
    rows = ROWS[number % len(ROWS)]
    truth = (ten_covariates if many else few_profiles)(rng)
    truth = at_the_edge(truth, rng) if edge else truth
    truth = shifted(truth, rng) if shift else truth
    truth = stratified(truth, rng) if strata else truth
    said = {
        "edge": "at the edge" if edge else "inside",
        "profiles": "ten covariates" if many else "twelve profiles",
        "mix": "covariate shift" if shift else "one mix",
        "allocation": "stratified" if strata else "even",
        "rows": f"{rows:,} rows",
    }
    return said, truth.draw(rng, rows)


def false_alarms(studies: int, seed: int) -> tuple[int, Counter[str], Counter[str]]:
    """Alarms about coherent studies, in all and for each thing special, and the studies there were of it."""
    total, alarms, number_of = 0, Counter[str](), Counter[str]()
    for number in range(studies):
        said, study = coherent_study(number, seed)
        found = coherence_of(study)
        alarm = found is not None and bool(found.reported)
        total += alarm
        for word in said.values():
            number_of[word] += 1
            alarms[word] += alarm
    return total, alarms, number_of


# --- contradictions ------------------------------------------------------------------------------------------


def contradicting_study(size: float, rows: int, seed: int, others: int = 0) -> tuple[str, pnsight.Study]:
    """Tables that contradict each other by that much in one of twelve subgroups, and which it is.

    Only P(x,y) <= P(y_x) is broken, and only there. `others` binary covariates say nothing about it.
    """
    rng = np.random.default_rng([seed, rows, others])
    twelve = Covariate("group", tuple(f"g{i}" for i in range(12)))
    schema = Schema((twelve, *Schema.binary(f"o{j}" for j in range(others)).covariates))
    group = lattice.all_profiles(schema)[:, 0]
    types = rng.dirichlet(np.ones(8), size=12)
    broken = rng.choice(np.flatnonzero(types @ OBSERVED[0] > size))
    types = types[group]
    truth = _evenly(schema, types, np.full(schema.n_profiles, 1 / schema.n_profiles))
    treated = np.where(group == broken, types @ OBSERVED[0] - size, types @ RESPONDS[Y_X])
    return f"group=g{broken}", truth.draw_cells(rng, rows, treated, types @ RESPONDS[Y_X0])


def found_and_named(size: float, rows: int, seed: int, others: int = 0) -> tuple[bool, bool]:
    """Whether the contradiction was found, and whether the subgroup was named first."""
    where, study = contradicting_study(size, rows, seed, others)
    found = coherence_of(study)
    assert found is not None
    return bool(found.reported), found.reported_groups[:1] == (where,)


# --- what the correction for many looks costs ----------------------------------------------------------------


def critical_scores(study: pnsight.Study, draws: int = 4_000) -> tuple[float, float]:
    """The score that must be reached if all comparisons share the level alike, by Bonferroni and by simulation.

    The simulation draws the largest score of one inequality in all subgroups, with all equalities true and scores
    normal; the four inequalities share the level alike.
    """
    assert study.observational is not None
    evidence = evidence_of(study.counts, INEQUALITIES)
    looks = enumerate_subgroups(study.schema, study.profiles)
    taken = evidence.over(looks.covers).rows_right[:, 0] >= 100
    spread = np.sqrt(evidence.variance[:, 0])
    covers = looks.covers[np.flatnonzero(taken)] * spread
    rng = np.random.default_rng(0)
    scores = covers @ rng.standard_normal((len(spread), draws)) / np.sqrt((covers**2).sum(axis=1))[:, None]
    simulated = np.quantile(scores.max(axis=0), 1 - FAMILYWISE_ALPHA / 4)
    return float(-ndtri(FAMILYWISE_ALPHA / 4 / taken.sum())), float(simulated)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    show_false_alarms(given.studies, given.seed)
    show_power(given.seed)
    show_correction()
    show_time()


def show_false_alarms(studies: int, seed: int) -> None:
    total, alarms, number_of = false_alarms(studies, seed)
    print(f"false alarms about {studies} coherent studies: {total} ({TOLERATED} of 200 are tolerated)")
    for word, number in number_of.items():
        print(f"  {word:<18}{alarms[word]:4d} of {number}")


def show_power(seed: int, repeats: int = 20) -> None:
    print(f"contradiction in one of twelve subgroups, of {repeats} pairs of tables: found, and named first")
    for rows, others in ((200_000, 0), (200_000, 6), (20_000, 0), (2_000, 0)):
        for size in (0.02, 0.05, 0.1):
            results = [found_and_named(size, rows, seed + i, others) for i in range(repeats)]
            found, named = (sum(flags) for flags in zip(*results, strict=True))
            print(f"  {rows:8,} rows a table, {others} other covariates, size {size:.2f}: {found:3d} {named:3d}")


def show_correction() -> None:
    print("score to be reached, the level shared alike among all comparisons: Bonferroni, simulated")
    for name, rows in (("mediator", 200_000), ("tree-dependent:1", 200_000), ("index:1", 20_000), ("index:1", 2_000)):
        bonferroni, simulated = critical_scores(populations.get(name).sample(rows, rows, seed=1))
        print(f"  {name:<18}{rows:8,} rows  {bonferroni:.2f}  {simulated:.2f}")


def show_time(repeats: int = 5) -> None:
    study = populations.get("mediator").sample(200_000, 200_000, seed=1)
    for what, run in (("coherence alone", coherence_of), ("the whole check", pnsight.check)):
        took = []
        for _ in range(repeats):
            start = time.perf_counter()
            run(study)
            took.append(time.perf_counter() - start)
        print(f"{what}, ten covariates, 200,000 rows a table: {1000 * median(took):.0f} ms")


if __name__ == "__main__":
    main()
