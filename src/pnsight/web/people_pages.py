"""Many people: a table goes in, the same with decisions comes back. Nothing of it is kept."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from pnsight.data.schema import Covariate
from pnsight.errors import LimitError, PnsightError, TableError
from pnsight.web.context import Site
from pnsight.web.explorer import Explorer
from pnsight.web.lanes import RETRY_AFTER, Busy
from pnsight.web.people import MOST_BYTES, MOST_ROWS
from pnsight.web.state import Options, Pairs, State
from pnsight.web.views.people import Result, show_decisions, write_decisions

MOST_FIELDS = 2000

T = TypeVar("T")


@dataclass(frozen=True)
class PeoplePages:
    """The page, its result alone, and the result as a file."""

    site: Site

    def routes(self) -> Sequence[BaseRoute]:
        """Where they are."""
        return [
            Route("/people", self.page, methods=["GET", "POST"]),
            Route("/people/result", self.result, methods=["POST"]),
            Route("/people.csv", self.download, methods=["POST"]),
        ]

    async def page(self, request: Request) -> Response:
        """The whole page, with the result of what was sent if anything was."""
        if request.method == "GET":
            state, problem = self.site.read(request)
            return self._page(state, 400 if problem else 200, problem, None, "")
        async with self._form(request) as form:
            state, status, problem, found = await self._decided(request, form, show_decisions)
            return self._page(state, status, problem, found, _pasted(form)[:MOST_BYTES])

    async def result(self, request: Request) -> Response:
        """The result alone."""
        async with self._form(request) as form:
            _, _, problem, found = await self._decided(request, form, show_decisions)
        return self.site.render.part("people_result.html", problem=problem, result=found)

    async def download(self, request: Request) -> Response:
        """The result as a file."""
        async with self._form(request) as form:
            state, status, problem, found = await self._decided(request, form, write_decisions)
            if found is None:
                return self._page(state, status, problem, None, _pasted(form))
        headers = {"content-disposition": 'attachment; filename="decisions.csv"'}
        return Response(found, media_type="text/csv; charset=utf-8", headers=headers)

    @asynccontextmanager
    async def _form(self, request: Request) -> AsyncIterator[FormData]:
        """What was sent, if its fields are no more than there can be."""
        if request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
            fields = (await request.body()).count(b"&") + 1
            if fields > MOST_FIELDS:
                raise LimitError(f"the form has {fields:,} fields; at most {MOST_FIELDS:,} are read.")
        most = self.site.limits.body_bytes
        async with request.form(max_files=1, max_fields=MOST_FIELDS, max_part_size=most) as form:
            yield form

    async def _decided(
        self, request: Request, form: FormData, job: Callable[[Explorer, bytes, Options], T]
    ) -> tuple[State, int, str, T | None]:
        """The state, a status, what is wrong if anything is, and what the job makes of the table otherwise."""
        state, problem = self.site.read(request, _texts(form))
        if problem:
            return state, 400, problem, None
        try:
            content = await _content(form)
            return state, 200, "", await self.site.computed(request, self.site.heavy, job, content, state.options)
        except LimitError as error:
            return state, 413, str(error), None
        except PnsightError as error:
            return state, 400, str(error), None
        except Busy as error:
            return state, 503, str(error), None

    def _page(self, state: State, status: int, problem: str, result: Result | None, text: str) -> Response:
        page = self.site.render.page(
            "people.html",
            state,
            "/people",
            status,
            problem=problem,
            result=result,
            text=text,
            hidden=self.site.explorer.reader.people(state),
            example=_example(self.site),
            most_rows=f"{MOST_ROWS:,}",
            most_megabytes=MOST_BYTES // 1_000_000,
        )
        if status == 503:
            page.headers["retry-after"] = RETRY_AFTER
        return page


async def _content(form: FormData) -> bytes:
    """The file, or else the text."""
    file = form.get("file")
    if isinstance(file, UploadFile) and file.filename:
        return await file.read()
    text = _pasted(form)
    if not text.strip():
        raise TableError("no table was sent; choose a file in CSV, or write its text into the field.")
    return text.encode("utf-8", errors="replace")


def _pasted(form: FormData) -> str:
    text = form.get("text")
    return text if isinstance(text, str) else ""


def _texts(form: FormData) -> Pairs:
    """The fields that say how to ask."""
    return [(key, value) for key, value in form.multi_items() if isinstance(value, str) and key != "text"]


def _example(site: Site) -> str:
    """Two people as one would write them down."""
    covariates = site.explorer.schema.covariates[:3]
    lines = [[covariate.name for covariate in covariates]]
    lines += [[_example_value(covariate, k) for covariate in covariates] for k in (0, 1)]
    return "\n".join(",".join(line) for line in lines)


def _example_value(covariate: Covariate, person: int) -> str:
    """A level, or a number that was seen."""
    if covariate.number is None:
        return covariate.levels[person % len(covariate.levels)]
    knots = covariate.number.knots
    return covariate.number.number_text(knots[(1 + person) * len(knots) // 3])
