"""What a page is about: the people and the way to ask, read from an address and written to one.

Every state has one shortest address, so that it can be shared and remembered. Covariates are written with a prefix, as
in ``?with.sex=female&quantity=pn``, so that no covariate can be mistaken for an option.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar
from urllib.parse import urlencode

import numpy as np

from pnsight.data.schema import OPEN, Codes
from pnsight.decisions import refuse_threshold, usual_threshold
from pnsight.errors import PnsightError, QueryError, did_you_mean, join_names
from pnsight.estimands.assumptions import read_assumptions
from pnsight.estimands.estimand import BENEFIT, asking
from pnsight.estimands.payoffs import LARGEST
from pnsight.models import Model
from pnsight.queries.bound_table import validate_level
from pnsight.queries.query import decode, encode
from pnsight.web.capabilities import UNIT_PAYOFFS
from pnsight.web.words import PAYOFFS

PREFIX = "with."
LEVEL = 0.9

_OPTIONS = ("quantity", "threshold", "cost", "level", "cautious", "assume", "refine", "population", *PAYOFFS)
"""Keys of an address that say how to ask."""

T = TypeVar("T")
Pairs: TypeAlias = Sequence[tuple[str, str]]
"""Keys and values of an address, as they stand in it."""


@dataclass(frozen=True)
class Options:
    """How to ask.

    Attributes
    ----------
    quantity : what to bound
    threshold : what it must reach; None for the usual one
    level, cautious : confidence of the intervals, and whether decisions go by their far ends
    payoffs : of the benefit; None for other quantities
    assume, refine, population : as in `Model.bounds`
    """

    quantity: str
    threshold: float | None = None
    level: float = LEVEL
    cautious: bool = False
    payoffs: tuple[float, ...] | None = None
    assume: tuple[str, ...] = ()
    refine: str = "none"
    population: str | None = None

    @property
    def reach(self) -> float:
        """What the quantity must reach."""
        return usual_threshold(self.quantity) if self.threshold is None else self.threshold

    def arguments(self) -> dict[str, Any]:
        """Arguments of `Model.bounds`."""
        given: dict[str, Any] = {
            "quantity": self.quantity,
            "level": self.level,
            "payoffs": self.payoffs,
            "assume": self.assume,
            "refine": self.refine,
        }
        return given if self.population is None else {**given, "population": self.population}

    @property
    def undecided(self) -> Options:
        """The same question without what only the decision depends on."""
        return replace(self, threshold=None, cautious=False)

    @property
    def unusual(self) -> bool:
        """Whether any option beyond quantity and threshold is set."""
        return self != Options(self.quantity, self.threshold, payoffs=self.payoffs)

    def pairs(self, usual: str) -> list[tuple[str, str]]:
        """What differs from the usual, as it stands in an address."""
        said = [("quantity", self.quantity)] if self.quantity != usual else []
        if self.threshold is not None:
            said.append(("cost" if self.payoffs else "threshold", f"{self.threshold:.12g}"))
        if self.payoffs is not None and self.payoffs != UNIT_PAYOFFS:
            said += [(kind, f"{worth:.12g}") for kind, worth in zip(PAYOFFS, self.payoffs, strict=True)]
        if self.level != LEVEL:
            said.append(("level", f"{self.level:.12g}"))
        said += [("cautious", "yes")] if self.cautious else []
        said += [("assume", name) for name in self.assume]
        said += [("refine", self.refine)] if self.refine != "none" else []
        return said + ([("population", self.population)] if self.population else [])


@dataclass(frozen=True)
class State:
    """The people asked about, as one query's codes, and how to ask."""

    query: tuple[int, ...]
    options: Options

    @property
    def codes(self) -> Codes:
        """The query, shape (1, covariates)."""
        return np.array([self.query], dtype=np.int32)

    def knowing(self, place: int, code: int) -> State:
        """The same with one covariate fixed, or open with `OPEN`."""
        return replace(self, query=(*self.query[:place], code, *self.query[place + 1 :]))

    @property
    def everyone(self) -> State:
        """The same asked about everyone."""
        return replace(self, query=(OPEN,) * len(self.query))


