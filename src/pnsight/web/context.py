"""What all pages and the JSON interface of one model share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from pnsight.models import Model
from pnsight.output.tables_verdict import TablesVerdict
from pnsight.web.executor import Kept, Threads
from pnsight.web.explorer import Explorer
from pnsight.web.render import Render
from pnsight.web.state import Pairs, State


@dataclass(frozen=True)
class Site:
    """A model to explore, its templates, and threads to compute in.

    Attributes
    ----------
    explorer, render : the model, and the templates
    quick : for single answers: no thread where one takes a millisecond, otherwise two
    slow : threads for rankings and long tables, which do not hold up single answers
    rankings, advices : what was computed lately
    """

    explorer: Explorer
    render: Render
    quick: Threads
    slow: Threads
    rankings: Kept
    advices: Kept

    @classmethod
    def of(cls, model: Model, trial_alone: bool = False, verdict: TablesVerdict | None = None) -> Site:
        """A site about a model, or about its experiment alone; the tables are checked unless the verdict is known."""
        shown = model.from_trial_alone() if trial_alone else model
        explorer = Explorer(shown, verdict)
        quick, slow = Threads(2 if explorer.many_profiles else 0), Threads(2, most_waiting=100)
        advices = Kept(slow if explorer.many_profiles else quick, most=128)
        return cls(explorer, Render(explorer, trial_alone), quick, slow, Kept(slow), advices)

    def read(self, request: Request, more: Pairs = (), **page: Any) -> tuple[State, str]:
        """The state that a request is about, and what is wrong with it if anything is; `page` as in `Reader.read`."""
        return self.explorer.reader.read([*request.query_params.multi_items(), *more], **page)
