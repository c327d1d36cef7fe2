"""Everything that a protected model gives out, one entry an output.

Whoever adds an output to pnsight adds an entry here: a function from a published model to bytes, and the commands and
addresses that it covers. `tests/disclosure` fails where a command or an address of the explorer is not covered, and
puts every entry through the same tests as the others.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx
import matplotlib as mpl
from fastapi import FastAPI

import pnsight
from pnsight.cli.main import main
from pnsight.output.report import as_markdown, as_plain, as_xlsx, render, summarise
from pnsight.queries import lattice
from pnsight.queries.query import format_queries
from pnsight.web import create_app

FOLDER = "public"


@dataclass(frozen=True)
class Published:
    """A model that was handed on: the folder that was written, and all that can be asked of it.

    Attributes
    ----------
    place : where the folder `FOLDER` is
    """

    place: Path

    def give(self, name: str) -> bytes:
        """The output of that name, made once."""
        if name not in self._given:
            self._given[name] = OUTPUTS[name].give(self)
        return self._given[name]

    @cached_property
    def _given(self) -> dict[str, bytes]:
        return {}

    @cached_property
    def model(self) -> pnsight.Model:
        """The model as whoever got the folder has it."""
        return pnsight.load(self.place / FOLDER)

    @cached_property
    def app(self) -> FastAPI:
        """The explorer."""
        return create_app(self.model)

    @cached_property
    def queries(self) -> list[str]:
        """All queries that the model can be asked."""
        codes = lattice.all_profiles(self.model.schema)
        return list(format_queries(self.model.schema, codes if self.model.capabilities.exact_only else self.lattice))

    @cached_property
    def lattice(self) -> Any:
        """Codes of all queries."""
        return lattice.all_queries(self.model.schema)

    @cached_property
    def contrast(self) -> dict[str, Any]:
        """Which arm is compared with which, where that has to be said, as an option."""
        arms = self.model.structure.description.arms
        return {"contrast": f"{arms[-1]}:{arms[0]}"} if len(arms) > 2 else {}

    def run(self, *arguments: object) -> bytes:
        """What a command prints, as results and beside them; a refusal is an output like any other."""
        out, err, code = io.StringIO(), io.StringIO(), None
        with contextlib.chdir(self.place), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main([str(argument) for argument in arguments])
            except SystemExit as ended:
                code = ended.code
        if code not in (0, None, 2):
            raise AssertionError(err.getvalue())
        return f"{out.getvalue()}\n{err.getvalue()}".encode()

    def get(self, path: str) -> bytes:
        """An address, read."""
        return self.request("GET", path)

    def post(self, path: str, **sent: Any) -> bytes:
        """An address to which something is sent."""
        return self.request("POST", path, **sent)

    def request(self, method: str, path: str, **sent: Any) -> bytes:
        """The status and the content of any address."""

        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=None) as client:
                return await client.request(method, path, **sent)

        found = asyncio.run(send())
        if found.status_code >= 500:
            raise AssertionError(found.text)
        return f"{found.status_code}\n".encode() + found.content


@dataclass(frozen=True)
class Output:
    """One thing that is given out.

    Attributes
    ----------
    name : what it is
    give : makes its bytes
    commands, addresses : commands of the program, and paths of the explorer, that it covers
    """

    name: str
    give: Callable[[Published], bytes]
    commands: Sequence[str] = ()
    addresses: Sequence[str] = field(default=())


OUTPUTS: dict[str, Output] = {}


def output(name: str, commands: Sequence[str] = (), addresses: Sequence[str] = ()) -> Callable[..., Any]:
    """Register an output."""

    def register(give: Callable[[Published], bytes]) -> Callable[[Published], bytes]:
        OUTPUTS[name] = Output(name, give, commands, addresses)
        return give

    return register


# --- files ------------------------------------------------------------------------------------------------


@output("folder", commands=["export", "fit"])
def folder(found: Published) -> bytes:
    """All files of the model, with their names."""
    files = sorted((found.place / FOLDER).iterdir())
    return b"".join(path.name.encode() + b"\n" + path.read_bytes() for path in files)


@output("report", commands=["report"])
def report(found: Published) -> bytes:
    """The page, and the same as data."""
    summary = summarise(found.model, threshold=0.3, top=50, opinion=True, **found.contrast)
    return render(summary).encode() + json.dumps(as_plain(summary)).encode()


@output("tables of the report", commands=["report"])
def report_tables(found: Published) -> bytes:
    """As a spreadsheet and as Markdown."""
    summary = summarise(found.model, threshold=0.3, top=50, opinion=True, **found.contrast)
    return as_xlsx(summary) + as_markdown(summary).encode()


@output("report of the program", commands=["report"])
def report_command(found: Published) -> bytes:
    return found.run("report", FOLDER, "--format", "json", "--threshold", 0.2, "--opinion", *_contrast("report", found))


@output("figures")
def figures(found: Published) -> bytes:
    """Forest plots of all levels, and the map of the study's rows."""
    drawn = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "fixed"}):
        answers = pnsight.plot(found.model, found.queries[:40], **found.contrast)
        for figure in (answers, pnsight.plot(found.model.study)):
            figure.savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue()


