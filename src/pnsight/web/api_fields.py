"""What programs send and get: the fields of the JSON interface, named as the columns of the command line."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    FailFast,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    field_validator,
    model_validator,
)
from pydantic_core import CoreSchema, PydanticCustomError, PydanticKnownError, core_schema

from pnsight.data.study import Population
from pnsight.decisions.ranking import By
from pnsight.decisions.selection import Gain
from pnsight.decisions.validation import MIN_HELD_OUT
from pnsight.errors import AssumptionError
from pnsight.estimands.assumptions import ASSUMPTIONS, GRADED, read_assumptions
from pnsight.estimands.estimand import DEFAULT_LEVEL, Among, Estimand, Refine
from pnsight.estimands.payoffs import MAX_PAYOFF
from pnsight.estimands.quantities import DIFFERENCES, QUANTITIES
from pnsight.models import Model
from pnsight.web.limits import MOST_TEXT

MOST_QUERIES = 1000
"""Queries that one request may ask about."""


@dataclass(frozen=True, eq=False)
class KeyOf:
    """Annotation of a text that is a key of a table: one of those that it has when a request comes."""

    table: Mapping[str, Any]

    def check(self, name: str) -> str:
        """The name; refused as pydantic refuses a literal that is not one of its own."""
        if name not in self.table:
            *others, last = map(repr, self.table)
            raise PydanticKnownError("literal_error", {"expected": f"{', '.join(others)} or {last}"})
        return name

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(schema), "enum": list(self.table)}


Number = Annotated[float, Field(ge=-MAX_PAYOFF, le=MAX_PAYOFF, allow_inf_nan=False)]
Amount = Annotated[float, Field(ge=0, le=MAX_PAYOFF, allow_inf_nan=False)]
Level = Annotated[str, Field(max_length=MOST_TEXT)] | int | float | bool | None
QuantityName = Annotated[str, KeyOf(ChainMap(DIFFERENCES, QUANTITIES))]


@dataclass(frozen=True, eq=False)
class _AssumptionText(KeyOf):
    """Annotation of an assumption: one of those that there are, or one that says how much."""

    def check(self, name: str) -> str:
        """The name; of one that says how much, refused with the reason."""
        if name in self.table or not any(name.startswith(kind) for kind in GRADED):
            return super().check(name)
        try:
            read_assumptions(name)
        except AssumptionError as error:
            raise PydanticCustomError("assumption", "{reason}", {"reason": str(error)}) from None
        return name

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        graded = [f"{kind}{sign}AMOUNT" for kind, (sign, _, _) in GRADED.items()]
        return {**handler(schema), "examples": [*self.table, *graded]}


AssumptionName = Annotated[str, Field(max_length=MOST_TEXT), _AssumptionText(ASSUMPTIONS)]
QueryText = Annotated[str, Field(max_length=MOST_TEXT)]
CovariateName = Annotated[str, Field(max_length=MOST_TEXT)]
SlackText = Annotated[str, Field(max_length=MOST_TEXT)] | Annotated[float, Field(ge=0, le=1)]
QueryGiven = QueryText | Annotated[dict[CovariateName, Level], Field(max_length=MOST_QUERIES)]

_QUERY = "name=level,name=level with the rest open, or one character a covariate; empty for everyone"


class Quantified(BaseModel):
    """What to bound, of whom: options that every question about bounds has."""

    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _no_more_fields_than_there_are(cls, given: Any) -> Any:
        """Refuse a heap of unknown fields in one sentence: one for each would take the server seconds to write."""
        known = len(cls.model_fields)
        if isinstance(given, Mapping) and len(given) > 2 * known:
            raise PydanticCustomError("too_many_fields", f"{len(given):,} fields are given, and there are {known}")
        return given

    quantity: QuantityName | None = Field(None, description="what to bound; by default what the model was fitted for")
    level: float = Field(DEFAULT_LEVEL, gt=0, lt=1, description="confidence of the intervals")
    payoffs: list[Number] | None = Field(
        None,
        min_length=4,
        max_length=4,
        description="of the benefit: what treating a complier, an always-taker, a never-taker and a defier is worth",
    )
    population: Population | None = Field(
        None, description="whose people an open covariate is averaged over; response-type models only"
    )
    trial_alone: bool = Field(
        False, description="answer from the experiment alone, about its people, without the observational table"
    )
    contrast: QueryText | None = Field(
        None, description="which arm is compared with which, as high:placebo; needed with more arms than two"
    )
    statement: QueryText | None = Field(
        None, description="in place of a quantity: the share of whom a statement holds, as Y[high] >= mild"
    )
    given: QueryText | None = Field(None, description="with a statement: among whom, as X == placebo and Y == none")
    horizon: Amount | None = Field(None, description="of times to an event: when to look, one of the horizons")
    among: Among = Field("everyone", description="of everyone, or of compliers, who take either arm as assigned")
    slack: SlackText | None = Field(
        None,
        description="by how much P(y_x) of the people asked about may differ from the trial's: 0.05, +0.05, -0.05, or "
        "treated=0.05,control=0.02",
    )
    misread_outcome: float = Field(
        0.0, ge=0, le=1, description="share of the outcomes of each arm and table that may be recorded wrongly"
    )

    def arguments(self) -> dict[str, Any]:
        """What `Estimand.parse` and `Model.estimand` take."""
        named = [each.name for each in fields(Estimand) if each.name in type(self).model_fields]
        return {name: getattr(self, name) for name in (*named, "statement", "given")}

    def estimand(self, model: Model) -> Estimand:
        """What is asked of a model."""
        return model.estimand(**self.arguments())


class Asked(Quantified):
    """How to ask: as the options of `pnsight query`."""

    simultaneous: bool = Field(False, description="whether all intervals of an answer are to hold together")
    median_unbiased: bool = Field(False, description="whether ends are corrected for being largest and smallest terms")
    assume: list[AssumptionName] = Field(
        [],
        max_length=len(ASSUMPTIONS) + len(GRADED),
        description="assumptions, such as monotone or harm<=0.05; refused where contradicted",
    )
    refine: Refine = Field("none", description="whether to bound profiles before averaging them")


class Ruled(Asked):
    """How to decide: as the options of `pnsight decide`."""

    threshold: Number | None = Field(
        None,
        description="treat where the quantity is at least this, from 0 to 1: by default 0.5, and for benefit 0",
    )
    cautious: bool = Field(
        False,
        description="let decision be the cautious one too: only where the whole interval of the deciding bound agrees",
    )
    extrapolate: bool = Field(
        False, description="decide also where the answer is extrapolated: nobody like this was seen"
    )


class Decided(Ruled):
    """How to decide, where it may also be left to people."""

    leave: bool = Field(
        False,
        description="treat, do not, or leave it to them, by which has most respond; the threshold is then by how many "
        "more must respond than under usual care, by default any",
    )


class Many(BaseModel):
    """Queries to ask about."""

    queries: Annotated[list[QueryGiven], FailFast()] = Field(
        [""],
        max_length=MOST_QUERIES,
        description=f"each as text ({_QUERY}) or as an object from covariate to level",
    )


class One(BaseModel):
    """The query to ask about."""

    query: QueryGiven = Field("", description=f"{_QUERY}; or an object from covariate to level")


class BoundsRequest(Many, Asked):
    """What to bound, for whom."""


class DecideRequest(Many, Decided):
    """What to decide, for whom."""


class _Along(BaseModel):
    along: QueryText = Field("1", description="what slack of 1 means: 1, treated=1, +1 or treated=1,control=0.5")


class TipRequest(_Along, DecideRequest):
    """Whose decisions tip, and along which slack."""

    model_config = DecideRequest.model_config


class AskRequest(One, Ruled):
    """About whom to ask."""


class RankRequest(Asked):
    """Which groups to list: as the options of `pnsight rank`."""

    top: int = Field(20, ge=1, le=1000, description="how many to list")
    by: By = Field("lower", description="the lower bound, the upper bound, or the lower bound on benefit or harm")
    margin: Amount = Field(0.01, description="by how much one must exceed every more general one")
    least_share: float = Field(0.01, ge=0, le=1, description="share of the people that one must have")
    least_support: Amount = Field(100, description="rows in each table that one must have")

    def estimand(self, model: Model) -> Estimand:
        """What groups are ranked by: where that is a quantity, it need not be named twice."""
        named = self.by if self.quantity is None and self.by in QUANTITIES else self.quantity
        return Asked.estimand(self.model_copy(update={"quantity": named}), model)


class PoliciesAsked(BaseModel):
    """How to compare policies: as the options of `pnsight policies`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    level: float = Field(DEFAULT_LEVEL, gt=0, lt=1, description="confidence of the intervals")
    population: Population | None = Field(
        None, description="whose people are meant; response-type models only, by default as the model was fitted"
    )


