"""CONTRIBUTING's recipes, carried out: a quantity that is a row of the table, and a model that is a class and a name.

Each toy is added in one place, and then asked for everywhere that a user could: library, command line, JSON interface,
explorer and report.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, ClassVar, Self

import numpy as np
import pytest

import pnsight
import web_models
from page_text import read
from pnsight._progress import Progress, no_progress
from pnsight.cli.main import main
from pnsight.data.law import Law
from pnsight.data.schema import Codes, Covariate, Schema
from pnsight.data.structure import EXPERIMENTAL, OBSERVATIONAL
from pnsight.data.study import Study
from pnsight.data.two_by_two import TWO_BY_TWO
from pnsight.errors import ModelError
from pnsight.estimands import QUANTITIES, Estimand, Quantity, bounds, validate_fitted_quantity
from pnsight.estimands.compiled_ratio import Ends
from pnsight.estimands.linear_program import lp_bounds
from pnsight.estimands.quantities import known_quantities
from pnsight.models.base import Capabilities, LawModel
from pnsight.models.registry import MODELS
from pnsight.output.report import as_plain, render, summarise
from pnsight.queries import lattice
from pnsight.queries.bound_table import BoundTable
from pnsight.web import create_app
from web_clients import Client

SAME = 1e-9

IMMUNE = Quantity(
    name="immune",
    label="IMM",
    title="Immunity (IMM)",
    symbol="P(y'_x, y'_x')",
    latex=r"P(y'_x, y'_{x'})",
    phrase="treating cannot help",
    meaning="Of all these people, the share who respond neither treated nor untreated.",
    holds_for="the treatment changes nothing: they respond neither if treated nor if untreated",
    event="Y1 == 0 and Y0 == 0",
)
SPARED = Quantity(
    name="spared",
    label="SPA",
    title="Treatment spared (SPA)",
    symbol="P(y_x' | x, y)",
    latex=r"P(y_{x'} \mid x, y)",
    phrase="treating was not needed",
    meaning="Of those who took the treatment and responded, the share who would have responded without it.",
    holds_for="of those who took the treatment and responded, would have responded without it",
    event="Y0 == 1",
    given="X == 1 and Y == 1",
)

SCHEMA = Schema((Covariate("sex", ("female", "male")), Covariate("age", ("young", "old"))))
QUERIES = ("", "sex=male", "sex=female,age=old")
ROWS = 4000
"""Rows of each arm and of the observational table in a profile; shares of types are fortieths, so counts are whole."""


def shares_of_types(rows: int, seed: int, harmed: bool = True) -> np.ndarray:
    """Shares of the response types in populations, fortieths, shape (rows, types)."""
    possible = Estimand(assume=() if harmed else ("monotone",)).possible(TWO_BY_TWO)
    chance = np.where(possible, 1.0, 0.0)
    return np.random.default_rng(seed).multinomial(40, chance / chance.sum(), size=rows) / 40


def study_of(types: np.ndarray) -> Study:
    """A study whose counts show exactly the law of these populations, one a profile."""
    counts = ROWS * Law.from_types(types, TWO_BY_TWO).cells
    tables = (counts[:, TWO_BY_TWO.columns_of(table)] for table in (EXPERIMENTAL, OBSERVATIONAL))
    return Study.from_tables(SCHEMA, lattice.all_profiles(SCHEMA), *tables, treatment="drug", outcome="recovered")


@pytest.fixture(params=[IMMUNE, SPARED], ids=lambda quantity: quantity.name)
def quantity(request, monkeypatch) -> Quantity:
    """The recipe for a quantity: a row of the table, and nothing else."""
    monkeypatch.setitem(QUANTITIES, request.param.name, request.param)
    return request.param


@pytest.fixture(scope="module")
def model() -> pnsight.Model:
    """A plug-in of people of whom nobody is harmed."""
    return pnsight.PlugIn().fit(study_of(shares_of_types(4, seed=1, harmed=False)))


@pytest.fixture
def folder(model, tmp_path) -> str:
    """The same on disk."""
    pnsight.save(model, tmp_path / "model")
    return str(tmp_path / "model")


Run = Callable[..., str]


@pytest.fixture
def run(capsys) -> Run:
    """What ``pnsight ...`` prints; it must end with this exit code."""

    def printed(*arguments: object, code: int = 0) -> str:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        shown = capsys.readouterr()
        assert int(stop.value.code or 0) == code, shown.err
        return shown.err if code else shown.out

    return printed


def expected(model: pnsight.Model, quantity: Quantity, query: str, assume: str = "") -> tuple[float, float]:
    """Bounds by linear programming."""
    return lp_bounds(model.law(query), Estimand.parse(quantity, assume=assume))


# --- a quantity -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("assume", ["", "monotone"])
def test_a_new_quantity_has_the_bounds_of_the_linear_program(quantity, assume):
    law = Law.from_types(shares_of_types(30, seed=2, harmed=not assume), TWO_BY_TWO)
    found = np.transpose(bounds(law, quantity.name, assume=assume))
    asked = Estimand.parse(quantity.name, assume=assume)
    possible = asked.compiled(TWO_BY_TWO).conditioning_probability(law) > 0
    assert possible.sum() > 10
    referee = [lp_bounds(law, asked, row) for row in np.flatnonzero(possible)]
    np.testing.assert_allclose(found[possible], referee, atol=SAME, rtol=0)
    assert np.isnan(found[~possible]).all()


@pytest.mark.parametrize("assume", ["", "monotone"])
def test_the_command_line_answers_a_new_quantity(quantity, assume, model, folder, run):
    asked = ["--quantity", quantity.name, *(["--assume", assume] if assume else []), "--format", "json"]
    for row, query in zip(json.loads(run("query", folder, *QUERIES, *asked)), QUERIES, strict=True):
        np.testing.assert_allclose(
            (row["lower"], row["upper"]), expected(model, quantity, query, assume), atol=SAME, rtol=0
        )
    (decided,) = json.loads(run("decide", folder, "", *asked, "--threshold", 0))
    assert decided["decision"] == "treat"
    ranked = json.loads(run("rank", folder, *asked, "--margin", 0))
    assert ranked[0]["lower"] == max(row["lower"] for row in ranked)


def test_the_formula_of_a_new_quantity_is_printed(quantity, run):
    text = run("formula", "--quantity", quantity.name)
    assert text.startswith(f"{quantity.label} = {quantity.symbol}")
    assert ("divided by" in text) == (quantity.given is not None)
    assert quantity.latex in run("formula", "--quantity", quantity.name, "--latex")
    assert run("formula", "--quantity", quantity.name, "--assume", "monotone") != text


def test_a_budget_is_not_spent_for_what_is_no_gain(quantity, folder, run):
    assert "use one of pns, benefit" in run("select", folder, "--budget", 1, "--quantity", quantity.name, code=2)


@pytest.mark.parametrize("assume", ["", "monotone"])
def test_the_json_interface_answers_a_new_quantity(quantity, assume, model):
    client = Client(create_app(model))
    asked = {"quantity": quantity.name, "assume": [assume] if assume else []}
    found = client.post("/api/bounds", json={"queries": list(QUERIES), **asked}).json()
    for answer, query in zip(found["answers"], QUERIES, strict=True):
        np.testing.assert_allclose(
            (answer["lower"], answer["upper"]), expected(model, quantity, query, assume), atol=SAME, rtol=0
        )
    assert client.get("/api/bounds", params={"query": "sex=male", **asked}).json()["answers"] == [found["answers"][1]]
    decided = client.post("/api/decide", json={"threshold": 0, **asked}).json()
    assert (decided["quantity"], decided["decisions"][0]["decision"]) == (quantity.name, "treat")
    assert client.post("/api/rank", json=asked).json()["quantity"] == quantity.name


def test_the_json_interface_lists_a_new_quantity(quantity, model):
    app = create_app(model)
    described = app.openapi()["components"]["schemas"]["BoundsRequest"]["properties"]["quantity"]
    assert described["anyOf"][0]["enum"] == list(known_quantities())
    client = Client(app)
    assert quantity.name in client.get("/api/model").json()["quantities"]
    refused = client.post("/api/bounds", json={"quantity": "no such"})
    assert (refused.status_code, repr(quantity.name) in refused.json()["error"]) == (422, True)


def test_the_explorer_shows_a_new_quantity(quantity, model):
    client = Client(create_app(model))
    page = client.get(f"/?quantity={quantity.name}&with.sex=male&threshold=0")
    assert page.status_code == 200
    shown = read(page.text)
    (chosen,) = [each for each in shown.every("option") if "selected" in each.attributes]
    assert chosen.text.strip() == f"{quantity.label}: {quantity.phrase}"
    assert quantity.meaning in shown.text
    table = next(each for each in shown.every("table") if f"{quantity.label} in numbers" in each.text)
    assert all(f"{end:.3f}" in table.text for end in expected(model, quantity, "sex=male"))
    assert shown.one("h2", id="answer-title").text.strip() == "Reaches the threshold"
    for path in ("/groups", "/people", "/about", "/advice"):
        assert client.get(f"{path}?quantity={quantity.name}").status_code == 200


def test_a_report_is_written_about_a_new_quantity(quantity, model):
    summary = summarise(model, quantity=quantity.name, threshold=0.2)
    headline = as_plain(summary)["everyone"][0]
    assert (headline["quantity"], headline["name"]) == (quantity.name, quantity.title)
    ends = headline["answer"]["lower"], headline["answer"]["upper"]
    np.testing.assert_allclose(ends, expected(model, quantity, ""), atol=SAME, rtol=0)
    assert headline["sentence"].startswith("For " if quantity.given is None else "Of those who took")
    text = read(render(summary)).text
    for said in (quantity.title, headline["sentence"], f"bounds on {quantity.label}"):
        assert said in text


def test_a_model_is_fitted_for_a_new_quantity_and_reported(quantity, tmp_path, run):
    learned = pnsight.MaskMLP(quantity=quantity.name, epochs=3, min_rows=100).fit(web_models.study())
    pnsight.save(learned, tmp_path / "mask")
    run("report", tmp_path / "mask", "--out", tmp_path / "report.json")
    found = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert [each["name"] for each in found["everyone"]] == [quantity.title]
    run("report", tmp_path / "mask", "--out", tmp_path / "report.html")
    assert f"bounds on {quantity.label}" in (tmp_path / "report.html").read_text(encoding="utf-8")


# --- a model --------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Smoothed(LawModel):
    """Shares of a query's rows with some more in each cell, and intervals as wide as the fewest rows make them."""

    quantity: str = "pns"
    more_rows: float = 1.0

    name: ClassVar[str] = "smoothed"
    method: ClassVar[str] = "The smoothed plug-in: the rows of a group, and a few more in every cell."

    def fit(self, study: Study, progress: Progress = no_progress) -> Self:
        """Keep the study."""
        self.validate_parameters()
        self.study_ = study
        return self

    @property
    def capabilities(self) -> Capabilities:
        """The law of every query, with intervals."""
        return Capabilities(law=True, intervals=True, pools_rows=True)

    def validate_parameters(self) -> None:
        """Refuse what no model can be fitted with."""
        validate_fitted_quantity(self.quantity)
        if not self.more_rows > 0:
            raise ModelError(f"more_rows is {self.more_rows}; give a number above 0.")

    def parameters(self) -> Mapping[str, Any]:
        """What the constructor was given."""
        return {"quantity": self.quantity, "more_rows": self.more_rows}

    def explain(self) -> str:
        """Nothing was chosen."""
        return f"Nothing was learned; {self.more_rows:g} rows are added to each cell."

    def law_given(self, codes: Codes, counts: np.ndarray) -> Law:
        """The law of counts with some more rows."""
        return Law.from_counts(counts + self.more_rows, self.structure)

    def ends_given(self, codes: Codes, counts: np.ndarray, estimand: Estimand) -> Ends:
        """The formulas at the query's law; profiles are not told apart."""
        if estimand.needs_profiles(self.structure):
            raise ModelError("a smoothed model does not tell profiles apart; leave --refine and exogenous out.")
        return estimand.bounds_at(self.law_given(codes, counts), self.structure.by_group(counts))

    def compute_bounds(self, codes: Codes, estimand: Estimand) -> BoundTable:
        """Bounds, and an interval for each end."""
        found = super().compute_bounds(codes, estimand)
        spread = 0.5 / np.sqrt(1 + self.least_rows(self.counts(codes)))
        half = NormalDist().inv_cdf((1 + estimand.level) / 2) * spread
        ends = {
            f"{end}_{side}": np.clip(getattr(found, end) + sign * half, *estimand.span)
            for end in ("lower", "upper")
            for side, sign in (("low", -1), ("high", 1))
        }
        return replace(found, level=estimand.level, **ends)


