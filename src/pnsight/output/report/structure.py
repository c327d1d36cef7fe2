"""What a report shows of a study that is not of two arms and two outcomes: names, counts, curves and the best arm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from pnsight._text import count_text
from pnsight.data.noncompliance import KIND as NONCOMPLIANCE
from pnsight.data.schema import Codes
from pnsight.data.structure import EXPERIMENTAL, OBSERVATIONAL, Structure
from pnsight.data.structures import outcome_codes, places
from pnsight.data.study import Study
from pnsight.decisions import ArmDecisions, decide_arm
from pnsight.errors import PnsightError, join_names
from pnsight.estimands.quantities import HARM, PNS
from pnsight.output.naming import arm_names, named, outcome_names
from pnsight.output.report.data import ArmChoice, ArmChoices, Counts, Curve, OfStructure
from pnsight.output.report.sections import ReportRequest, one_level_each
from pnsight.queries.bound_table import plain_numbers
from pnsight.queries.query import decode
from pnsight.wording import capitalised

MOST_GROUPS = 20
"""Groups for which the best arm is told."""


def of_structure(asked: ReportRequest) -> OfStructure | None:
    """What the report says in the names of the study; None with two arms and two outcomes."""
    study, estimand = asked.model.study, asked.estimand
    if study.structure.is_two_by_two:
        return None
    arm, other = arm_names(study, estimand)
    outcome = outcome_names(study, estimand)
    return OfStructure(
        title=f"For whom does {arm} make the difference?",
        lead=_lead(study, arm, other),
        treat=f"{capitalised(arm)} for everyone?",
        facts=_facts(study),
        harm=outcome.better.format(other, arm),
        gain=outcome.better.format(arm, other),
        counts=tuple(_counts(study)),
        curves=_curves(asked),
        arms=_arms(asked),
    )


def _lead(study: Study, arm: str, other: str) -> str:
    described = study.structure.description
    compared = f"{capitalised(arm)} is compared with {other}: to treat means {arm} in place of {other}."
    if described.horizons:
        kind = "bad" if described.event_is_bad else "good"
        return f"{compared} The outcome is the time to an event, {study.outcome}; the event is {kind}."
    order = ", from the lowest to the highest" if described.ordered and len(described.outcomes) > 2 else ""
    return f"{compared} The outcome, {study.outcome}, is {join_names(described.outcomes)}{order}."


def _facts(study: Study) -> tuple[tuple[str, str], ...]:
    described = study.structure.description
    untried = [arm for arm in described.arms if arm not in described.tried]
    arms = f"{study.treatment}: {join_names(described.arms)}" + (
        f"; not tried: {join_names(untried)}" if untried else ""
    )
    if described.horizons:
        horizons = join_names(f"{each:g}" for each in described.horizons)
        return (("Treatment", arms), ("Outcome", f"{study.outcome} until the event"), ("Horizons", horizons))
    order = "" if described.ordered or len(described.outcomes) == 2 else ", without order"
    return (("Treatment", arms), ("Outcome", f"{study.outcome}: {join_names(described.outcomes)}{order}"))


def _counts(study: Study) -> list[Counts]:
    """Rows by arm and outcome, of each table."""
    tables = [(EXPERIMENTAL, "The experiment"), (OBSERVATIONAL, "The observational table")]
    return [_counted(study, table, caption) for table, caption in tables if table in study.structure.tables]


def _counted(study: Study, table: str, caption: str) -> Counts:
    structure, described = study.structure, study.structure.description
    rows = study.cell_rows[0, structure.all_columns_of(table)]
    where = places(structure, table)
    found = np.where(where >= 0, rows[np.maximum(where, 0)], 0.0)
    assigned = described.kind == NONCOMPLIANCE and table == EXPERIMENTAL
    names = (
        [(z, d) for z in described.tried for d in described.arms] if assigned else [(arm,) for arm in described.arms]
    )
    if assigned:
        found = np.concatenate([found[described.arms.index(z)] for z in described.tried])
    heads, cells = _columns(structure, found)
    first = ("Assigned", f"Took ({study.treatment})") if assigned else (study.treatment,)
    shown = [(*name, *map(count_text, row)) for name, row in zip(names, cells, strict=True) if sum(row) > 0]
    return Counts(
        f"{caption}: rows by {'arm assigned, ' if assigned else ''}arm and outcome", first, heads, tuple(shown)
    )


def _columns(structure: Structure, found: np.ndarray) -> tuple[tuple[str, ...], list[Sequence[float]]]:
    """Heads and numbers: outcomes one by one, then all that is known less of; of times, events and the censored."""
    described = structure.description
    known = len(described.outcomes)
    heads = list(described.outcomes)
    if described.horizons:
        ends = [f"{each:g}" for each in (0, *described.horizons)]
        heads = [f"event {begin} to {end}" for begin, end in pairwise(ends)] + [f"no event by {ends[-1]}"]
    cells = found[:, :known]
    if len(outcome_codes(described)) > known:
        heads.append("censored before" if described.horizons else "not known")
        everyone = found.sum(axis=1)
        if described.horizons:  # who was censored within an interval counts in part as followed through it
            cells, everyone = np.round(cells), np.round(everyone)
        cells = np.column_stack([cells, everyone - cells.sum(axis=1)])
    return (*heads, "all"), [[*row, float(sum(row))] for row in cells.tolist()]


def _curves(asked: ReportRequest) -> tuple[Curve, ...]:
    """PNS and harm at each horizon, for everyone; none where outcomes are no times."""
    horizons = asked.model.structure.description.horizons
    found = []
    for quantity in (PNS, HARM) if horizons else ():
        estimand = asked.estimand.of_quantity(quantity)
        try:
            tables = [asked.model.bounds("", replace(estimand, horizon=each)) for each in horizons]
        except PnsightError:
            return ()
        ends = {name: [table.columns()[name][0] for table in tables] for name in Curve.ENDS}
        name = named(quantity, asked.model.study, estimand)
        found.append(Curve(quantity.name, name.label, horizons, **{k: tuple(v) for k, v in ends.items()}))
    return tuple(found)


def _arms(asked: ReportRequest) -> ArmChoices | None:
    """The best arm for everyone and each level by itself; None with two arms."""
    described = asked.model.structure.description
    if len(described.arms) < 3 or not asked.decides:
        return None
    codes: Codes = one_level_each(asked.model.schema)[: MOST_GROUPS + 1]
    try:
        found = decide_arm(asked.model, codes, asked.estimand, asked.threshold, asked.cautious)
    except PnsightError as error:
        return ArmChoices(refused=str(error))
    return ArmChoices(described.arms[0], tuple(_choice(asked, codes, found, row) for row in range(len(codes))))


def _choice(asked: ReportRequest, codes: Codes, found: ArmDecisions, row: int) -> ArmChoice:
    bounds = tuple(
        (arm, plain_numbers(table.lower[row : row + 1])[0], plain_numbers(table.upper[row : row + 1])[0])
        for arm, table in found.answers.items()
    )
    decision = str(found.decision[row]).removeprefix("arm:")
    return ArmChoice(
        asked.model.study.labels.words(decode(asked.model.schema, codes[row]).fixed),
        decision,
        found.between[row],
        bounds,
    )
