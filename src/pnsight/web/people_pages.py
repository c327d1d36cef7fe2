"""Many people: a table goes in, the same with decisions comes back. Nothing of it is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from pnsight.decide import Decisions
from pnsight.errors import LimitError, PnsightError, TableError
from pnsight.text import cell_text, csv_text, number_of
from pnsight.web.guard import MOST_BODY
from pnsight.web.people import MOST_BYTES, MOST_ROWS, People, decide_about
from pnsight.web.site import Site
from pnsight.web.state import Pairs, State
from pnsight.web.views.shown import number
from pnsight.web.words import QUANTITIES, Sign, signs
from pnsight.web.work import Busy

SHOWN = 100
PATIENCE = 120.0
MOST_FIELDS = 2000


@dataclass(frozen=True)
class Result:
    """Decisions as the page shows them: the first rows, and how many there are of each kind."""

    summary: str
    tally: Sequence[tuple[Sign, str]]
    notes: Sequence[str]
    names: Sequence[str]
    decided: int
    rows: Sequence[tuple[Sign, Sequence[str]]]
    more: str


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
        async with request.form(**_LIMITS) as form:
            state, status, problem, found = await self._decided(request, form)
            return self._page(state, status, problem, shown(found) if found else None, _pasted(form)[:MOST_BYTES])

    async def result(self, request: Request) -> Response:
        """The result alone."""
        async with request.form(**_LIMITS) as form:
            _, _, problem, found = await self._decided(request, form)
        result = shown(found) if found else None
        return self.site.render.part("people_result.html", problem=problem, result=result)

    async def download(self, request: Request) -> Response:
        """The result as a file."""
        async with request.form(**_LIMITS) as form:
            state, status, problem, found = await self._decided(request, form)
            if found is None:
                return self._page(state, status, problem, None, _pasted(form))
        headers = {"content-disposition": 'attachment; filename="decisions.csv"'}
        return Response(csv_text(found.columns), media_type="text/csv; charset=utf-8", headers=headers)

    async def _decided(self, request: Request, form: FormData) -> tuple[State, int, str, People | None]:
        """The state, a status, what is wrong if anything is, and the decisions otherwise."""
        state, problem = self.site.read(request, _texts(form))
        if problem:
            return state, 400, problem, None
        try:
            content = await _content(form)
            found = await self.site.slow.run(decide_about, self.site.explorer, content, state.options, seconds=PATIENCE)
        except LimitError as error:
            return state, 413, str(error), None
        except PnsightError as error:
            return state, 400, str(error), None
        except Busy as error:
            return state, 503, str(error), None
        return state, 200, "", found

    def _page(self, state: State, status: int, problem: str, result: Result | None, text: str) -> Response:
        return self.site.render.page(
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


_LIMITS: dict[str, Any] = {"max_files": 1, "max_fields": MOST_FIELDS, "max_part_size": MOST_BODY}


def shown(found: People) -> Result:
    """What the page shows of the decisions."""
    known = signs(found.found.answers.quantity)
    decisions = [str(word) for word in found.found.decision]
    columns = {name: values[:SHOWN] for name, values in found.columns.items() if name != "query"}
    names, rows = list(columns), zip(*columns.values(), strict=True)
    kept = [f"columns that are not covariates, kept as they are: {', '.join(found.unused)}"] if found.unused else []
    more = len(decisions) - SHOWN
    return Result(
        f"{number_of(len(decisions), 'decision')}: {_caption(found.found)}",
        [(sign, f"{decisions.count(word):,}") for word, sign in known.items() if word in decisions],
        [*found.found.answers.notes, *kept],
        names,
        names.index("decision"),
        [(known[word], [_cell(cell) for cell in row]) for word, row in zip(decisions, rows, strict=False)],
        f"and {number_of(more, 'more row')}: download them all as CSV." if more > 0 else "",
    )


def _caption(found: Decisions) -> str:
    quantity = found.answers.quantity
    return found.caption.replace(quantity, QUANTITIES[quantity].short, 1)


def _cell(value: Any) -> str:
    """A value as the page shows it: bounds to three decimals."""
    return number(value) if isinstance(value, float) else cell_text(value)


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
    lines += [[covariate.levels[k % len(covariate.levels)] for covariate in covariates] for k in (0, 1)]
    return "\n".join(",".join(line) for line in lines)