@pytest.fixture
def smoothed(monkeypatch, model, tmp_path, run) -> str:
    """The recipe for a model: a class, and its entry in the registry; then fitted on the command line."""
    monkeypatch.setitem(MODELS, Smoothed.name, f"{__name__}:{Smoothed.__name__}")
    tables = []
    for table in (EXPERIMENTAL, OBSERVATIONAL):
        tables.append(tmp_path / f"{table}.csv")
        tables[-1].write_text("\n".join(csv_lines(model.study, table)), encoding="utf-8")
    roles = ["--treatment", "drug", "--outcome", "recovered"]
    run("fit", *tables, *roles, "--model", Smoothed.name, "--seed", 3, "--out", tmp_path / "smoothed")
    return str(tmp_path / "smoothed")


def csv_lines(study: Study, table: str) -> list[str]:
    """The rows of one table of a study, a hundredth of them."""
    lines = [",".join((*study.schema.names, "drug", "recovered"))]
    counts = study.counts[:, TWO_BY_TWO.columns_of(table)]
    for profile, row in zip(study.profiles, counts, strict=True):
        levels = [covariate.levels[code] for covariate, code in zip(study.schema.covariates, profile, strict=True)]
        for cell, count in zip(((1, 1), (1, 0), (0, 1), (0, 0)), row, strict=True):
            lines += [",".join([*levels, *map(str, cell)])] * round(count / 100)
    return lines