class Reader:
    """Reads states of one model from addresses, and writes them."""

    def __init__(self, model: Model) -> None:
        self.model, self.schema, self.usual = model, model.schema, model.quantity
        self._quoted = [
            [urlencode({PREFIX + covariate.name: level}) for level in covariate.levels]
            for covariate in model.schema.covariates
        ]
        self._how = lru_cache(256)(lambda options: urlencode(options.pairs(self.usual)))

    def read(self, pairs: Pairs, own: Collection[str] = (), instead: Pairs = ()) -> tuple[State, str]:
        """The state, and what is wrong with the address if anything is; what is wrong is left out of the state.

        A page may have keys of its `own`, and something that it says `instead` of what the address does.
        """
        said = [(key, value) for key, value in pairs if value]
        twice = repeated(said, lists=("assume",))
        problems = [*twice.values(), *_unknown({key for key, _ in said}, own)]
        said = [*((key, value) for key, value in said if key not in twice), *instead]
        levels = {key.removeprefix(PREFIX): level for key, level in said if key.startswith(PREFIX)}
        state = State(self._query(levels, problems), self._options(dict(said), said, problems))
        return state, " ".join(problems)

    def write(self, state: State) -> str:
        """The shortest address of a state, without the path."""
        people = [levels[code] for levels, code in zip(self._quoted, state.query, strict=True) if code != OPEN]
        how = self._how(state.options)
        return "&".join([*people, how] if how else people)

    def people(self, state: State) -> list[tuple[str, str]]:
        """The covariates that a state fixes, as they stand in an address."""
        return [(PREFIX + name, level) for name, level in decode(self.schema, state.codes[0]).fixed.items()]

    def _query(self, levels: Mapping[str, str], problems: list[str]) -> tuple[int, ...]:
        try:
            return tuple(encode(self.schema, levels)[0].tolist())
        except QueryError as error:
            if len(levels) == 1:
                problems.append(str(error))
                return (OPEN,) * len(self.schema.names)
        each = [self._query({name: level}, problems) for name, level in levels.items()]
        return tuple(max(codes) for codes in zip(*each, strict=True))

    def _options(self, given: Mapping[str, str], pairs: Pairs, problems: list[str]) -> Options:
        def usable(read: Callable[[], T], otherwise: T) -> T:
            try:
                return read()
            except PnsightError as error:
                problems.append(str(error))
                return otherwise

        quantity = usable(lambda: self._quantity(given.get("quantity")), self.usual)
        benefit = quantity == BENEFIT
        assume = [value for key, value in pairs if key == "assume"]
        return Options(
            quantity,
            threshold=usable(lambda: _threshold(given, quantity), None),
            level=usable(lambda: _level(given), LEVEL),
            cautious=usable(lambda: one_of("cautious", given, ("no", "yes")) == "yes", False),
            payoffs=usable(lambda: _payoffs(given), UNIT_PAYOFFS) if benefit else None,
            assume=usable(lambda: read_assumptions(assume), ()),
            refine=usable(lambda: asking(refine=given.get("refine") or "none").refine, "none"),
            population=usable(lambda: self._population(given.get("population")), None),
        )

    def _quantity(self, name: str | None) -> str:
        return asking(name or None, UNIT_PAYOFFS if name == BENEFIT else None, otherwise=self.usual).quantity

    def _population(self, name: str | None) -> str | None:
        if name:
            self.model.validate_population(name)
        return name or None


def repeated(pairs: Pairs, lists: Collection[str]) -> dict[str, str]:
    """Keys that are given different values although they are no lists, each with what to say about it."""
    given: dict[str, dict[str, None]] = {}
    for key, value in pairs:
        given.setdefault(key, {})[value] = None
    return {
        key: f"{key} is given as {join_names(map(repr, values))}; give it once."
        for key, values in given.items()
        if len(values) > 1 and key not in lists
    }


def one_of(name: str, given: Mapping[str, str], known: Sequence[str]) -> str:
    """One of the words that are known, the first if none is given."""
    word = given.get(name) or known[0]
    if word not in known:
        raise QueryError(f"{name} is {word!r}; expected {join_names(known)}.")
    return word


def _unknown(keys: Collection[str], own: Collection[str]) -> list[str]:
    """What to say about keys that are none: a misspelt option would be left out by mistake."""
    known = (*_OPTIONS, *own)
    return [
        f"no option is called {key!r}.{did_you_mean(key, known)}"
        for key in sorted(keys)
        if key not in known and not key.startswith(PREFIX)
    ]


def _threshold(given: Mapping[str, str], quantity: str) -> float | None:
    threshold = _number(given, "cost" if quantity == BENEFIT else "threshold", None)
    if threshold is not None:
        refuse_threshold(threshold, quantity)
    return None if threshold == usual_threshold(quantity) else threshold


def _payoffs(given: Mapping[str, str]) -> tuple[float, ...]:
    return tuple(_number(given, kind, usual) for kind, usual in zip(PAYOFFS, UNIT_PAYOFFS, strict=True))


def _level(given: Mapping[str, str]) -> float:
    level = _number(given, "level", LEVEL)
    validate_level(level)
    return level


def _number(given: Mapping[str, str], name: str, usual: T) -> float | T:
    """A number that was typed, or the usual one if none was."""
    text = given.get(name, "").strip()
    if not text:
        return usual
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not abs(number) <= LARGEST:
        raise QueryError(f"{name} is {text!r}; give a number such as 0.4.")
    return number
