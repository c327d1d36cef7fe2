"""What the JSON interface answers, as plain data: computed where there is room for it, in a worker or not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pnsight._text import as_records
from pnsight._version import __version__
from pnsight.data.schema import Covariate
from pnsight.decisions import Questions, threshold_curve
from pnsight.decisions import ask as ask_model
from pnsight.decisions import policies as compare_policies
from pnsight.decisions import select as select_people
from pnsight.decisions import tip as tip_model
from pnsight.decisions.planning import size as study_size
from pnsight.decisions.second_opinion import second_opinion
from pnsight.decisions.validation import validate as validate_model
from pnsight.estimands.estimand import Estimand
from pnsight.notes import Note, sentences
from pnsight.output import opinion_words
from pnsight.output.about_answers import people_averaged
from pnsight.queries.query import decode, encode
from pnsight.web.api_fields import (
    AskAddress,
    Asked,
    AskRequest,
    Decided,
    OpinionAddress,
    OpinionRequest,
    PoliciesAsked,
    RankRequest,
    SelectRequest,
    SizeRequest,
    ThresholdsRequest,
    TipAddress,
    TipRequest,
    ValidateRequest,
)
from pnsight.web.api_structures import decide_arms, described
from pnsight.web.explorer import Explorer


def model(explorer: Explorer) -> dict[str, Any]:
    """What the model is, and the study behind it."""
    model, study = explorer.model, explorer.model.study
    experimental, observational = study.table_rows
    return {
        "model": model.name,
        "pnsight_version": __version__,
        "quantity": model.quantity,
        "quantities": [name for name in explorer.ability.quantities if name not in explorer.ability.refused],
        "intervals": explorer.ability.intervals,
        "treatment": study.treatment,
        "outcome": study.outcome,
        "structure": described(model.structure),
        "rows_experimental": experimental,
        "rows_observational": None if study.observational is None else observational,
        "covariates": [
            {"name": each.name, "levels": list(each.levels), "numbers": _numbers(each)}
            for each in study.schema.covariates
        ],
        "warnings": sentences(model.warnings),
        "notes": sentences([*study.notes, *model.caveats]),
        "verdict": explorer.verdict.words,
    }


def _numbers(covariate: Covariate) -> dict[str, Any] | None:
    """What numbers of a covariate were seen; None where it has levels."""
    number = covariate.number
    if number is None:
        return None
    low, high = (number.number_text(end) for end in (number.low, number.high))
    return {"low": low, "high": high, "whole": number.whole, "origin": number.origin}


def _about(explorer: Explorer, estimand: Estimand, notes: Sequence[Note]) -> dict[str, Any]:
    """Whose people answers are about, what to be warned of, and the notes that are no warnings of the model."""
    warnings = explorer.answering(estimand).warnings
    return {
        "population": people_averaged(explorer.model, estimand),
        "warnings": sentences(warnings),
        "notes": sentences([note for note in notes if note not in warnings]),
    }


def bounds(explorer: Explorer, queries: list[Any], asked: Asked) -> dict[str, Any]:
    """Bounds, one a query."""
    estimand = asked.estimand(explorer.model)
    found = explorer.bounds(encode(explorer.schema, queries), estimand)
    return {
        **_about(explorer, estimand, found.notes),
        "quantity": found.quantity,
        "level": found.level,
        "answers": as_records(found.columns()),
    }


def decide(explorer: Explorer, queries: list[Any], asked: Decided) -> dict[str, Any]:
    """Decisions, one a query."""
    found, estimand, answers = decide_arms(explorer, encode(explorer.schema, queries), asked)
    return {
        **_about(explorer, estimand, found.notes),
        "quantity": answers.quantity,
        "level": answers.level,
        "threshold": found.threshold,
        "cautious": found.cautious,
        "decisions": as_records(found.columns()),
    }


def tip(explorer: Explorer, queries: list[Any], asked: TipRequest | TipAddress) -> dict[str, Any]:
    """Tipping points, one a query."""
    estimand = asked.estimand(explorer.model)
    codes = encode(explorer.schema, queries)
    rule = asked.threshold, asked.cautious
    found = tip_model(explorer.model, codes, *rule, estimand, asked.extrapolate, asked.along)
    said = [str(found.sentence(row)) for row in range(len(found))]
    return {
        **_about(explorer, estimand, found.notes),
        "quantity": found.decisions.answers.quantity,
        "level": found.decisions.answers.level,
        "threshold": found.decisions.threshold,
        "cautious": found.decisions.cautious,
        "along": str(found.along),
        "tips": as_records({**found.columns(), "words": said}),
    }


def policies(explorer: Explorer, queries: list[Any], asked: PoliciesAsked) -> dict[str, Any]:
    """What each policy brings."""
    model = explorer.model
    found = compare_policies(model, encode(explorer.schema, queries), asked.level, asked.population)
    return {
        **_about(explorer, model.estimand(level=asked.level, population=asked.population), found.notes),
        "level": found.level,
        "policies": as_records(found.columns()),
    }


def opinion(explorer: Explorer, queries: list[Any] | None, asked: OpinionRequest | OpinionAddress) -> dict[str, Any]:
    """Refined bounds that hold whatever the model, beside the model's own."""
    model, estimand = explorer.model, asked.estimand(explorer.model)
    found = second_opinion(model, None if queries is None else encode(model.schema, queries), estimand, asked.folds)
    return {
        **_about(explorer, estimand, found.notes),
        "quantity": found.quantity,
        "level": found.level,
        "verdict": opinion_words.verdict(found, opinion_words.group_names(model.study, found)),
        "opinions": as_records(found.columns()),
    }


