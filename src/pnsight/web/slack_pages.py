"""Slack: how bounds widen as people may respond otherwise than in the trial, and where the decision tips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from pnsight.errors import PnsightError
from pnsight.web.context import Site
from pnsight.web.lanes import Busy
from pnsight.web.views.slack import slack_view


@dataclass(frozen=True)
class SlackPages:
    """The page."""

    site: Site

    def routes(self) -> Sequence[BaseRoute]:
        """Where it is."""
        return [Route("/slack", self.page)]

    async def page(self, request: Request) -> Response:
        """The figure for the people that the address describes."""
        state, problem = self.site.read(request)
        status, found = 400 if problem else 200, None
        problem = problem or self.site.explorer.undecided(state.options.estimand)
        if not problem:
            try:
                found = await self.site.computed(request, self.site.heavy, slack_view, state)
            except (PnsightError, Busy) as error:
                problem = str(error)
        return self.site.render.page("slack.html", state, "/slack", status, found=found, problem=problem)
