"""Numbers that may be handed on: people of bands that hold no small count, with numbers drawn anew within their bands.

What is left of a study whose small counts are withheld is counts of people by band. Its people get numbers that are
spread evenly over the band, drawn with a fixed seed: so no number of a published model is anybody's, and all of them
follow from counts none of which is small. Edges of bands are near quantiles and have few digits; the outermost ones are
numbers with few digits within the outer twentieths of the people, so the least and the greatest number are not shown.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pnsight._typing import FloatArray, IndexArray
from pnsight.data.number_codes import NO_NUMBER, pack
from pnsight.data.number_scale import NumberScale
from pnsight.data.profiles import distinct_profiles
from pnsight.data.schema import MISSING, Covariate, Schema
from pnsight.data.study import Study
from pnsight.errors import QueryError

_MOST_BANDS, _LEAST_BANDS = 4, 2

_ROOM = 4.0
"""People whom a band should have on average in each cell, as a multiple of the limit."""

_SEED = 19


def in_protected_bands(study: Study, min_cell: int) -> Study:
    """The study with each number cut into as few bands as leave people enough in most cells, from two to four.

    Parameters
    ----------
    study
        A study with numeric covariates, whose rows count once each.
    min_cell
        Smallest number of people that may be shown.

    Returns
    -------
    Study
        Its covariates are still numeric, with other groups.

    Raises
    ------
    QueryError
        If rows have weights or come in clusters.
    """
    if study.design is not None or study.sampled is not None:
        raise QueryError(
            "small counts of a study with numbers cannot be withheld where rows have weights or come in clusters; cut "
            "the numbers into bands with --bands (bands=)."
        )
    rows = min(rows for rows in study.table_rows if rows)
    cells = len(study.structure.cells) / len(study.structure.tables)
    schema = study.schema
    levels = int(np.prod([size for j, size in enumerate(schema.shape) if j not in schema.numeric]))
    bands = _MOST_BANDS
    while bands > _LEAST_BANDS and rows < _ROOM * min_cell * cells * levels * bands ** len(schema.numeric):
        bands -= 1
    covariates = [
        each if each.number is None else Covariate.numeric(each.name, each.number.with_groups(bands))
        for each in schema.covariates
    ]
    return replace(study, schema=Schema(tuple(covariates)))


def with_drawn_numbers(left: Study, before: Schema) -> Study:
    """The people that are left, each with numbers drawn within the bands.

    Parameters
    ----------
    left
        What is left of the study in bands, which are plain levels.
    before
        The covariates as `in_protected_bands` made them.

    Returns
    -------
    Study
        With a profile for nearly every person.
    """
    profile, column = np.nonzero(left.counts)
    times = left.counts[profile, column].astype(np.intp)
    owner, cell = np.repeat(profile, times), np.repeat(column, times)
    rng = np.random.default_rng(_SEED)
    codes = np.empty((len(owner), len(before.names)), dtype=np.int64)
    covariates: list[Covariate] = []
    for j, (covariate, levels) in enumerate(zip(before.covariates, left.schema.covariates, strict=True)):
        own = left.profiles[owner, j]
        if covariate.number is None or levels.levels == (MISSING,):  # nobody who has a number is left
            codes[:, j] = own
            covariates.append(levels)
        else:
            band = np.array([covariate.levels.index(level) for level in levels.levels], dtype=np.intp)[own]
            numbers = _drawn(covariate.number, band, rng)
            codes[:, j] = pack(numbers, numbers)
            covariates.append(Covariate.numeric(covariate.name, _scale(covariate.number, numbers)))
    schema = Schema(tuple(covariates))
    profiles, place = distinct_profiles(schema, codes.astype(schema.code_type))
    counts = np.zeros((len(profiles), left.counts.shape[1]))
    np.add.at(counts, (place, cell), 1.0)
    return Study(schema, profiles, counts, left.structure)


def _drawn(scale: NumberScale, band: IndexArray, rng: np.random.Generator) -> FloatArray:
    """A number for each person, spread evenly over the band (people,)."""
    low, high = scale.readable_ends
    edges = np.array([min((low, *scale.edges)), *scale.edges, max((high, *scale.edges))])
    known = np.minimum(band, len(scale.edges))
    begin, end = edges[known], edges[known + 1]
    drawn = begin + (end - begin) * rng.random(len(band))
    if scale.whole:
        drawn = np.minimum(np.floor(drawn), np.maximum(end - 1, begin))
    below = np.nextafter(end.astype(np.float32), np.float32(-np.inf))
    drawn = np.where(begin < end, np.minimum(drawn, below), begin)
    return np.where(band > len(scale.edges), NO_NUMBER, drawn)


def _scale(scale: NumberScale, numbers: FloatArray) -> NumberScale:
    """The scale of numbers that were drawn, with the edges that they were drawn between."""
    known = np.where(np.isinf(numbers), np.nan, numbers)
    found = NumberScale.of(known, np.ones(len(numbers)), scale.origin)
    return replace(found, edges=scale.edges, whole=scale.whole)
