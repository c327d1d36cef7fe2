"""Propose how to read two tables: which column is treatment and outcome, what their values mean, and what to leave out.

Everything here is a proposal for people to look at. Names decide what is proposed (`likely_meaning`), and counts what a
column is: numbers, identifiers, constants, columns that one table lacks. Where nothing suggests one column or value
rather than another, none is proposed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pnsight._text import count_text
from pnsight.data.reading.column_roles import check_excluded
from pnsight.data.reading.engine import Engine, GroupBy
from pnsight.data.reading.levels import MAX_LEVELS, MIN_IDENTIFIER_LEVELS
from pnsight.data.reading.likely_meaning import (
    likely_true,
    missing_hint,
    missing_marker,
    numbers_with_commas,
    outcome_score,
    treatment_score,
    words_of,
)
from pnsight.data.reading.open_table import Table, open_table
from pnsight.data.schema import is_number, label, sort_levels
from pnsight.data.structure import EXPERIMENTAL, OBSERVATIONAL
from pnsight.errors import TableError, did_you_mean, join_names

MAX_PLAIN_NUMBERS = 10
"""A column of more distinct numbers than this is left as numbers; of fewer, each is a level."""

MERGE_RARE = 20
"""Where a column of words has many values, those with fewer rows become one."""

_TRUTH = {"0", "1", "true", "false"}
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}.*|\d{1,2}([./])\d{1,2}\1(\d{4}|\d{2})( .*)?")
_LATER = {"post", "after", "followup", "discharge", "final", "endline"}
_WEIGHTS = {"w", "wt", "weight", "weights", "ipw"}
_IDENTIFIER_WORDS = {"id", "identifier", "uuid", "ssn", "mrn"}


@dataclass(frozen=True)
class ColumnSummary:
    """What the tables hold in a column.

    Attributes
    ----------
    name
        The column.
    rows
        By the role of each table that has it, how many rows have each value.
    missing
        By the role of each table that has it, rows without a value.
    """

    name: str
    rows: Mapping[str, Mapping[str, float]]
    missing: Mapping[str, float]

    @property
    def values(self) -> dict[str, float]:
        """Rows of all tables together that have each value, in order."""
        total: Counter[str] = Counter()
        for found in self.rows.values():
            total.update(found)
        return {value: total[value] for value in sort_levels(total)}

    @property
    def numeric(self) -> bool:
        """Whether every value is a number."""
        return bool(self.values) and all(map(is_number, self.values))

    @property
    def identifies(self) -> bool:
        """Whether it tells people apart rather than describing them.

        Words that are many, or nearly as many as rows; or whole numbers of which every row has its own.
        """
        values = self.values
        if len(values) <= MIN_IDENTIFIER_LEVELS:
            return False
        if self.numeric:
            own = all(len(found) == sum(found.values()) for found in self.rows.values())
            named = bool(_IDENTIFIER_WORDS & set(words_of(self.name)))
            return named or (own and all(float(value).is_integer() for value in values))
        return len(values) > min(MAX_LEVELS, sum(values.values()) / 2)

    @property
    def dates(self) -> bool:
        """Whether it holds many dates."""
        return len(self.values) > MIN_IDENTIFIER_LEVELS and all(map(_DATE.fullmatch, self.values))

    @property
    def with_commas(self) -> bool:
        """Whether it holds numbers with a comma in place of the point."""
        return numbers_with_commas(self.values)

    @property
    def stands_for_missing(self) -> str | None:
        """A value that other programs write where there is none, such as NA."""
        return missing_marker(self.values)

    @property
    def later(self) -> bool:
        """Whether its name suggests that it was measured after the treatment."""
        return bool(_LATER & set(words_of(self.name))) or self.name.lower().endswith("post")

    @property
    def weighs(self) -> bool:
        """Whether it could be a weight: a column of numbers with the name of one."""
        return self.numeric and bool(_WEIGHTS & set(words_of(self.name)))

    @property
    def many_numbers(self) -> bool:
        """Whether it holds numbers, and too many to make a level of each."""
        return self.numeric and len(self.values) > MAX_PLAIN_NUMBERS

    def described(self) -> str:
        """Its values in a few words, with the rows that have them."""
        values = self.values
        if not values:
            return "no value"
        if self.many_numbers and not self.identifies:
            return f"{min(values, key=float)} to {max(values, key=float)}"
        if len(values) > MIN_IDENTIFIER_LEVELS:
            return f"{len(values):,} values, such as {next(iter(values))}"
        return join_names((f"{value} ({count_text(rows)})" for value, rows in values.items()), most=4)


@dataclass(frozen=True)
class ProposedReading:
    """How two tables could be read.

    Attributes
    ----------
    columns
        All columns of the tables.
    treatment, outcome, treated, success
        As `read_study` takes them; None where nothing is proposed.
    covariates
        Columns to use, if they were named; None for all but `exclude`.
    exclude
        By column that is to be left out, the reason.
    """

    columns: Mapping[str, ColumnSummary]
    treatment: str | None = None
    outcome: str | None = None
    treated: str | None = None
    success: str | None = None
    covariates: tuple[str, ...] | None = None
    exclude: Mapping[str, str] = field(default_factory=dict)

    @property
    def shared(self) -> list[str]:
        """Columns that all tables have."""
        tables = max(len(column.rows) for column in self.columns.values())
        return [name for name, column in self.columns.items() if len(column.rows) == tables]

    @property
    def used(self) -> list[str]:
        """The covariates."""
        roles = (self.treatment, self.outcome)
        if self.covariates is not None:
            return list(self.covariates)
        return [name for name in self.shared if name not in roles and name not in self.exclude]

    @property
    def numbers(self) -> list[str]:
        """Covariates that are left as numbers, which the default model learns from as they are."""
        return [name for name in self.used if self.columns[name].many_numbers]

    @property
    def merges_rare(self) -> bool:
        """Whether a covariate of words has so many values that rare ones should be merged."""
        columns = (self.columns[name] for name in self.used if name not in self.numbers)
        return any(len(column.values) > MIN_IDENTIFIER_LEVELS for column in columns)

    @property
    def has_gaps(self) -> bool:
        """Whether a covariate has missing values."""
        return any(any(self.columns[name].missing.values()) for name in self.used)

    @property
    def unknown(self) -> dict[str, list[str]]:
        """By option that has to be given, since nothing is proposed, what could be given."""
        found = {
            "--treatment": [] if self.treatment else self.two_valued(self.outcome),
            "--outcome": [] if self.outcome else self.two_valued(self.treatment),
            "--treated": list(self.columns[self.treatment].values) if self.treatment and not self.treated else [],
            "--success": list(self.columns[self.outcome].values) if self.outcome and not self.success else [],
        }
        return {option: values for option, values in found.items() if values}

    def missing_markers(self) -> dict[str, str]:
        """By column that is not left out, a value in it that looks like a missing one."""
        found = {name: self.columns[name].stands_for_missing for name in self.shared if name not in self.exclude}
        return {name: marker for name, marker in found.items() if marker is not None}

    def two_valued(self, other: str | None = None) -> list[str]:
        """Columns that could be the treatment or the outcome, where that one is taken."""
        return [name for name in self.shared if len(self.columns[name].values) == 2 and name != other]

    def options(self) -> list[str]:
        """The words that make `pnsight check` and `pnsight fit` read the tables in this way."""
        words = ["--treatment", self.treatment or "", "--outcome", self.outcome or ""]
        for option, column, value in (
            ("--treated", self.treatment, self.treated),
            ("--success", self.outcome, self.success),
        ):
            if value is not None and not (value in ("1", "true") and set(self.columns[column or ""].values) <= _TRUTH):
                words += [option, value]
        if self.covariates is not None:
            words += ["--covariates", names_as_option(self.covariates)]
        elif left_out := [name for name in self.exclude if name in self.shared]:
            words += ["--exclude", names_as_option(left_out)]
        words += ["--numeric", names_as_option(self.numbers)] if self.numbers else []
        words += ["--merge-rare", str(MERGE_RARE)] if self.merges_rare else []
        return [*words, *(["--missing", "level"] if self.has_gaps else [])]


def names_as_option(names: Sequence[str]) -> str:
    """Names as an option takes them: with commas between, and backslashes where a name has a comma itself.

    Parameters
    ----------
    names
        Of columns.

    Returns
    -------
    str
    """
    return ",".join(re.sub(r"([,=\\])", r"\\\1", name) for name in names)


def propose_reading(
    experimental: Table,
    observational: Table | None = None,
    *,
    treatment: str | None = None,
    outcome: str | None = None,
    treated: str | None = None,
    success: str | None = None,
    covariates: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    other_roles: Sequence[str] = (),
) -> ProposedReading:
    """Look at the columns of two tables, and propose how to read them.

    Parameters
    ----------
    experimental, observational
        Tables as `read_study` takes them.
    treatment, outcome, treated, success, covariates
        What is known, as `read_study` takes it; what is not is proposed.
    exclude
        Columns to leave out, beside those that look as if they should be.
    other_roles
        Columns that have another role, such as a weight or the cluster.

    Returns
    -------
    ProposedReading
        What is known and proposed.

    Raises
    ------
    TableError
        If a table cannot be read, has no column of a name that is given, or treatment or outcome have more values than
        two.
    """
    given = {EXPERIMENTAL: experimental, OBSERVATIONAL: observational}
    tables = [open_table(table, role) for role, table in given.items() if table is not None]
    check_excluded(exclude, tables, (treatment, outcome, *other_roles))
    columns = {name: column for name, column in summarise_columns(tables).items() if name not in other_roles}
    _check_tables(tables, columns)
    found = ProposedReading(columns, covariates=None if covariates is None else tuple(covariates))
    for name in (treatment, outcome, *(covariates or ())):
        _check_shared(name, found, "column")
    found = replace(found, treatment=treatment or _best(found, treatment_score, outcome))
    found = replace(found, outcome=outcome or _best(found, outcome_score, found.treatment))
    found = replace(
        found,
        treated=_true_value("treatment", found.treatment, treated, columns),
        success=_true_value("outcome", found.outcome, success, columns),
    )
    return replace(found, exclude=_left_out(found, exclude))


def summarise_columns(tables: Sequence[Engine]) -> dict[str, ColumnSummary]:
    """Count the values of every column, one group-by each.

    Parameters
    ----------
    tables
        The tables, the experimental one first.

    Returns
    -------
    dict
        By name, what each column holds, in the order of the tables.
    """
    names = dict.fromkeys(name for table in tables for name in table.names)
    return {name: _summary(name, [table for table in tables if name in table.names]) for name in names}


def _summary(name: str, tables: Sequence[Engine]) -> ColumnSummary:
    rows: dict[str, dict[str, float]] = {}
    missing: dict[str, float] = {}
    for table in tables:
        groups = table.group_by(GroupBy([name]), lambda share: None)
        found: Counter[str] = Counter()
        missing[table.role] = 0.0
        for value, number in zip(groups.values[name].tolist(), groups.rows.tolist(), strict=True):
            text = label(value)
            if text is None:
                missing[table.role] += number
            else:
                found[text] += number
        rows[table.role] = dict(found)
    return ColumnSummary(name, rows, missing)


def _check_tables(tables: Sequence[Engine], columns: Mapping[str, ColumnSummary]) -> None:
    """Tables have rows, and columns in common."""
    for table in tables:
        own = [columns[name] for name in table.names if name in columns]
        if not any(sum(each.rows[table.role].values()) + each.missing[table.role] for each in own):
            raise TableError(f"the {table.role} table has columns but no rows; look whether it is the right file.")
    if not any(len(column.rows) == len(tables) for column in columns.values()):
        held = " and ".join(f"the {table.role} one has {join_names(table.names, most=8)}" for table in tables)
        raise TableError(f"the tables have no column in common: {held}. Give columns the same names in both.")


def _check_shared(name: str | None, found: ProposedReading, what: str) -> None:
    if name is not None and name not in found.shared:
        raise TableError(
            f"not every table has a {what} {name!r}; the shared columns are {join_names(found.shared)}."
            + did_you_mean(name, found.shared)
        )


def _best(found: ProposedReading, score: Callable[[str, Any], int], other: str | None) -> str | None:
    """The column that suggests itself more than all others of two values; None where none does."""
    scores = {name: score(name, found.columns[name].values) for name in found.two_valued(other)}
    best = [name for name, each in scores.items() if each == max(scores.values())]
    return best[0] if len(best) == 1 and scores[best[0]] > 0 else None


def _true_value(what: str, column: str | None, given: Any, columns: Mapping[str, ColumnSummary]) -> str | None:
    if column is None:
        return None
    values = list(columns[column].values)
    if len(values) != 2:
        option = {"treatment": "--arms", "outcome": "--outcomes"}[what]
        raise TableError(
            f"{what} column {column!r} holds {columns[column].described()}; expected two.{missing_hint(values)} For "
            f"more, list them all with {option} of pnsight fit."
        )
    if given is None:
        return likely_true(what, column, values)
    if label(given) not in values:
        option = {"treatment": "--treated", "outcome": "--success"}[what]
        raise TableError(
            f"{what} column {column!r} has no value {given!r} as named by {option}; it holds "
            f"{columns[column].described()}." + did_you_mean(str(given), values)
        )
    return label(given)


def _left_out(found: ProposedReading, exclude: Sequence[str]) -> dict[str, str]:
    """By column, why it should not be a covariate."""
    reasons: dict[str, str] = {}
    for name, column in found.columns.items():
        if name in (found.treatment, found.outcome) or name in (found.covariates or ()):
            continue
        if name in exclude:
            reasons[name] = "as you say"
        elif name not in found.shared:
            (role,) = column.rows
            hint = f" (a weight? --survey-weight {name})" if column.weighs else ""
            reasons[name] = f"only in the {role} table{hint}"
        elif found.covariates is not None:
            reasons[name] = "not named"
        elif why := _why_not(column):
            reasons[name] = why
    return reasons


def _why_not(column: ColumnSummary) -> str:
    for wrong, reason in (
        (not column.values, "empty"),
        (len(column.values) == 1, "constant"),
        (column.dates, "dates"),
        (column.with_commas, "numbers with decimal commas; write them with points"),
        (column.identifies, "tells people apart"),
        (column.later, "measured after treatment?"),
    ):
        if wrong:
            return reason
    return ""
