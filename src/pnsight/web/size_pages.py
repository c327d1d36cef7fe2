"""Study size: how many rows a study would need, with the model as the pilot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from pnsight.errors import PnsightError, QueryError
from pnsight.web.context import Site
from pnsight.web.lanes import Busy
from pnsight.web.views.size import SizeView, size_view

_OWN = ("margin",)
_USUAL = 0.05


@dataclass(frozen=True)
class SizePages:
    """The page."""

    site: Site

    def routes(self) -> Sequence[BaseRoute]:
        """Where it is."""
        return [Route("/size", self.page)]

    async def page(self, request: Request) -> Response:
        """Rows for intervals of a half-width, about the people that the address describes."""
        state, problem = self.site.read(request, own=_OWN)
        margin, found = _USUAL, None
        try:
            margin = _margin(request.query_params.get("margin", "").strip())
        except QueryError as error:
            problem = f"{problem} {error}".strip()
        status = 400 if problem else 200
        if not problem:
            try:
                found = await self._found(request, margin)
            except (PnsightError, Busy) as error:
                problem = str(error)
        reader = self.site.explorer.reader
        own = [("margin", f"{margin:.12g}")] if margin != _USUAL else []
        hidden = [*reader.people(state), *state.options.pairs(reader.usual)]
        return self.site.render.page(
            "size.html",
            state,
            "/size",
            status,
            link=f"/size?{urlencode([*hidden, *own])}",
            hidden=hidden,
            margin=margin,
            found=found,
            problem=problem,
        )

    async def _found(self, request: Request, margin: float) -> SizeView:
        state, _ = self.site.read(request, own=_OWN)
        return await self.site.computed(request, self.site.heavy, size_view, state, margin)


def _margin(text: str) -> float:
    """What the address says; `size` judges whether it makes sense."""
    try:
        return float(text or _USUAL)
    except ValueError:
        raise QueryError(f"margin is {text[:40]!r}; give a number such as 0.05.") from None
