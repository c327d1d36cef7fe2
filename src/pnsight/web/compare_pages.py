"""Compare: two people or groups side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from pnsight.errors import PnsightError
from pnsight.web.context import Site
from pnsight.web.state import OTHER, PREFIX, State
from pnsight.web.views.compare import Comparison, compare


@dataclass(frozen=True)
class ComparePages:
    """The page."""

    site: Site

    def routes(self) -> Sequence[BaseRoute]:
        """Where it is."""
        return [Route("/compare", self.page)]

    async def page(self, request: Request) -> Response:
        """Both groups of the address, which are asked about in the same way."""
        one, other, problem = self._states(request)
        status, found = 400 if problem else 200, None
        if not problem:
            found, problem = await self._compared(request, one, other)
        reader = self.site.explorer.reader
        second = [(OTHER + name.removeprefix(PREFIX), level) for name, level in reader.people(other)]
        return self.site.render.page(
            "compare.html",
            one,
            "/compare",
            status,
            found=found,
            problem=problem,
            other=other.query,
            other_prefix=OTHER,
            hidden=one.options.pairs(reader.usual),
            link=f"/compare?{reader.write(one)}&{urlencode(second)}",
        )

    def _states(self, request: Request) -> tuple[State, State, str]:
        """The two groups, and what is wrong with the address if anything is."""
        pairs = request.query_params.multi_items()
        theirs = [(PREFIX + key.removeprefix(OTHER), value) for key, value in pairs if key.startswith(OTHER)]
        shared = [(key, value) for key, value in pairs if not key.startswith((OTHER, PREFIX))]
        first = [(key, value) for key, value in pairs if not key.startswith(OTHER)]
        read = self.site.explorer.reader.read
        (one, problem), (other, also) = read(first), read([*theirs, *shared])
        return one, other, " ".join(dict.fromkeys(filter(None, (problem, also))))

    async def _compared(self, request: Request, one: State, other: State) -> tuple[Comparison | None, str]:
        """Both answers, or why there are none."""
        try:
            return await self.site.computed(request, self.site.quick, compare, one, other), ""
        except PnsightError as error:
            return None, str(error)
