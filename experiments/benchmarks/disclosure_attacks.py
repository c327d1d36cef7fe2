"""Attacks on a published model: what somebody who has all of it, and totals from elsewhere, could work out.

Each attack makes estimates of counts of people that were withheld; one that meets the truth has recovered it. Whoever
thinks of another adds a function to `ATTACKS`.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from published_outputs import Published

import pnsight
from pnsight.data.schema import OPEN
from pnsight.data.small_cells import withheld_profiles
from pnsight.queries import lattice
from pnsight.queries.query import encode

Where = tuple[tuple[str, str], ...]
"""Levels by covariate."""

BOTH = "both"

EXACT = 1e-3
"""An estimate nearer than this to a count has recovered it; others meet one by chance once in thousands of times."""


@dataclass(frozen=True)
class Withheld:
    """A number of people that is not to be known.

    Attributes
    ----------
    table : where they are
    where : levels by covariate that they share; none for everyone
    cell : column of the table's cells, or None for all of them
    people : how many they are
    shown : how many of them are shown
    """

    table: str
    where: Where
    cell: int | None
    people: float
    shown: float


@dataclass(frozen=True)
class Secrets:
    """The truth behind a published model: small counts, and numbers of people of whom some are withheld."""

    study: pnsight.Study
    min_cell: int

    @cached_property
    def hidden(self) -> dict[str, np.ndarray]:
        """Which profiles are withheld from each table."""
        people, structure = self.study.people, self.study.structure
        return {
            table: withheld_profiles(people[:, structure.all_columns_of(table)], people.sum(axis=1), self.min_cell)
            for table in structure.tables
        }

    @cached_property
    def names(self) -> set[str]:
        """Levels that nobody is left at."""
        left = [~hidden & (self.study.rows_of(table) > 0) for table, hidden in self.hidden.items()]
        shown = self.study.profiles[np.any(left, axis=0)]
        return {
            level
            for covariate, codes in zip(self.study.schema.covariates, shown.T, strict=True)
            for code, level in enumerate(covariate.levels)
            if code not in codes
        }

    @cached_property
    def small_cells(self) -> list[Withheld]:
        """Cells of profiles with fewer people than the limit."""
        return [one for one in self.of_queries(self.study.profiles) if 0 < one.people < self.min_cell]

    @cached_property
    def level_counts(self) -> list[Withheld]:
        """How many people there are at each level, of a table and of both, where some of them are withheld."""
        codes = lattice.queries_fixing_at_most(self.study.schema, 1)
        found: dict[tuple[str, Where], list[Withheld]] = {}
        for one in self.of_queries(codes):
            if one.cell is None:
                for table in (one.table, BOTH):
                    found.setdefault((table, one.where), []).append(one)
        summed = [
            Withheld(table, where, None, sum(one.people for one in ones), sum(one.shown for one in ones))
            for (table, where), ones in found.items()
        ]
        return [one for one in summed if one.where and one.shown < one.people]

    def of_queries(self, codes: np.ndarray) -> Iterator[Withheld]:
        """People of each query, table and cell, and of all cells together."""
        people, structure, schema = self.study.people, self.study.structure, self.study.schema
        for table in structure.tables:
            own = people[:, structure.all_columns_of(table)]
            shown = np.where(self.hidden[table][:, None], 0, own)
            totals, left = (lattice.sum_over(schema, codes, self.study.profiles, each) for each in (own, shown))
            for query, total, rest in zip(codes, totals, left, strict=True):
                where = self.levels(query)
                yield Withheld(table, where, None, float(total.sum()), float(rest.sum()))
                for cell in range(own.shape[1]):
                    yield Withheld(table, where, cell, float(total[cell]), float(rest[cell]))

    def levels(self, query: np.ndarray) -> Where:
        """Levels that a query fixes."""
        fixed = zip(self.study.schema.covariates, query, strict=True)
        return tuple((one.name, one.levels[code]) for one, code in fixed if code != OPEN)


@dataclass(frozen=True)
class Estimate:
    """What an attack makes of a number of people; `of` are the numbers that it may be."""

    of: tuple[str, Where, int | None]
    people: float


Attack = Callable[[Published, Secrets], Iterator[Estimate]]
ATTACKS: dict[str, Attack] = {}


def attack(function: Attack) -> Attack:
    """Register an attack."""
    ATTACKS[function.__name__] = function
    return function


def recovered(found: Published, secrets: Secrets, name: str) -> list[Withheld]:
    """Withheld counts that an attack works out."""
    estimates: dict[Any, set[float]] = {}
    for one in ATTACKS[name](found, secrets):
        estimates.setdefault(one.of, set()).add(one.people)
    return [
        one
        for one in (*secrets.small_cells, *secrets.level_counts)
        if any(abs(one.people - guess) < EXACT for guess in estimates.get((one.table, one.where, one.cell), ()))
    ]


# --- what somebody finds in the outputs -------------------------------------------------------------------


def _answers(found: Published) -> list[dict[str, str]]:
    """All answers, as the program prints them."""
    printed = found.give("program: query").decode()
    table = printed[printed.index("query,") :].split("\n\n")[0]
    return list(csv.DictReader(io.StringIO(table)))


def _where(found: Published) -> list[Where]:
    schema = found.model.schema
    return [
        tuple((one.name, one.levels[code]) for one, code in zip(schema.covariates, query, strict=True) if code != OPEN)
        for query in found.lattice
    ]


def _supports(found: Published) -> dict[str, np.ndarray]:
    answers = _answers(found)
    return {
        table: np.array([float(row[f"support_{table}"]) for row in answers]) for table in found.model.structure.tables
    }


@attack
def supports(found: Published, secrets: Secrets) -> Iterator[Estimate]:
    """Rows behind every query, as they are told."""
    for table, rows in _supports(found).items():
        for where, people in zip(_where(found), rows, strict=True):
            yield Estimate((table, where, None), people)


@attack
def scores(found: Published, secrets: Secrets) -> Iterator[Estimate]:
    """Rows behind everybody that can be scored, from a table of people with each combination of levels."""
    given, names = found.give("program: score").decode(), found.model.schema.names
    scored = csv.DictReader(io.StringIO(given[given.index(",".join(names) + ",") :]))
    for person in scored:
        where = tuple((name, person[name]) for name in names if person[name])
        for table in found.model.structure.tables:
            yield Estimate((table, where, None), float(person[f"support_{table}"]))


@attack
def differences(found: Published, secrets: Secrets) -> Iterator[Estimate]:
    """A group less the groups within it that differ in one covariate: what is left is the level that is not told."""
    schema, where = secrets.study.schema, _where(found)
    place = {names: row for row, names in enumerate(where)}
    for table, rows in _supports(found).items():
        for names, people in zip(where, rows, strict=True):
            for covariate in schema.covariates:
                if covariate.name in dict(names):
                    continue
                told = [place.get(_with(schema, names, covariate.name, level)) for level in covariate.levels]
                rest = people - sum(rows[row] for row in told if row is not None)
                for level, row in zip(covariate.levels, told, strict=True):
                    if row is None:
                        yield Estimate((table, _with(schema, names, covariate.name, level), None), rest)


def _with(schema: Any, names: Where, name: str, level: str) -> Where:
    return tuple(sorted([*names, (name, level)], key=lambda pair: schema.index(pair[0])))


@attack
def counts_in_the_folder(found: Published, secrets: Secrets) -> Iterator[Estimate]:
    """The arrays of the folder, cell by cell, and by level."""
    study = found.model.study
    codes = lattice.all_queries(study.schema)
    for table in study.structure.tables:
        own = study.counts[:, study.structure.all_columns_of(table)]
        for where, sums in zip(_where(found), lattice.sum_over(study.schema, codes, study.profiles, own), strict=True):
            yield Estimate((table, where, None), float(sums.sum()))
            for cell, people in enumerate(sums):
                yield Estimate((table, where, cell), float(people))


@attack
def shares_times_totals(found: Published, secrets: Secrets) -> Iterator[Estimate]:
    """Shares of people at each level, times totals that may be known.

    A plug-in's share is count / N. With c latent classes, half a row of prior at each level in each of them, and a part
    of the people as counted, the share of a level is nearly (count + c / 2) / (N + c levels / 2) but for that part; if
    there is one class, exactly. N and the count are those of the table, or of both if they were pooled.
    """
    totals = _totals(found, secrets)
    for table, names, share in _level_shares(found):
        for counted in (table, BOTH):
            for total in totals[counted]:
                for people in _inverted(found, names, share, table, total):
                    yield Estimate((counted, names, None), people)


def _inverted(found: Published, names: Where, share: float, table: str, total: float) -> Iterator[float]:
    """Counts that give a share."""
    yield share * total
    levels = len(found.model.schema.covariate(names[0][0]).levels)
    for each in _distributions(found, table):
        shown = _shown_share(found, names, BOTH if each.pooled else table)
        smooth = (share - each.empirical_weight * shown) / (1 - each.empirical_weight)
        yield smooth * (total + each.classes / 2) - each.classes / 2
        yield smooth * (total + each.classes * levels / 2) - each.classes / 2


def _distributions(found: Published, table: str) -> list[Any]:
    """What a model tells about the distribution of a table's covariates."""
    summary = getattr(found.model, "fit_summary_", None)
    return [] if summary is None else [each for each in summary.covariates if each.table == table]