def test_a_new_model_is_fitted_stored_and_read_again(smoothed):
    found = pnsight.load(smoothed)
    assert isinstance(found, Smoothed)
    assert dict(found.parameters()) == {"quantity": "pns", "more_rows": 1.0}
    assert found.study.table_rows == (320.0, 160.0)


def test_fit_gives_a_new_model_the_options_that_its_constructor_takes(smoothed, folder, run, tmp_path):
    given = ["fit", tmp_path / "experimental.csv", "--treatment", "drug", "--outcome", "recovered"]
    given += ["--model", Smoothed.name, "--out", tmp_path / "other"]
    refused = run(*given, "--no-intervals", code=2)
    assert "--no-intervals" in refused
    assert "it is for response-types; smoothed was given" in " ".join(refused.replace("│", " ").split())
    run(*given, "--quantity", "harm")
    assert pnsight.load(tmp_path / "other").quantity == "harm"


def test_a_new_model_answers_and_decides_on_the_command_line(smoothed, run):
    found = pnsight.load(smoothed)
    asked = ["--quantity", "harm", "--level", 0.8, "--format", "json"]
    rows = json.loads(run("query", smoothed, *QUERIES, *asked))
    answers = found.bounds(list(QUERIES), "harm", level=0.8)
    assert [row["lower_high"] for row in rows] == pytest.approx(answers.lower_high)
    (cautious,) = json.loads(run("decide", smoothed, "", "--cautious", "--threshold", 0.001, "--format", "json"))
    assert cautious["decision"] in ("treat", "uncertain")
    assert json.loads(run("rank", smoothed, "--least-support", 0, "--format", "json"))
    assert "this is a smoothed model" in run("plan", smoothed, code=2)


def test_a_new_model_is_reported(smoothed, run, tmp_path):
    run("report", smoothed, "--out", tmp_path / "report.json", "--level", 0.8)
    found = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert (found["model"]["kind"], found["level"]) == ("smoothed", 0.8)
    assert found["everyone"][0]["answer"]["lower_low"] is not None
    run("report", smoothed, "--out", tmp_path / "report.html", "--payoffs", "1,0,0,-1")
    assert Smoothed.method in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_new_model_is_explored(smoothed):
    client = Client(create_app(pnsight.load(smoothed)))
    described = client.get("/api/model").json()
    assert (described["model"], described["intervals"]) == ("smoothed", True)
    assert described["quantities"] == list(QUANTITIES)
    page = read(client.get("/?level=0.8&cautious=yes&with.sex=male").text)
    assert page.every("input", name="cautious")
    assert "Intervals: 80%." in page.text
    refused = client.get("/?refine=covariates")
    assert "does not tell profiles apart" in refused.text
    for path in ("/groups", "/people", "/about", "/advice"):
        assert client.get(path).status_code == 200
