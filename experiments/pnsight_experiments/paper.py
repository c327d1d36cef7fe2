"""What the paper reports, to set ours beside.

Source: Wang, Sun, Pearl and Li, "Learning Probabilities of Causation with Mask-Augmented Data", Table 1 (mean
absolute error of lower / upper bounds) and the case study's profile.
"""

from __future__ import annotations

from collections.abc import Mapping

BUDGETS = (50_000, 100_000, 200_000, 500_000)
SEEDS = (1, 2, 3, 4, 5)
THRESHOLDS = (100, 300, 500, 1000, 2000)
CASE_PROFILE = "1101001110"
MASK_WITHOUT_SUPPORT, EXACT_WITHOUT_SUPPORT = 0.17, 0.99
"""Shares of queries without support that the paper's introduction states."""

COLUMNS = (
    ("exact", "plug-in"),
    ("exact", "exact-mlp"),
    ("exact", "mask-mlp"),
    ("mask", "plug-in"),
    ("mask", "mask-mlp"),
)

_TABLE_1 = """
direct     50000   .1694 .2089  .0207 .0255  .0188 .0247  .0959 .1168  .0139 .0179
direct     100000  .1499 .1786  .0180 .0181  .0196 .0234  .0859 .0987  .0145 .0159
direct     200000  .1546 .1885  .0199 .0227  .0218 .0222  .0754 .0809  .0145 .0153
direct     500000  .1268 .1540  .0112 .0096  .0204 .0197  .0606 .0710  .0129 .0129
covariate  50000   .1958 .2388  .0623 .0812  .0375 .0507  .1095 .1405  .0240 .0294
covariate  100000  .2076 .1867  .0606 .0772  .0308 .0360  .1157 .1036  .0202 .0221
covariate  200000  .1754 .1825  .0434 .0630  .0261 .0377  .0922 .0937  .0160 .0223
covariate  500000  .1541 .1567  .0232 .0379  .0287 .0299  .0750 .0733  .0172 .0172
confounder 50000   .2166 .2423  .0572 .0874  .0463 .0667  .1337 .1392  .0262 .0388
confounder 100000  .2072 .2101  .0575 .0819  .0380 .0500  .1165 .1225  .0238 .0288
confounder 200000  .1831 .1945  .0275 .0689  .0251 .0428  .0992 .1039  .0164 .0257
confounder 500000  .1523 .1786  .0244 .0382  .0307 .0399  .0752 .0800  .0182 .0219
mediator   50000   .2089 .2256  .0849 .1323  .0651 .0725  .1230 .1302  .0410 .0483
mediator   100000  .1917 .2027  .0731 .1286  .0441 .0506  .1175 .1115  .0282 .0306
mediator   200000  .1838 .1873  .0500 .0607  .0427 .0365  .0992 .0878  .0249 .0223
mediator   500000  .1564 .1472  .0273 .0423  .0301 .0221  .0755 .0699  .0184 .0132
"""


def _parsed() -> dict[tuple[str, int, str, str, str], float]:
    values: dict[tuple[str, int, str, str, str], float] = {}
    for line in _TABLE_1.strip().splitlines():
        population, budget, *numbers = line.split()
        cells = [(space, learner, end) for space, learner in COLUMNS for end in ("lower", "upper")]
        for (space, learner, end), number in zip(cells, numbers, strict=True):
            values[population, int(budget), space, learner, end] = float(number)
    return values


TABLE_1: Mapping[tuple[str, int, str, str, str], float] = _parsed()
"""Error by (population, budget, space, learner, end)."""


def reported(population: str, budget: int, space: str, learner: str, end: str) -> float | None:
    """The paper's error for a cell; `direct-positive` is set beside the paper's Direct too."""
    return TABLE_1.get((population.removesuffix("-positive"), budget, space, learner, end))
