"""Usual care: whether rules are better than what people choose for themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from pnsight.web.context import Site
from pnsight.web.lanes import Busy
from pnsight.web.state import State
from pnsight.web.views.policies import PolicyPage, policy_page


@dataclass(frozen=True)
class PolicyPages:
    """The page."""

    site: Site

    def routes(self) -> Sequence[BaseRoute]:
        """Where it is."""
        return [Route("/policies", self.page)]

    async def page(self, request: Request) -> Response:
        """Policies, and other thresholds, for the people that the address describes."""
        state, problem = self.site.read(request)
        status = 400 if problem else 200
        found = PolicyPage(problem=problem) if problem else await self._found(request, state)
        return self.site.render.page("policies.html", state, "/policies", status, shown=found)

    async def _found(self, request: Request, state: State) -> PolicyPage:
        """What the page shows, or why it shows nothing."""
        explorer = self.site.explorer
        problem = explorer.undecided(state.options.estimand)
        if problem:
            return PolicyPage(problem=problem)
        lane = self.site.heavy if explorer.many_profiles else self.site.quick
        try:
            return await self.site.computed(request, lane, policy_page, state)
        except Busy as error:
            return PolicyPage(problem=str(error))
