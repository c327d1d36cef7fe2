"""Cases with known answers, from the literature; counts are (y, y') treated, then control, as in `TWO_BY_TWO`."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path

import numpy as np

from laws import empirical_law
from pnsight.data.law import Law
from pnsight.data.schema import Covariate, Schema
from pnsight.data.study import Study

TOLERANCE = 1e-6
"""The expected values are given to six decimals."""


@dataclass(frozen=True)
class Case:
    """Counts of both tables and the bounds they must give."""

    experimental: tuple[int, int, int, int]
    observational: tuple[int, int, int, int]
    expected: dict[str, tuple[float, float]]

    def law(self) -> Law:
        return empirical_law(*(np.array([counts], float) for counts in (self.experimental, self.observational)))

    def study(self) -> Study:
        """The tables, without covariates."""
        tables = (np.array([counts], float) for counts in (self.experimental, self.observational))
        return Study.from_tables(Schema(), np.zeros((1, 0), np.int32), *tables)


DRUG = Case(  # Tian and Pearl (2000); y is death
    (16, 984, 14, 986),
    (2, 998, 28, 972),
    {
        "pns": (0.002, 0.016),
        "pn": (1, 1),
        "ps": (0.002058, 0.030864),
        "pd": (0.066667, 0.066667),
        "pe": (0.001015, 0.015228),
        "harm": (0, 0.014),
    },
)
WOMEN = Case(  # Mueller and Pearl; y is recovery
    (489, 511, 210, 790),
    (378, 1022, 420, 180),
    {"pns": (0.279, 0.279), "harm": (0, 0), "pn": (1, 1), "ps": (1, 1)},
)
MEN = Case(
    (490, 510, 210, 790),
    (980, 420, 420, 180),
    {"pns": (0.49, 0.49), "harm": (0.21, 0.21), "pn": (1, 1), "ps": (0, 0)},
)
POOLED = Case((979, 1021, 420, 1580), (1358, 1442, 840, 360), {"pns": (0.3395, 0.4295)})
CASES = {"drug": DRUG, "women": WOMEN, "men": MEN, "pooled": POOLED}

EXPECTED = [(name, quantity, *ends) for name, case in CASES.items() for quantity, ends in case.expected.items()]

LALONDE = Case((230, 67, 296, 129), (230, 67, 13_820, 2_172), {})
"""A job-training trial beside a survey of other people: the trial alone has PNS between .078 and .304."""

INCOHERENT = Case((90, 10, 80, 20), (5, 45, 5, 45), {})


def half_contradicted() -> Study:
    """People in two towns, old and young: about those of Brest the tables contradict each other, of Ain they do not."""
    schema = Schema((Covariate("town", ("Ain", "Brest")), Covariate("age", ("old", "young"))))
    profiles = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.int32)
    ain = np.array([WOMEN.experimental, MEN.experimental]), np.array([WOMEN.observational, MEN.observational])
    brest = 20 * np.array([INCOHERENT.experimental] * 2), 20 * np.array([INCOHERENT.observational] * 2)
    tables = (np.concatenate([here, there]).astype(float) for here, there in zip(ain, brest, strict=True))
    return Study.from_tables(schema, profiles, *tables)


CHURN = {"G1": (262, 88, 175, 175), "G2": (87, 263, 52, 298)}  # Li and Pearl; trials of two groups, y is to stay
CHURN_PAYOFFS = (100, -60, 0, -140)
CHURN_EXPECTED = {"G1": (-5.1429, -0.1143), "G2": (1.0857, 4.0571)}


def rows(counts: tuple[int, int, int, int], before: str = "") -> chain[str]:
    """CSV lines ``...x,y`` of one table's counts."""
    cells = ("1,1", "1,0", "0,1", "0,0")
    return chain.from_iterable(repeat(f"{before}{cell}", count) for cell, count in zip(cells, counts, strict=True))


def write_csv(path: Path, header: str, *lines: chain[str]) -> Path:
    path.write_text("\n".join([header, *chain(*lines)]) + "\n", encoding="utf-8")
    return path


def write_case(case: Case, folder: Path) -> tuple[Path, Path]:
    """The case's two tables as CSV files without covariates."""
    tables = {"experimental": case.experimental, "observational": case.observational}
    first, second = (write_csv(folder / f"{name}.csv", "x,y", rows(counts)) for name, counts in tables.items())
    return first, second


def write_sexes(folder: Path) -> tuple[Path, Path]:
    """Women and men in one pair of tables, told apart by the column sex."""
    first, second = (
        write_csv(folder / f"{name}.csv", "sex,x,y", rows(getattr(WOMEN, name), "F,"), rows(getattr(MEN, name), "M,"))
        for name in ("experimental", "observational")
    )
    return first, second
