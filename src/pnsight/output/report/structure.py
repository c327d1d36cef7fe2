"""What a report shows of a study that is not of two arms and two outcomes: names, curves and the best arm."""

from __future__ import annotations

from dataclasses import replace

from pnsight.data.schema import Codes
from pnsight.data.study import Study
from pnsight.decisions import ArmDecisions, decide_arm
from pnsight.errors import PnsightError, join_names
from pnsight.estimands.quantities import HARM, PNS
from pnsight.output.naming import arm_names, named, outcome_names
from pnsight.output.report.data import ArmChoice, ArmChoices, Curve, OfStructure
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
