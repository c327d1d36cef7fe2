"""Looking into single fits: error by epoch, and true against predicted bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from pnsight._progress import Progress, no_progress
from pnsight.data.study import Study
from pnsight.models import ExactMLP, MaskMLP, PlugIn, ResponseTypeModel
from pnsight.output import plots
from pnsight_experiments.fit import raw_bounds, sampled
from pnsight_experiments.scores import Truth, truth


class _WatchedMaskMLP(MaskMLP):
    """A Mask-MLP whose oracle error is recorded while it trains; training does not see it."""

    oracle: Truth

    def _monitors(self, study: Study) -> Mapping[str, Any]:
        from pnsight.models.bound_networks.train_jax import LabelledInputs

        ends = np.stack([self.oracle.lower, self.oracle.upper], axis=1)
        inputs = study.schema.one_hot(self.oracle.codes)
        exact = self.oracle.exact
        return {"exact": LabelledInputs(inputs[exact], ends[exact]), "mask": LabelledInputs(inputs, ends)}


def learning_curves(
    population: str, budget: int, threshold: int, seed: int, progress: Progress = no_progress
) -> list[dict[str, Any]]:
    """Root mean squared training and validation error and mean absolute oracle error, by validation, end and epoch."""
    rows: list[dict[str, Any]] = []
    for validation in ("queries", "rows"):
        model = _WatchedMaskMLP(min_rows=threshold, validation=validation, random_state=seed)
        model.oracle = truth(population)
        seen = model.fit(sampled(population, budget, seed), progress).history_
        for end, name in enumerate(("lower", "upper")):
            rows += [
                {
                    "validated_by": validation,
                    "end": name,
                    "epoch": int(epoch),
                    "training": float(np.sqrt(seen.train_mse[i, end])),
                    "validation": float(np.sqrt(seen.validation_mse[i, end])),
                    "oracle_exact": float(seen.monitor_mae["exact"][i, end]),
                    "oracle_mask": float(seen.monitor_mae["mask"][i, end]),
                }
                for i, epoch in enumerate(seen.epochs)
            ]
    return rows


def true_against_predicted(
    population: str, budget: int, threshold: int, seed: int, progress: Progress = no_progress
) -> Figure:
    """Fit plug-in, the paper's learners by its protocol and response types; draw what they say of every query."""
    study, known = sampled(population, budget, seed), truth(population)
    settings: dict[str, Any] = {"min_rows": threshold, "validation": "queries", "random_state": seed}
    fitted = {
        "plug-in": PlugIn().fit(study),
        "Exact-MLP (exact queries)": ExactMLP(**settings).fit(study),
        "Mask-MLP": MaskMLP(**settings).fit(study, progress),
        "response types": ResponseTypeModel(intervals=False, random_state=seed).fit(study),
    }
    predicted = {name: raw_bounds(model, known) for name, model in fitted.items()}
    title = f"{population}, {budget:,} rows of each table"
    return plots.true_against_predicted((known.lower, known.upper), predicted, title)