MOST_COMPARED = 20
"""Queries for which one request may compare policies, as each goes through all profiles."""


class PoliciesRequest(PoliciesAsked):
    """For whom to compare policies."""

    queries: Annotated[list[QueryGiven], FailFast()] = Field(
        [""], max_length=MOST_COMPARED, description=f"each as text ({_QUERY}) or as an object from covariate to level"
    )


class OpinionAsked(Quantified):
    """How to ask for a second opinion: as the options of `pnsight opinion`."""

    folds: int = Field(4, ge=2, le=10, description="parts of the rows that are left out in turn, a fit for each")


class OpinionRequest(OpinionAsked):
    """On whom to have a second opinion."""

    queries: list[QueryGiven] | None = Field(
        None,
        min_length=1,
        max_length=MOST_COMPARED,
        description=f"each as text ({_QUERY}) or as an object from covariate to level; by default everyone, and each "
        "level with rows enough",
    )


class ThresholdsRequest(One, Asked):
    """For whom and at which thresholds to say how many are treated."""

    thresholds: list[Number] | None = Field(
        None, max_length=MOST_QUERIES, description="what the quantity must reach; by default evenly spaced"
    )


class SelectRequest(Asked):
    """Whom to treat with a budget: as the options of `pnsight select`."""

    budget: Amount = Field(description="how many can be treated: a share of the population, or a number with people")
    people: Amount | None = Field(None, description="how many people the population has")
    cost: Amount | None = Field(None, description="what treating one person costs")
    by: Gain = Field("guaranteed", description="spend for the lower bound, the net effect, or the upper bound")
    cautious: bool = Field(False, description="go by the far ends of the bounds' intervals")
    max_harm: float | None = Field(
        None, ge=0, le=1, description="share of all who are treated that may be harmed: the upper bound among them"
    )
    max_harm_each: float | None = Field(None, ge=0, le=1, description="the same for those of each profile by itself")


