"""Whether sites agree: people alike in all covariates should be spread over the cells of a table alike at every site.

Each site is compared with the others together, profile by profile: cell by cell, with the evidence of all profiles
added up (Mantel and Haenszel), and once over all cells and profiles (chi-square). Where sites withhold small counts,
what is shown of a profile was chosen by its counts; a profile enters the comparison of a site only where chance would
hardly have made one of its counts there small, so that the choice does not look like a difference.
A site that differs makes the others differ from it: the clearest one is set aside, and the others are compared again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtr

from pnsight._typing import BoolArray, FloatArray
from pnsight.data.structure import Structure
from pnsight.data.study import SiteTable, Study
from pnsight.diagnostics.bonferroni import OneOfMany
from pnsight.diagnostics.mantel_haenszel import Evidence
from pnsight.diagnostics.stratified_chi2 import association
from pnsight.diagnostics.verdict import OK, WARNING, Verdict, verdict

ALL_CELLS = "all cells"

MIN_LIMITS = 3.0
"""A profile is compared if each of its counts is expected to be this many times the limit for small ones, or none."""


@dataclass(frozen=True)
class SiteComparison(OneOfMany):
    """One site against all others, in one cell of a table or in all.

    Attributes
    ----------
    site, table, cell : names; `ALL_CELLS` for all together
    others : names of the sites it is compared with
    rows : people of the site, and of the others, that are compared
    share, other_share : shares of them in the cell, in the same mix of profiles; NaN of all cells
    p_value : of no difference, for this look alone
    tests : how many looks there are
    """

    site: str
    table: str
    cell: str
    others: tuple[str, ...]
    rows: tuple[float, float]
    share: float
    other_share: float
    p_value: float
    tests: int = 1

    def columns(self) -> dict[str, Any]:
        """The comparison as plain data."""
        known = self.cell != ALL_CELLS
        return {
            "table": self.table,
            "site": self.site,
            "others": list(self.others),
            "cell": self.cell,
            "rows": list(self.rows),
            "share": self.share if known else None,
            "other_share": self.other_share if known else None,
            "p_value": self.p_value,
            "adjusted": self.adjusted,
            "status": self.status,
        }


@dataclass(frozen=True)
class Sites:
    """All comparisons of the sites of a study."""

    comparisons: tuple[SiteComparison, ...]
    compared: float
    """Share of all people who are in profiles that could be compared."""

    @cached_property
    def differing(self) -> tuple[SiteComparison, ...]:
        """Of each table and site that differs, what differs most clearly; the clearest first."""
        clear = sorted((one for one in self.comparisons if one.differs), key=lambda one: one.p_value)
        by_cell = sorted(clear, key=lambda one: one.cell == ALL_CELLS)
        first = {(one.table, one.site): one for one in reversed(by_cell)}
        return tuple(sorted(first.values(), key=lambda one: one.p_value))

    @property
    def verdict(self) -> Verdict:
        """A warning if a site differs, or nothing could be compared."""
        if self.differing:
            return verdict(WARNING, "sites_differ", sites=[one.columns() for one in self.differing])
        if not self.comparisons:
            return verdict(WARNING, "sites_not_compared")
        smallest = min(one.adjusted for one in self.comparisons)
        values = {"tests": len(self.comparisons), "smallest": smallest, "compared": self.compared}
        return verdict(OK, "sites_agree", **values)

    def looks(self) -> list[dict[str, Any]]:
        """Each comparison as a row of `Check.looks`."""
        return [
            {
                "kind": one.table,
                "look": one.site,
                "comparison": one.cell,
                f"rows_{one.table}": one.rows[0],
                "size": None if one.cell == ALL_CELLS else one.share - one.other_share,
                "p_value": one.p_value,
                "adjusted": one.adjusted,
                "status": one.status,
            }
            for one in self.comparisons
        ]

    def details(self) -> dict[str, Any]:
        """Everything, as plain data."""
        return {"compared": self.compared, "comparisons": [one.columns() for one in self.comparisons]}


def sites_of(study: Study) -> Sites | None:
    """Compare the sites that a study was added up from.

    Parameters
    ----------
    study
        Counts of several sites, as `pnsight.read_counts` gives them.

    Returns
    -------
    all comparisons, cell by cell; None where no table is of two sites
    """
    tables = [[site for site in study.sites if site.table == table] for table in study.structure.tables]
    several = [sites for sites in tables if len(sites) > 1]
    if not several:
        return None
    first = [_Compared.of(sites, study.structure) for sites in several]
    tests = sum(len(list(each.comparisons(1))) for each in first)
    people, all_people = sum(each.people for each in first), sum(each.all_people for each in first)
    found = [one for each in first for one in each.without_the_differing(tests)]
    return Sites(tuple(found), people / all_people if all_people else 0.0)


@dataclass(frozen=True)
class _Compared:
    """Sites of one table, with the counts that are compared, shape (sites, profiles, cells of the structure)."""

    sites: Sequence[SiteTable]
    structure: Structure
    counts: FloatArray
    all_people: float

    @classmethod
    def of(cls, sites: Sequence[SiteTable], structure: Structure) -> _Compared:
        counts = np.stack([site.counts[:, : structure.n_cells] for site in sites])
        limits = np.array([site.min_cell or 0 for site in sites])
        shown = counts * _expected_to_be_shown(counts, limits, structure)[:, :, None]
        return cls(sites, structure, shown, float(counts.sum()))

    @property
    def people(self) -> float:
        """People of profiles that two sites or more have."""
        several = (self.counts.sum(axis=2) > 0).sum(axis=0) > 1
        return float(self.counts[:, several].sum())

    def without_the_differing(self, tests: int) -> list[SiteComparison]:
        """Comparisons of each site with the others, but for those that differ, which are set aside one by one."""
        found = list(self.comparisons(tests))
        clearest = min(found, key=lambda one: one.p_value, default=None)
        if clearest is None or not clearest.differs or len(self.sites) == 2:
            return found
        others = [site for site in self.sites if site.site != clearest.site]
        aside = [one for one in found if one.site == clearest.site]
        return [*aside, *_Compared.of(others, self.structure).without_the_differing(tests)]

    def comparisons(self, tests: int) -> Iterator[SiteComparison]:
        """Each site against the others; of two sites one, as the other's is the same."""
        for number in range(len(self.sites) if len(self.sites) > 2 else 1):
            own, rest = self.counts[number], np.delete(self.counts, number, axis=0).sum(axis=0)
            both = (own.sum(axis=1) > 0) & (rest.sum(axis=1) > 0)
            if both.any():
                yield from (replace(one, tests=tests) for one in self._of_site(number, own[both], rest[both]))

    def _of_site(self, number: int, own: FloatArray, rest: FloatArray) -> Iterator[SiteComparison]:
        site = self.sites[number]
        names = site.site, site.table
        others = tuple(each.site for place, each in enumerate(self.sites) if place != number)
        everybody = csr_array(np.ones((1, len(own))))
        for group, cells in enumerate(self.structure.group_slices):
            if self.structure.groups[group].table != site.table:
                continue
            n, m = own[:, cells].sum(axis=1), rest[:, cells].sum(axis=1)
            shown = range(cells.start, cells.stop)[: None if cells.stop - cells.start > 2 else 1]  # shares add up
            for cell in shown:
                found = Evidence.of_proportions(*(each[:, None] for each in (own[:, cell], n, rest[:, cell], m)))
                back = Evidence.of_proportions(*(each[:, None] for each in (rest[:, cell], m, own[:, cell], n)))
                left, right = (float(side[0, 0]) for side in found.over(everybody).sides)
                score = max(float(each.over(everybody).score[0, 0]) for each in (found, back))
                p_value = min(1.0, 2 * float(ndtr(-score)))
                rows = float(n.sum()), float(m.sum())
                yield SiteComparison(*names, self.structure.cells[cell].name, others, rows, left, right, p_value)
        rows = float(own.sum()), float(rest.sum())
        yield SiteComparison(*names, ALL_CELLS, others, rows, np.nan, np.nan, self._association(own, rest))

    def _association(self, own: FloatArray, rest: FloatArray) -> float:
        """The chance of so large a chi-square over cells, within profiles and groups."""
        columns = [range(self.structure.n_cells)[each] for each in self.structure.group_slices]
        group = np.concatenate([np.full(len(each), number) for number, each in enumerate(columns)])
        profiles, cells = own.shape
        strata = np.arange(profiles)[:, None] * len(columns) + group[None, :]
        pairs = np.stack([own.ravel(), rest.ravel()], axis=1)
        cell = np.broadcast_to(np.arange(cells), (profiles, cells))
        return association(pairs, cell.ravel(), strata.ravel()).p_value


def _expected_to_be_shown(counts: FloatArray, limits: FloatArray, structure: Structure) -> BoolArray:
    """Which profiles of which sites chance would hardly have withheld, shape (sites, profiles)."""
    shares = np.nan_to_num(structure.probabilities(counts.sum(axis=0)))
    expected = structure.for_cells(structure.by_group(counts)) * shares
    return np.asarray(((expected == 0) | (expected >= MIN_LIMITS * limits[:, None, None])).all(axis=2))
