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

DROP, SET, WORST_CASE = "drop", "set", "worst-case"
"""What may be made of a row without an outcome."""

TWO_BY_TWO_KIND = "two arms, two outcomes"
"""Kind of the structure that everything else reduces to; see `pnsight.data.two_by_two`."""

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
class ObservationSet:
    """A union of cells of one group: what a row shows that shows less than a cell, such as a time that was censored.

    Such rows enter the likelihood only: they say that the person is in one of these cells, and nothing about which
    (coarsening at random).

    Attributes
    ----------
    name : unique in its structure
    table, group : whose cells they are
    cells : names of the cells
    """

    name: str
    table: str
    group: str
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Description:
    """What a structure is made of, in the study's own words; it is stored with a model in place of the incidence.

    Attributes
    ----------
    kind : which instance, one of `pnsight.data.structures.KINDS`
    arms : names of the treatments, the reference first
    outcomes : names of the outcomes, the lowest first where they are ordered
    ordered : whether the order of the outcomes means something
    tried : arms that the experiment has; people may choose others
    horizons : ends of the intervals that times to an event are cut into; empty for other outcomes
    event_is_bad : whether later is better, of times to an event
    missing : what a row without an outcome shows: nothing that counts (``drop``), any outcome as others like it have
        (``set``), or that it is missing, with any outcome behind it (``worst-case``)
    """

    kind: str = ""
    arms: tuple[str, ...] = ()
    outcomes: tuple[str, ...] = ()
    ordered: bool = True
    tried: tuple[str, ...] = ()
    horizons: tuple[float, ...] = ()
    event_is_bad: bool = True
    missing: str = DROP


@dataclass(frozen=True)
class Structure:
    """Response types, and the tables' groups of cells over them.

    Attributes
    ----------
    variables : what a type fixes
    groups : in the order of the columns of counts and laws; those of one table stand together
    derived : names for what follows from a type, with its value for each, such as ``Y``, the outcome people show
    sets : what rows may show that show less than a cell
    description : what it is made of, by name
    """

    variables: tuple[Variable, ...]
    groups: tuple[Group, ...]
    derived: tuple[tuple[str, tuple[int, ...]], ...] = ()
    sets: tuple[ObservationSet, ...] = ()
    description: Description = Description()

    @cached_property
    def _hash(self) -> int:
        return hash((self.variables, self.groups, self.derived, self.sets, self.description))

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

    @property
    def n_columns(self) -> int:
        """Number of cells and of observation sets: the columns of a study's counts."""
        return self.n_cells + len(self.sets)

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

    @property
    def is_two_by_two(self) -> bool:
        """Whether there are two arms, two outcomes, and nothing else."""
        return self.description.kind == TWO_BY_TWO_KIND

    @cached_property
    def set_members(self) -> FloatArray:
        """One where a cell belongs to an observation set, shape (sets, cells)."""
        found = np.zeros((len(self.sets), self.n_cells))
        for number, each in enumerate(self.sets):
            found[number, [self.column(name) for name in each.cells]] = 1.0
        return found

    @cached_property
    def observed_incidence(self) -> FloatArray:
        """One where a type may show a cell and, after all cells, a set; shape (cells + sets, types)."""
        return np.concatenate([self.incidence, self.set_members @ self.incidence])

    def sets_of(self, table: str) -> list[int]:
        """Positions of the observation sets of a table."""
        return [number for number, each in enumerate(self.sets) if each.table == table]

    @cached_property
    def group_of_set(self) -> tuple[int, ...]:
        """Position of the group that each observation set belongs to."""
        places = {(group.table, group.name): number for number, group in enumerate(self.groups)}
        return tuple(places[each.table, each.group] for each in self.sets)

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
        """Sums over the cells of each group, and its sets if they are given: (..., cells [+ sets]) to (..., groups)."""
        return self._with_sets(self._summed(values, self.group_slices), values, self.group_of_set)

    def for_cells(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Values of groups repeated for each of their cells, from (..., groups) to (..., cells)."""
        return np.repeat(values, [len(group.cells) for group in self.groups], axis=-1)

    def for_columns(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Values of groups repeated for each of their cells and sets, from (..., groups) to (..., cells + sets)."""
        return np.concatenate([self.for_cells(values), values[..., list(self.group_of_set)]], axis=-1)

    @cached_property
    def chosen_arms(self) -> npt.NDArray[np.intp]:
        """The arm that people of each cell of the observational table choose, shape (its cells,)."""
        holds = self.incidence[self.columns_of(OBSERVATIONAL)] == 1
        return np.array([self.people["X"][types][0] for types in holds], dtype=np.intp)

    def by_table(self, values: FloatArray) -> FloatArray:
        """Sums over the cells of each table, and its sets if they are given: (..., cells [+ sets]) to (..., tables)."""
        found = self._summed(values, [self.columns_of(table) for table in self.tables])
        return self._with_sets(found, values, [self.tables.index(each.table) for each in self.sets])

    def _with_sets(self, found: FloatArray, values: FloatArray, places: Sequence[int]) -> FloatArray:
        if values.shape[-1] > self.n_cells:
            for column, place in enumerate(places, start=self.n_cells):
                found[..., place] += values[..., column]
        return found

    def all_columns_of(self, table: str) -> npt.NDArray[np.intp]:
        """Columns of a table among a study's counts: its cells, then its sets."""
        cells = np.arange(self.n_cells)[self.columns_of(table)]
        return np.concatenate([cells, np.array(self.sets_of(table), dtype=np.intp) + self.n_cells])

    @staticmethod
    def _summed(values: FloatArray, columns: Sequence[slice]) -> FloatArray:
        return np.stack([values[..., some].sum(axis=-1) for some in columns], axis=-1)

    def observed_probabilities(self, types: FloatArray) -> FloatArray:
        """Probability of each cell and set within its group, from (..., types) to (..., cells + sets)."""
        return np.asarray(types @ self.observed_incidence.T)

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
    sets = tuple(each for each in structure.sets if each.table in tables)
    return Structure(structure.variables, kept, structure.derived, sets, structure.description)


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
    sets: Sequence[ObservationSet] = (),
    description: Description = Description(),
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
    sets
        What rows may show that show less than a cell.
    description
        What the structure is made of, by name.

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
        tuple(variables),
        tuple(made),
        tuple((name, tuple(map(int, values))) for name, values in more.items()),
        tuple(sets),
        description,
    )