# --- Python -----------------------------------------------------------------------------------------------


@output("in Python")
def in_python(found: Published) -> bytes:
    """What the model and its study show of themselves."""
    model, study = found.model, found.model.study
    shown = [repr(study), study._repr_html_(), model._repr_html_(), model.explain(), study.facts(), study.design]
    notes = [*study.notes, *model.caveats, *model.warnings, *study.dropped]
    return repr([shown, [note.plain() for note in notes], study.withheld, study.attrition, study.schema]).encode()


@output("shares and laws in Python")
def shares_and_laws(found: Published) -> bytes:
    """Shares of people, and laws, of everybody that can be asked about."""
    parts = [found.model.shares(found.lattice).tobytes()]
    if found.model.capabilities.law:
        parts.append(found.model.law(found.lattice).cells.tobytes())
    parts += [found.model.shares(found.lattice, people).tobytes() for people in found.model.capabilities.populations]
    return b"".join(parts)


# --- the program ------------------------------------------------------------------------------------------

COMMANDS: dict[str, Sequence[object]] = {
    "query": ("query", FOLDER, "--space", "mask", "--format", "csv"),
    "query of profiles": ("query", FOLDER, "--space", "exact", "--format", "json"),
    "query of profiles with rows": ("query", FOLDER, "--space", "observed", "--format", "csv"),
    "query of another quantity": ("query", FOLDER, "--space", "mask", "--quantity", "pn", "--format", "csv"),
    "query with refinement": ("query", FOLDER, "--space", "mask", "--refine", "covariates", "--format", "csv"),
    "query with an assumption": ("query", FOLDER, "", "--assume", "monotone", "--format", "csv"),
    "query of the trial alone": ("query", FOLDER, "--space", "mask", "--trial-alone", "--format", "csv"),
    "decide": ("decide", FOLDER, "", "sex=male", "--threshold", 0.2, "--format", "csv"),
    "query with slack": ("query", FOLDER, "--space", "mask", "--slack", 0.05, "--format", "csv"),
    "query with a limit on harm": ("query", FOLDER, "", "--assume", "harm<=0.9", "--format", "csv"),
    "tip": ("tip", FOLDER, "", "sex=male", "--threshold", 0.2, "--format", "csv"),
    "tip, its curve": ("tip", FOLDER, "", "--threshold", 0.2, "--curve", "--format", "csv"),
    "ask": ("ask", FOLDER, "", "--levels", "--threshold", 0.2, "--format", "csv"),
    "ask further": ("ask", FOLDER, "sex=male", "--threshold", 0.2, "--format", "csv"),
    "ask without": ("ask", FOLDER, "sex=male,old=yes", "--without", "--format", "csv"),
    "decide or leave": ("decide", FOLDER, "", "sex=male", "--leave", "--format", "csv"),
    "policies": ("policies", FOLDER, "", "sex=male", "sex=male,old=yes", "--format", "csv"),
    "opinion": ("opinion", FOLDER, "", "sex=male", "--format", "csv"),
    "query of those who choose": ("query", FOLDER, "--space", "mask", "--quantity", "ett", "--format", "csv"),
    "rank": ("rank", FOLDER, "--top", 100, "--format", "csv"),
    "rank by harm": ("rank", FOLDER, "--top", 100, "--by", "harm", "--format", "csv"),
    "select": ("select", FOLDER, "--budget", 0.3, "--format", "csv"),
    "select, summed up": ("select", FOLDER, "--budget", 0.3),
    "select, its curve": ("select", FOLDER, "--budget", 0.3, "--curve", "--format", "csv"),
    "select with a cap on harm": ("select", FOLDER, "--budget", 0.3, "--max-harm", 0.1, "--format", "csv"),
    "decide, its curve": ("decide", FOLDER, "--curve", "--format", "csv"),
    "size from a pilot": ("size", "--margin", 0.05, "--pilot", FOLDER, "--query", "sex=male", "--format", "csv"),
    "explain": ("explain", FOLDER),
    "plan": ("plan", FOLDER, "--format", "csv"),
    "export again": ("export", FOLDER, "--out", "again", "--min-cell", 5),
}
"""Commands on the folder; `run` takes away nothing, so all that they print counts."""


