"""The response-type model: learn the law of every profile from both tables at once; all bounds follow.

Every person is one of eight response types: the treatment they would choose, their outcome if untreated and if treated.
A small network gives each profile a distribution over the types, and all that either table can show is linear in it. So
one likelihood fits both tables, and every answer is one that some population could have: 0 <= lower <= upper <= 1 for
every quantity, with no threshold and no filter. Only the law is identified, not the types: they are never reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import islice
from statistics import NormalDist
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from pnsight import lattice
from pnsight.bound_table import BoundTable, settle
from pnsight.bounds import asking
from pnsight.bounds.assumptions import AssumeLike
from pnsight.bounds.benefit import PayoffsLike
from pnsight.bounds.causation import Ends
from pnsight.bounds.question import Question, Refine, refuse_to_fit
from pnsight.errors import ModelError, QueryError
from pnsight.law import COUNTED_CELLS, FloatArray, Law
from pnsight.models.base import LawModel, rows_behind, support
from pnsight.models.calibration import error_variance, spread_factor, subpopulations
from pnsight.models.covariate_law import CovariateLaw, fit_covariate_laws
from pnsight.models.forward import Layers, mean_shares, shares
from pnsight.models.ladder import LADDER, SHORT_LADDER, Rung, all_alike, allotted, choose, hopeful
from pnsight.models.mixing import DRAWS, MOST_LISTED, CountedProfiles, ListedProfiles, Mixing
from pnsight.models.recounting import Mix, Recount, recounted
from pnsight.models.resampling import resampled, split_counts
from pnsight.models.shrinkage import choose_strength, log_likelihood, posterior
from pnsight.progress import Progress, part, silent
from pnsight.schema import Codes, QueryLike
from pnsight.study import People, Study, refuse_unknown_people
from pnsight.text import aligned

FOLDS, FEW_FOLDS = 4, 2
NETWORKS, FEW_NETWORKS = 8, 4
RESAMPLES, FEW_RESAMPLES = 16, 8
"""Folds to choose on, networks of the estimate, simulated studies; and the same where profiles are very many."""

STAGES = ("choosing", "choosing among the best", "fitting to all rows", "finding the intervals")

MANY_PROFILES = 8192
"""Distinct profiles from which on fewer rungs, folds and networks are trained."""

JUDGED_PROFILES = 4096
"""Profiles that rung, strength and factor are chosen on; of more, a random part speaks for all."""

_LAWS_TOGETHER = 4096
"""Laws, of queries and members, that are bounded in one go: the members of a few queries, or one member of many."""


@dataclass(frozen=True)
class Choices:
    """What was chosen, and on what evidence: scores are held-out log-likelihoods of a row, each profile counting alike.

    Attributes
    ----------
    rungs : tuple of (rung in words, how far its score is behind the best, weight)
    strength : rows that the network is worth against a profile's own; infinite if it always wins
    strengths : tuple of (strength, score)
    network_rungs : the rung of each network whose mean is the estimate
    factor : by what standard errors are multiplied; None without intervals
    covariates : one a table: its name, latent classes, weight of the profiles as counted, whether it borrowed the other
        table's rows, and tuple of (classes, score)
    """

    rungs: tuple[tuple[str, float, float], ...]
    strength: float
    strengths: tuple[tuple[float, float], ...]
    network_rungs: tuple[int, ...]
    factor: float | None
    covariates: tuple[tuple[str, int, float, bool, tuple[tuple[int, float], ...]], ...]


@dataclass(eq=False)
class ResponseTypeModel(LawModel):
    """Networks over the eight response types, chosen, averaged and shrunk to the counts by held-out likelihood.

    Parameters
    ----------
    quantity
        What `bounds` answers when it is not asked for another.
    population
        Whose people an open covariate is averaged over: those of the observational table, of the experimental one, or
        both ("pooled"). A study without observational table has only the experimental.
    intervals
        Whether to fit simulated studies as well, which gives each end of a bound its interval.
    random_state
        Seed of folds, first weights and simulated studies.
    """

    quantity: str = "pns"
    population: People = "observational"
    intervals: bool = True
    random_state: int = 0

    name: ClassVar[str] = "response-types"

    # --- learning --------------------------------------------------------------------------------------

    def fit(self, study: Study, progress: Progress = silent) -> Self:
        """Choose capacity, strength and covariate law on held-out rows, then fit to all of them."""
        self._refuse_bad_parameters()
        _refuse_empty(study)
        self.study_ = study.with_rows()
        self.choices_, self.mixing_ = _Fitting(self.study_, self.random_state, self.intervals, progress).run()
        return self

    def seeing(self, study: Study) -> Self:
        """The same networks with this study's counts, which profiles are shrunk to and mixed by."""
        other, found = super().seeing(study), self.choices_
        mixes = [Mix(seen, borrowed) for _, _, seen, borrowed, _ in found.covariates]
        own = 1 + len(found.network_rungs)
        recount = Recount.between(self.study, study, found.strength, mixes, own)
        covariates = tuple(
            (table, classes, mix.seen, borrowed, evidence)
            for (table, classes, _, borrowed, evidence), mix in zip(found.covariates, recount.mixes_after, strict=True)
        )
        other.choices_ = replace(found, covariates=covariates)
        other.mixing_ = recounted(self.mixing_, recount, self.study.profiles)
        return other

    def _refuse_bad_parameters(self) -> None:
        refuse_to_fit(self.quantity)
        refuse_unknown_people(self.population)

    # --- answering -------------------------------------------------------------------------------------

    def law_given(self, codes: Codes, counts: FloatArray) -> Law:
        """The law of each query."""
        return self._law(next(self.mixing_.types(codes, self._weights(None), members=1)))

    def shares(self, codes: Codes, population: People | None = None) -> FloatArray:
        """Share of the people of a population, by default the model's, that are in each query, shape (queries,).

        By the law of the covariates that the model has learned, so a query without rows has its share too.
        """
        return self.mixing_.shares(codes, self._weights(population))

    def bounds(
        self,
        queries: QueryLike = None,
        quantity: str | None = None,
        level: float = 0.9,
        population: People | None = None,
        *,
        payoffs: PayoffsLike | None = None,
        assume: AssumeLike = (),
        refine: Refine = "none",
    ) -> BoundTable:
        """Bounds on a quantity for each query, as `Model.bounds` says, with an interval for each end.

        What a query does not name is left open and averaged over the people of `population`, by default the model's.
        """
        if not (level >= 0 and (1 + level) / 2 < 1):
            raise QueryError(f"the level of the intervals is {level}; give a number from 0 to below 1, such as 0.9.")
        codes = self.schema.encode(queries)
        question = asking(quantity, payoffs, assume, refine, otherwise=self.quantity)
        notes = self.notes(codes, question)
        ends, spread = self._ends(codes, question, self._weights(population))
        lower, upper, status = settle(ends[0], ends[1], within=question.span)
        table = self.schema.format(codes), lower, upper, *support(self.counts(codes)), status
        if spread is None:
            return BoundTable(question.quantity, *table, notes=notes)
        reach = NormalDist().inv_cdf((1 + level) / 2) * spread
        low, high = np.clip(ends - reach, *question.span), np.clip(ends + reach, *question.span)
        return BoundTable(question.quantity, *table, low[0], high[0], low[1], high[1], level, notes=notes)

    def ends_given(self, codes: Codes, counts: FloatArray, question: Question) -> Ends:
        """Both ends of each query."""
        lower, upper = next(self._each(codes, question, self._weights(None), members=1))
        return lower, upper

    def _each(self, codes: Codes, question: Question, weights: FloatArray, members: int) -> Iterator[FloatArray]:
        """Both ends, shape (2, queries), for each of the first so many members."""
        rows = self._rows_behind
        if question.by_profile:
            parts = _Parts(question, tuple(map(float, rows)), self.study.observational is None)
            means = self.mixing_.means(codes, weights, members, parts)
            return _of_members(means, lambda some: question.ends_of(some, rows), len(codes))
        types = self.mixing_.types(codes, weights, members)
        return _of_members(types, lambda some: question.ends(self._law(some), rows), len(codes))

    def _ends(self, codes: Codes, question: Question, weights: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        """Both ends, shape (2, queries), and their standard errors of the same shape."""
        each = self._each(codes, question, weights, self.mixing_.members)
        estimate = next(each)
        if self.choices_.factor is None:
            return estimate, None
        rungs = np.array(self.choices_.network_rungs)
        networks = np.stack([next(each) for _ in rungs])
        refits = self.mixing_.members - 1 - len(rungs)
        squares = (((some - estimate) ** 2).sum(axis=0) for some in _together(each, len(codes)))
        strays = sum(squares, np.zeros_like(estimate)) / refits
        variance = error_variance(strays, networks, rungs)
        width = question.span[1] - question.span[0]
        return estimate, self.choices_.factor * np.sqrt(variance + (width * self._one_row) ** 2)

    @property
    def _one_row(self) -> float:
        """What one row is worth: no share is known more finely than this."""
        experimental, observational = self.study.table_rows
        return 1 / min(experimental, observational or np.inf)

    @property
    def _rows_behind(self) -> FloatArray:
        """Rows of the treated arm, of the control arm and of the observational table, those withheld included."""
        rows: FloatArray = rows_behind(self.study.cell_rows)[0]
        if self.study.withheld is None:
            return rows
        trial, registry = self.study.table_rows
        arms = rows[:2] / rows[:2].sum() if rows[:2].all() else np.full(2, 0.5)
        return np.asarray([*(trial * arms), registry])

    def _law(self, types: FloatArray) -> Law:
        return _law_of(types, self.study.observational is None)

    def _weights(self, population: People | None) -> FloatArray:
        """How much of each table's people a population has, shape (tables,)."""
        population = population or self.population
        refuse_unknown_people(population)
        if self.study.observational is None:
            return np.ones(1)
        rows = np.array(self.study.table_rows)
        weights = {
            "experimental": np.array([1.0, 0.0]),
            "observational": np.array([0.0, 1.0]),
            "pooled": rows / rows.sum(),
        }
        found: FloatArray = weights[population]
        return found

    def explain(self) -> str:
        """What was chosen, and on what evidence, in words."""
        _ = self.study
        return _explained(self.choices_)

    # --- storing ---------------------------------------------------------------------------------------

    def parameters(self) -> Mapping[str, Any]:
        """What the constructor was given."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def state(self) -> tuple[Mapping[str, Any], Mapping[str, npt.NDArray[Any]]]:
        """Choices and members."""
        learned = asdict(self.choices_)
        learned["strength"] = _finite(self.choices_.strength)
        learned["strengths"] = [(_finite(strength), score) for strength, score in self.choices_.strengths]
        return learned, self.mixing_.arrays()

    def restore(self, study: Study, data: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Become the fitted model that `state` described."""
        self.study_ = study
        self.choices_ = Choices(
            tuple((text, behind, weight) for text, behind, weight in data["rungs"]),
            _infinite(data["strength"]),
            tuple((_infinite(strength), score) for strength, score in data["strengths"]),
            tuple(data["network_rungs"]),
            data["factor"],
            tuple(
                (table, classes, seen, borrowed, tuple((tried, score) for tried, score in evidence))
                for table, classes, seen, borrowed, evidence in data["covariates"]
            ),
        )
        self.mixing_ = (
            ListedProfiles.from_arrays(study.schema, arrays)
            if study.schema.exact_size <= MOST_LISTED
            else CountedProfiles.from_arrays(study.schema, study.profiles, arrays)
        )
        return self


@dataclass(frozen=True)
class _Parts:
    """What profiles bring to the mean over their people, from their types; equal ones give the same values."""

    question: Question
    rows: tuple[float, ...]
    experiment_alone: bool

    def __call__(self, types: FloatArray) -> FloatArray:
        law = _law_of(types / types.sum(axis=1, keepdims=True), self.experiment_alone)
        return self.question.parts(law, np.array(self.rows))


def _law_of(types: FloatArray, experiment_alone: bool) -> Law:
    law = Law.from_types(types)
    return Law(law.a, law.b) if experiment_alone else law


def _of_members(each: Iterator[FloatArray], ends: Callable[[FloatArray], Ends], queries: int) -> Iterator[FloatArray]:
    """Both ends, shape (2, queries), of each member, computed for several members at once."""
    for some in _together(each, queries):
        found = np.stack(ends(some.reshape(-1, some.shape[2])))
        yield from np.moveaxis(found.reshape(2, len(some), -1), 1, 0)


def _together(each: Iterator[FloatArray], queries: int) -> Iterator[FloatArray]:
    """What there is of each member, of several members stacked: of more the fewer the queries are."""
    while some := list(islice(each, max(1, _LAWS_TOGETHER // max(1, queries)))):
        yield np.stack(some)


class _Version(NamedTuple):
    """One version of what was learned: networks, whose mean it is, and the counts they were fitted to."""

    networks: Sequence[Layers]
    counts: FloatArray


class _Fitting:
    """One fit, step by step."""

    def __init__(self, study: Study, seed: int, intervals: bool, progress: Progress) -> None:
        self.study, self.intervals, self.progress = study, intervals, progress
        self.rng = np.random.default_rng([seed, 4])
        counts = study.counts
        self.counts = counts if counts.shape[1] == 8 else np.pad(counts, ((0, 0), (0, 4)))
        self.inputs = study.schema.signs(study.profiles)
        many = len(study.profiles) > MANY_PROFILES
        self.ladder: Sequence[Rung] = (SHORT_LADDER if many else LADDER) if self.inputs.shape[1] else LADDER[:1]
        self.folds, self.networks = (FEW_FOLDS, FEW_NETWORKS) if many else (FOLDS, NETWORKS)
        self.resamples = (FEW_RESAMPLES if many else RESAMPLES) if intervals else 0
        self.judged = np.sort(self.rng.permutation(len(self.inputs))[:JUDGED_PROFILES])

    def run(self) -> tuple[Choices, Mixing]:
        parts = split_counts(self.counts, FOLDS, self.rng)[: self.folds]
        behind, kept, scores, answers = self._climb(parts)
        weights = np.zeros(len(self.ladder))
        weights[kept] = choose(scores, self.rng)
        if kept[0] == 0 and all_alike(scores, self.counts[self.judged].sum(axis=1), constant=0):
            weights = np.eye(len(weights))[0]
        held_out = [fold[self.judged] for fold in parts]
        training = [self.counts[self.judged] - fold for fold in held_out]
        centres = [np.tensordot(weights[kept], of_fold, axes=1) for of_fold in answers]
        strength, strengths = choose_strength(centres, training, held_out)
        tables = [self.counts[:, :4].sum(axis=1), self.counts[:, 4:].sum(axis=1)]
        laws = fit_covariate_laws(
            self.study.schema, self.study.profiles, [rows for rows in tables if rows.any()], self.rng
        )
        fitted, network_rungs = self._trained(weights, [self.counts] * self.networks, 2)
        members, factor = [_Version(fitted, self.counts)], None
        if self.intervals:
            samples = self._simulated(fitted, strength)
            refits, _ = self._trained(weights, samples, 3)
            members += [_Version([network], self.counts) for network in fitted]
            members += [_Version([network], counts) for network, counts in zip(refits, samples, strict=True)]
            foretold = [posterior(*pair, strength) for pair in zip(centres, training, strict=True)]
            factor = self._factor(members, network_rungs, strength, foretold, held_out)
        mixing = (self._listed if self.study.schema.exact_size <= MOST_LISTED else self._counted)(
            members, laws, strength
        )
        rungs = [(str(rung), float(b), float(w)) for rung, b, w in zip(self.ladder, behind, weights, strict=True)]
        named = zip(("experimental", "observational"), laws, strict=False)
        covariates = [
            (table, len(law.smooth.shares), law.seen, law.borrowed, tuple(law.evidence.items())) for table, law in named
        ]
        choices = Choices(
            tuple(rungs), strength, tuple(strengths.items()), tuple(network_rungs.tolist()), factor, tuple(covariates)
        )
        return choices, mixing

    def _climb(
        self, parts: Sequence[FloatArray]
    ) -> tuple[FloatArray, npt.NDArray[np.intp], FloatArray, list[FloatArray]]:
        """Train every rung without each fold, and after half of the folds only those that may still be the best.

        Gives how far each rung is behind the best, which rungs were kept, their held-out score a row for each judged
        profile (rungs, profiles), and by fold what they answer there, (rungs, profiles, 8).
        """
        half = -(-len(parts) // 2)
        first = self._answers(parts[:half], np.arange(len(self.ladder)), 0)
        scores = self._scores(first, parts[:half])
        behind = (scores.sum(axis=1).max() - scores.sum(axis=1)) / scores.shape[1]
        kept = hopeful(scores)
        answers = [of_fold[kept] for of_fold in first]
        if half < len(parts):
            second = self._answers(parts[half:], kept, 1)
            scores = scores[kept] + self._scores(second, parts[half:])
            behind[kept] = (scores.sum(axis=1).max() - scores.sum(axis=1)) / scores.shape[1]
            answers += second
        else:
            scores = scores[kept]
        return behind, kept, scores, answers

    def _answers(self, parts: Sequence[FloatArray], rungs: npt.NDArray[np.intp], stage: int) -> list[FloatArray]:
        """By fold, what each rung answers at the judged profiles when it did not see the fold, (rungs, profiles, 8)."""
        pairs = [(fold, rung) for fold in range(len(parts)) for rung in rungs]
        trained = self._train([self.counts - fold for fold in parts], pairs, stage)
        each = np.stack([shares(network, self.inputs[self.judged]) for network in trained]).astype(np.float64)
        return list(each.reshape(len(parts), len(rungs), *each.shape[1:]))

    def _scores(self, answers: Sequence[FloatArray], parts: Sequence[FloatArray]) -> FloatArray:
        """Log-likelihood of held-out rows over the profile's rows, (rungs, profiles)."""
        rows = self.counts[self.judged].sum(axis=1)
        found = [log_likelihood(of_fold, fold[self.judged]) for of_fold, fold in zip(answers, parts, strict=True)]
        return np.asarray(np.sum(found, axis=0) / rows)

    def _train(self, sources: Sequence[FloatArray], pairs: Sequence[tuple[int, int]], stage: int) -> list[Layers]:
        """One network for each pair of a source of counts and a rung."""
        from pnsight.models.response_training import Member, train_members

        members = [Member(self.ladder[rung], source, int(self.rng.integers(2**31))) for source, rung in pairs]
        return train_members(self.inputs, sources, members, part(self.progress, stage, len(STAGES), STAGES[stage]))

    def _trained(
        self, weights: FloatArray, sources: Sequence[FloatArray], stage: int
    ) -> tuple[list[Layers], npt.NDArray[np.intp]]:
        """One network for each of the counts given, with rungs in proportion to their weights, and those rungs."""
        rungs = self.rng.permutation(allotted(weights, len(sources)))
        return self._train(sources, list(enumerate(rungs)), stage), rungs

    def _simulated(self, networks: Sequence[Layers], strength: float) -> list[FloatArray]:
        """Counts of studies like this one that would come from a population with the estimated law.

        Unlike resampled rows, they show also how far the fit strays from a law that is known, its bias included.
        """
        centre = mean_shares(networks, self.inputs)
        law = posterior(centre, self.counts, strength) @ COUNTED_CELLS.T
        return [self._drawn(law) for _ in range(self.resamples)]

    def _drawn(self, law: FloatArray) -> FloatArray:
        """Counts of one such study; its profiles are resampled, and `law` (profiles, 8) says what happens to them."""
        tables = [
            resampled(rows, self.rng) if rows.any() else rows
            for rows in (self.counts[:, :2], self.counts[:, 2:4], self.counts[:, 4:])
        ]
        drawn = [
            self.rng.multinomial(rows.sum(axis=1).astype(np.int64), _proper(cells))
            for rows, cells in zip(tables, (law[:, :2], law[:, 2:4], law[:, 4:]), strict=True)
        ]
        return np.concatenate(drawn, axis=1).astype(np.float64)

    def _listed(
        self,
        members: Sequence[_Version],
        laws: Sequence[CovariateLaw],
        strength: float,
    ) -> ListedProfiles:
        schema, profiles = self.study.schema, self.study.profiles
        every = lattice.exact_queries(schema)
        place = lattice.exact_position(schema, profiles)
        inputs = schema.signs(every)
        types, masses = [], []
        for networks, counts in members:
            found = mean_shares(networks, inputs)
            found[place] = posterior(found[place], counts, strength)
            types.append(found)
            masses.append([self._mass(law, counts, every, place) for law in self._laws_given(laws, counts)])
        return ListedProfiles(schema, np.array(types, np.float32), np.array(masses))

    def _mass(self, law: CovariateLaw, counts: FloatArray, every: Codes, place: npt.NDArray[np.intp]) -> FloatArray:
        mass = (1 - law.seen) * law.smooth.mass(every)
        mass[place] += law.seen * law.shares
        return mass

    def _laws_given(self, laws: Sequence[CovariateLaw], counts: FloatArray) -> Sequence[CovariateLaw]:
        """Covariate laws of a simulated study."""
        if counts is self.counts:
            return laws
        tables = [rows for rows in (counts[:, :4].sum(axis=1), counts[:, 4:].sum(axis=1)) if rows.any()]
        return [
            law.given(self.study.profiles, np.sum(tables, axis=0) if law.borrowed else rows)
            for law, rows in zip(laws, tables, strict=True)
        ]

    def _counted(
        self,
        members: Sequence[_Version],
        laws: Sequence[CovariateLaw],
        strength: float,
    ) -> CountedProfiles:
        from scipy.stats import qmc

        found = mean_shares(members[0].networks, self.inputs)
        counted = [[law.shares for law in self._laws_given(laws, counts)] for _, counts in members]
        sequence = qmc.Sobol(1 + len(self.study.schema.shape), seed=self.rng)
        return CountedProfiles(
            self.study.schema,
            self.study.profiles,
            posterior(found, self.counts, strength).astype(np.float32),
            np.array(counted, np.float32),
            np.array([law.seen for law in laws]),
            [law.smooth for law in laws],
            [networks for networks, _ in members],
            sequence.random(DRAWS),
        )

    def _factor(
        self,
        members: Sequence[_Version],
        rungs: npt.NDArray[np.intp],
        strength: float,
        foretold: Sequence[FloatArray],
        held_out: Sequence[FloatArray],
    ) -> float:
        inputs = self.inputs[self.judged]
        types = [
            posterior(mean_shares(networks, inputs), counts[self.judged], strength) for networks, counts in members
        ]
        estimate, fitted, refits = types[0], np.stack(types[1 : 1 + len(rungs)]), np.stack(types[1 + len(rungs) :])
        rows = self.counts[self.judged].sum(axis=1)
        covers = subpopulations(self.study.profiles[self.judged], rows, self.rng)
        return spread_factor(estimate, fitted, rungs, refits, foretold, held_out, covers)


def _proper(cells: FloatArray) -> FloatArray:
    """Shares that add up to one to the last digit, as drawing wants."""
    cells = np.maximum(cells, 0)
    return np.asarray(cells / cells.sum(axis=1, keepdims=True))


def _refuse_empty(study: Study) -> None:
    """Without rows in both arms of the experiment nothing says what treatment does."""
    if not study.experimental.any():
        raise ModelError(
            "there is no experimental table; this model learns from one. The plug-in can answer from an observational "
            "table alone, under assume='exogenous'."
        )
    treated, control = study.experimental[:, :2].sum(), study.experimental[:, 2:].sum()
    if not treated or not control:
        lacking = "treated" if not treated else "untreated"
        raise ModelError(f"the experimental table has no {lacking} row; a trial needs both.")
    if study.observational is not None and not study.observational.any():
        raise ModelError("the observational table has no row; leave it out to learn from the experiment alone.")


def _finite(strength: float) -> float | str:
    return "infinite" if np.isinf(strength) else strength


def _infinite(strength: float | str) -> float:
    return np.inf if strength == "infinite" else float(strength)


def _explained(choices: Choices) -> str:
    tried = {
        "network": [text for text, _, _ in choices.rungs],
        "behind the best": [f"{behind:.6f}" for _, behind, _ in choices.rungs],
        "weight": [f"{weight:.1%}" for _, _, weight in choices.rungs],
    }
    lines = [
        "Networks tried, by the log-likelihood of a held-out row (each profile counts alike), and their weight:",
        aligned(tried),
        "",
        f"Shrinkage: the networks are worth {_rows(choices.strength)} of a profile's own.",
    ]
    for table, classes, seen, borrowed, _ in choices.covariates:
        kind = "independent" if classes == 1 else f"independent within {classes} latent classes"
        also = ", with the other table's rows, which help to foretell its own" if borrowed else ""
        lines.append(f"Covariates of the {table} table: {kind}; profiles as counted weigh {seen:.1%}{also}.")
    if choices.factor is not None:
        lines.append(f"Intervals: standard errors from simulated studies, times {choices.factor:.2f}.")
    return "\n".join(lines)


def _rows(strength: float) -> str:
    return "any number" if np.isinf(strength) else f"{strength:,.0f} rows"