class ValidateRequest(BaseModel):
    """How to hold rows out: as the options of `pnsight validate`, of the model served and its rows."""

    model_config = ConfigDict(extra="forbid", strict=True)

    splits: int = Field(2, ge=1, le=10, description="how often rows are held out, a fit for each")
    held_out: float = Field(0.25, ge=MIN_HELD_OUT, le=0.5, description="share of the rows held out each time")
    subgroups: list[QueryGiven] = Field(
        [], max_length=MOST_COMPARED, description="groups whose calibration is told, beside everyone's"
    )
    quantity: QuantityName = Field("pns", description="whose bounds are compared")
    level: float = Field(DEFAULT_LEVEL, gt=0, lt=1, description="confidence of the intervals")


class SizeRequest(One):
    """How large a study is to be: as the options of `pnsight size`, with the model served as the pilot."""

    model_config = ConfigDict(extra="forbid", strict=True)

    margin: float = Field(ge=1e-6, lt=1, description="half-width that intervals may have")
    level: float = Field(0.95, gt=0, lt=1, description="confidence of the intervals")
    quantity: QuantityName = Field("pns", description="what is to be bounded")
    subgroups: int = Field(
        1, ge=1, le=1_000_000, description="groups, equally large, that are each to be known so well"
    )
    simultaneous: bool = Field(False, description="whether the intervals of all subgroups are to hold together")
    assignment: float = Field(0.5, ge=0.001, le=0.999, description="share of the experiment that is treated")
    ratio: float = Field(1.0, ge=0.001, le=1000, description="observational rows for each experimental row")


class _InAnAddress(BaseModel):
    """The same in an address, where all is text and a list may be written with commas."""

    model_config = ConfigDict(extra="forbid", strict=False)

    @field_validator("payoffs", "assume", mode="before", check_fields=False)
    @classmethod
    def _split(cls, value: Any) -> Any:
        one = value[0] if isinstance(value, list) and len(value) == 1 else value
        return [part for part in one.split(",") if part.strip()] if isinstance(one, str) else value


class _ManyTexts(BaseModel):
    query: Annotated[list[QueryText], FailFast()] = Field(
        [""], max_length=MOST_QUERIES, description=f"{_QUERY}; may be repeated"
    )


class _OneText(BaseModel):
    query: QueryText = Field("", description=_QUERY)


class BoundsAddress(_InAnAddress, _ManyTexts, Asked):
    """`BoundsRequest` in an address."""

    model_config = _InAnAddress.model_config


class DecideAddress(_InAnAddress, _ManyTexts, Decided):
    """`DecideRequest` in an address."""

    model_config = _InAnAddress.model_config


class TipAddress(_InAnAddress, _ManyTexts, _Along, Ruled):
    """`TipRequest` in an address."""

    model_config = _InAnAddress.model_config