def _shown_share(found: Published, names: Where, table: str) -> float:
    """Share of a level among those who are shown."""
    study = found.model.study
    rows = study.counts[:, slice(None) if table == BOTH else study.structure.all_columns_of(table)].sum(axis=1)
    covariate = study.schema.index(names[0][0])
    here = study.profiles[:, covariate] == study.schema.covariates[covariate].levels.index(names[0][1])
    return float(rows[here].sum() / (rows.sum() or 1.0))


def _totals(found: Published, secrets: Secrets) -> dict[str, set[float]]:
    """Rows of each table: as told, with what is said to be withheld, and as they are known from elsewhere."""
    study, truth = found.model.study, secrets.study
    told = dict(zip(("experimental", "observational"), study.table_rows, strict=True))
    gone = dict(zip(told, study.withheld.rows if study.withheld else (0, 0), strict=True))
    people, structure = truth.people, truth.structure
    known = {table: float(people[:, structure.all_columns_of(table)].sum()) for table in structure.tables}
    tables = {table: {told[table], told[table] + gone[table], known[table]} for table in known}
    both = {sum(told.values()), sum(told.values()) + sum(gone.values()), sum(known.values())}
    return {**tables, BOTH: both}


def _level_shares(found: Published) -> Iterator[tuple[str, Where, float]]:
    """Shares of levels wherever they are told: by `ask`, by the API, in the report, and by the model itself."""
    model, printed = found.model, found.give("program: ask").decode()
    told = found.post("/api/ask", json={"query": "", **found.contrast})
    asked = json.loads(told.split(b"\n", 1)[1])["levels"]
    table = printed[printed.index("covariate,") :].split("\n\n")[0]
    own = model.structure.tables[-1]
    for row in [*csv.DictReader(io.StringIO(table)), *asked]:
        if row["probability"] not in ("", None):
            yield own, ((row["covariate"], row["level"]),), float(row["probability"])
    for names, answer in _reported(found):
        if answer["share"] is not None:
            yield own, names, float(answer["share"])
    codes = lattice.queries_fixing_at_most(model.schema, 1)[1:]
    for people in model.capabilities.populations or (None,):
        for query, share in zip(codes, model.shares(codes, people), strict=True):
            fixed = zip(model.schema.covariates, query, strict=True)
            names = tuple((one.name, one.levels[code]) for one, code in fixed if code != OPEN)
            yield own if people in (None, "pooled") else people, names, float(share)


