"""What is said about how tables were counted, and what was left out or withheld."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pnsight._text import count_text, number_of, percent
from pnsight.errors import join_names


def _rows_without(table: str, covariates: Sequence[str]) -> str:
    return f"{table} rows without {join_names(covariates) or 'some covariate'}"


def _rare_levels_merged(covariate: str, levels: Sequence[str]) -> str:
    if not levels:
        return f"{covariate}: rare levels became 'other'"
    return f"{covariate}: rare levels that became 'other': {join_names(levels)}"


def _counts_withheld(min_cell: int, tables: Sequence[Mapping[str, Any]]) -> str:
    found = [_withheld_rows(**table) for table in tables]
    return f"counts below {min_cell} are withheld: {' and '.join(found) or 'there were none'}"


def _withheld_rows(table: str, rows: float, of: float) -> str:
    return f"about {count_text(rows)} of {count_text(of)} {table} rows ({percent(rows / of)})"


def _edges_published(covariates: Sequence[str]) -> str:
    return (
        f"bands of {join_names(covariates)} were cut at quantiles, which are numbers that somebody has, and are in the "
        "model; give the edges with --bands to publish none"
    )


def _people_with_counts_only(share: float) -> str:
    return (
        "answers are about the people whose counts are left, who may respond otherwise than all: "
        f"{percent(share)} of a table is withheld; fewer or coarser covariates withhold less"
    )


def _rows_worth(table: str, rows: float, worth: float, unequal: bool, clusters: int | None, unclustered: float) -> str:
    weigh = ["weigh unequally"] if unequal else []
    come = [] if clusters is None else [f"come in {number_of(clusters, 'cluster')}"]
    alone = f" ({count_text(unclustered)} of them in none, and each by itself)" if unclustered else ""
    worth_text = count_text(round(worth)) if worth >= 10 else f"{worth:.2g}"
    return f"{count_text(rows)} {table} rows {', '.join([*weigh, *come])}{alone} and are worth {worth_text}"


def _columns_kept(columns: Sequence[str]) -> str:
    return f"columns that are not covariates, kept as they are: {', '.join(columns)}"


def _covariates_left_open(covariates: Sequence[str]) -> str:
    return f"covariates without a column, left open for everybody: {', '.join(covariates)}"


def _columns_renamed(columns: Mapping[str, str]) -> str:
    named = ", ".join(f"{old} is now {new}" for old, new in columns.items())
    return f"columns of the table that have the name of an answer's column: {named}"


def _other_versions(others: Sequence[Mapping[str, Any]]) -> str:
    then, here = (
        join_names(f"{one['library']} {one[when] or '(not known)'}" for one in others) for when in ("then", "here")
    )
    return (
        f"this model was fitted with {then} and is read with {here}: its answers may differ in their last digits, and "
        "those of a model fitted again to the same tables, with the same seed, by some thousandths; install the "
        "versions that fitted it to get the same"
    )


def _rows_censored(table: str, rows: float) -> str:
    return (
        f"{count_text(rows)} {table} rows were censored before the last horizon; that is taken to say nothing about "
        "when their event comes, given their covariates"
    )


def _outcomes_kept(table: str, rows: float, how: str) -> str:
    made = {
        "set": "kept as rows that may have any outcome, as often as others like them have it",
        "worst-case": "kept as rows that may have any outcome at all, so that bounds hold in the worst case",
    }[how]
    return f"{count_text(rows)} {table} rows without an outcome are {made}"


def _sites_added(sites: Sequence[Mapping[str, str]]) -> str:
    tables = {one["table"]: [each["site"] for each in sites if each["table"] == one["table"]] for one in sites}
    named = [f"{number_of(len(found), f'{table} table')} ({join_names(found)})" for table, found in tables.items()]
    return f"added up from {' and '.join(named)}"


def _withheld_at_sites(sites: Sequence[Mapping[str, Any]], share: float, wider: float) -> str:
    each = join_names(f"{one['site']} {percent(one['share'])}" for one in sites)
    return (
        f"of their people, sites withhold about: {each}. With {percent(share)} of a table missing, intervals are about "
        f"{percent(wider)} wider than with everybody, and shares of everybody could differ by up to {share:.2f} if "
        "those who are missing respond otherwise"
    )


def _numeric_covariates(covariates: Sequence[str], origins: Mapping[str, str]) -> str:
    since = "".join(f"; {name} counts days since {origin}" for name, origin in origins.items())
    return (
        f"{join_names(covariates)} {'is a number' if len(covariates) == 1 else 'are numbers'} and not cut into "
        f"bands{since} (--numeric, --bands)"
    )


def _numbers_drawn(covariates: Sequence[str], bands: int) -> str:
    return (
        f"numbers of {join_names(covariates)} were drawn anew within up to {bands} bands each, from counts none of "
        "which is small: none is anybody's, and within a band people are taken to be alike"
    )


def _table_sampled(table: str, drawn: float, of: float) -> str:
    return (
        f"nearly every row of the {table} table differs from all others: about {count_text(drawn)} of its "
        f"{count_text(of)} rows ({percent(drawn / of)}) were drawn, always the same ones, and the rest is not used"
    )


def _groups_sampled(table: str, drawn: float, of: float, groups: float) -> str:
    return (
        f"the {table} table has {count_text(groups)} distinct profiles or more: about {count_text(drawn)} of its "
        f"{count_text(of)} rows ({percent(drawn / of)}) were drawn, always the same ones, and the rest is not used"
    )


STUDIES: dict[str, Any] = {
    "sites_added": _sites_added,
    "withheld_at_sites": _withheld_at_sites,
    "table_sampled": _table_sampled,
    "groups_sampled": _groups_sampled,
    "numbers_drawn": _numbers_drawn,
    "numeric_covariates": _numeric_covariates,
    "outcomes_kept": _outcomes_kept,
    "rows_censored": _rows_censored,
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
    "counts_withheld": _counts_withheld,
    "encoding_guessed": "the text is not in UTF-8; it was read as {encoding} (Latin-1)",
    "columns_kept": _columns_kept,
    "covariates_left_open": _covariates_left_open,
    "columns_renamed": _columns_renamed,
    "other_versions": _other_versions,
    "edges_published": _edges_published,
    "people_with_counts_only": _people_with_counts_only,
}
