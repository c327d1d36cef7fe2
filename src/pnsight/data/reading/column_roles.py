"""Which column plays which part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pnsight.data.reading.engine import Engine
from pnsight.errors import TableError, did_you_mean, join_names


@dataclass(frozen=True)
class ColumnRoles:
    """Columns by the part they play; `weight` by the role of the table, None where rows count once each."""

    treatment: str
    outcome: str
    covariates: tuple[str, ...]
    weight: Mapping[str, str | None]
    assignment: str | None
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def assignment_of(self, role: str) -> str | None:
        """The column with the probability of being treated, which only an experiment has."""
        return self.assignment if role == "experimental" else None

    def numeric_columns(self, role: str) -> list[str]:
        """Columns of a table that weigh its rows."""
        return [name for name in (self.weight[role], self.assignment_of(role)) if name is not None]


def assign_roles(
    tables: Sequence[Engine],
    treatment: str,
    outcome: str,
    covariates: Sequence[str] | None,
    weight: str | None,
    assignment: str | None,
) -> ColumnRoles:
    """Every column its part; by default, columns that all tables share and that play no other are the covariates."""
    if covariates is not None:
        covariates = [_as_written(name, tables) for name in covariates]
    _check_distinct_roles({"treatment": treatment, "outcome": outcome, "weight": weight, "assignment": assignment})
    for table in tables:
        for name in (treatment, outcome, *(covariates or ())):
            _require_column(name, table)
    if assignment is not None:
        _require_column(assignment, tables[0])
    weights = {table.role: weight if weight in table.names else None for table in tables}
    if weight is not None and not any(weights.values()):
        _require_column(weight, tables[0])
    notes = tuple(
        f"rows of the {role} table count once each: it has no column {weight!r}"
        for role, found in weights.items()
        if weight is not None and found is None
    )
    if assignment is not None:
        notes += (f"experimental rows are reweighted by column {assignment!r}, as if a fair coin had decided",)
    taken = (treatment, outcome, weight, assignment)
    if covariates is not None:
        _check_covariates(covariates, taken)
        return ColumnRoles(treatment, outcome, tuple(covariates), weights, assignment, (), notes)
    shared, alone = _shared(tables, taken)
    return ColumnRoles(treatment, outcome, shared, weights, assignment, alone, notes)


def _shared(tables: Sequence[Engine], taken: Sequence[str | None]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Columns to be covariates, and those that are in one table only."""
    others = {table.role: [name for name in table.names if name not in taken] for table in tables}
    shared = [name for name in others[tables[0].role] if all(name in names for names in others.values())]
    if not shared and any(others.values()):
        found = "; ".join(f"the {role} table has {join_names(names) or 'none'}" for role, names in others.items())
        raise TableError(
            f"beside treatment and outcome the tables share no column: {found}. "
            "Rename the covariates to match, or pass --covariates '' (covariates=[]) to use none."
        )
    alone = dict.fromkeys(name for names in others.values() for name in names if name not in shared)
    return tuple(shared), tuple(alone)


def _as_written(name: str, tables: Sequence[Engine]) -> str:
    """The name without the blanks around it, as after a comma, unless a column has them."""
    return name if any(name in table.names for table in tables) else name.strip()


def _require_column(name: str, table: Engine) -> None:
    if name not in table.names:
        raise TableError(
            f"the {table.role} table has no column {name!r}; its columns are {join_names(table.names)}."
            + did_you_mean(name, table.names)
        )


def _check_distinct_roles(parts: Mapping[str, str | None]) -> None:
    part_of: dict[str, str] = {}
    for part, name in parts.items():
        if name is not None and part_of.setdefault(name, part) != part:
            raise TableError(f"{part_of[name]} and {part} are both column {name!r}; name two different columns.")


def _check_covariates(covariates: Sequence[str], taken: Sequence[str | None]) -> None:
    for name in covariates:
        if name in taken:
            part = "treatment or outcome" if name in taken[:2] else "weight or assignment"
            raise TableError(f"column {name!r} is {part} and cannot be a covariate too; leave it out.")
        if list(covariates).count(name) > 1:
            raise TableError(f"covariate {name!r} is named twice; name it once.")
