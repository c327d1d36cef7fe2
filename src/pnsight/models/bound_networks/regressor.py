"""Bound regressors: learn one quantity's bounds from well-supported queries. The paper's Exact-MLP and Mask-MLP.

Source: Wang, Sun, Pearl and Li, "Learning Probabilities of Causation with Mask-Augmented Data", section "Machine
Learning" and appendix "Machine Learning Configuration".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np

from pnsight._progress import Progress, no_progress
from pnsight._text_table import format_table
from pnsight._typing import FloatArray
from pnsight.data.schema import OPEN, Codes
from pnsight.data.structures import require_two_by_two
from pnsight.data.study import Study
from pnsight.errors import ModelError, QuantityError, QueryError, join_names
from pnsight.estimands.estimand import Estimand, validate_fitted_quantity
from pnsight.estimands.resolve import CROSSED, resolve_crossed_bounds
from pnsight.models.base import Capabilities, Model, refuse_numbers
from pnsight.models.bound_networks.pairs import BoundPredictor, NetworkPair, fit_networks, fit_regressors
from pnsight.models.bound_networks.training_examples import TrainingExamples, feasible_examples, split_rows
from pnsight.models.mlp_numpy import ACTIVATIONS
from pnsight.queries.bound_table import MODEL, BoundTable
from pnsight.queries.query import format_queries

AUTO_MIN_ROWS = (100, 200, 300, 500, 1000, 2000)
"""Numbers of rows that ``min_rows="auto"`` chooses among."""

MIN_EXAMPLES = 20
HELD_OUT_QUERIES = 0.1
HELD_OUT_ROWS = 0.2
MIN_HELD_OUT_ROWS = 100
"""Held-out rows that a query needs in both tables to validate on."""


@dataclass(frozen=True)
class Trial:
    """One minimum of rows tried: what was trained, on how many examples, and its error on the validation examples."""

    min_rows: int
    examples: int
    pair: BoundPredictor
    history: Any
    error: float


@dataclass(frozen=True)
class _Learned:
    """What a bound regressor keeps of its training, as data that JSON can hold."""

    min_rows: int
    examples: int
    tried: list[tuple[int, float]]
    best_epochs: tuple[int, int]


@dataclass(eq=False)
class BoundRegressor(Model):
    """Two regressors of the one-hot query, for the lower and for the upper bound.

    Parameters
    ----------
    quantity
        What is bounded; a fitted model answers this quantity only.
    min_rows
        Rows a query needs in both tables to be a training example, or ``"auto"``: the one of `AUTO_MIN_ROWS`
        that predicts the bounds of held-out rows best.
    validation
        ``"rows"``: a fifth of the rows is set aside first and validates with bounds of its own. ``"queries"``, the
        paper's: a tenth of the queries is set aside, which leaks, since queries share rows.
    regressor
        A scikit-learn regressor to use in place of the paper's network.
    activation, hidden, epochs, batch_size, learning_rate
        The network and its training; the defaults are the paper's.
    repair
        ``"sort"`` puts crossed ends in order; ``"none"``, the paper's, leaves such a query without an answer.
    random_state
        Seed of the split, the first weights and the batches.
    """

    quantity: str = "pns"
    min_rows: int | Literal["auto"] = "auto"
    validation: Literal["rows", "queries"] = "rows"
    regressor: Any = None
    activation: Literal["mish", "relu"] = "mish"
    hidden: Sequence[int] = (64, 32, 16)
    epochs: int = 2000
    batch_size: int = 4096
    learning_rate: float = 1e-3
    repair: Literal["none", "sort"] = "none"
    random_state: int = 0

    learns: ClassVar[Any] = _Learned
    space: ClassVar[str]

    def fit(self, study: Study, progress: Progress = no_progress) -> Self:
        """Train on the queries that have enough rows."""
        self.validate_parameters()
        refuse_numbers(study.schema, f"a {self.name} model counts rows by level", "fit a response-types model")
        require_two_by_two(
            study.structure, f"a {self.name} model learns from", "--model response-types or --model plug-in"
        )
        training, validation = self._parts(study)
        candidates = self._candidates(training)
        trials = [
            self._train(
                study,
                training.supported(min_rows),
                validation,
                min_rows,
                partial(_part, progress, k, len(candidates)),
            )
            for k, min_rows in enumerate(candidates)
        ]
        best = min(trials, key=lambda trial: trial.error)
        self.min_rows_, self.examples_, self.pair_ = best.min_rows, best.examples, best.pair
        self.history_ = best.history
        self.tried_ = {trial.min_rows: trial.error for trial in trials}
        self.study_ = study
        self.libraries = {}
        return self

    def _parts(self, study: Study) -> tuple[TrainingExamples, TrainingExamples | None]:
        """All feasible examples to train on, and those of held-out rows if rows validate."""
        if self.validation == "queries":
            return feasible_examples(study, self.space, self.quantity), None
        rng = np.random.default_rng([self.random_state, 0])
        training, held_out = split_rows(study, HELD_OUT_ROWS, rng)
        validation = feasible_examples(held_out, self.space, self.quantity).supported(MIN_HELD_OUT_ROWS)
        if not len(validation):
            raise ModelError(
                f"no query has {MIN_HELD_OUT_ROWS} rows in both tables among the {HELD_OUT_ROWS:.0%} of rows held out; "
                "there are too few rows for a bound regressor with validation by rows. Use --model plug-in."
            )
        return feasible_examples(training, self.space, self.quantity), validation

    def _candidates(self, training: TrainingExamples) -> list[int]:
        """Minimums of rows to try that leave enough examples."""
        tried = AUTO_MIN_ROWS if self.min_rows == "auto" else (self.min_rows,)
        enough = [min_rows for min_rows in tried if len(training.supported(min_rows)) >= MIN_EXAMPLES]
        if not enough:
            found = len(training.supported(tried[0]))
            raise ModelError(
                f"only {found} {self.space} queries have {tried[0]} rows in both tables and feasible bounds; "
                f"training needs {MIN_EXAMPLES}. {_enough_at(training)}"
            )
        return enough

    def _train(
        self,
        study: Study,
        examples: TrainingExamples,
        validation: TrainingExamples | None,
        min_rows: int,
        progress: Progress,
    ) -> Trial:
        if validation is None:
            training, validation = split_queries(examples, np.random.default_rng([self.random_state, 1]))
        else:
            training = examples
        encode = study.schema.one_hot
        if self.regressor is not None:
            pair: BoundPredictor = fit_regressors(self.regressor, encode(examples.codes), examples.ends)
            history = None
        else:
            pair, history = fit_networks(
                (encode(training.codes), training.ends),
                (encode(validation.codes), validation.ends),
                hidden=tuple(self.hidden),
                activation=self.activation,
                epochs=self.epochs,
                batch_size=self.batch_size,
                learning_rate=self.learning_rate,
                seed=self.random_state,
                progress=progress,
                monitors=self._monitors(study),
            )
        missed = pair.predict(encode(validation.codes)) - validation.ends
        return Trial(min_rows, len(examples), pair, history, float(np.mean(missed**2)))

    def _monitors(self, study: Study) -> Mapping[str, Any]:
        """Further labelled inputs to follow while training; the benchmark watches the oracle's."""
        return {}

    @property
    def capabilities(self) -> Capabilities:
        """One quantity, without a law behind it; examples of open queries are plug-in bounds of pooled rows."""
        exact = self.space == "exact"
        return Capabilities(learns_across_profiles=True, pools_rows=not exact, exact_only=exact)

    def compute_bounds(self, codes: Codes, estimand: Estimand) -> BoundTable:
        """Bounds on the quantity the model was fitted for; it knows no law, so nothing can be assumed or refined."""
        self._validate_estimand(estimand)
        ends = self.raw_ends(codes, estimand.quantity.name)
        if self.repair == "sort":
            ends = np.sort(ends, axis=1)
        lower, upper, status = resolve_crossed_bounds(ends[:, 0], ends[:, 1], CROSSED)
        table = format_queries(self.schema, codes), lower, upper, *self.support(self.counts(codes)), status
        return BoundTable(self.quantity, *table, notes=self.caveats, basis=np.full(len(codes), MODEL))

    def raw_ends(self, codes: Codes, quantity: str = "pns") -> FloatArray:
        """What the two regressors say, shape (queries, 2); they may cross."""
        encode = self.schema.one_hot
        if quantity != self.quantity:
            raise QuantityError(
                f"this {self.name} model was fitted for {self.quantity} and cannot bound {quantity}; "
                f"fit another with --quantity {quantity}, or a law model, which answers every quantity."
            )
        if self.space == "exact" and (codes == OPEN).any():
            raise QueryError(
                f"{self.name} learned from exact queries and answers only those: fix every covariate "
                f"({join_names(self.schema.names)}), or fit mask-mlp."
            )
        return self.pair_.predict(encode(codes))

    def _validate_estimand(self, estimand: Estimand) -> None:
        """Refuse what takes a law."""
        asked = [f"assume {name}" for name in estimand.assume]
        asked += ["refine covariates"] if estimand.refine != "none" else []
        asked += ["payoffs"] if estimand.payoffs is not None else []
        asked += ["slack"] if estimand.slack is not None else []
        asked += ["misread outcomes"] if estimand.misread_outcome else []
        if asked:
            raise QuantityError(
                f"this {self.name} model learned bounds on {self.quantity} and no law, so it cannot heed "
                f"{join_names(asked)}; fit a response-types or plug-in model."
            )

    # --- storing ---------------------------------------------------------------------------------------

    def parameters(self) -> Mapping[str, Any]:
        """What the constructor was given."""
        if self.regressor is not None:
            raise ModelError("a model with regressor= of another library cannot be saved; save the default network.")
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "regressor"}

    def explain(self) -> str:
        """The minimum of rows and the epochs, and the errors that they were chosen by."""
        _ = self.study
        told = [
            f"Learned from {self.examples_:,} queries with at least {self.min_rows_:,} rows in both tables.",
            "Minimums of rows tried, by the mean squared error on held-out "
            + ("rows' own bounds:" if self.validation == "rows" else "queries, which share rows with the others:"),
            format_table({"min rows": list(self.tried_), "error": [f"{error:.6f}" for error in self.tried_.values()]}),
        ]
        if isinstance(self.pair_, NetworkPair):
            lower, upper = self.pair_.best_epochs
            told.append(f"Networks kept at epoch {lower:,} (lower end) and {upper:,} (upper end) of {self.epochs:,}.")
        return "\n".join(told)

    def state(self) -> tuple[Mapping[str, Any], Mapping[str, np.ndarray[Any, Any]]]:
        """Chosen minimum of rows, errors of those tried, and the networks' weights."""
        learned = {
            "min_rows": self.min_rows_,
            "examples": self.examples_,
            "tried": list(self.tried_.items()),
            "best_epochs": list(self.best_epochs_),
        }
        return learned, self._networks().arrays()

    def restore(self, study: Study, data: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]]) -> Self:
        """Become the fitted model that `state` described."""
        self.study_ = study
        self.min_rows_, self.examples_, self.tried_ = data["min_rows"], data["examples"], dict(data["tried"])
        self.pair_ = NetworkPair.from_arrays(arrays, self.activation, tuple(data["best_epochs"]))
        inputs, columns = arrays["0.0.weights"].shape[1], study.schema.one_hot(study.profiles[:0]).shape[1]
        if inputs != columns:
            raise ValueError(f"networks of {inputs} inputs do not fit covariates of {columns}")
        return self

    @property
    def best_epochs_(self) -> tuple[int, ...]:
        """Epochs at which the networks for the lower and upper end were kept."""
        return self._networks().best_epochs

    def _networks(self) -> NetworkPair:
        if not isinstance(self.pair_, NetworkPair):
            raise ModelError(f"{type(self.regressor).__name__} in place of the network has no weights or epochs.")
        return self.pair_

    def validate_parameters(self) -> None:
        """Raise an error where parameters are not known, or do not go together."""
        validate_fitted_quantity(self.quantity)
        choices = {"validation": ("rows", "queries"), "repair": ("none", "sort"), "activation": tuple(ACTIVATIONS)}
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise ModelError(
                    f"{name} is {getattr(self, name)!r}; expected one of {join_names(map(repr, allowed))}."
                )
        if self.min_rows != "auto" and not isinstance(self.min_rows, int):
            raise ModelError(f"min_rows is {self.min_rows!r}; give a whole number of rows, or 'auto'.")
        if self.min_rows == "auto" and self.validation != "rows":
            raise ModelError("min_rows 'auto' compares minimums on held-out rows; use it with validation 'rows'.")
        if self.min_rows != "auto" and self.min_rows < 1:
            raise ModelError(f"min_rows is {self.min_rows}; give a number of rows, at least 1, or 'auto'.")


