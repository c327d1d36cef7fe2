"""Who is treated: decisions by the levels of a covariate, and how far they may be wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from pnsight.errors import PnsightError
from pnsight.web.context import Site
from pnsight.web.lanes import Busy
from pnsight.web.state import State
from pnsight.web.views.by_covariate import ByCovariate, by_covariate

_OWN = ("by",)

NO_COVARIATES = "This study has no covariates: there is one group, everyone."


@dataclass(frozen=True)
class DecisionPages:
    """The page."""

    site: Site

    def routes(self) -> Sequence[BaseRoute]:
        """Where it is."""
        return [Route("/decisions", self.page)]

    async def page(self, request: Request) -> Response:
        """Decisions about the people that the address describes, by one of their covariates."""
        state, problem = self.site.read(request, own=_OWN)
        status, found = 400 if problem else 200, None
        names = self.site.explorer.schema.names
        by = request.query_params.get("by") or next(iter(names), "")
        if not problem:
            found, problem = await self._found(request, state, by)
        reader = self.site.explorer.reader
        return self.site.render.page(
            "decisions.html",
            state,
            "/decisions",
            status,
            link=f"/decisions?{'&'.join(filter(None, (reader.write(state), urlencode({'by': by}))))}",
            found=found,
            problem=problem,
            by=by,
            hidden=[*reader.people(state), *state.options.pairs(reader.usual)],
        )

    async def _found(self, request: Request, state: State, by: str) -> tuple[ByCovariate | None, str]:
        """What is decided, or why nothing is."""
        explorer = self.site.explorer
        problem = explorer.undecided(state.options.estimand)
        if problem or not explorer.schema.names:
            return None, problem or NO_COVARIATES
        lane = self.site.heavy if explorer.many_profiles else self.site.quick
        try:
            return await self.site.computed(request, lane, by_covariate, state, by), ""
        except (PnsightError, Busy) as error:
            return None, str(error)
