"""What a benchmark fits: one setting is one fit and one row of results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from pnsight.errors import PnsightError, did_you_mean, join_names
from pnsight.models import ExactMLP, MaskMLP, Model, PlugIn, ResponseTypeModel
from pnsight.simulation import KINDS, NAMES, REPORTING_SEEDS, get
from pnsight_experiments.paper import BUDGETS, SEEDS, THRESHOLDS
from pnsight_experiments.rivals import RIVALS, ShareByShare


@dataclass(frozen=True)
class Setting:
    """One fit.

    Attributes
    ----------
    budget : rows of the experimental and, again, of the observational table
    learner : a key of `LEARNERS`
    threshold : a number, ``auto``, or empty for learners without one
    validation : ``rows``, ``queries``, or empty
    held_out : share of the rows kept from the learner to score it without an oracle
    """

    population: str
    budget: int
    seed: int
    learner: str
    threshold: str = ""
    validation: str = ""
    held_out: float = 0.0

    def model(self) -> Model:
        """The model to fit, not yet fitted."""
        return LEARNERS[self.learner](self)


def _regressor_settings(setting: Setting) -> dict[str, Any]:
    min_rows = setting.threshold if setting.threshold == "auto" else int(setting.threshold)
    return {"min_rows": min_rows, "validation": setting.validation, "random_state": setting.seed}


def _boosting(setting: Setting) -> Model:
    from sklearn.ensemble import HistGradientBoostingRegressor

    return MaskMLP(regressor=HistGradientBoostingRegressor(random_state=setting.seed), **_regressor_settings(setting))


def _forest(setting: Setting) -> Model:
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(n_estimators=50, min_samples_leaf=3, random_state=setting.seed, n_jobs=1)
    return MaskMLP(regressor=forest, **_regressor_settings(setting))


def _nearest(setting: Setting) -> Model:
    from sklearn.neighbors import KNeighborsRegressor

    return MaskMLP(regressor=KNeighborsRegressor(n_neighbors=10, weights="distance"), **_regressor_settings(setting))


def _transformer(setting: Setting) -> Model:
    from pnsight_experiments.transformer import MaskTransformer  # loads JAX

    return MaskTransformer(**_regressor_settings(setting))


def _rival(name: str) -> Callable[[Setting], Model]:
    return lambda setting: ShareByShare(rival=name, random_state=setting.seed)


LEARNERS: dict[str, Callable[[Setting], Model]] = {
    "plug-in": lambda setting: PlugIn(),
    **{name: _rival(name) for name in RIVALS},
    "response-types": lambda setting: ResponseTypeModel(random_state=setting.seed),
    "exact-mlp": lambda setting: ExactMLP(**_regressor_settings(setting)),
    "exact-mlp-relu": lambda setting: ExactMLP(activation="relu", **_regressor_settings(setting)),
    "mask-mlp": lambda setting: MaskMLP(**_regressor_settings(setting)),
    "mask-mlp-relu": lambda setting: MaskMLP(activation="relu", **_regressor_settings(setting)),
    "mask-transformer": _transformer,
    "mask-boosting": _boosting,
    "mask-forest": _forest,
    "mask-nearest": _nearest,
}
"""Learners by name; those called mask-... learn from all queries, exact-... from exact ones, rivals share by share."""

BASELINE = "plug-in"
FLAGSHIP = "response-types"
PLAIN = (BASELINE, FLAGSHIP)
"""Learners of pnsight without threshold and validation; the rivals have none either."""

CONVENTIONS = ("undefined", "infeasible")
"""What is dropped before the plug-in is scored: answers that are undefined, or also those with lower above upper."""

CAUTIONS = ("plain", "cautious")
"""How a decision is made: by the bounds, or by the far ends of their intervals."""


@dataclass(frozen=True)
class Grid:
    """A product of choices; learners without threshold and validation appear once for each of the rest."""

    populations: Sequence[str] = NAMES
    budgets: Sequence[int] = BUDGETS
    seeds: Sequence[int] = SEEDS
    learners: Sequence[str] = ("plug-in", "exact-mlp", "mask-mlp")
    thresholds: Sequence[str] = tuple(map(str, THRESHOLDS))
    validations: Sequence[str] = ("queries",)
    held_out: float = 0.0

    def settings(self) -> list[Setting]:
        """All settings of the grid, quick learners first."""
        _known("learner", self.learners, LEARNERS)
        _known("way to validate", self.validations, ("queries", "rows"))
        for threshold in self.thresholds:
            if threshold != "auto" and (not threshold.isdecimal() or int(threshold) < 1):
                raise PnsightError(f"a threshold is {threshold!r}; give whole numbers of rows, at least 1, or auto.")
        for what, numbers, least in (("budget", self.budgets, 1), ("seed", self.seeds, 0)):
            if min(numbers, default=least) < least:
                raise PnsightError(f"a {what} is {min(numbers)}; give whole numbers of at least {least}.")
        for population in self.populations:
            get(population)
        found: dict[Setting, None] = {}
        order = sorted(self.learners, key=list(LEARNERS).index)
        for learner, population, budget, seed in product(order, self.populations, self.budgets, self.seeds):
            setting = Setting(population, budget, seed, learner, held_out=self.held_out)
            for threshold, validation in product(self.thresholds, self.validations):
                if learner in (*PLAIN, *RIVALS):
                    found[setting] = None
                elif threshold != "auto" or validation == "rows":
                    found[replace(setting, threshold=threshold, validation=validation)] = None
        return list(found)


def _known(what: str, words: Iterable[str], known: Iterable[str]) -> None:
    known = list(known)
    for word in words:
        if word not in known:
            raise PnsightError(
                f"no {what} is called {word!r}; there are {join_names(known)}." + did_you_mean(word, known)
            )


PRESETS: dict[str, tuple[Grid, ...]] = {
    "smoke": (
        Grid(("direct-positive", "mediator"), (20_000,), (1,), ("plug-in", "mask-boosting"), ("100",), ("queries",)),
    ),
    "baseline": (Grid(learners=("plug-in",)),),
    "quick": (
        Grid(learners=("plug-in",), seeds=(1,)),
        Grid(
            budgets=(200_000,),
            seeds=(1,),
            learners=("response-types", "exact-mlp", "mask-mlp", "mask-boosting"),
            thresholds=("300",),
        ),
    ),
    "paper": (Grid(),),
    "response-types": (
        Grid(learners=("response-types",)),
        Grid(budgets=(200_000,), seeds=range(61, 76), learners=("response-types",)),  # intervals
    ),
    "random": (
        Grid(
            [f"{kind}:{seed}" for kind in KINDS for seed in REPORTING_SEEDS],
            (200_000,),
            (1,),
            ("plug-in", "response-types", "mask-mlp"),
            ("300",),
        ),
    ),
    "rivals": (
        Grid(
            (*NAMES, *(f"{kind}:{REPORTING_SEEDS[0]}" for kind in KINDS)),
            (20_000,),
            (1,),
            (BASELINE, *RIVALS, FLAGSHIP),
        ),
    ),
    "bias": (
        Grid(
            ("interaction:101",),
            (50_000, 200_000, 500_000, 1_000_000, 2_000_000, 5_000_000),
            (1,),
            ("plug-in", "response-types"),
        ),
    ),
    "learners": (
        Grid(
            budgets=(200_000,),
            seeds=(1,),
            learners=("mask-mlp-relu", "mask-boosting", "mask-forest", "mask-nearest"),
            thresholds=("300",),
        ),
    ),
    "transformer": (
        Grid(budgets=(200_000,), seeds=(1, 2, 3), learners=("mask-mlp", "mask-transformer"), thresholds=("300",)),
    ),
    "honest": (
        Grid(
            budgets=(200_000,),
            seeds=(1,),
            learners=("exact-mlp", "mask-mlp"),
            thresholds=("auto",),
            validations=("rows",),
        ),
    ),
    "held-out": (
        Grid(
            budgets=(200_000,),
            seeds=(1,),
            learners=("plug-in", "response-types", "mask-mlp", "mask-boosting", "mask-forest", "mask-nearest"),
            thresholds=("300",),
            held_out=0.2,
        ),
    ),
}
"""Named grids; every part can be overridden on the command line."""

DECIDED: tuple[Grid, ...] = (
    Grid(
        budgets=(200_000,), seeds=(51, 52, 53), learners=("plug-in", "response-types", "mask-mlp"), thresholds=("300",)
    ),
    Grid(
        [f"{kind}:{seed}" for kind in KINDS for seed in REPORTING_SEEDS[:2]],
        (200_000,),
        (1,),
        ("plug-in", "response-types", "mask-mlp"),
        ("300",),
    ),
)
"""What the benchmark of decisions fits."""