COMPARING = ("query", "ask", "rank", "select", "report")
"""Commands that have to be told which of several arms to compare."""


def _contrast(command: str, found: Published) -> list[str]:
    return [word for name, arms in found.contrast.items() for word in (f"--{name}", arms) if command in COMPARING]


def _command(name: str, arguments: Sequence[object]) -> None:
    command = str(arguments[0])

    @output(f"program: {name}", commands=[command])
    def give(found: Published) -> bytes:
        return found.run(*arguments, *_contrast(command, found))


for _name, _arguments in COMMANDS.items():
    _command(_name, _arguments)


@output("program: score", commands=["score"])
def score(found: Published) -> bytes:
    """Everybody that can be asked about, scored from a file; and what the program says beside it."""
    names, queries = found.model.schema.names, found.model.schema.covariates
    rows = [
        ",".join("" if code < 0 else each.levels[code] for each, code in zip(queries, row, strict=True))
        for row in found.lattice
    ]
    (found.place / "people.csv").write_text("\n".join([",".join(names), *rows, ""]), encoding="utf-8")
    said = found.run("score", FOLDER, "people.csv", "--threshold", 0.2, "--out", "scored.csv")
    return said + (found.place / "scored.csv").read_bytes()


# --- the explorer -----------------------------------------------------------------------------------------


@output("API: the model", addresses=["/api/model", "/api/openapi.json", "/api/"])
def api_model(found: Published) -> bytes:
    return found.get("/api/model") + found.get("/api/openapi.json") + found.get("/api/")


@output("API: bounds", addresses=["/api/bounds"])
def api_bounds(found: Published) -> bytes:
    sent = {"queries": found.queries, **found.contrast}
    return found.post("/api/bounds", json=sent) + found.get("/api/bounds?query=sex%3Dmale")


@output("API: decisions", addresses=["/api/decide"])
def api_decide(found: Published) -> bytes:
    sent = {"queries": found.queries, "threshold": 0.2}
    return found.post("/api/decide", json=sent) + found.get("/api/decide?query=sex%3Dmale&threshold=0.2")


@output("API: tipping points", addresses=["/api/tip"])
def api_tip(found: Published) -> bytes:
    sent = {"queries": found.queries[::7], "threshold": 0.2}
    return found.post("/api/tip", json=sent) + found.get("/api/tip?query=sex%3Dmale&threshold=0.2&along=treated%3D1")


@output("API: policies", addresses=["/api/policies"])
def api_policies(found: Published) -> bytes:
    return found.post("/api/policies", json={"queries": ["", "sex=male"]}) + found.get("/api/policies?query=sex%3Dmale")


@output("API: a second opinion", addresses=["/api/opinion"])
def api_opinion(found: Published) -> bytes:
    sent = {"queries": ["", "sex=male"], **found.contrast}
    return found.post("/api/opinion", json=sent) + found.get("/api/opinion?query=sex%3Dmale&folds=2")


@output("API: thresholds and budgets", addresses=["/api/thresholds", "/api/select"])
def api_thresholds(found: Published) -> bytes:
    return found.post("/api/thresholds", json={}) + found.post("/api/select", json={"budget": 0.3, "max_harm": 0.1})


