"""What is said about how tables were counted, and what was left out or withheld."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pnsight._text import count_text, number_of
from pnsight.errors import join_names


def _rows_without(table: str, covariates: Sequence[str]) -> str:
    return f"{table} rows without {join_names(covariates)}"


def _rare_levels_merged(covariate: str, levels: Sequence[str]) -> str:
    return f"{covariate}: rare levels that became 'other': {join_names(levels)}"


def _few_rows_left_out(reason: Mapping[str, Any], min_cell: int) -> str:
    template = STUDIES[reason["kind"]]
    values = reason["values"]
    rows = template.format(**values) if isinstance(template, str) else template(**values)
    return f"{rows}: fewer than {min_cell} were left out"


def _counts_withheld(min_cell: int, tables: Sequence[Mapping[str, Any]]) -> str:
    found = [_withheld_rows(min_cell, **table) for table in tables]
    return f"counts below {min_cell} are withheld: {' and '.join(found) or 'there were none'}"


def _withheld_rows(min_cell: int, table: str, rows: float, profiles: int) -> str:
    at_most = "at most " if rows <= min_cell else ""
    return f"{at_most}{count_text(rows)} {table} rows of {number_of(profiles, 'profile')}"


def _rows_worth(table: str, rows: float, worth: float, unequal: bool, clusters: int | None, unclustered: float) -> str:
    weigh = ["weigh unequally"] if unequal else []
    come = [] if clusters is None else [f"come in {number_of(clusters, 'cluster')}"]
    alone = f" ({count_text(unclustered)} of them in none, and each by itself)" if unclustered else ""
    worth_text = count_text(round(worth)) if worth >= 10 else f"{worth:.2g}"
    return f"{count_text(rows)} {table} rows {', '.join([*weigh, *come])}{alone} and are worth {worth_text}"


def _columns_kept(columns: Sequence[str]) -> str:
    return f"columns that are not covariates, kept as they are: {', '.join(columns)}"


STUDIES: dict[str, Any] = {
    "remark": "{text}",
    "rows_counted_once": "rows of the {table} table count once each: it has no column {column!r}",
    "rows_independent": "rows of the {table} table are taken to be independent: it has no column {column!r}",
    "coded_differently": "{column} is 0 or 1 in one table and false or true in the other; 1 is taken to mean true",
    "rows_worth": _rows_worth,
    "rows_reweighted": "experimental rows are reweighted by column {column!r}, as if a fair coin had decided",
    "fewer_bands": "{covariate} has {found} bands, not {wanted}: many rows share a number",
    "rare_levels_merged": _rare_levels_merged,
    "single_level": "{covariate} is {level} in every row; it is kept, but distinguishes nobody",
    "rows_without_treatment_or_outcome": "{table} rows without treatment or outcome",
    "rows_without_covariates": _rows_without,
    "few_rows_left_out": _few_rows_left_out,
    "counts_withheld": _counts_withheld,
    "columns_kept": _columns_kept,
    "people_with_counts_only": "answers are about the people whose counts are left, who may respond otherwise than all",
}
