"""What all pages and the JSON interface of one model share."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from starlette.requests import Request

from pnsight.models import Model
from pnsight.output.tables_verdict import TablesVerdict
from pnsight.web.explorer import Explorer
from pnsight.web.kept import Kept
from pnsight.web.lanes import InPlace, Lane, Workers
from pnsight.web.limits import IN_PLACE, Limits
from pnsight.web.render import Render
from pnsight.web.state import Pairs, State
from pnsight.web.worker import Assignment, WorkerProcess

HEAVY_NICE = 5
"""By how much workers of the heavy lane yield the processor to quick ones."""

FEW_QUERIES = 32
"""Queries of one request that quick workers answer."""

T = TypeVar("T")


class Gone(Exception):
    """Whoever asked has left."""


@dataclass(frozen=True)
class Site:
    """A model to explore, its templates, and lanes to compute in.

    Attributes
    ----------
    explorer, render : the model, and the templates
    limits : what askers are granted
    quick : for what takes milliseconds, such as single answers
    heavy : for rankings and long tables, which do not hold up single answers
    rankings, advices : what was computed lately
    """

    explorer: Explorer
    render: Render
    limits: Limits
    quick: Lane
    heavy: Lane
    rankings: Kept
    advices: Kept

    @classmethod
    def of(
        cls,
        model: Model,
        trial_alone: bool = False,
        verdict: TablesVerdict | None = None,
        limits: Limits = IN_PLACE,
    ) -> Site:
        """A site about a model, or about its experiment alone; the tables are checked unless the verdict is known."""
        shown = model.from_trial_alone() if trial_alone else model
        explorer = Explorer(shown, verdict)
        quick = _lane(explorer, 0, limits.quick_workers, limits.quick_waiting, limits.quick_seconds)
        heavy = _lane(explorer, HEAVY_NICE, limits.heavy_workers, limits.heavy_waiting, limits.heavy_seconds)
        advices = Kept(heavy if explorer.many_profiles else quick, most=128)
        return cls(explorer, Render(explorer, trial_alone), limits, quick, heavy, Kept(heavy), advices)

    def lane(self, queries: int) -> Lane:
        """Where bounds of so many queries are computed."""
        return self.quick if queries <= FEW_QUERIES else self.heavy

    async def computed(self, request: Request, lane: Lane, job: Callable[..., T], *arguments: Any) -> T:
        """What a job returns; it ends when whoever asked has left."""
        work = asyncio.ensure_future(lane.run(job, *arguments, seconds=self.limits.answer_patience))
        left = asyncio.ensure_future(_left(request))
        try:
            await asyncio.wait({work, left}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                raise Gone
            return work.result()
        finally:
            await _ended(work, left)

    def close(self) -> None:
        """End all work."""
        self.quick.close()
        self.heavy.close()

    def read(self, request: Request, more: Pairs = (), **page: Any) -> tuple[State, str]:
        """The state that a request is about, and what is wrong with it if anything is; `page` as in `Reader.read`."""
        return self.explorer.reader.read([*request.query_params.multi_items(), *more], **page)


def _lane(explorer: Explorer, nice: int, workers: int, most_waiting: int, seconds: float) -> Lane:
    """A lane with so many workers about the model of an explorer."""
    if not workers:
        return InPlace(explorer)

    @cache
    def assignment() -> bytes:
        return pickle.dumps(Assignment(explorer.model, *explorer.check(), explorer.ability, nice))

    return Workers(lambda: WorkerProcess(assignment()), workers, most_waiting, seconds)


async def _left(request: Request) -> None:
    """Wait until whoever asked has left, or has been answered; the request has been read to its end."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _ended(*tasks: asyncio.Future[Any]) -> None:
    """Cancel what is still under way, and wait until it has noticed."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
