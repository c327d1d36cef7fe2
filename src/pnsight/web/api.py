"""The JSON interface: the same answers for programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request

from pnsight.errors import QueryError
from pnsight.web import api_answers as answers
from pnsight.web.api_fields import (
    AskAddress,
    AskAnswer,
    Asked,
    AskRequest,
    BoundsAddress,
    BoundsAnswer,
    BoundsRequest,
    DecideAddress,
    DecideAnswer,
    Decided,
    DecideRequest,
    Error,
    ModelFields,
    OpinionAddress,
    OpinionAnswer,
    OpinionRequest,
    PoliciesAddress,
    PoliciesAnswer,
    PoliciesAsked,
    PoliciesRequest,
    RankAddress,
    RankAnswer,
    RankRequest,
    SelectAnswer,
    SelectRequest,
    SizeAnswer,
    SizeRequest,
    ThresholdsAnswer,
    ThresholdsRequest,
    TipAddress,
    TipAnswer,
    TipRequest,
    ValidateAnswer,
    ValidateRequest,
)
from pnsight.web.context import Site
from pnsight.web.state import repeated

_ERRORS: Mapping[int | str, dict[str, Any]] = {
    400: {"model": Error, "description": "The question cannot be answered."},
    401: {"model": Error, "description": "The token is missing or wrong."},
    403: {"model": Error, "description": "The request comes from another site, or may do."},
    408: {"model": Error, "description": "The request did not arrive in time."},
    413: {"model": Error, "description": "Too much was asked at once, or what takes too long."},
    414: {"model": Error, "description": "The address is too long: post the question as JSON."},
    422: {"model": Error, "description": "A field is not what it should be."},
    503: {"model": Error, "description": "Busy: come again in a few seconds."},
}


def _refusing_repeated(*lists: str) -> Any:
    """Refuses an address that gives a parameter twice, of which FastAPI would take the last; lists are for that."""

    def refuse(request: Request) -> None:
        for problem in repeated(request.query_params.multi_items(), lists).values():
            raise QueryError(problem)

    return Depends(refuse)


_ABOUT_ONE = [_refusing_repeated("payoffs", "assume")]
_ABOUT_MANY = [_refusing_repeated("query", "payoffs", "assume")]


def router(site: Site) -> APIRouter:
    """All addresses of the interface."""
    found = APIRouter(prefix="/api", responses={**_ERRORS}, tags=["pnsight"])
    explorer = site.explorer

    async def bounded(request: Request, queries: list[Any], asked: Asked) -> Any:
        return await site.computed(request, site.lane(len(queries)), answers.bounds, queries, asked)

    async def ruled(request: Request, queries: list[Any], asked: Decided) -> Any:
        return await site.computed(request, site.lane(len(queries)), answers.decide, queries, asked)

    async def advised(request: Request, asked: AskRequest | AskAddress) -> Any:
        lane = site.heavy if explorer.many_profiles else site.quick
        return await site.computed(request, lane, answers.ask, asked)

    async def compared(request: Request, queries: list[Any], asked: PoliciesAsked) -> Any:
        lane = site.heavy if explorer.many_profiles else site.lane(len(queries))
        return await site.computed(request, lane, answers.policies, queries, asked)

    async def ranked(asked: RankRequest) -> Any:
        key = ("api", asked.model_dump_json())
        return await site.rankings.get(key, site.limits.answer_patience, answers.rank, asked)

    async def opined(queries: list[Any] | None, asked: OpinionRequest | OpinionAddress) -> Any:
        key = ("api opinion", asked.model_dump_json())
        return await site.rankings.get(key, site.limits.answer_patience, answers.opinion, queries, asked)

    @found.get("/model", response_model=ModelFields)
    async def model() -> Any:
        """Say what the model is, which covariates there are, and which levels they have."""
        return answers.model(explorer)

    @found.get("/bounds", response_model=BoundsAnswer, dependencies=_ABOUT_MANY)
    async def bounds_in_address(request: Request, asked: Annotated[BoundsAddress, Query()]) -> Any:
        """Bound a quantity for queries given in the address."""
        return await bounded(request, asked.query, asked)

    @found.post("/bounds", response_model=BoundsAnswer)
    async def bounds(request: Request, asked: BoundsRequest) -> Any:
        """Bound a quantity for queries."""
        return await bounded(request, asked.queries, asked)

    @found.get("/decide", response_model=DecideAnswer, dependencies=_ABOUT_MANY)
    async def decide_in_address(request: Request, asked: Annotated[DecideAddress, Query()]) -> Any:
        """Say treat, not or uncertain for queries given in the address."""
        return await ruled(request, asked.query, asked)

    @found.post("/decide", response_model=DecideAnswer)
    async def decide(request: Request, asked: DecideRequest) -> Any:
        """Say treat, not or uncertain for queries."""
        return await ruled(request, asked.queries, asked)

    @found.get("/tip", response_model=TipAnswer, dependencies=_ABOUT_MANY)
    async def tip_in_address(request: Request, asked: Annotated[TipAddress, Query()]) -> Any:
        """Say at which slack decisions change, for queries given in the address."""
        return await site.computed(request, site.heavy, answers.tip, asked.query, asked)

    @found.post("/tip", response_model=TipAnswer)
    async def tip(request: Request, asked: TipRequest) -> Any:
        """Say at which slack decisions change."""
        return await site.computed(request, site.heavy, answers.tip, asked.queries, asked)

    @found.get("/ask", response_model=AskAnswer, dependencies=_ABOUT_ONE)
    async def ask_in_address(request: Request, asked: Annotated[AskAddress, Query()]) -> Any:
        """Say what knowing one more covariate would change, for a query given in the address."""
        return await advised(request, asked)

    @found.post("/ask", response_model=AskAnswer)
    async def ask(request: Request, asked: AskRequest) -> Any:
        """Say what knowing one more covariate would change."""
        return await advised(request, asked)

    @found.get("/rank", response_model=RankAnswer, dependencies=_ABOUT_ONE)
    async def rank_in_address(asked: Annotated[RankAddress, Query()]) -> Any:
        """List the groups that stand out, asked for in the address."""
        return await ranked(asked)

    @found.post("/rank", response_model=RankAnswer)
    async def rank(asked: RankRequest) -> Any:
        """List the groups that stand out."""
        return await ranked(asked)

    @found.get("/policies", response_model=PoliciesAnswer, dependencies=[_refusing_repeated("query")])
    async def policies_in_address(request: Request, asked: Annotated[PoliciesAddress, Query()]) -> Any:
        """Compare usual care with rules, for queries given in the address."""
        return await compared(request, list(asked.query), asked)

    @found.post("/policies", response_model=PoliciesAnswer)
    async def policies(request: Request, asked: PoliciesRequest) -> Any:
        """Compare usual care with rules."""
        return await compared(request, list(asked.queries), asked)

    @found.get("/opinion", response_model=OpinionAnswer, dependencies=[_refusing_repeated("query", "payoffs")])
    async def opinion_in_address(asked: Annotated[OpinionAddress, Query()]) -> Any:
        """Bound what is refined whatever the model is worth, for queries given in the address."""
        return await opined(asked.query, asked)

    @found.post("/opinion", response_model=OpinionAnswer)
    async def opinion(asked: OpinionRequest) -> Any:
        """Bound what is refined whatever the model is worth, beside the model's own bounds: a second opinion."""
        return await opined(asked.queries, asked)

    @found.post("/thresholds", response_model=ThresholdsAnswer)
    async def thresholds(request: Request, asked: ThresholdsRequest) -> Any:
        """Say how many would be treated, not, or uncertain at each threshold."""
        return await site.computed(request, site.heavy, answers.thresholds, asked)

    @found.post("/validate", response_model=ValidateAnswer)
    async def validate(asked: ValidateRequest) -> Any:
        """Hold rows of the model's study out, fit to the others, and compare."""
        key = ("api validate", asked.model_dump_json())
        return await site.rankings.get(key, site.limits.answer_patience, answers.validate, asked)

    @found.post("/size", response_model=SizeAnswer)
    async def size(request: Request, asked: SizeRequest) -> Any:
        """Say how many rows a study needs, with this model as the pilot."""
        return await site.computed(request, site.heavy, answers.size, asked)

    @found.post("/select", response_model=SelectAnswer)
    async def select(request: Request, asked: SelectRequest) -> Any:
        """Choose whom to treat with a budget, and with a cap on harm."""
        return await site.computed(request, site.heavy, answers.select, asked)

    return found
