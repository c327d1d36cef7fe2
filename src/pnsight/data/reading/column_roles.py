"""Column roles: which column is the treatment, the outcome, a covariate, a weight, the cluster or a probability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pnsight.data.reading.engine import Engine
from pnsight.errors import TableError, did_you_mean, join_names
from pnsight.notes import Note


@dataclass(frozen=True)
class ColumnRoles:
    """Columns by their role.

    Attributes
    ----------
    treatment, outcome, covariates
        Columns that both tables have.
    weight
        By the role of the table, the column that says for how many rows each row stands; None where rows count once.
    survey_weight, cluster
        By the role of the table, the column with each row's survey weight, and with the cluster that it belongs to;
        None where there is none.
    assignment
        Column of the experimental table with the probability of being treated.
    assigned
        Column of the experimental table with the arm that each row was assigned, where it may have taken another.
    time
        Column with the time of the event, which `outcome` then says the happening of.
    ignored
        Columns that only one of the tables has.
    notes
        What a reader of the tables should know.
    """

    treatment: str
    outcome: str
    covariates: tuple[str, ...]
    weight: Mapping[str, str | None]
    survey_weight: Mapping[str, str | None]
    cluster: Mapping[str, str | None]
    assignment: str | None
    ignored: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    assigned: str | None = None
    time: str | None = None

    def assigned_of(self, role: str) -> str | None:
        """The column with the arm that was assigned, which only an experiment has."""
        return self.assigned if role == "experimental" else None

    def assignment_of(self, role: str) -> str | None:
        """The column with the probability of being treated, which only an experiment has."""
        return self.assignment if role == "experimental" else None

    def numeric_columns(self, role: str) -> list[str]:
        """Columns that hold numbers: those that weigh the rows of the table with this role, and times."""
        names = (self.weight[role], self.survey_weight[role], self.assignment_of(role), self.time)
        return [name for name in names if name is not None]

    def shown_columns(self, role: str) -> list[str]:
        """Columns that say what happened to the rows of the table with this role."""
        names = (self.treatment, self.outcome, self.time, self.assigned_of(role))
        return [name for name in names if name is not None]

    def design_columns(self, role: str) -> list[str]:
        """Columns that say how the rows of the table with this role were sampled, which it is grouped by as well."""
        names = (self.survey_weight[role], self.assignment_of(role), self.cluster[role])
        return [name for name in names if name is not None]


def assign_roles(
    tables: Sequence[Engine],
    treatment: str,
    outcome: str,
    covariates: Sequence[str] | None,
    weight: str | None,
    assignment: str | None,
    survey_weight: str | None = None,
    cluster: str | None = None,
    assigned: str | None = None,
    time: str | None = None,
    exclude: Sequence[str] = (),
) -> ColumnRoles:
    """Assign each column its role.

    Parameters
    ----------
    tables
        The tables, the experimental one first if there is one.
    treatment, outcome, weight, assignment, survey_weight, cluster, assigned, time
        Columns by role, None for none.
    covariates
        Columns that describe people; None for all that the tables share and that have no other role.
    exclude
        Columns that are not covariates, where all others are.

    Returns
    -------
    ColumnRoles
        The roles, once all columns are found and none has two.
    """
    if covariates is not None:
        covariates = [_as_written(name, tables) for name in covariates]
    optional = {
        "weight": weight,
        "survey weight": survey_weight,
        "cluster": cluster,
        "assignment": assignment,
        "assigned": assigned,
        "time": time,
    }
    _check_one_weight(weight, survey_weight)
    happened = "outcome" if time is None else "event"
    _check_distinct_roles({"treatment": treatment, happened: outcome, **optional})
    shown = [treatment, outcome, *([] if time is None else [time])]
    _check_columns(tables, [*shown, *(covariates or ())], [name for name in (assignment, assigned) if name is not None])
    taken = (treatment, outcome, *optional.values())
    if covariates is None:
        left_out = check_excluded([_as_written(name, tables) for name in exclude], tables, taken)
        chosen, alone = _shared_columns(tables, (*taken, *left_out))
    elif exclude:
        raise TableError(
            f"--covariates {','.join(covariates)} and --exclude {','.join(exclude)} (covariates=, exclude=) are both "
            "given; name the columns to use, or those to leave out."
        )
    else:
        _check_covariates(covariates, taken)
        chosen, alone = tuple(covariates), ()
    return ColumnRoles(
        treatment,
        outcome,
        chosen,
        _columns_by_table(tables, weight),
        _columns_by_table(tables, survey_weight),
        _columns_by_table(tables, cluster),
        assignment,
        alone,
        _notes(tables, weight or survey_weight, cluster, assignment),
        assigned,
        time,
    )


def _check_one_weight(weight: str | None, survey_weight: str | None) -> None:
    if weight is not None and survey_weight is not None:
        raise TableError(
            f"--weight {weight} and --survey-weight {survey_weight} (weight=, survey_weight=) are both given; expected "
            "one of them. A weight counts rows, a survey weight says how many people a row stands for beside others."
        )


def _check_columns(tables: Sequence[Engine], names: Sequence[str], of_trial: Sequence[str]) -> None:
    for table in tables:
        for name in names:
            _check_column(name, table)
    for name in of_trial:
        _check_column(name, tables[0])


def _columns_by_table(tables: Sequence[Engine], column: str | None) -> dict[str, str | None]:
    """By the role of the table, the column if it has it; one table at least must have it."""
    found = {table.role: column if column in table.names else None for table in tables}
    if column is not None and not any(found.values()):
        _check_column(column, tables[0])
    return found


def _notes(
    tables: Sequence[Engine], weight: str | None, cluster: str | None, assignment: str | None
) -> tuple[Note, ...]:
    notes = [
        Note(kind, {"table": table.role, "column": column})
        for kind, column in (("rows_counted_once", weight), ("rows_independent", cluster))
        for table in tables
        if column is not None and column not in table.names
    ]
    if assignment is not None:
        notes.append(Note("rows_reweighted", {"column": assignment}))
    return tuple(notes)


def _shared_columns(tables: Sequence[Engine], taken: Sequence[str | None]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Columns without another role that all tables share, and those that only some have."""
    others = {table.role: [name for name in table.names if name not in taken] for table in tables}
    shared = [name for name in others[tables[0].role] if all(name in names for names in others.values())]
    if not shared and any(others.values()):
        found = "; ".join(f"the {role} table has {join_names(names) or 'none'}" for role, names in others.items())
        raise TableError(
            f"apart from treatment and outcome the tables share no column: {found}. "
            "Rename the covariates to match, or pass --covariates '' (covariates=[]) to use none."
        )
    alone = dict.fromkeys(name for names in others.values() for name in names if name not in shared)
    return tuple(shared), tuple(alone)


