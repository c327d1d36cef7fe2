"""Templates filled in; everything a person or a table has written is escaped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

from pnsight._version import __version__
from pnsight.notes import sentences
from pnsight.output.about_answers import RESTS_ON
from pnsight.web.capabilities import UNIT_PAYOFFS
from pnsight.web.explorer import Explorer
from pnsight.web.state import PREFIX, State
from pnsight.web.views.structure_words import assumptions_of, of_structure, words_of
from pnsight.web.words import NO_ADVICE, PEOPLE, WITHOUT_ANSWER, WITHOUT_DECISION
from pnsight.wording import capitalised

TABS = (
    ("/", "Explore"),
    ("/groups", "Who benefits"),
    ("/compare", "Compare"),
    ("/budget", "Budget"),
    ("/decisions", "Who is treated"),
    ("/policies", "Usual care"),
    ("/people", "Many people"),
    ("/check", "The check"),
    ("/opinion", "Second opinion"),
    ("/about", "About"),
)


class Render:
    """The templates, with what is the same on every page of one model."""

    def __init__(self, explorer: Explorer, trial_alone: bool) -> None:
        """`trial_alone` where the whole site goes by the experiment alone although there is another table."""
        self.explorer = explorer
        model, study, ability = explorer.model, explorer.model.study, explorer.ability
        self._templates = Environment(
            loader=FileSystemLoader(Path(__file__).parent / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            auto_reload=False,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters["capital"] = capitalised
        self._templates.globals.update(
            version=__version__,
            tabs=TABS,
            treatment=study.labels.column(study.treatment),
            outcome=study.labels.column(study.outcome),
            labels=study.labels,
            model_name=model.name,
            covariates=model.schema.covariates,
            observed=study.observational is not None,
            refused=ability.refused,
            intervals=ability.intervals,
            law=ability.law,
            populations=ability.populations,
            alone_possible=ability.trial_alone,
            site_alone=trial_alone,
            verdict_on=explorer.verdict_on,
            warnings_on=lambda estimand: sentences(explorer.answering(estimand).warnings, "page"),
            rests_on=RESTS_ON,
            population=getattr(model, "population", ""),
            unit=UNIT_PAYOFFS,
            assumptions=assumptions_of(model.structure),
            **of_structure(model.structure),
            people=PEOPLE,
            no_answer=WITHOUT_ANSWER,
            no_advice=NO_ADVICE,
            without_decision=WITHOUT_DECISION,
            prefix=PREFIX,
            number=_typed,
            again=None,
        )

    def part(self, template: str, status: int = 200, **values: Any) -> HTMLResponse:
        """A part of a page."""
        return HTMLResponse(self._templates.get_template(template).render(values), status)

    def page(
        self, template: str, state: State, here: str, status: int = 200, link: str = "", **values: Any
    ) -> HTMLResponse:
        """A whole page about a state; its link is that of the state unless there is more to it."""
        write = self.explorer.reader.write
        return self.part(
            template,
            status,
            here=here,
            options=state.options,
            query=state.query,
            address=write(state),
            link=link or _address(here, write(state)),
            address_everyone=write(state.everyone),
            **words_of(self.explorer, state.options.estimand),
            **values,
        )


def _address(path: str, query: str) -> str:
    return f"{path}?{query}" if query else path


def _typed(value: float | None) -> str:
    """A number as a person would type it."""
    return "" if value is None else f"{value:.12g}"