class AskAddress(_InAnAddress, _OneText, Ruled):
    """`AskRequest` in an address."""

    model_config = _InAnAddress.model_config


class PoliciesAddress(PoliciesAsked):
    """`PoliciesRequest` in an address."""

    model_config = _InAnAddress.model_config

    query: Annotated[list[QueryText], FailFast()] = Field(
        [""], max_length=MOST_COMPARED, description=f"{_QUERY}; may be repeated"
    )


class OpinionAddress(_InAnAddress, OpinionAsked):
    """`OpinionRequest` in an address."""

    model_config = _InAnAddress.model_config

    query: list[QueryText] | None = Field(
        None, min_length=1, max_length=MOST_COMPARED, description=f"{_QUERY}; may be repeated"
    )


class RankAddress(_InAnAddress, RankRequest):
    """`RankRequest` in an address."""

    model_config = _InAnAddress.model_config


Status = Literal["ok", "incoherent", "undefined", "crossed", "contradicted"]
Decision = Literal["treat", "not", "uncertain", ""]


# --- answers --------------------------------------------------------------------------------------------


class Error(BaseModel):
    """What is wrong, and what to do."""

    error: str


class NumberFields(BaseModel):
    """Numbers of a covariate that were seen, as a query writes them; dates count days since an origin."""

    low: str
    high: str
    whole: bool
    origin: str | None


class CovariateFields(BaseModel):
    """A covariate, and the levels it can have; of numbers, groups of them, and the numbers seen."""

    name: str
    levels: list[str]
    numbers: NumberFields | None


class StructureFields(BaseModel):
    """What a study can show: arms, the reference first, and outcomes, the lowest first; of times, the horizons."""

    kind: str
    arms: list[str]
    outcomes: list[str]
    ordered: bool
    tried: list[str]
    horizons: list[float]
    event_is_bad: bool | None


class ModelFields(BaseModel):
    """The model, and the study behind it."""

    model: str
    pnsight_version: str
    quantity: str
    quantities: list[str]
    intervals: bool
    treatment: str
    outcome: str
    structure: StructureFields
    rows_experimental: float
    rows_observational: float | None
    covariates: list[CovariateFields]
    verdict: Literal["usable", "usable with warnings", "not usable", "not checked"]
    warnings: list[str]
    notes: list[str]


class AnswerFields(BaseModel):
    """Bounds of one query."""

    query: str
    lower: float | None
    upper: float | None
    lower_low: float | None
    lower_high: float | None
    upper_low: float | None
    upper_high: float | None
    support_experimental: float
    support_observational: float
    status: Status
    basis: Literal["rows", "model", "extrapolated", ""]
    value_low: float | None
    value_high: float | None
    trial_lower: float | None
    trial_upper: float | None


class DecisionFields(AnswerFields):
    """The decision for one query, empty where there is no answer, or one that is extrapolated.

    The cautious decision is empty too where there is no interval.
    """

    decision: Decision
    decision_cautious: Decision


class ArmDecisionFields(AnswerFields):
    """The best of several arms for one query, as arm:NAME, or uncertain and between which; bounds are those of `arm`.

    Empty where an arm has no answer, or one that is extrapolated.
    """

    decision: str
    decision_cautious: str
    between: str
    arm: str


class ChoiceDecisionFields(AnswerFields):
    """Treat, do not, or leave it to them, and how many respond in each case; bounds are those of the effect."""

    decision: Literal["treat", "not", "leave", "uncertain", ""]
    decision_cautious: Literal["treat", "not", "leave", "uncertain", ""]
    usual: float | None
    if_treated: float | None
    if_untreated: float | None


class About(BaseModel):
    """What holds of all answers: whose people they are averaged over, what to be warned of, and how to read them."""

    population: Literal["observational", "experimental", "pooled", "each"] | None
    warnings: list[str]
    notes: list[str]


class BoundsAnswer(About):
    """Bounds, one a query."""

    quantity: str
    level: float | None
    answers: list[AnswerFields]


class DecideAnswer(About):
    """Decisions, one a query."""

    quantity: str
    level: float | None
    threshold: float
    cautious: bool
    decisions: list[ArmDecisionFields | ChoiceDecisionFields | DecisionFields]


class TipFields(DecisionFields):
    """The decision for one query, and the least slack at which it changes; null where none does.

    At `reconciled_at` some population fits the shares of both tables.
    """

    tip: float | None
    tip_cautious: float | None
    reconciled_at: float | None
    words: str


