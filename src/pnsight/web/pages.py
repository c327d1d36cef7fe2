"""The explorer: a page about one group of people, and the parts of it that are fetched anew while one explores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from pnsight.errors import PnsightError
from pnsight.notes import sentences
from pnsight.web import about
from pnsight.web.context import Site
from pnsight.web.lanes import Busy
from pnsight.web.state import State
from pnsight.web.views.advice import Advice, advice
from pnsight.web.views.answer import Answer, answer
from pnsight.web.words import NO_ADVICE


@dataclass(frozen=True)
class Pages:
    """Explore and About."""

    site: Site

    def routes(self) -> Sequence[BaseRoute]:
        """Where they are."""
        return [
            Route("/answer", self.answer),
            Route("/advice", self.advice),
            Route("/", self.explore),
            Route("/about", self.about),
        ]

    async def explore(self, request: Request) -> Response:
        """The whole page."""
        state, problem = self.site.read(request)
        status = 400 if problem else 200  # an answer that is refused is one nevertheless
        found, problem = await self._answer(request, state, problem)
        counsel = await self._advice(state, self.site.limits.advice_patience) if found else _NONE
        shown = {"answer": found, "problem": problem, "in_field": False, **counsel}
        return self.site.render.page("explore.html", state, "/", status, **shown)

    async def answer(self, request: Request) -> Response:
        """The answer alone."""
        state, problem = self.site.read(request)
        in_field = bool(problem)  # it cannot be meant, so that the last answer may stay
        found, problem = await self._answer(request, state, problem)
        return self.site.render.part("answer.html", answer=found, problem=problem, in_field=in_field)

    async def advice(self, request: Request) -> Response:
        """What knowing more would change."""
        state, problem = self.site.read(request)
        counsel = _NONE if problem else await self._advice(state, self.site.limits.answer_patience)
        return self.site.render.part("advice.html", address=self.site.explorer.reader.write(state), **counsel)

    async def about(self, request: Request) -> Response:
        """What the data and the model are."""
        state, _ = self.site.read(request)
        model = self.site.explorer.model
        return self.site.render.page(
            "about.html",
            state,
            "/about",
            facts=[*about.facts(model), ("The tables are", self.site.explorer.verdict.words)],
            study_notes=sentences((*model.study.notes, *model.caveats, *model.warnings), "page"),
            method=model.method,
            explained=model.explain(),
        )

    async def _answer(self, request: Request, state: State, problem: str) -> tuple[Answer | None, str]:
        """The answer, or why there is none."""
        if problem:
            return None, problem
        try:
            return await self.site.computed(request, self.site.quick, answer, state), ""
        except PnsightError as error:
            return None, str(error)

    async def _advice(self, state: State, seconds: float) -> dict[str, Any]:
        """Advice, or nothing yet if it takes longer, or why there is none."""
        found: Advice | None = None
        problem = self.site.explorer.undecided(state.options.estimand)
        if problem:
            return {"advice": None, "advice_problem": problem}
        try:
            found = await self.site.advices.get(state, seconds, advice, state)
        except PnsightError as error:
            problem = str(error)
        except Busy:
            pass
        return {"advice": found, "advice_problem": problem}


_NONE = {"advice": None, "advice_problem": NO_ADVICE}
