"""Structure: which response types there are, and which of them each cell of each table may hold.

A response type is all that matters about a person beside the covariates: what they would choose, and the outcome they
would have under each treatment (a principal stratum). Whatever a table shows about a row is that the person's type lies
in some set, so a table is a list of sets of types, its incidence. Everything else follows from this one value: the law
of a group is the incidence times its distribution over types, bounds are linear programs over the types, and so is
what makes two tables compatible.
Source: A. Balke and J. Pearl (1997), "Bounds on treatment effects from studies with imperfect compliance".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pnsight._typing import FloatArray
from pnsight.errors import LimitError

People: TypeAlias = Mapping[str, npt.NDArray[np.intp]]
"""What can be said of each response type, by name: the columns X, Y0, Y1, ... of shape (types,)."""

EXPERIMENTAL, OBSERVATIONAL = "experimental", "observational"
"""Names of the two tables."""

MAX_TYPES = 100_000
"""More response types than this are refused: programs over them would take minutes and gigabytes."""


@dataclass(frozen=True)
class Variable:
    """One thing that a response type fixes, such as the outcome if treated.

    Attributes
    ----------
    name : as statements write it, such as ``Y1``
    values : names of its values, in order
    """

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Cell:
    """A set of response types that a row of a table may show.

    Attributes
    ----------
    name : unique in its structure, such as ``y_x``; its probability is written P(name)
    types : whether each type belongs to the set
    latex : the name as LaTeX writes it
    """

    name: str
    types: tuple[bool, ...]
    latex: str = ""


@dataclass(frozen=True)
class Group:
    """Cells that partition the response types: one distribution, such as an arm of the trial.

    Attributes
    ----------
    name : unique in its structure
    table : the table whose rows are counted in it
    cells : disjoint sets that hold every type
    """

    name: str
    table: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Structure:
    """Response types, and the tables' groups of cells over them.

    Attributes
    ----------
    variables : what a type fixes
    groups : in the order of the columns of counts and laws; those of one table stand together
    derived : names for what follows from a type, with its value for each, such as ``Y``, the outcome people show
    """

    variables: tuple[Variable, ...]
    groups: tuple[Group, ...]
    derived: tuple[tuple[str, tuple[int, ...]], ...] = ()

    @cached_property
    def _hash(self) -> int:
        return hash((self.variables, self.groups, self.derived))

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def types(self) -> npt.NDArray[np.intp]:
        """All response types, the last variable changing fastest; shape (types, variables)."""
        return enumerate_types(self.variables)

    @cached_property
    def people(self) -> People:
        """Each variable, and what is derived from them, of every type; arrays of shape (types,)."""
        named = {variable.name: self.types[:, j] for j, variable in enumerate(self.variables)}
        return {**named, **{name: np.array(values) for name, values in self.derived}}

    @property
    def n_types(self) -> int:
        """Number of response types."""
        return len(self.types)

    @property
    def n_cells(self) -> int:
        """Number of cells of all tables, the columns of counts and laws."""
        return len(self.cells)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The cells of all groups, in the order of the columns of counts and laws."""
        return tuple(cell for group in self.groups for cell in group.cells)

    @cached_property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables."""
        return tuple(dict.fromkeys(group.table for group in self.groups))

    @cached_property
    def incidence(self) -> FloatArray:
        """One where a type belongs to a cell, shape (cells, types).

        Times a distribution over the types, it gives the probability of each cell within its group.
        """
        return np.array([cell.types for cell in self.cells], dtype=np.float64).reshape(self.n_cells, self.n_types)

    @cached_property
    def group_slices(self) -> tuple[slice, ...]:
        """Columns of each group."""
        ends = list(accumulate(len(group.cells) for group in self.groups))
        return tuple(slice(start, end) for start, end in zip([0, *ends], ends, strict=False))

    def column(self, name: str) -> int:
        """Column of the cell of that name."""
        return self._columns[name]

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {cell.name: column for column, cell in enumerate(self.cells)}

    def group(self, name: str) -> slice:
        """Columns of the group of that name."""
        return self.group_slices[[group.name for group in self.groups].index(name)]

    def groups_of(self, table: str) -> list[int]:
        """Positions of the groups of a table."""
        return [number for number, group in enumerate(self.groups) if group.table == table]

    def columns_of(self, table: str) -> slice:
        """Columns of a table; none where the structure lacks the table."""
        found = [self.group_slices[number] for number in self.groups_of(table)]
        return slice(found[0].start, found[-1].stop) if found else slice(0, 0)

    def by_group(self, values: FloatArray) -> FloatArray:
        """Sums over the cells of each group, from (..., cells) to (..., groups)."""
        return self._summed(values, self.group_slices)

    def for_cells(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Values of groups repeated for each of their cells, from (..., groups) to (..., cells)."""
        return np.repeat(values, [len(group.cells) for group in self.groups], axis=-1)

    def by_table(self, values: FloatArray) -> FloatArray:
        """Sums over the cells of each table, from (..., cells) to (..., tables)."""
        return self._summed(values, [self.columns_of(table) for table in self.tables])

    @staticmethod
    def _summed(values: FloatArray, columns: Sequence[slice]) -> FloatArray:
        return np.stack([values[..., some].sum(axis=-1) for some in columns], axis=-1)

    def cell_probabilities(self, types: FloatArray) -> FloatArray:
        """Probability of each cell within its group, from distributions over types (..., types) to (..., cells)."""
        return np.asarray(types @ self.incidence.T)

    def probabilities(self, counts: FloatArray) -> FloatArray:
        """Share of each cell within its group, NaN in groups without rows; from and to shape (rows, cells)."""
        shares = np.full(counts.shape, np.nan)
        for some in self.group_slices:
            totals = counts[:, some].sum(axis=1, keepdims=True)
            np.divide(counts[:, some], totals, out=shares[:, some], where=totals > 0)
        return shares

    def only(self, tables: Iterable[str]) -> Structure:
        """The same types seen through some of the tables."""
        return _only(self, tuple(tables))

    def split(self, values: FloatArray) -> Iterator[tuple[Group, FloatArray]]:
        """Each group with its columns of the values, which have shape (..., cells)."""
        for group, some in zip(self.groups, self.group_slices, strict=True):
            yield group, values[..., some]