@output("API: held-out rows", addresses=["/api/validate"])
def api_validate(found: Published) -> bytes:
    return found.post("/api/validate", json={"splits": 1, "subgroups": ["sex=male"]})


@output("API: study size", addresses=["/api/size"])
def api_size(found: Published) -> bytes:
    return found.post("/api/size", json={"margin": 0.05, "query": "sex=male"})


@output("API: questions", addresses=["/api/ask"])
def api_ask(found: Published) -> bytes:
    sent = [{"query": query, "threshold": 0.2, **found.contrast} for query in ("", *found.queries[::7])]
    return b"".join([found.get("/api/ask"), *(found.post("/api/ask", json=each) for each in sent)])


@output("API: ranking", addresses=["/api/rank"])
def api_rank(found: Published) -> bytes:
    return found.post("/api/rank", json={"top": 100, **found.contrast}) + found.get("/api/rank?by=harm")


@output("pages: explore", addresses=["/", "/answer", "/advice"])
def explore(found: Published) -> bytes:
    """Advice first: a page that had to wait for it would come without."""
    asked = ["", "?with.sex=male", "?with.sex=male&with.old=yes&threshold=0.2", "?with.town=Aix&quantity=harm"]
    return b"".join(found.get(f"{path}{address}") for address in asked for path in ("/advice", "/answer", "/"))


@output("pages: groups", addresses=["/groups", "/groups/table"])
def groups(found: Published) -> bytes:
    return found.get("/groups/table") + found.get("/groups")


@output("pages: policies", addresses=["/policies"])
def policies(found: Published) -> bytes:
    return found.get("/policies") + found.get("/policies?with.sex=male")


@output("pages: held-out rows", addresses=["/proof"])
def proof(found: Published) -> bytes:
    return found.get("/proof")


@output("pages: study size", addresses=["/size"])
def size(found: Published) -> bytes:
    return found.get("/size") + found.get("/size?with.sex=male&margin=0.02")


@output("pages: slack", addresses=["/slack"])
def slack(found: Published) -> bytes:
    return found.get("/slack?threshold=0.2") + found.get("/slack?with.sex=male&threshold=0.2&cautious=no")


@output("pages: people", addresses=["/people", "/people/result", "/people.csv"])
def people(found: Published) -> bytes:
    table = {"text": "sex,old\nmale,yes\nfemale,\n"}
    sent = [found.post(path, data=table) for path in ("/people", "/people/result", "/people.csv")]
    return b"".join([found.get("/people"), *sent])


@output("pages: compare", addresses=["/compare"])
def compare(found: Published) -> bytes:
    return found.get("/compare?with.sex=male&and.sex=female") + found.get("/compare?with.town=Aix&threshold=0.2")


@output("pages: budget", addresses=["/budget"])
def budget(found: Published) -> bytes:
    return found.get("/budget") + found.get("/budget?budget=300&people=1000")


@output("pages: who is treated", addresses=["/decisions"])
def decisions(found: Published) -> bytes:
    return found.get("/decisions?by=sex") + found.get("/decisions?by=town&with.sex=male&threshold=0.2")


@output("pages: the check", addresses=["/check"])
def check(found: Published) -> bytes:
    return found.get("/check")


@output("pages: a second opinion", addresses=["/opinion"])
def opinion(found: Published) -> bytes:
    return found.get("/opinion") + found.get("/opinion?with.sex=male&quantity=harm")


@output("pages: about", addresses=["/about"])
def about(found: Published) -> bytes:
    return found.get("/about")


STATIC = ("/static/{name}",)
"""Addresses of files that are the same for every model."""

NOT_PUBLISHED = {
    "check": "what it says of all rows is for whoever has the tables",
    "start": "what it says of all rows is for whoever has the tables",
    "validate": "what it says of all rows is for whoever has the tables",
    "count": "it starts from a table; that its file hides what it withholds is a test of its own",
    "simulate": "no tables of anybody's",
    "oracle": "no tables of anybody's",
    "formula": "no tables of anybody's",
    "demo": "no tables of anybody's",
    "bench": "no tables of anybody's",
}
"""Commands whose results are nothing that a protected model gives out, and why; every other command is an output."""