class ExactMLP(BoundRegressor):
    """The paper's Exact-MLP: learns from exact queries and answers those."""

    name: ClassVar[str] = "exact-mlp"
    method: ClassVar[str] = (
        "Exact-MLP, a learner of Wang, Sun, Pearl and Li: two networks that learned the bounds of well-supported "
        "profiles and predict those of others. It answers for complete profiles only, knows one quantity and no law "
        "behind it, and gives no intervals; its two networks may disagree."
    )
    space: ClassVar[str] = "exact"


class MaskMLP(BoundRegressor):
    """The paper's Mask-MLP: learns from all queries and answers any."""

    name: ClassVar[str] = "mask-mlp"
    method: ClassVar[str] = (
        "Mask-MLP, the learner of Wang, Sun, Pearl and Li: two networks that learned the bounds of well-supported "
        "groups and predict those of others. It knows one quantity and no law behind it, and gives no intervals; its "
        "two networks may disagree."
    )
    space: ClassVar[str] = "mask"


def split_queries(examples: TrainingExamples, rng: np.random.Generator) -> tuple[TrainingExamples, TrainingExamples]:
    """The paper's split: nine tenths of the queries to train on, one tenth to validate.

    Parameters
    ----------
    examples
        All training queries.
    rng
        Deals them.

    Returns
    -------
    Examples to train on, and to validate.
    """
    order = rng.permutation(len(examples))
    cut = max(1, round(HELD_OUT_QUERIES * len(examples)))
    return examples.take(order[cut:]), examples.take(order[:cut])


def _enough_at(training: TrainingExamples) -> str:
    """The largest minimum of rows that would leave enough examples, in words."""
    if len(training) < MIN_EXAMPLES:
        return (
            f"No minimum of rows would do: {len(training)} queries have rows at all. Use --model plug-in, or more rows."
        )
    largest = int(np.sort(training.support)[-MIN_EXAMPLES])
    return f"There would be enough with a minimum of {largest} rows or less."


def _part(progress: Progress, k: int, parts: int, done: int, total: int, note: str) -> None:
    """Progress of the k-th of several equal parts."""
    progress(k * total + done, parts * total, note)