def _as_written(name: str, tables: Sequence[Engine]) -> str:
    """The name without the blanks around it, as after a comma, unless a column has them."""
    return name if any(name in table.names for table in tables) else name.strip()


def _check_column(name: str, table: Engine) -> None:
    if name not in table.names:
        raise TableError(
            f"the {table.role} table has no column {name!r}; its columns are {join_names(table.names)}."
            + did_you_mean(name, table.names)
        )


def check_excluded(names: Sequence[str], tables: Sequence[Engine], taken: Sequence[str | None]) -> Sequence[str]:
    """Check columns that are to be left out.

    Parameters
    ----------
    names
        The columns.
    tables
        Tables, one of which must have each.
    taken
        Columns that have another role, and cannot be left out.

    Returns
    -------
    sequence of str
        The names.
    """
    known = list(dict.fromkeys(name for table in tables for name in table.names))
    for name in names:
        if name not in known:
            raise TableError(
                f"--exclude (exclude=) names {name!r}, which no table has; their columns are {join_names(known)}."
                + did_you_mean(name, known)
            )
        if name in taken:
            raise TableError(f"column {name!r} has a role of its own and cannot be left out; take it out of --exclude.")
    return names


def _check_distinct_roles(roles: Mapping[str, str | None]) -> None:
    role_of: dict[str, str] = {}
    for role, name in roles.items():
        if name is not None and role_of.setdefault(name, role) != role:
            raise TableError(f"{role_of[name]} and {role} are both column {name!r}; name two different columns.")


def _check_covariates(covariates: Sequence[str], taken: Sequence[str | None]) -> None:
    for name in covariates:
        if name in taken:
            role = "treatment or outcome" if name in (*taken[:2], taken[-1]) else "weight, cluster or assignment"
            raise TableError(f"column {name!r} is {role} and cannot be a covariate too; leave it out.")
        if list(covariates).count(name) > 1:
            raise TableError(f"covariate {name!r} is named twice; name it once.")
