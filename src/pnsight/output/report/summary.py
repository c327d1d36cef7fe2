"""From a model to all that a report says about it, as plain data."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import date
from typing import Any

from pnsight._progress import Progress, no_progress
from pnsight._text import in_utf8
from pnsight._typing import FloatArray
from pnsight._version import __version__
from pnsight.data.labels import Labels
from pnsight.data.schema import Covariate
from pnsight.data.study import Study
from pnsight.decisions import answering_model
from pnsight.diagnostics import check
from pnsight.errors import OutputError, PnsightError, QueryError
from pnsight.estimands.estimand import Estimand, EstimandLike
from pnsight.estimands.payoffs import Payoffs, PayoffsLike
from pnsight.estimands.quantities import PNS
from pnsight.estimands.usual_question import usual_question
from pnsight.models import Model
from pnsight.models.suppression import suppress
from pnsight.notes import Note
from pnsight.output.about_answers import FEW_ROWS, people_averaged
from pnsight.output.per_hundred import PerHundred
from pnsight.output.report import sections, words
from pnsight.output.report.counts import arms_and_outcomes, table_one
from pnsight.output.report.data import Checked, Data, Described, Fitted, Part, Summary
from pnsight.output.report.date import today
from pnsight.output.report.guidelines import guidelines
from pnsight.output.report.opinion import compare_opinions
from pnsight.output.report.proof import prove
from pnsight.output.report.structure import of_structure
from pnsight.output.tables_verdict import TablesVerdict
from pnsight.wording import capitalised

TOP = 10
"""Groups that a ranking lists unless another number is asked for."""

STAGES = (
    "checking the tables",
    "asking about everyone",
    "asking about each level",
    "finding who benefits",
    "finding who is harmed",
    "finding what to ask",
    "spending a budget",
)


def summarise(
    model: Model,
    threshold: float = 0.5,
    level: float = 0.9,
    top: int = TOP,
    payoffs: PayoffsLike | None = None,
    cost: float | None = None,
    title: str | None = None,
    min_cell: int | None = None,
    progress: Progress = no_progress,
    made: date | None = None,
    quantity: EstimandLike = None,
    trial_alone: bool = False,
    cautious: bool = True,
    validate: int = 0,
    opinion: bool = False,
    **options: Any,
) -> Summary:
    """All that a report says.

    Parameters
    ----------
    model
        A fitted model.
    threshold
        Treat where the lower bound on the quantity is at least this.
    level
        Confidence of the intervals, of models that give any; an `Estimand` brings its own.
    top
        How many groups a ranking lists.
    payoffs, cost
        For a section on benefit: what treating each kind of person is worth, and what treating one person costs.
    title
        Of the report; by default it asks who responds because of the treatment.
    min_cell
        Withhold counts of people from 1 to below this, as `pnsight.suppress` does: the model is fitted again to what is
        left, unless it withholds as many already, and the report is on that.
    progress
        Told which part is at work.
    made
        The day that the report bears; by default today, or what the variable SOURCE_DATE_EPOCH says.
    quantity
        What to rank and decide on: an `Estimand`, or a quantity or its name; by default PNS, or what the model was
        fitted for if it knows nothing else.
    trial_alone
        Whether to go by the experiment alone; an `Estimand` brings its own answer.
    cautious
        Whether decisions need the whole interval of the bound to agree, where the model gives intervals; otherwise they
        go by the bounds alone.
    validate
        How often to hold out a quarter of the rows, fit to the others and compare, for a page on that; 0 for none.
    opinion
        Whether to ask for a second opinion on refined bounds, for a section beside the model's own; the model is fitted
        again without each quarter of the rows.
    options
        ``contrast``, ``horizon``, ``among``, ``assume``, ``slack`` and ``misread_outcome``, as `Estimand.parse` takes
        them; by default the last arm is compared with the first, at the last horizon.

    Returns
    -------
    The summary, which `as_plain` and `render` take.
    """
    if cost is not None and payoffs is None:
        raise QueryError(f"a cost of {cost:g} is given, but no payoffs; say what treating people is worth (payoffs=).")
    if title is not None and not in_utf8(title):
        raise OutputError(f"the title {title!r} is not in UTF-8; give one that is.")
    day, read_notes = made or today(), tuple(map(str, model.read_notes))
    protected = model if min_cell is None else suppress(model, min_cell, progress)
    estimand = _question(protected, quantity, level=level, trial_alone=trial_alone, **options)
    alone = estimand.trial_alone and protected.study.observational is not None
    shown = answering_model(protected, estimand)
    estimand = replace(estimand, trial_alone=False)
    progress(0, len(STAGES), STAGES[0])
    checked, undecided = _checked(shown)
    careful = cautious and shown.capabilities.intervals
    asked = sections.ReportRequest(shown, estimand, threshold, top, careful, decides=not undecided)

    def stage(k: int) -> sections.ReportRequest:
        progress(k, len(STAGES), STAGES[k])
        return asked

    everyone = sections.everyone(stage(1))
    levels = sections.levels(stage(2))
    best, harmed = sections.benefiting(stage(3)), sections.harmed(stage(4))
    doubts = sections.doubts(stage(5), levels)
    gains = sections.gains(stage(6), everyone[0])
    benefit = None if payoffs is None else sections.benefit(asked, Payoffs.of(payoffs), cost or 0.0)
    structure, hundred = of_structure(asked), sections.of_hundred(asked)
    progress(len(STAGES), len(STAGES), "")
    found = Summary(
        title=title
        or (
            structure.title
            if structure
            else f"Who responds because of {shown.study.labels.column(shown.study.treatment)}?"
        ),
        version=__version__,
        made=day.isoformat(),
        quantity=asked.quantity,
        threshold=threshold,
        about_threshold=words.about_threshold(threshold),
        level=estimand.level if asked.has_intervals else None,
        rule=words.rule(threshold, estimand.level if careful else None),
        cautious=careful,
        undecided=undecided,
        few_rows=FEW_ROWS,
        population=_population(shown, estimand),
        warnings=tuple(map(str, shown.warnings)),
        trial_alone=alone,
        caveats=tuple(map(str, shown.caveats)),
        data=_data(shown.study),
        model=Fitted(shown.name, shown.method, dict(shown.parameters()), shown.explain(), read_notes),
        check=checked,
        everyone=everyone,
        net=sections.net(asked),
        levels=levels,
        most_known=words.MOST_KNOWN,
        turned=sections.turned(asked, levels, best),
        best=best,
        harmed=harmed,
        doubts=doubts,
        gains=gains,
        benefit=benefit,
        bounds=(words.BOUNDS_OF_TYPES if structure else words.BOUNDS, *_from_the_experiment(shown, alone)),
        assumed=words.assumed(shown.structure),
        citations=words.CITATIONS,
        hundred=hundred,
        first=_first(hundred),
        structure=structure,
        counts=arms_and_outcomes(shown.study),
        table_one=table_one(shown.study),
        events=asked.events,
        usual_care=sections.usual_care(asked, everyone[0]),
        thresholds=sections.thresholds(asked),
        size=sections.study_size(asked),
        assuming=words.assuming(estimand),
        proof=prove(shown, estimand.quantity.name, estimand.level, validate, progress) if validate else None,
        opinion=compare_opinions(asked, progress) if opinion else None,
    )
    return replace(found, guidelines=guidelines(found))


def as_plain(summary: Summary) -> dict[str, Any]:
    """The summary as dictionaries and lists: what ``--format json`` writes."""
    return asdict(summary)


def _first(hundred: PerHundred | None) -> tuple[str, ...]:
    """The sentences that a report begins with."""
    if hundred is None:
        return ()
    chance = () if hundred.chance is None else (f"{capitalised(str(hundred.chance))}.",)
    return (hundred.sentence, *chance)


def default_quantity(model: Model) -> str:
    """What a report on the model ranks and decides on: PNS, unless the model knows another quantity only."""
    return PNS.name if model.capabilities.law else model.quantity


def _question(model: Model, quantity: EstimandLike, **options: Any) -> Estimand:
    """What the report ranks and decides on, of arms and at a horizon that are usual unless they are given."""
    wanted = Estimand.parse(quantity or default_quantity(model), **options)
    return model.estimand(usual_question(model.structure, wanted))


def _data(study: Study) -> Data:
    rows = study.table_rows if study.partly_observed else (study.experimental.sum(), _sum(study.observational))
    return Data(
        experimental_rows=float(rows[0]),
        observational_rows=None if study.observational is None else float(rows[1]),
        profiles=len(study.profiles),
        treatment=study.labels.column(study.treatment),
        treated=study.labels.value(study.treatment, study.treated),
        outcome=study.labels.column(study.outcome),
        success=study.labels.value(study.outcome, study.success),
        covariates=tuple(_described(covariate, study.labels) for covariate in study.schema.covariates),
        dropped={str(reason): rows for reason, rows in study.dropped.items()},
        ignored=study.ignored,
        notes=tuple(map(str, study.notes)),
        withheld="" if study.withheld is None else str(study.withheld.notes[0]),
        sources={source.table: words.source(source) for source in study.sources},
    )


def _sum(counts: FloatArray | None) -> float:
    return 0.0 if counts is None else float(counts.sum())


def _described(covariate: Covariate, labels: Labels) -> Described:
    levels = tuple(labels.value(covariate.name, level) for level in covariate.levels)
    return Described(labels.column(covariate.name), levels, covariate.edges, covariate.rare_levels)


def _from_the_experiment(model: Model, not_used: bool) -> tuple[str, ...]:
    """What follows where the experiment answers alone, because there is no other table or it is not used."""
    if model.study.observational is not None:
        return ()
    return (words.NOT_USED if not_used else words.EXPERIMENT_ALONE,)


def _population(model: Model, estimand: Estimand) -> str:
    """Whom answers are about, in words; nothing where they are about complete profiles only."""
    people = people_averaged(model, estimand)
    return "" if people is None else str(Note("people_averaged", {"population": people}))


def _checked(model: Model) -> tuple[Checked, str]:
    """What was found about the tables, and why nothing is decided from them if nothing is."""
    try:
        found = check(model.study)
    except PnsightError as error:
        verdict = TablesVerdict(refused=str(error))
        return Checked(False, verdict.words, verdict.reasons, (), verdict.refused), verdict.undecided
    withheld = model.study.withheld is not None
    verdict = TablesVerdict.of_model(model) if withheld else TablesVerdict.of_check(found)
    summary = verdict.reasons
    if withheld:
        summary += " Small counts were taken out before, which can make tables look different that are not."
    parts = tuple(Part(name, part.status, part.text) for name, part in found.verdicts.items())
    return Checked(not verdict.failed, verdict.words, summary, parts, ""), verdict.undecided