def _reported(found: Published) -> Iterator[tuple[Where, dict[str, Any]]]:
    """Answers about each level, as the report has them."""
    report = json.loads(found.give("report of the program").decode().split("\n\n")[0])
    for answer in report["levels"]["answers"]:
        (query,) = encode(found.model.schema, [answer["query"]])
        fixed = zip(found.model.schema.covariates, query, strict=True)
        names = tuple((one.name, one.levels[code]) for one, code in fixed if code != OPEN)
        if names:
            yield names, answer


@attack
def rows_in_the_report(found: Published, secrets: Secrets) -> Iterator[Estimate]:
    """Rows beside each level in the report."""
    for names, answer in _reported(found):
        for table in secrets.study.structure.tables:
            yield Estimate((table, names, None), float(answer[f"support_{table}"]))


@attack
def complements(found: Published, secrets: Secrets) -> Iterator[Estimate]:
    """Totals of each cell that are known from elsewhere, less what is shown of them.

    Where one profile is missing in such a total, what is left is its count.
    """
    for one in secrets.of_queries(lattice.queries_fixing_at_most(secrets.study.schema, 0)):
        if one.shown:  # otherwise the total says all by itself
            for other in secrets.small_cells:
                if (other.table, other.cell) == (one.table, one.cell) and set(one.where) <= set(other.where):
                    yield Estimate((other.table, other.where, other.cell), one.people - one.shown)