def thresholds(explorer: Explorer, asked: ThresholdsRequest) -> dict[str, Any]:
    """Who is treated at each threshold."""
    estimand = asked.estimand(explorer.model)
    query = decode(explorer.schema, encode(explorer.schema, [asked.query])[0])
    found = threshold_curve(explorer.model, str(query), asked.thresholds, estimand)
    return {
        **_about(explorer, estimand, found.notes),
        "quantity": found.quantity,
        "level": found.level,
        "thresholds": as_records(found.columns()),
    }


def select(explorer: Explorer, asked: SelectRequest) -> dict[str, Any]:
    """Whom to treat with a budget."""
    estimand = asked.estimand(explorer.model)
    how = {name: getattr(asked, name) for name in ("people", "cost", "by", "cautious", "max_harm", "max_harm_each")}
    found = select_people(explorer.model, asked.budget, quantity=estimand, **how)
    return {
        **_about(explorer, estimand, found.notes),
        "quantity": found.answers.quantity,
        "totals": {name: None if math.isnan(value) else value for name, value in found.totals().items()},
        "harmed_at_most": None if found.harm is None else found.harmed_share(),
        "selected": as_records(found.columns()),
    }


def validate(explorer: Explorer, asked: ValidateRequest) -> dict[str, Any]:
    """What rows held out say about the model."""
    model, how = explorer.model, {name: getattr(asked, name) for name in ("splits", "held_out", "quantity", "level")}
    found = validate_model(model.study, model.unfitted(), subgroups=asked.subgroups, **how)
    return {
        "splits": found.splits,
        "held_out": found.held_out,
        "level": found.level,
        "notes": sentences(found.notes),
        "measures": as_records(found.columns()),
        "calibration": as_records(found.calibration),
    }


def size(explorer: Explorer, asked: SizeRequest) -> dict[str, Any]:
    """How many rows a study needs, by what the model knows."""
    names = ("margin", "level", "quantity", "subgroups", "simultaneous", "assignment", "ratio")
    query = decode(explorer.schema, encode(explorer.schema, [asked.query])[0])
    found = study_size(pilot=explorer.model, query=str(query), **{name: getattr(asked, name) for name in names})
    return {
        "quantity": found.quantity,
        "margin": found.margin,
        "level": found.level,
        "notes": sentences(found.notes),
        "sizes": as_records(found.columns()),
    }


def ask(explorer: Explorer, asked: AskRequest | AskAddress) -> dict[str, Any]:
    """What knowing one more covariate would change."""
    model = explorer.model
    estimand = asked.estimand(model)
    found: Questions = ask_model(model, asked.query, asked.threshold, asked.cautious, estimand, asked.extrapolate)
    return {
        **_about(explorer, estimand, found.now.notes),
        "threshold": found.now.threshold,
        "cautious": found.now.cautious,
        "advice": str(found.advice),
        "now": as_records(found.now.columns())[0],
        "questions": as_records(found.columns()),
        "levels": as_records(found.by_level()),
    }


def rank(explorer: Explorer, asked: RankRequest) -> dict[str, Any]:
    """The groups that stand out."""
    limits = {name: getattr(asked, name) for name in ("margin", "least_share", "least_support")}
    estimand = asked.estimand(explorer.model)
    found = explorer.ranking(asked.by, estimand, asked.top, **limits)
    return {
        **_about(explorer, estimand, found.notes),
        "quantity": found.answers.quantity,
        "by": found.by,
        "overestimated": found.overestimated,
        "groups": as_records(found.columns()),
    }