class TipAnswer(About):
    """Tipping points, one a query."""

    quantity: str
    level: float | None
    threshold: float
    cautious: bool
    along: str
    tips: list[TipFields]


class QuestionFields(BaseModel):
    """A covariate to ask for: the probability that it changes the decision, and of each decision then."""

    model_config = ConfigDict(populate_by_name=True)

    covariate: str
    changes: float | None
    treat: float | None
    not_: float | None = Field(alias="not")
    uncertain: float | None
    unanswered: float | None
    width: float | None


class LevelFields(DecisionFields):
    """A possible answer to a question, and the decision then."""

    covariate: str
    level: str
    probability: float | None


class AskAnswer(About):
    """Questions, the most useful first, and what each answer would lead to."""

    threshold: float
    cautious: bool
    advice: str
    now: DecisionFields
    questions: list[QuestionFields]
    levels: list[LevelFields]


class GroupFields(AnswerFields):
    """A group of a ranking: its share of the people, and by how much it exceeds every more general one."""

    share: float
    adds: float | None


class RankAnswer(About):
    """Groups, the best first."""

    quantity: str
    by: str
    overestimated: float | None
    groups: list[GroupFields]


class PolicyFields(BaseModel):
    """A policy for the people of a query: who responds, how many more than under usual care, and who is overruled."""

    query: str
    policy: Literal["usual-care", "treat-all", "treat-none", "covariates", "covariates-and-choice"]
    value: float | None
    low: float | None
    high: float | None
    gain: float | None
    gain_low: float | None
    gain_high: float | None
    treated: float | None
    overruled_to_treat: float | None
    overruled_to_not: float | None


class PoliciesAnswer(About):
    """Five policies a query."""

    level: float | None
    policies: list[PolicyFields]


class OpinionFields(BaseModel):
    """Refined bounds of one query by the model and by a second opinion, with intervals, and whether they agree."""

    query: str
    model_lower: float | None
    model_upper: float | None
    model_low: float | None
    model_high: float | None
    lower: float | None
    upper: float | None
    low: float | None
    high: float | None
    agreement: Literal["agree", "model tighter", "model wider", ""]


class OpinionAnswer(About):
    """Second opinions, one a query, and in words what they say of the model's."""

    quantity: str
    level: float
    verdict: str
    opinions: list[OpinionFields]


class ThresholdFields(BaseModel):
    """Shares of the people by what is decided about them at one threshold; of those treated, those harmed at most."""

    model_config = ConfigDict(populate_by_name=True)

    threshold: float
    treat: float
    not_: float = Field(alias="not")
    uncertain: float
    unanswered: float
    treat_cautious: float | None = None
    not_cautious: float | None = None
    uncertain_cautious: float | None = None
    unanswered_cautious: float | None = None
    harmed: float | None = None
    harmed_cautious: float | None = None


class ThresholdsAnswer(About):
    """Decisions at each threshold."""

    quantity: str
    level: float | None
    thresholds: list[ThresholdFields]


class SelectedFields(AnswerFields):
    """A profile that is treated: its people, those treated, what is spent and gained, and the upper bound on harm."""

    people: float
    spent: float
    treated: float
    guaranteed: float
    net: float | None
    best_case: float
    harm_upper: float | None = None


class SelectAnswer(About):
    """Whom to treat, those who gain most first, and what all of them bring together."""

    quantity: str
    totals: dict[str, float | None]
    harmed_at_most: float | None
    selected: list[SelectedFields]


class MeasureFields(BaseModel):
    """A measure of a model on rows held out, and its interval where it has one."""

    model: str
    measure: str
    value: float | None
    low: float | None
    high: float | None


class CalibrationFields(BaseModel):
    """A cell of one model for everyone, for a tenth of the predictions or for a subgroup: predicted and observed."""

    model: str
    cell: str
    group: str
    tenth: int | None
    rows: float
    predicted: float | None
    observed: float | None
    error: float | None


class ValidateAnswer(BaseModel):
    """What rows held out say about the model, beside the plug-in."""

    splits: int
    held_out: float
    level: float
    notes: list[str]
    measures: list[MeasureFields]
    calibration: list[CalibrationFields]


class SizeFields(BaseModel):
    """Rows that are enough for one end, in one case."""

    case: Literal["worst", "expected"]
    of: Literal["effect", "lower", "upper"]
    per_arm: float
    experimental: float
    observational: float | None


class SizeAnswer(BaseModel):
    """Rows that are enough."""

    quantity: str
    margin: float
    level: float
    notes: list[str]
    sizes: list[SizeFields]
