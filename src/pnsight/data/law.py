"""Law: the identified probabilities of a subpopulation, those of every cell of every table within its group.

With two arms and two outcomes they are P(y_x), P(y_x') and the joint distribution of X and Y.
Source: Tian and Pearl (2000), "Probabilities of causation: bounds and identification".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pnsight._typing import FloatArray
from pnsight.data.coarsened import coarsened_shares
from pnsight.data.structure import Structure


@dataclass(frozen=True)
class Law:
    """Laws of many subpopulations, one a row.

    Attributes
    ----------
    structure : Structure
        Which cells there are.
    cells : shape (rows, cells)
        Probability of each cell within its group; NaN in groups without rows.
    """

    structure: Structure
    cells: FloatArray

    @classmethod
    def from_types(cls, types: FloatArray, structure: Structure) -> Law:
        """Laws of populations with these distributions over the response types.

        Parameters
        ----------
        types
            Shape (rows, types).
        structure
            What the tables show of the types.

        Returns
        -------
        One law a row.
        """
        return cls(structure, structure.cell_probabilities(types))

    @classmethod
    def from_counts(cls, counts: FloatArray, structure: Structure) -> Law:
        """Empirical laws: the shares of counted rows; those that show a set of cells are shared out among them.

        Parameters
        ----------
        counts
            Shape (rows, cells), or (rows, cells + sets) where rows may show less than a cell.
        structure
            Which cells they are in.

        Returns
        -------
        One law a row, the most likely one; NaN in groups without rows that say it.
        """
        return cls(structure, coarsened_shares(counts, structure))

    def __len__(self) -> int:
        return len(self.cells)

    def __getitem__(self, rows: slice | npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> Law:
        return Law(self.structure, self.cells[rows])

    def p(self, cell: str) -> FloatArray:
        """Probability of the cell of that name, shape (rows,)."""
        return self.cells[:, self.structure.column(cell)]

    def table(self, name: str) -> FloatArray | None:
        """Probabilities of the cells of a table, shape (rows, its cells); None where there is no such table."""
        return self.cells[:, self.structure.columns_of(name)] if name in self.structure.tables else None

    def only(self, *tables: str) -> Law:
        """What some of the tables say."""
        columns = [np.arange(len(self.structure.cells))[self.structure.columns_of(name)] for name in tables]
        return Law(self.structure.only(tables), self.cells[:, np.concatenate(columns)])

    def mix(self, weights: FloatArray) -> Law:
        """Laws of mixtures of the rows; `weights` of shape (mixtures, rows), each row summing to one."""
        return Law(self.structure, weights @ self.cells)
