"""Counts of several sites: added up to one study, of which each site's part is kept for comparison.

A site gives counts of people and no rows: how many have each combination of covariates, in each cell of one table. The
counts of two sites add up to those of both their tables together, so the study is the one that reading all rows in one
place would give. Where sites withhold small counts, what is left adds up in the same way, and a note says how much is
missing from each.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np

from pnsight._typing import FloatArray, IndexArray
from pnsight.data.profiles import distinct_profiles
from pnsight.data.schema import MISSING, OTHER, Codes, Covariate, Schema, band_labels, sort_levels, whole_band_labels
from pnsight.data.structure import EXPERIMENTAL, OBSERVATIONAL, Description, Structure
from pnsight.data.structures import structure_of
from pnsight.data.study import MANY_WITHHELD, MAX_ROWS, SiteTable, Study, Withheld
from pnsight.errors import TableError, join_names
from pnsight.notes import INFO, WARNING, Note


@dataclass(frozen=True)
class SiteCounts:
    """One table of one site, counted.

    Attributes
    ----------
    site
        What to call it.
    table
        Its role, experimental or observational.
    treatment, outcome, treated, success
        Names of the two columns, and the values that mean treated and success.
    description
        What the structure is made of.
    edges
        The covariates in order; by name, the edges of its bands, or None.
    levels
        By covariate, the level of each entry.
    cells
        The name of each entry's cell.
    people : shape (entries,)
        How many people that is.
    min_cell
        Counts of people from 1 to below this are withheld; None if all are there.
    withheld
        About how many people were withheld.
    """

    site: str
    table: str
    treatment: str
    outcome: str
    treated: str
    success: str
    description: Description
    edges: Mapping[str, tuple[float, ...] | None]
    levels: Mapping[str, Sequence[str]]
    cells: Sequence[str]
    people: FloatArray
    min_cell: int | None = None
    withheld: float = 0.0

    @property
    def share_withheld(self) -> float:
        """About which share of the site's people is withheld."""
        return self.withheld / (self.withheld + float(self.people.sum())) if self.withheld else 0.0


def site_counts(study: Study, site: str = "") -> SiteCounts:
    """The counts of a study of one table, as a site hands them on.

    Parameters
    ----------
    study
        One table.
    site
        What to call it.

    Returns
    -------
    Its counts, one entry for each profile and cell with people in it.

    Raises
    ------
    TableError
        If it has two tables, or counts that are not people.
    """
    tables = [table for table in study.structure.tables if study.rows_of(table).any()]
    if len(tables) != 1:
        some = "both are" if tables else "nothing is left in either, as all counts are small"
        raise TableError(f"a file of counts is of one table, but {some}; count each by itself, with fewer covariates.")
    if study.schema.numeric:
        named = join_names(study.schema.names[j] for j in study.schema.numeric)
        raise TableError(
            f"{named}: there are too many numbers to count people by; cut them into bands at edges that all sites "
            "share, as in --bands age=0,40,65,120 (bands=)."
        )
    if study.sampled is not None or study.design is not None:
        raise TableError("these counts are weighted, and a site hands on numbers of people; leave the weights out.")
    (table,) = tables
    names = [*(cell.name for cell in study.structure.cells), *(one.name for one in study.structure.sets)]
    profile, column = np.nonzero(study.counts)
    covariates = study.schema.covariates
    return SiteCounts(
        site,
        table,
        study.treatment,
        study.outcome,
        study.treated,
        study.success,
        study.structure.description,
        {one.name: one.edges for one in covariates},
        {one.name: [one.levels[code] for code in study.profiles[profile, j]] for j, one in enumerate(covariates)},
        [names[each] for each in column],
        study.counts[profile, column],
        None if study.withheld is None else study.withheld.min_cell,
        0.0 if study.withheld is None else sum(study.withheld.rows),
    )


def add_sites(sites: Sequence[SiteCounts]) -> Study:
    """Add up the counts of sites.

    Parameters
    ----------
    sites
        Tables of either role, of any number of sites.

    Returns
    -------
    The study of all their people; `Study.sites` has each part by itself.

    Raises
    ------
    TableError
        If the tables do not describe people in the same way.
    """
    first = sites[0]
    for other in sites[1:]:
        _check_alike(first, other)
    schema = Schema(tuple(Covariate(name, _levels(sites, name), edges) for name, edges in first.edges.items()))
    structure = _structure(sites)
    profiles, place = distinct_profiles(schema, np.concatenate([_codes(schema, site) for site in sites]))
    places = np.split(place, np.cumsum([len(site.people) for site in sites])[:-1])
    parts = [_counts(site, at, len(profiles), structure) for site, at in zip(sites, places, strict=True)]
    counts = np.sum(parts, axis=0)
    if counts.sum() > MAX_ROWS:
        raise TableError(f"the sites have {counts.sum():.3g} people in all; expected at most {MAX_ROWS:,}.")
    tables = tuple(
        SiteTable(site.site, site.table, part, site.min_cell) for site, part in zip(sites, parts, strict=True)
    )
    study = Study(schema, profiles, counts, structure, first.treatment, first.outcome, sites=tables)
    return replace(
        study, treated=first.treated, success=first.success, withheld=_withheld(sites), notes=tuple(_notes(sites))
    )


