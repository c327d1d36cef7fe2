"""The JSON interface: the same answers for programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request

from pnsight._text import as_records
from pnsight._version import __version__
from pnsight.decisions import Questions, ask, decided
from pnsight.errors import QueryError
from pnsight.estimands.estimand import Estimand
from pnsight.estimands.quantities import QUANTITIES
from pnsight.notes import Note, sentences
from pnsight.output.about_answers import people_averaged
from pnsight.queries.query import encode
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
    DecideRequest,
    Error,
    ModelFields,
    RankAddress,
    RankAnswer,
    RankRequest,
    Ruled,
)
from pnsight.web.context import Site
from pnsight.web.explorer import Explorer
from pnsight.web.state import repeated

PATIENCE = 90.0

_ERRORS: Mapping[int | str, dict[str, Any]] = {
    400: {"model": Error, "description": "The question cannot be answered."},
    413: {"model": Error, "description": "Too much was asked at once."},
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

    async def computed(job: Callable[..., Any], *arguments: Any) -> Any:
        return await site.slow.run(job, explorer, *arguments, seconds=PATIENCE)

    @found.get("/model", response_model=ModelFields)
    async def model() -> Any:
        """Say what the model is, which covariates there are, and which levels they have."""
        return {**_model(explorer), "verdict": explorer.verdict.words}

    @found.get("/bounds", response_model=BoundsAnswer, dependencies=_ABOUT_MANY)
    async def bounds_in_address(asked: Annotated[BoundsAddress, Query()]) -> Any:
        """Bound a quantity for queries given in the address."""
        return await computed(_bounds, asked.query, asked)

    @found.post("/bounds", response_model=BoundsAnswer)
    async def bounds(asked: BoundsRequest) -> Any:
        """Bound a quantity for queries."""
        return await computed(_bounds, asked.queries, asked)

    @found.get("/decide", response_model=DecideAnswer, dependencies=_ABOUT_MANY)
    async def decide_in_address(asked: Annotated[DecideAddress, Query()]) -> Any:
        """Say treat, not or uncertain for queries given in the address."""
        return await computed(_decide, asked.query, asked)

    @found.post("/decide", response_model=DecideAnswer)
    async def decide(asked: DecideRequest) -> Any:
        """Say treat, not or uncertain for queries."""
        return await computed(_decide, asked.queries, asked)

    @found.get("/ask", response_model=AskAnswer, dependencies=_ABOUT_ONE)
    async def ask_in_address(asked: Annotated[AskAddress, Query()]) -> Any:
        """Say what knowing one more covariate would change, for a query given in the address."""
        return await computed(_ask, asked)

    @found.post("/ask", response_model=AskAnswer)
    async def ask_(asked: AskRequest) -> Any:
        """Say what knowing one more covariate would change."""
        return await computed(_ask, asked)

    async def ranked(asked: RankRequest) -> Any:
        key = ("api", asked.model_dump_json())
        return await site.rankings.get(key, PATIENCE, _rank, explorer, asked)

    @found.get("/rank", response_model=RankAnswer, dependencies=_ABOUT_ONE)
    async def rank_in_address(asked: Annotated[RankAddress, Query()]) -> Any:
        """List the groups that stand out, asked for in the address."""
        return await ranked(asked)

    @found.post("/rank", response_model=RankAnswer)
    async def rank(asked: RankRequest) -> Any:
        """List the groups that stand out."""
        return await ranked(asked)

    return found


def _model(explorer: Explorer) -> dict[str, Any]:
    model, study = explorer.model, explorer.model.study
    experimental, observational = study.table_rows
    return {
        "model": model.name,
        "pnsight_version": __version__,
        "quantity": model.quantity,
        "quantities": [name for name in QUANTITIES if name not in explorer.ability.refused],
        "intervals": explorer.ability.intervals,
        "treatment": study.treatment,
        "outcome": study.outcome,
        "rows_experimental": experimental,
        "rows_observational": None if study.observational is None else observational,
        "covariates": [{"name": each.name, "levels": list(each.levels)} for each in study.schema.covariates],
        "warnings": sentences(model.warnings),
        "notes": sentences([*study.notes, *model.caveats]),
    }


def _about(explorer: Explorer, estimand: Estimand, notes: Sequence[Note]) -> dict[str, Any]:
    """Whose people answers are about, what to be warned of, and the notes that are no warnings of the model."""
    warnings = explorer.answering(estimand).warnings
    return {
        "population": people_averaged(explorer.model, estimand),
        "warnings": sentences(warnings),
        "notes": sentences([note for note in notes if note not in warnings]),
    }


def _bounds(explorer: Explorer, queries: list[Any], asked: Asked) -> dict[str, Any]:
    estimand = asked.estimand(explorer.model)
    found = explorer.bounds(encode(explorer.schema, queries), estimand)
    return {
        **_about(explorer, estimand, found.notes),
        "quantity": found.quantity,
        "level": found.level,
        "answers": as_records(found.columns()),
    }


def _decide(explorer: Explorer, queries: list[Any], asked: Ruled) -> dict[str, Any]:
    estimand = asked.estimand(explorer.model)
    answers = explorer.bounds(encode(explorer.schema, queries), estimand)
    found = decided(answers, asked.threshold, asked.cautious, asked.extrapolate)
    return {
        **_about(explorer, estimand, found.notes),
        "quantity": answers.quantity,
        "level": answers.level,
        "threshold": found.threshold,
        "cautious": found.cautious,
        "decisions": as_records(found.columns()),
    }


def _ask(explorer: Explorer, asked: AskRequest | AskAddress) -> dict[str, Any]:
    model = explorer.model
    estimand = asked.estimand(model)
    found: Questions = ask(model, asked.query, asked.threshold, asked.cautious, estimand, asked.extrapolate)
    return {
        **_about(explorer, estimand, found.now.notes),
        "threshold": found.now.threshold,
        "cautious": found.now.cautious,
        "advice": str(found.advice),
        "now": as_records(found.now.columns())[0],
        "questions": as_records(found.columns()),
        "levels": as_records(found.by_level()),
    }


def _rank(explorer: Explorer, asked: RankRequest) -> dict[str, Any]:
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
