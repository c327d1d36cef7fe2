"""Rivals: each share of the law estimated by itself, by a method of the field, then made coherent and bounded.

A law of two arms and two outcomes has five free shares: who responds in either arm of the experiment, who chooses the
treatment, and who responds among those who chose it or not. Each is a regression of yes or no on the covariates. What
the five say together need not be possible; the nearest law that is possible takes their place, and bounds follow by the
formulas, mixed over profiles as the response-type model mixes them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import expit, logit

from pnsight._progress import Progress, no_progress
from pnsight._typing import FloatArray
from pnsight.data.law import Law
from pnsight.data.profiles import profile_index
from pnsight.data.schema import Codes
from pnsight.data.structures import require_two_by_two
from pnsight.data.study import Study
from pnsight.errors import PnsightError
from pnsight.estimands.nearest_law import nearest_law
from pnsight.models import PlugIn
from pnsight.queries import lattice

MAX_GAUSSIAN_PROCESS = 1000
"""Profiles that a Gaussian process is fitted to, those with most rows: its cost grows with their cube."""

_UNSEEN = 1e-3  # rows that a profile without any counts as, where people of several profiles are mixed
_CERTAIN = 1e-4  # no share is estimated nearer to nobody or everybody


@dataclass(frozen=True)
class Shares:
    """Yes and no by profile, from which a share is estimated for others.

    Attributes
    ----------
    features : shape (profiles, columns)
    yes, rows : shape (profiles,)
        How many of the profile's rows say yes, and how many there are.
    seed : for methods that draw
    """

    features: FloatArray
    yes: FloatArray
    rows: FloatArray
    seed: int

    def expanded(self) -> tuple[FloatArray, FloatArray]:
        """One row a person: features, and yes or no."""
        counts = np.concatenate([self.yes, self.rows - self.yes]).astype(int)
        said = np.repeat([1.0, 0.0], len(self.rows))
        return np.repeat(np.concatenate([self.features] * 2), counts, axis=0), np.repeat(said, counts)


Estimator = Callable[[Shares, FloatArray], FloatArray]
"""From yes and no of some profiles, and the features of others, to the others' shares of yes."""


def lightgbm(known: Shares, asked: FloatArray) -> FloatArray:
    """Boosted trees; as many as a fifth of the rows, held out, ask for."""
    from lightgbm import LGBMClassifier, early_stopping

    features, said = known.expanded()
    held_out = np.random.default_rng(known.seed).random(len(said)) < 0.2
    model = LGBMClassifier(
        n_estimators=2000, learning_rate=0.05, num_leaves=15, random_state=known.seed, n_jobs=1, verbose=-1
    )
    apart: dict[str, Any] = {"eval_X": features[held_out], "eval_y": said[held_out], "eval_metric": "logloss"}
    model.fit(features[~held_out], said[~held_out], **apart, callbacks=[early_stopping(50, verbose=False)])
    return np.asarray(model.predict_proba(asked))[:, 1]


def bart(known: Shares, asked: FloatArray) -> FloatArray:
    """Bayesian additive regression trees with a probit link (Chipman, George and McCulloch 2010): posterior means."""
    from stochtree import BARTModel, OutcomeModel

    features, said = known.expanded()
    model = BARTModel()
    general: dict[str, Any] = {
        "outcome_model": OutcomeModel(outcome="binary", link="probit"),
        "random_seed": known.seed,
        "num_threads": 1,
    }
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Global error variance will not be sampled")
        model.sample(features, said, num_gfr=10, num_mcmc=100, general_params=general)
    return np.asarray(model.predict(asked, type="mean", terms="y_hat", scale="probability"))


def gaussian_process(known: Shares, asked: FloatArray) -> FloatArray:
    """A Gaussian process of the profiles' log odds, each with its sampling error, of those with most rows.

    A linear part and a smooth one; their sizes and the length over which it varies maximise the likelihood.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct

    most = np.argsort(-known.rows, kind="stable")[:MAX_GAUSSIAN_PROCESS]
    yes, rows = known.yes[most], known.rows[most]
    mean = (yes.sum() + 0.5) / (rows.sum() + 1)
    smooth = (yes + 2 * mean) / (rows + 2)
    kernel = ConstantKernel(0.01) * DotProduct(1.0) + ConstantKernel(0.05) * RBF(3.0, (0.3, 100.0))
    model = GaussianProcessRegressor(kernel, alpha=1 / ((rows + 2) * smooth * (1 - smooth)))
    base = logit(mean)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a length at its limit says that nothing varies
        model.fit(known.features[most], logit(smooth) - base)
    return np.asarray(expit(np.asarray(model.predict(asked)) + base))


RIVALS: dict[str, Estimator] = {"lightgbm": lightgbm, "bart": bart, "gaussian-process": gaussian_process}
"""By name."""


@dataclass(eq=False)
class ShareByShare(PlugIn):
    """Bounds from shares that a rival estimates one by one."""

    rival: str = "lightgbm"
    random_state: int = 0

    def fit(self, study: Study, progress: Progress = no_progress) -> Self:
        """Estimate five shares of every profile, make them coherent, and take them for counts."""
        require_two_by_two(study.structure, f"{self.rival} is compared on", "response types")
        self.mix = "profiles"
        profiles = lattice.all_profiles(study.schema)
        law = nearest_law(Law(study.structure, self._cells(study, profiles)), np.ones(study.structure.n_types, bool))
        people = np.full(len(profiles), _UNSEEN)
        people[profile_index(study.schema, study.profiles)] += study.profile_counts()
        return super().fit(Study(study.schema, profiles, people[:, None] * law.cells, study.structure), progress)

    def _cells(self, study: Study, profiles: Codes) -> FloatArray:
        y_x, n_x, y_x0, n_x0, xy, xn, x0y, x0n = study.counts.T
        pairs = ((y_x, n_x), (y_x0, n_x0), (xy + xn, x0y + x0n), (xy, xn), (x0y, x0n))
        treated, untreated, chose, response, other = (self._share(study, profiles, yes, no) for yes, no in pairs)
        return np.stack(
            [
                treated,
                1 - treated,
                untreated,
                1 - untreated,
                chose * response,
                chose * (1 - response),
                (1 - chose) * other,
                (1 - chose) * (1 - other),
            ],
            axis=1,
        )

    def _share(self, study: Study, profiles: Codes, yes: FloatArray, no: FloatArray) -> FloatArray:
        """Estimated share of yes in each profile, shape (profiles,)."""
        if not yes.any() or not no.any():  # nothing to learn; not every method takes one answer only
            return np.full(len(profiles), 1 - _CERTAIN if yes.any() else _CERTAIN)
        some = yes + no > 0
        features = study.schema.effect_coding(study.profiles[some]).astype(np.float64)
        known = Shares(features, yes[some], (yes + no)[some], self.random_state)
        asked = study.schema.effect_coding(profiles).astype(np.float64)
        try:
            found = RIVALS[self.rival](known, asked)
        except ImportError as error:
            raise PnsightError(
                f"{self.rival} needs a library: {error}; install what rivals need with: pip install "
                "'./experiments[rivals]'."
            ) from None
        return np.clip(found, _CERTAIN, 1 - _CERTAIN)
