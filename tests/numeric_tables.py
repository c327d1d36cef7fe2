"""Small tables with numbers: age and weight, and how people respond by age."""

from __future__ import annotations

import numpy as np
import pandas as pd

COLUMNS = {"treatment": "x", "outcome": "y"}


def tables(rows: int = 800, seed: int = 1) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A trial and a registry: the old respond to treatment, the young respond anyway."""
    rng = np.random.default_rng(seed)
    return _table(rng, rows, trial=True), _table(rng, rows, trial=False)


def _table(rng: np.random.Generator, rows: int, trial: bool) -> pd.DataFrame:
    age = np.clip(np.round(rng.normal(54, 15, rows)), 18, 95).astype(int)
    weight = np.round(rng.normal(75, 12, rows), 1)
    sex = rng.choice(["f", "m"], rows)
    old = 1 / (1 + np.exp(-(age - 54) / 6))
    chooses = rng.random(rows) < 0.3 + 0.4 * old
    x = rng.random(rows) < 0.5 if trial else chooses
    helped = rng.random(rows) < 0.8 * old
    y = np.where(helped, x, rng.random(rows) < 0.3)
    return pd.DataFrame({"age": age, "weight": weight, "sex": sex, "x": x.astype(int), "y": y.astype(int)})
