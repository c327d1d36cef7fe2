"""A second opinion: the model's refined bounds beside those that hold whatever the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from pnsight.errors import PnsightError
from pnsight.web.context import Site
from pnsight.web.lanes import Busy
from pnsight.web.views.opinion import opinion_view

AGAIN = 3
"""Seconds after which a page that is still waiting looks again."""


@dataclass(frozen=True)
class OpinionPages:
    """The page."""

    site: Site

    def routes(self) -> Sequence[BaseRoute]:
        """Where it is."""
        return [Route("/opinion", self.page)]

    async def page(self, request: Request) -> Response:
        """Both opinions on large groups, or on the people that the address describes; it takes a few fits."""
        state, problem = self.site.read(request)
        status, found = 400 if problem else 200, None
        if not problem:
            key, patience = ("opinion", state.query, state.options.estimand), self.site.limits.ranking_patience
            try:
                found = await self.site.rankings.get(key, patience, opinion_view, state)
            except PnsightError as error:
                problem = str(error)
            except Busy:
                pass  # the page looks again
        return self.site.render.page(
            "opinion.html",
            state,
            "/opinion",
            status,
            again=None if problem or found else AGAIN,
            chosen=state != state.everyone,
            problem=problem,
            found=found,
        )