@lru_cache(maxsize=256)
def _only(structure: Structure, tables: tuple[str, ...]) -> Structure:
    if set(structure.tables) <= set(tables):
        return structure
    kept = tuple(group for group in structure.groups if group.table in tables)
    return Structure(structure.variables, kept, structure.derived)


def enumerate_types(variables: Sequence[Variable]) -> npt.NDArray[np.intp]:
    """All combinations of the variables' values, the last changing fastest.

    Parameters
    ----------
    variables
        What a type fixes.

    Returns
    -------
    Shape (types, variables): positions of values.
    """
    sizes = [len(variable.values) for variable in variables]
    number = int(np.prod(sizes, dtype=object))
    if number > MAX_TYPES:
        raise LimitError(
            f"{len(variables)} variables with {', '.join(map(str, sizes))} values make {number:,} response types, "
            f"more than the {MAX_TYPES:,} that programs take; merge values."
        )
    return np.indices(sizes, dtype=np.intp).reshape(len(sizes), -1).T


def build_structure(
    variables: Sequence[Variable],
    groups: Mapping[tuple[str, str], Mapping[str, Callable[[Mapping[str, Any]], Any]]],
    derived: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None,
) -> Structure:
    """A structure from statements about the types.

    Parameters
    ----------
    variables
        What a type fixes.
    groups
        By table and name of the group, its cells by name: a function of the variables (arrays of shape (types,)) that
        says which types the cell holds.
    derived
        What follows from the variables, by name.

    Returns
    -------
    The structure; every group's cells must partition the types.
    """
    types = enumerate_types(variables)
    people: dict[str, Any] = {variable.name: types[:, j] for j, variable in enumerate(variables)}
    more = {} if derived is None else {name: np.asarray(values) for name, values in derived(people).items()}
    people |= more
    made = []
    for (table, name), cells in groups.items():
        held = {cell: np.broadcast_to(holds(people), len(types)) for cell, holds in cells.items()}
        assert (np.sum(list(held.values()), axis=0) == 1).all(), f"the cells of {name} do not partition the types"
        made.append(Group(name, table, tuple(Cell(cell, tuple(map(bool, which))) for cell, which in held.items())))
    return Structure(
        tuple(variables), tuple(made), tuple((name, tuple(map(int, values))) for name, values in more.items())
    )


def arms_and_outcomes(
    arms: Sequence[str], outcomes: Sequence[str], tables: Sequence[str] = (EXPERIMENTAL, OBSERVATIONAL)
) -> Structure:
    """People who choose one of several arms and have one of several outcomes under each.

    Parameters
    ----------
    arms, outcomes
        Their names; a type fixes ``X``, the arm that a person chooses, and ``Y0``, ``Y1``, ..., the outcome under each.
    tables
        Which tables there are: the experimental one shows the outcome under each arm, the observational one the arm
        chosen together with the outcome under it.

    Returns
    -------
    The structure, with ``Y``, the outcome that people show under the arm they choose.
    """
    enumerated = [Variable("X", tuple(arms)), *(Variable(f"Y{k}", tuple(outcomes)) for k in range(len(arms)))]

    def shown(people: Mapping[str, Any]) -> Mapping[str, Any]:
        under = np.stack([people[f"Y{k}"] for k in range(len(arms))])
        return {"Y": np.take_along_axis(under, people["X"][None, :], axis=0)[0]}

    groups: dict[tuple[str, str], dict[str, Callable[[Mapping[str, Any]], Any]]] = {}
    if EXPERIMENTAL in tables:
        for k, arm in enumerate(arms):
            groups[EXPERIMENTAL, arm] = {
                f"{outcome}_{arm}": (lambda people, k=k, y=y: people[f"Y{k}"] == y)  # type: ignore[misc]
                for y, outcome in enumerate(outcomes)
            }
    if OBSERVATIONAL in tables:
        groups[OBSERVATIONAL, OBSERVATIONAL] = {
            f"{arm},{outcome}": (lambda people, k=k, y=y: (people["X"] == k) & (people["Y"] == y))  # type: ignore[misc]
            for k, arm in enumerate(arms)
            for y, outcome in enumerate(outcomes)
        }
    return build_structure(enumerated, groups, shown)
