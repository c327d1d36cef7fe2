"""The application: pages, the JSON interface, and what becomes of mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pnsight._version import __version__
from pnsight.errors import LimitError, PnsightError, percent_hint
from pnsight.models import Model
from pnsight.output.tables_verdict import TablesVerdict
from pnsight.web import api
from pnsight.web.access import API, Access, refusal, stopping
from pnsight.web.api_page import ApiPage
from pnsight.web.budget_pages import BudgetPages
from pnsight.web.check_pages import CheckPages
from pnsight.web.compare_pages import ComparePages
from pnsight.web.context import Site
from pnsight.web.decision_pages import DecisionPages
from pnsight.web.group_pages import GroupPages
from pnsight.web.lanes import RETRY_AFTER, Busy, Stopped
from pnsight.web.limits import IN_PLACE, Limits
from pnsight.web.middleware import Guard
from pnsight.web.opinion_pages import OpinionPages
from pnsight.web.pages import Pages
from pnsight.web.people_pages import PeoplePages
from pnsight.web.policy_pages import PolicyPages
from pnsight.web.proof_pages import ProofPages
from pnsight.web.size_pages import SizePages
from pnsight.web.slack_pages import SlackPages

_KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def create_app(
    model: Model,
    host: str = "127.0.0.1",
    trial_alone: bool = False,
    verdict: TablesVerdict | None = None,
    access: Access | None = None,
    limits: Limits = IN_PLACE,
) -> FastAPI:
    """An application about a fitted model, for a server at this host.

    Parameters
    ----------
    model
        A fitted model.
    host
        Where the server listens.
    trial_alone
        Whether all pages answer from the experiment alone.
    verdict
        Whether the tables are usable; by default they are checked.
    access
        Who may ask; by default whoever reaches the host, but no page of another site.
    limits
        How much may be asked, and for how long. By default everything is computed where it is asked for; `serve`
        has processes for it, which end what takes too long.

    Returns
    -------
    the application
    """
    return app_of(Site.of(model, trial_alone, verdict, limits), access or Access(host))


def app_of(site: Site, access: Access) -> FastAPI:
    """An application that shows a site to those who have access."""
    app = FastAPI(
        title="pnsight",
        version=__version__,
        description="Bounds on probabilities of causation, and the decisions they support.",
        docs_url=None,  # FastAPI's own pages load from elsewhere
        redoc_url=None,
        openapi_url="/api/openapi.json",
        middleware=[Middleware(Guard, access=access, limits=site.limits)],
    )
    app.router.routes.extend(Pages(site).routes())
    app.router.routes.extend(GroupPages(site).routes())
    app.router.routes.extend(PolicyPages(site).routes())
    app.router.routes.extend(PeoplePages(site).routes())
    app.router.routes.extend(ComparePages(site).routes())
    app.router.routes.extend(BudgetPages(site).routes())
    app.router.routes.extend(DecisionPages(site).routes())
    app.router.routes.extend(CheckPages(site).routes())
    app.router.routes.extend(OpinionPages(site).routes())
    app.router.routes.extend(ProofPages(site).routes())
    app.router.routes.extend(SizePages(site).routes())
    app.router.routes.extend(SlackPages(site).routes())
    app.router.routes.append(_static())
    app.include_router(api.router(site))
    app.router.routes.append(Route("/api/", ApiPage(site, app).page))
    _tell_mistakes(app, site)
    return app


def _static() -> Route:
    """Style sheet, script and icon, read once."""
    folder = Path(__file__).parent / "static"
    files = {path.name: (path.read_bytes(), _KINDS[path.suffix]) for path in folder.iterdir()}

    async def static(request: Request) -> Response:
        found = files.get(request.path_params["name"])
        if found is None:
            raise HTTPException(404)
        return Response(found[0], media_type=found[1], headers={"cache-control": "max-age=3600"})

    return Route("/static/{name}", static)


def _tell_mistakes(app: FastAPI, site: Site) -> None:
    """Turn what goes wrong into a message and a status."""

    async def of_library(request: Request, error: Exception) -> Response:
        return refusal(request.url.path, 413 if isinstance(error, LimitError) else 400, str(error))

    async def of_fields(request: Request, error: Exception) -> Response:
        found: Sequence[Any] = error.errors() if isinstance(error, RequestValidationError) else []
        more = [f"and {len(found) - _MOST_TOLD:,} more"] if len(found) > _MOST_TOLD else []
        return refusal(request.url.path, 422, "; ".join([*dict.fromkeys(map(_told, found[:_MOST_TOLD])), *more]))

    async def busy(request: Request, error: Exception) -> Response:
        return refusal(request.url.path, 503, str(error), {"retry-after": RETRY_AFTER})

    async def stopped(request: Request, error: Exception) -> Response:
        return stopping(request.url.path)

    async def of_http(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        message = _HTTP.get(status) or str(getattr(error, "detail", "")) or "this cannot be answered."
        if request.url.path.startswith(API):
            return refusal(request.url.path, status, message)
        state, _ = site.read(request)
        return site.render.page("error.html", state, "", status, heading=f"{status}", message=message)

    app.add_exception_handler(PnsightError, of_library)
    app.add_exception_handler(RequestValidationError, of_fields)
    app.add_exception_handler(Busy, busy)
    app.add_exception_handler(Stopped, stopped)
    app.add_exception_handler(HTTPException, of_http)


_MOST_TOLD = 20
"""Fields of a request that are named if they are not what they should be."""

_HTTP = {
    404: "There is nothing at this address.",
    405: "This address is not asked in this way: see /api/ for what is.",
}


def _told(problem: Any) -> str:
    """One thing that is wrong with a field, as text."""
    place = ".".join(str(part) for part in problem["loc"] if part not in ("body", "query")) or "the request"
    limit = problem.get("ctx", {}).get("lt", problem.get("ctx", {}).get("le"))
    meant = percent_hint(float(problem["input"])) if limit == 1 else ""
    return f"{place}: {problem['msg']}{meant}"
