"""Who benefits: the groups that stand out, sorted and filtered."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from pnsight._text import number_of
from pnsight.decisions import Ranking, decided
from pnsight.decisions.ranking import NOBODY_KNOWN_HARMED, RANKED_QUANTITIES, By
from pnsight.errors import IncoherentError, PnsightError, QueryError
from pnsight.estimands.quantities import find_quantity
from pnsight.notes import sentences
from pnsight.web.bounds_chart import Scale
from pnsight.web.context import Site
from pnsight.web.explorer import Explorer
from pnsight.web.lanes import Busy
from pnsight.web.state import Options, Pairs, State, one_of
from pnsight.web.views.describe_question import asked, confidence, population_words, told_beside
from pnsight.web.views.groups import Group, groups, harm_in_groups
from pnsight.web.words import ALL_CONTRADICTED, NO_GROUP, signs

TOP = 50

AGAIN = 3
"""Seconds after which a page without script looks again."""

ORDERS = {
    "lower": "lower bound",
    "upper": "upper bound",
    **{name: find_quantity(name).label for name in RANKED_QUANTITIES},
}
"""What groups can be ranked by: an end of the quantity's bounds, or the lower bound on another quantity."""

_OWN = ("by", "text", "sort", "order")
"""Keys of this page's addresses beside those that say about whom and how to ask."""

_ALPHABETICAL = ("people", "decision")


@dataclass(frozen=True)
class Column:
    """A column of the table: its title, the address that sorts by it, and how it is sorted now if it is."""

    name: str
    title: str
    address: str
    order: str


@dataclass(frozen=True)
class Wanted:
    """Which groups to show, and in which order."""

    by: str
    text: str
    sort: str
    descending: bool

    @classmethod
    def of(cls, request: Request) -> tuple[Wanted, str]:
        """What a request asks for, and what is wrong with that if anything is: the order is the usual one then."""
        given = request.query_params
        text = given.get("text", "").strip()
        try:
            by, sort = one_of("by", given, tuple(ORDERS)), one_of("sort", given, tuple(_titles(observed=True)))
            usual = ("descending", "ascending") if _largest_first(sort) else ("ascending", "descending")
            return cls(by, text, sort, one_of("order", given, usual) == "descending"), ""
        except QueryError as error:
            return cls("lower", text, "place", False), str(error)

    @property
    def end(self) -> Literal["lower", "upper"]:
        """The end of the bounds that decides."""
        return "upper" if self.by == "upper" else "lower"

    @property
    def order(self) -> str:
        """The order in a word."""
        return "descending" if self.descending else "ascending"

    def pairs(self) -> list[tuple[str, str]]:
        """As it stands in an address."""
        order = "" if self.descending == _largest_first(self.sort) else self.order
        said = {"by": self.by, "text": self.text, "sort": self.sort, "order": order}
        usual = {"by": "lower", "text": "", "sort": "place", "order": ""}
        return [(name, value) for name, value in said.items() if value != usual[name]]

    @property
    def quantity(self) -> Pairs:
        """What takes the place of the quantity asked for: ranked by benefit or harm, it is that."""
        return [("quantity", self.by)] if self.by in RANKED_QUANTITIES else []

    def chosen(self, found: Sequence[Group]) -> list[Group]:
        """The groups that mention the text, sorted; what is missing comes last."""
        some = [group for group in found if group.mentions(self.text)]
        if self.sort in _ALPHABETICAL:
            key = {"people": lambda group: group.people, "decision": lambda group: group.sign.short}[self.sort]
            return sorted(some, key=key, reverse=self.descending)
        sign = -1 if self.descending else 1
        return sorted(some, key=lambda group: _last(sign * group.numbers[self.sort]))


