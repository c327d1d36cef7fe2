"""What each row shows: its arm, its outcome or what is known of it, and the structure that follows from all rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from pnsight._text import count_text
from pnsight._typing import BoolArray, FloatArray, IndexArray
from pnsight.data import arms_and_outcomes, noncompliance, time_to_event
from pnsight.data.arms_and_outcomes import MISSING, after_horizon
from pnsight.data.reading.binary_columns import binary_codes, true_label
from pnsight.data.reading.column_roles import ColumnRoles
from pnsight.data.reading.declared import Declared
from pnsight.data.reading.grouped_table import GroupedTable, LabelColumn
from pnsight.data.reading.time_bands import TimeBands
from pnsight.data.sampled_rows import sum_by
from pnsight.data.schema import sort_levels
from pnsight.data.structure import EXPERIMENTAL, TWO_BY_TWO_KIND, WORST_CASE, Description, Structure
from pnsight.data.structures import outcome_codes, places, structure_of
from pnsight.data.two_by_two import BINARY
from pnsight.errors import TableError, did_you_mean, join_names

_TRUTH = {"0", "1", "true", "false"}


@dataclass(frozen=True)
class RowCodes:
    """How labels become codes.

    Attributes
    ----------
    arm_of, outcome_of : code by label; of times, `outcome_of` is 1 for labels that mean the event
    arms, outcomes : names by code
    declared : what was declared
    roles : which column is what
    """

    arm_of: Mapping[str, int]
    outcome_of: Mapping[str, int]
    arms: tuple[str, ...]
    outcomes: tuple[str, ...]
    declared: Declared
    roles: ColumnRoles

    @classmethod
    def of(cls, tables: Sequence[GroupedTable], roles: ColumnRoles, declared: Declared) -> RowCodes:
        """Codes of all labels that the tables hold, once each is found to be one that was expected."""
        treatment = {table.role: table.x for table in tables}
        assigned = next((table.assigned for table in tables if table.assigned is not None), None)
        columns = treatment if assigned is None else {**treatment, "assigned": assigned}
        outcome = {table.role: table.y for table in tables}
        what = "event" if declared.horizons else "outcome"
        rows = [_rows_by_label((table.x, table.assigned), table.rows) for table in tables]
        had = [_rows_by_label((table.y,), table.rows) for table in tables]
        arm_of, outcome_of = _both(
            partial(_codes, roles.treatment, "treatment", "arms", declared.arms, declared.treated, columns, rows),
            partial(_codes, roles.outcome, what, "outcomes", declared.outcomes, declared.success, outcome, had),
        )
        outcomes = declared.outcomes or _names(outcome_of)
        if declared.horizons:
            outcomes = time_to_event.interval_names(declared.horizons)
        found = cls(arm_of, outcome_of, declared.arms or _names(arm_of), outcomes, declared, roles)
        if declared.arms is not None:
            _check_arms_are_there(roles.treatment, declared.arms, columns)
        return found

    @property
    def treated(self) -> str:
        """The label that means treated, or the last arm."""
        return true_label(self.arm_of) if self.declared.arms is None else self.arms[-1]

    @property
    def success(self) -> str:
        """The label that means a response, or the best outcome."""
        return true_label(self.outcome_of) if self.declared.outcomes is None else self.outcomes[-1]

    # --- of rows -----------------------------------------------------------------------------------------

    def randomised(self, table: GroupedTable) -> IndexArray:
        """The arm that each group of rows is in: assigned, or else taken; -1 where that is missing."""
        return (table.x if table.assigned is None else table.assigned).map_labels(self.arm_of)

    def without_arm(self, table: GroupedTable) -> BoolArray:
        """Which groups of rows lack the treatment, or what was assigned."""
        missing = table.x.missing()
        return missing if table.assigned is None else missing | table.assigned.missing()

    def without_outcome(self, table: GroupedTable) -> BoolArray:
        """Which groups of rows lack an outcome; an event without a time is refused."""
        if table.time is None:
            return table.y.missing()
        lacking, happened = table.time.place < 0, table.y.map_labels(self.outcome_of) == 1
        if (lacking & happened).any():
            raise TableError(
                f"{count_text(table.rows[lacking & happened].sum())} rows of the {table.role} table have the event "
                f"(column {self.roles.outcome!r}) but no time (column {self.roles.time!r}); expected a time for each."
            )
        return lacking | table.y.missing()

    def structure(self, tables: Sequence[GroupedTable]) -> Structure:
        """The structure of tables without rows that are to be left out."""
        roles = [table.role for table in tables]
        description = self._description(tables)
        if EXPERIMENTAL not in roles and description.kind != TWO_BY_TWO_KIND:
            raise TableError(
                "there is no experimental table; an observational table alone is read with two arms and two outcomes "
                "only. Add an experimental one, or read two arms and two outcomes."
            )
        return structure_of(description, (EXPERIMENTAL, *(role for role in roles if role != EXPERIMENTAL)))

    def _description(self, tables: Sequence[GroupedTable]) -> Description:
        tried = self._tried(tables)
        declared, assigned = self.declared, self.roles.assigned is not None
        if declared.horizons:
            return Description(
                time_to_event.KIND,
                self.arms,
                self.outcomes,
                True,
                tried,
                declared.horizons,
                declared.event_is_bad,
                declared.missing,
            )
        plain = len(self.arms) == len(self.outcomes) == 2 and declared.missing != WORST_CASE and not assigned
        if plain:
            return Description(TWO_BY_TWO_KIND, self.arms, self.outcomes, True, self.arms, missing=declared.missing)
        kind = noncompliance.KIND if assigned else arms_and_outcomes.KIND
        return Description(kind, self.arms, self.outcomes, declared.ordered, tried, missing=declared.missing)

    def _tried(self, tables: Sequence[GroupedTable]) -> tuple[str, ...]:
        """Arms that the experiment has rows of; it needs two, and both if there are only two."""
        for table in tables:
            if table.role == EXPERIMENTAL:
                rows = sum_by(self.randomised(table), table.rows, len(self.arms))
                _check_arms(rows, self, table)
                return tuple(arm for arm, some in zip(self.arms, rows, strict=True) if some > 0)
        return self.arms

    def entries(self, table: GroupedTable, structure: Structure) -> tuple[IndexArray, IndexArray, FloatArray]:
        """Where the rows of each group are counted.

        Parameters
        ----------
        table
            A table after its group-by, without rows that are left out.
        structure
            Its cells and sets.

        Returns
        -------
        Groups, the place of each among the table's cells and sets, and the part of its rows that is counted there;
        a group may be there twice.
        """
        group = np.arange(len(table.rows))
        codes, part = [self._outcomes(table, structure.description)], [np.ones(len(group))]
        groups = [group]
        if table.time is not None:
            groups, codes, part = self._censored(table, structure.description, codes[0])
        at = places(structure, table.role)
        arm = table.x.map_labels(self.arm_of)
        taken = np.concatenate(groups)
        index: tuple[IndexArray, ...] = (arm[taken], np.concatenate(codes))
        if at.ndim == 3:
            index = (self.randomised(table)[taken], *index)
        return taken, at[index], np.concatenate(part)

    def _outcomes(self, table: GroupedTable, description: Description) -> IndexArray:
        """Code of each group's outcome, or that it is missing."""
        if table.time is not None:
            found = TimeBands(description.horizons).event_intervals(table.time.place)
        else:
            found = table.y.map_labels(self.outcome_of)
        lacking = self.without_outcome(table)
        if lacking.any():
            found = np.where(lacking, outcome_codes(description).index(MISSING), found)
        return np.asarray(found)

    def _censored(
        self, table: GroupedTable, description: Description, codes: IndexArray
    ) -> tuple[list[IndexArray], list[IndexArray], list[FloatArray]]:
        """Groups with an event or after all horizons as they are; others by how far they were followed."""
        assert table.time is not None
        last = len(description.horizons)
        known = outcome_codes(description)
        censored = (table.y.map_labels(self.outcome_of) == 0) & (codes < last)
        plain, rest = np.flatnonzero(~censored), np.flatnonzero(censored)
        bands = TimeBands(description.horizons)
        arm, happened = table.x.map_labels(self.arm_of), table.y.map_labels(self.outcome_of)
        through = bands.followed(table.time.place[rest])
        part = bands.passing_parts(table.time.place, arm, happened, table.rows)[rest]
        # after no horizon nothing is known, after the last that it comes later
        later = (known.index(after_horizon(horizon)) for horizon in description.horizons[:-1])
        after = np.array([known.index(MISSING), *later, last])
        further = part > 0
        return (
            [plain, rest, rest[further]],
            [codes[plain], after[through], after[through[further] + 1]],
            [np.ones(len(plain)), 1 - part, part[further]],
        )


