"""How far an estimate may be off: from networks fitted again, and from held-out rows.

Networks fitted to simulated studies show how far a fit strays from a law that is known. Networks fitted to the study
itself, which differ in capacity and first weights, show what is arbitrary about it. And held-out rows show whether that
is all: over many subpopulations, what was foretold and what was counted differ by the sampling error of the held-out
rows, which is known, and by the model's own error, whose size is compared with what was expected.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pnsight import lattice
from pnsight.law import COUNTED_CELLS, FloatArray
from pnsight.schema import OPEN, Codes

FACTORS = np.geomspace(1.2, 3.2, 41)
"""By what the standard error may be multiplied.

Sixteen simulated studies show a variance only roughly. The least factor was set on samples with seeds 11-17 of the
catalog's populations and of random ones with seeds 1-3; held-out rows can only raise it.
"""

SUBPOPULATIONS = 600
FEWEST_ROWS = 30
"""Held-out rows that a subpopulation needs, in an arm or in the observational table, to be looked at."""

ARMS = ((0, 2), (2, 4), (4, 8))
"""Cells of `Study.counts` that make up a treated arm, a control arm and the observational table."""


def error_variance(strays: FloatArray, networks: FloatArray, rungs: npt.NDArray[np.intp]) -> FloatArray:
    """Variance of the error of a mean of networks, of the shape of `strays`.

    Parameters
    ----------
    strays
        Mean square by which networks fitted to simulated studies miss the law behind them.
    networks : shape (networks, ...)
        What each of the networks says whose mean is the estimate.
    rungs : shape (networks,)
        The rung of each.

    Each refit is a single network, so its own arbitrary start is in `strays`. Of the mean of several only a part of
    that is left, but a fit that follows a smooth law strays less than one that follows the truth; the one is not taken
    off, for the sake of the other. What separates the rungs counts twice: the estimate may follow the wrong one, and so
    may the truth.
    """
    groups = [networks[rungs == rung] for rung in np.unique(rungs)]
    freedom = len(networks) - len(groups)
    within = sum(((group - group.mean(axis=0)) ** 2).sum(axis=0) for group in groups) / max(freedom, 1)
    between = np.maximum(networks.var(axis=0, ddof=1) - within, 0)
    return np.asarray(strays + 2 * between)


def spread_factor(
    estimate: FloatArray,
    networks: FloatArray,
    rungs: npt.NDArray[np.intp],
    refits: FloatArray,
    foretold: Sequence[FloatArray],
    held_out: Sequence[FloatArray],
    covers: FloatArray,
    seen: float,
) -> float:
    """The factor under which held-out counts are most likely.

    Parameters
    ----------
    estimate : shape (profiles, 8)
        Types according to the model.
    networks : shape (networks, profiles, 8)
        Types according to each of its networks.
    rungs : shape (networks,)
        The rung of each.
    refits : shape (refits, profiles, 8)
        Types according to each network fitted to a simulated study.
    foretold : one array (profiles, 8) a fold
        Types according to the model that did not see the fold.
    held_out : one array (profiles, 8) a fold
        Counts of the fold.
    covers : shape (subpopulations, profiles)
        One where a subpopulation covers a profile.
    seen
        Share of the rows that those who foretell were fitted to; the fewer, the further they stray.
    """
    misses, sampling, spread = [], [], []
    for types, counts in zip(foretold, held_out, strict=True):
        for start, stop in ARMS:
            cells = COUNTED_CELLS[start:stop]
            rows = counts[:, start:stop].sum(axis=1)
            inside = covers @ rows
            enough = inside >= FEWEST_ROWS
            if not enough.any():
                continue
            share = types @ cells.T
            total = inside[enough, None]
            chosen = covers[enough]
            misses.append((chosen @ (counts[:, start:stop] - rows[:, None] * share)) / total)
            sampling.append((chosen @ (rows[:, None] * share * (1 - share))) / total**2)
            mean = chosen * rows / total
            strays = ((mean @ ((refits - estimate) @ cells.T)) ** 2).mean(axis=0)
            spread.append(error_variance(strays, mean @ (networks @ cells.T), rungs) / seen)
    if not misses:
        return float(FACTORS[0])
    miss, noise, moved = (np.concatenate([part.ravel() for part in parts]) for parts in (misses, sampling, spread))
    variance = np.maximum(noise + FACTORS[:, None] ** 2 * moved, 1e-12)
    likelihood = -(np.log(variance) + miss**2 / variance).sum(axis=1)
    return float(FACTORS[likelihood.argmax()])


def subpopulations(profiles: Codes, rows: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Random queries around random people, each covariate open or not, shape (subpopulations, profiles)."""
    people = rng.choice(len(profiles), size=SUBPOPULATIONS, p=rows / rows.sum())
    openness = rng.random((SUBPOPULATIONS, 1))
    queries = np.where(rng.random((SUBPOPULATIONS, profiles.shape[1])) < openness, OPEN, profiles[people])
    queries = np.unique(queries, axis=0) if profiles.shape[1] else queries[:1]
    return lattice.match(queries, profiles)
