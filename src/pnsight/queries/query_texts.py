"""Queries of very many single people as a column of text, written by Arrow; the same as `format_queries` writes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pnsight.data.number_codes import is_range, low_ends
from pnsight.data.number_scale import NumberScale, is_plain
from pnsight.data.schema import OPEN, Codes, Covariate, Schema
from pnsight.queries.query import fixing_begin, fixings, format_queries


def query_texts(schema: Schema, codes: Codes) -> Any:
    """Write queries as an Arrow array of text.

    Parameters
    ----------
    schema
        The covariates.
    codes : shape (queries, covariates)
        The queries.

    Returns
    -------
    pyarrow.Array
        What `format_queries` gives.
    """
    if schema.single_character or not schema.covariates:
        return pa.array(format_queries(schema, codes), pa.string())
    columns = [_fixings(covariate, codes[:, j]) for j, covariate in enumerate(schema.covariates)]
    nothing = (codes == OPEN).all(axis=1)
    if nothing.any():  # Arrow leaves out rows in which nothing is to be joined
        columns[0] = pc.if_else(pa.array(nothing), "", columns[0])
    return pc.binary_join_element_wise(*columns, ",", null_handling="skip")


def _fixings(covariate: Covariate, codes: npt.NDArray[Any]) -> Any:
    """What queries fix one covariate to, null where it is open."""
    scale = covariate.number
    if scale is not None and scale.origin is None and not is_range(codes).any():
        return _numbers(covariate, scale, codes)
    distinct, place = np.unique(codes, return_inverse=True)
    texts = pa.array([text or None for text in fixings(covariate, distinct)], pa.string())
    return texts.take(pa.array(place.ravel()))


def _numbers(covariate: Covariate, scale: NumberScale, codes: npt.NDArray[Any]) -> Any:
    """The same of single numbers: Arrow writes those that it writes as people do, and the others are written once."""
    numbers, fixed = low_ends(codes), codes != OPEN
    odd = fixed & ~is_plain(numbers)
    written = pa.array(numbers, mask=~fixed).cast(pa.string())
    texts = pc.binary_join_element_wise(fixing_begin(covariate), written, "")
    if not odd.any():
        return texts
    distinct, place = np.unique(codes[odd], return_inverse=True)
    return pc.replace_with_mask(
        texts, pa.array(odd), pa.array(fixings(covariate, distinct), pa.string()).take(pa.array(place.ravel()))
    )