def _codes(
    column: str,
    what: str,
    option: str,
    names: tuple[str, ...] | None,
    true_value: object,
    columns: Mapping[str, LabelColumn],
    rows: Sequence[Mapping[str, float]],
) -> dict[str, int]:
    argument = {"arms": "treated", "outcomes": "success"}[option]
    if names is None:
        return binary_codes(column, what, argument, true_value, columns, sum(map(Counter, rows), Counter()))
    found = sort_levels(value for each in columns.values() for value in each.present())
    unknown = [value for value in found if value not in names]
    if unknown:
        raise TableError(
            f"{what} column {column!r} holds {join_names(map(repr, unknown))}; --{option} ({option}=) lists "
            f"{join_names(names)}. List all {option}, or leave those rows out." + did_you_mean(unknown[0], names)
        )
    return {name: code for code, name in enumerate(names)}


def _both(*readings: Callable[[], dict[str, int]]) -> list[dict[str, int]]:
    """What each reading gives; where several fail, all that is wrong is said at once."""
    found: list[dict[str, int]] = []
    wrong: list[str] = []
    for reading in readings:
        try:
            found.append(reading())
        except TableError as error:
            wrong.append(str(error))
    if wrong:
        raise TableError(" Also, ".join(wrong))
    return found


def _rows_by_label(columns: Sequence[LabelColumn | None], rows: FloatArray) -> Counter[str]:
    """Rows that have each label in one of the columns; a row counts once where it has it in several."""
    found: Counter[str] = Counter()
    for column in columns:
        found |= Counter() if column is None else Counter(column.rows_by_label(rows))
    return found


