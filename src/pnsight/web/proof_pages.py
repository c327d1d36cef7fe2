"""Proof on held-out rows: how the model fares on rows that it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from pnsight.errors import PnsightError
from pnsight.web.context import Site
from pnsight.web.lanes import Busy
from pnsight.web.views.proof import proof_view

AGAIN = 3
"""Seconds after which a page that is still waiting looks again."""


@dataclass(frozen=True)
class ProofPages:
    """The page."""

    site: Site

    def routes(self) -> Sequence[BaseRoute]:
        """Where it is."""
        return [Route("/proof", self.page)]

    async def page(self, request: Request) -> Response:
        """The measures, computed once for a quantity and a level; it takes as many fits as rows are held out."""
        state, problem = self.site.read(request)
        status, found = 400 if problem else 200, None
        if not problem:
            estimand, patience = state.options.estimand, self.site.limits.ranking_patience
            key = ("proof", estimand.quantity.name, estimand.level)
            try:
                found = await self.site.rankings.get(key, patience, proof_view, *key[1:])
            except PnsightError as error:
                problem = str(error)
            except Busy:
                pass  # the page looks again
        again = None if problem or found else AGAIN
        return self.site.render.page("proof.html", state, "/proof", status, again=again, problem=problem, found=found)