def _check_alike(first: SiteCounts, other: SiteCounts) -> None:
    for what, one, two in (
        ("the treatment", first.treatment, other.treatment),
        ("the outcome", first.outcome, other.outcome),
        ("arms and outcomes", _shown(first), _shown(other)),
        ("the covariates", sorted(first.edges), sorted(other.edges)),
        *((f"the edges of {name!r}", edges, other.edges.get(name)) for name, edges in first.edges.items()),
    ):
        if one != two:
            raise TableError(
                f"{first.site} and {other.site} cannot be added up: {what} are {_plain(one)} in one and {_plain(two)} "
                "in the other. Count both tables again with the same columns and options."
            )


def _shown(site: SiteCounts) -> tuple[object, ...]:
    """What rows show; the arms that an experiment has may differ from those that another has."""
    found = site.description
    return found.kind, found.arms, found.outcomes, found.ordered, found.horizons, found.event_is_bad, found.missing


def _plain(value: object) -> str:
    if isinstance(value, list | tuple):
        return join_names([_plain(each) for each in value if each != ()]) or "none"
    return str(value)


def _structure(sites: Sequence[SiteCounts]) -> Structure:
    """The structure of all tables; an observational one alone has an experiment beside it that nobody is in."""
    described = sites[0].description
    trials = [site.description.tried for site in sites if site.table == EXPERIMENTAL] or [described.arms]
    tried = tuple(arm for arm in described.arms if any(arm in found for found in trials))
    tables = (EXPERIMENTAL, *({site.table for site in sites} - {EXPERIMENTAL}))
    return structure_of(replace(described, tried=tried), tables)


def _levels(sites: Sequence[SiteCounts], name: str) -> tuple[str, ...]:
    """Levels of all sites, in the order that reading them in one place gives."""
    edges = sites[0].edges[name]
    found = {level for site in sites for level in site.levels[name]}
    plain = sort_levels(found - {OTHER, MISSING}) if edges is None else _bands(edges, found - {OTHER, MISSING})
    return (*plain, *(level for level in (OTHER, MISSING) if level in found))


def _bands(edges: Sequence[float], found: Set[str]) -> tuple[str, ...]:
    """Bands, called by the whole numbers that they hold if every site has whole numbers only."""
    whole = whole_band_labels(edges)
    return whole if found <= set(whole) else band_labels(edges)


def _codes(schema: Schema, site: SiteCounts) -> Codes:
    """Codes of each entry's levels, shape (entries, covariates)."""
    codes = np.zeros((len(site.people), len(schema.names)), dtype=np.int32)
    for j, covariate in enumerate(schema.covariates):
        code = {level: place for place, level in enumerate(covariate.levels)}
        if covariate.edges is not None:
            code |= {level: place for place, level in enumerate(whole_band_labels(covariate.edges))}
        unknown = next((level for level in site.levels[covariate.name] if level not in code), None)
        if unknown is not None:
            raise TableError(f"{site.site} has people at {covariate.name}={unknown}, which is none of its bands.")
        codes[:, j] = [code[level] for level in site.levels[covariate.name]]
    return codes


def _counts(site: SiteCounts, place: IndexArray, profiles: int, structure: Structure) -> FloatArray:
    """The site's people in the columns of the study, shape (profiles, cells + sets)."""
    names = [*(cell.name for cell in structure.cells), *(one.name for one in structure.sets)]
    column = {names[each]: int(each) for each in structure.all_columns_of(site.table)}
    unknown = next((cell for cell in site.cells if cell not in column), None)
    if unknown is not None:
        raise TableError(f"{site.site} counts people in {unknown!r}; expected one of {join_names(column)}.")
    counts = np.zeros((profiles, structure.n_columns))
    np.add.at(counts, (place, np.array([column[cell] for cell in site.cells])), site.people)
    return counts


def _withheld(sites: Sequence[SiteCounts]) -> Withheld | None:
    """What is withheld in all; None unless every site withholds, as then not all small counts are gone."""
    limits = [site.min_cell for site in sites]
    if None in limits:
        return None

    def total(table: str, of: Sequence[float]) -> float:
        return float(sum(people for site, people in zip(sites, of, strict=True) if site.table == table))

    gone, left = [site.withheld for site in sites], [float(site.people.sum()) for site in sites]
    rows, rest = ((total(EXPERIMENTAL, each), total(OBSERVATIONAL, each)) for each in (gone, left))
    return Withheld(min(limit for limit in limits if limit is not None), rows, rest)


def _notes(sites: Sequence[SiteCounts]) -> list[Note]:
    """Which sites were added up, and how much is missing from each."""
    found: list[Note] = [Note("sites_added", {"sites": [{"site": site.site, "table": site.table} for site in sites]})]
    lacking = [site for site in sites if site.withheld]
    if lacking:
        shares = [{"site": site.site, "table": site.table, "share": site.share_withheld} for site in lacking]
        people = {table: sum(_all(site) for site in sites if site.table == table) for table in _tables(sites)}
        gone = {table: sum(site.withheld for site in sites if site.table == table) for table in people}
        most = max(gone[table] / people[table] for table in people)
        values = {"sites": shares, "share": most, "wider": 1 / math.sqrt(max(1 - most, 1e-9)) - 1}
        found.append(Note("withheld_at_sites", values, WARNING if most > MANY_WITHHELD else INFO))
    return found


def _all(site: SiteCounts) -> float:
    return site.withheld + float(site.people.sum())


def _tables(sites: Sequence[SiteCounts]) -> set[str]:
    return {site.table for site in sites}