def _names(codes: Mapping[str, int]) -> tuple[str, ...]:
    """Names of the two values, by the labels that mean them; 0 and 1 unless they have others."""
    if set(codes) <= _TRUTH:
        return BINARY
    return tuple(next((text for text, own in codes.items() if own == code), BINARY[code]) for code in (0, 1))


def _check_arms_are_there(column: str, arms: Sequence[str], columns: Mapping[str, LabelColumn]) -> None:
    present = {value for each in columns.values() for value in each.present()}
    absent = [arm for arm in arms if arm not in present]
    if absent:
        raise TableError(
            f"--arms (arms=) lists {join_names(map(repr, absent))}, which no row has in the treatment column "
            f"{column!r}; the tables hold {join_names(sort_levels(present))}. Leave it out of --arms."
        )


def _check_arms(rows: FloatArray, codes: RowCodes, table: GroupedTable) -> None:
    arms, column = codes.arms, codes.roles.assigned or codes.roles.treatment
    if (rows > 0).sum() >= 2:
        return
    if len(arms) == 2:
        absent = "treated" if rows[1] == 0 else "untreated"
        raise TableError(
            f"the experimental table has {count_text(rows.max())} rows but none is {absent} "
            f"(column {column!r}); an experiment needs both arms. Check the column and --treated."
        )
    raise TableError(
        f"the experimental table has rows of one arm only, {arms[int(rows.argmax())]} (column {column!r}); an "
        "experiment needs at least two arms."
    )
