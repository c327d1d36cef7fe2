"""Budget: whom to treat if not all can be, and what that brings beside treating at random and treating all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from pnsight.errors import PnsightError, QueryError
from pnsight.web.context import Site
from pnsight.web.lanes import Busy
from pnsight.web.state import Options
from pnsight.web.views.budget import BudgetView, Spending, budget_view

_OWN = ("budget", "people", "max_harm")


@dataclass(frozen=True)
class BudgetPages:
    """The page."""

    site: Site

    def routes(self) -> Sequence[BaseRoute]:
        """Where it is."""
        return [Route("/budget", self.page)]

    async def page(self, request: Request) -> Response:
        """What a budget brings."""
        state, problem = self.site.read(request, own=_OWN)
        given = request.query_params
        status, found, spending = 400, None, Spending()
        try:
            spending = _spending(given)
        except QueryError as error:
            problem = f"{problem} {error}".strip()
        if not problem:
            status = 200
            found, problem = await self._found(request, state.options, spending)
        reader = self.site.explorer.reader
        own = [(name, given[name]) for name in _OWN if given.get(name)]
        return self.site.render.page(
            "budget.html",
            state,
            "/budget",
            status,
            link=f"/budget?{urlencode([*state.options.pairs(reader.usual), *own])}",
            found=found,
            problem=problem,
            spending=spending,
            hidden=[*reader.people(state), *state.options.pairs(reader.usual)],
        )

    async def _found(self, request: Request, options: Options, spending: Spending) -> tuple[BudgetView | None, str]:
        """What it brings, or why that is not said."""
        explorer = self.site.explorer
        problem = explorer.undecided(options.estimand)
        if problem:
            return None, problem
        lane = self.site.heavy if explorer.many_profiles else self.site.quick
        try:
            return await self.site.computed(request, lane, budget_view, options, spending), ""
        except (PnsightError, Busy) as error:
            return None, str(error)


def _spending(given: Mapping[str, str]) -> Spending:
    """What the address says; `select` judges whether it makes sense."""
    numbers: dict[str, float] = {}
    for name in _OWN:
        if text := given.get(name, "").strip():
            try:
                numbers[name] = float(text)
            except ValueError:
                raise QueryError(f"{name} is {text[:40]!r}; give a number such as 0.2.") from None
    return Spending(**numbers)
