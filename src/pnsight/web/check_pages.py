"""The check: whether the tables behind the answers are sound, part by part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from pnsight.errors import PnsightError
from pnsight.web.context import Site
from pnsight.web.lanes import Busy
from pnsight.web.views.check import Part, check_parts


@dataclass(frozen=True)
class CheckPages:
    """The page."""

    site: Site

    def routes(self) -> Sequence[BaseRoute]:
        """Where it is."""
        return [Route("/check", self.page)]

    async def page(self, request: Request) -> Response:
        """All parts of the check, or why they are not shown."""
        state, problem = self.site.read(request)
        parts: Sequence[Part] | None = None
        if not problem:
            try:
                parts = await self.site.computed(request, self.site.heavy, check_parts, state)
            except (PnsightError, Busy) as error:
                problem = str(error)
        return self.site.render.page("check.html", state, "/check", 200, parts=parts, problem=problem)