@dataclass(frozen=True)
class GroupPages:
    """The page and its table."""

    site: Site

    def routes(self) -> Sequence[BaseRoute]:
        """Where they are."""
        return [Route("/groups", self.page), Route("/groups/table", self.table)]

    async def page(self, request: Request) -> Response:
        """The whole page."""
        wanted, problem = Wanted.of(request)
        state, status, shown = await self._shown(request, wanted, problem)
        return self.site.render.page(
            "groups.html",
            state,
            "/groups",
            status,
            link=f"/groups?{self._address(state, wanted)}",
            hidden=self.site.explorer.reader.people(state),
            orders=self._orders(),
            by=wanted.by,
            sort=wanted.sort,
            titles=self._titles(),
            again=None if shown["problem"] or shown["groups"] is not None else AGAIN,
            **shown,
        )

    async def table(self, request: Request) -> Response:
        """The table alone."""
        _, _, shown = await self._shown(request, *Wanted.of(request))
        return self.site.render.part("groups_table.html", **shown)

    def _orders(self) -> dict[str, str]:
        refused = self.site.explorer.ability.refused
        return {name: words for name, words in ORDERS.items() if name not in refused}

    async def _shown(self, request: Request, wanted: Wanted, problem: str) -> tuple[State, int, dict[str, Any]]:
        """The state, a status, and what the table shows or why it shows nothing."""
        state, also = self.site.read(request, own=_OWN, instead=wanted.quantity)
        options = state.options
        shown: dict[str, Any] = {
            "problem": f"{problem} {also}".strip(),
            "groups": None,
            "text": wanted.text,
            "go_on": "",
        }
        if shown["problem"]:
            return state, 400, shown
        try:
            found = await self._ranking(wanted, options)
        except IncoherentError:
            return state, 200, {**shown, "problem": ALL_CONTRADICTED, "go_on": self._go_on(state, wanted)}
        except PnsightError as error:
            return state, 200, {**shown, "problem": str(error)}
        except Busy:
            return state, 200, shown
        every = groups(self.site.explorer, found, options, await self._harm(request, found, options))
        if options.estimand.quantity.direction == "harm" and wanted.by != "upper":
            every = [group for group in every if group.numbers["lower"] > 0]
        table = self._table(state, wanted, found, len(every))
        return state, 200, {**shown, **table, "groups": wanted.chosen(every)}

    async def _harm(self, request: Request, found: Ranking, options: Options) -> list[str]:
        """How many are harmed at most in each group, to stand beside decisions to treat."""
        queries = list(found.answers.queries)
        try:
            return await self.site.computed(request, self.site.lane(len(queries)), harm_in_groups, queries, options)
        except (PnsightError, Busy):
            return []

    async def _ranking(self, wanted: Wanted, options: Options) -> Ranking:
        by: By = wanted.end
        asked, patience = options.estimand, self.site.limits.ranking_patience
        return await self.site.rankings.get((by, asked), patience, Explorer.ranking, by, asked, TOP)

    def _table(self, state: State, wanted: Wanted, found: Ranking, listed: int) -> dict[str, Any]:
        options = state.options
        scale, quantity = Scale.of(options), options.estimand.quantity.label
        line = scale.place(decided(found.answers, options.threshold).threshold)
        highest = f"{number_of(listed, 'group')} with the highest {wanted.end} bound on {quantity}"
        return {
            "caption": highest,
            "total": listed,
            "nobody": str(NOBODY_KNOWN_HARMED) if len(found) else NO_GROUP,
            "notes": sentences(told_beside(self.site.explorer, found.notes), "page") if listed else (),
            "asked": asked(self.site.explorer, options),
            "undecided": self.site.explorer.undecided(options.estimand),
            "averaged": population_words(self.site.explorer, options),
            "based": any(found.columns()["basis"]),
            "columns": self._columns(state, wanted),
            "level": "" if found.answers.level is None else confidence(found.answers.level),
            "signs": tuple(signs(options.estimand.quantity.name).values()),
            "scale": f"{quantity} from {scale.low:g} to {scale.high:g}",
            "threshold": line if 0 <= line <= 100 else None,
        }

    def _go_on(self, state: State, wanted: Wanted) -> str:
        """The address of the same ranking by the trial alone."""
        alone = replace(state.options.estimand, trial_alone=True, population=None)
        return self._address(replace(state, options=replace(state.options, estimand=alone)), wanted)

    def _columns(self, state: State, wanted: Wanted) -> list[Column]:
        return [self._column(state, wanted, name, title) for name, title in self._titles().items()]

    def _titles(self) -> dict[str, str]:
        return _titles(self.site.explorer.model.study.observational is not None)

    def _column(self, state: State, wanted: Wanted, name: str, title: str) -> Column:
        """Sorted by it already, the other way round."""
        now = wanted.sort == name
        descending = not wanted.descending if now else _largest_first(name)
        address = self._address(state, replace(wanted, sort=name, descending=descending))
        return Column(name, title, address, wanted.order if now else "")

    def _address(self, state: State, wanted: Wanted) -> str:
        reader = self.site.explorer.reader
        return urlencode([*reader.people(state), *state.options.pairs(reader.usual), *wanted.pairs()])


def _titles(observed: bool) -> dict[str, str]:
    """Columns of the table and their titles."""
    return {
        "place": "Rank",
        "people": "Group",
        "decision": "Decision",
        "share": "Share of people",
        "lower": "At least",
        "upper": "At most",
        "support_experimental": "Rows in experiment",
        **({"support_observational": "Rows observed"} if observed else {}),
    }


def _largest_first(name: str) -> bool:
    """Whether a column is sorted from its largest value down, unless asked otherwise."""
    return name not in (*_ALPHABETICAL, "place")


def _last(number: float) -> float:
    return math.inf if math.isnan(number) else number
