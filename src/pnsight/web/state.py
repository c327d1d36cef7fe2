"""What a page is about: the people and the way to ask, read from an address and written to one.

Every state has one shortest address, so that it can be shared and remembered. Covariates are written with a prefix, as
in ``?with.sex=female&quantity=pn``, so that no covariate can be mistaken for an option.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache, partial
from typing import Any, TypeAlias, TypeVar
from urllib.parse import urlencode

from pnsight.data.schema import OPEN, Codes, codes_of
from pnsight.decisions import refuse_threshold
from pnsight.errors import PnsightError, QueryError, did_you_mean, join_names
from pnsight.estimands.contrast import write_contrast
from pnsight.estimands.estimand import Estimand
from pnsight.estimands.payoffs import MAX_PAYOFF, Payoffs
from pnsight.estimands.quantities import Quantity, find_quantity
from pnsight.estimands.usual_question import usual_question
from pnsight.models import Model
from pnsight.queries.query import decode, encode
from pnsight.web.capabilities import UNIT_PAYOFFS
from pnsight.web.limits import MOST_TEXT
from pnsight.web.words import PAYOFFS

PREFIX = "with."
OTHER = "and."
"""Before the name of a covariate; the second where two groups are compared, of the second group."""

MOST_TOLD = 5
"""Mistakes of one kind in an address that are told; what comes after them is left out of the state."""

_ESTIMAND = fields(Estimand)
_LISTS = tuple(each.name for each in _ESTIMAND if isinstance(each.default, tuple))
_OPTIONS = (*(each.name for each in _ESTIMAND if each.name != "payoffs"), *PAYOFFS, "threshold", "cost", "cautious")
"""Keys of an address that say how to ask: the fields of an estimand, payoffs one by one, and those of the decision."""

_SEEN = ("quantity", "payoffs", "contrast", "horizon", "among")
"""Fields of an estimand whose controls are in sight on every page that has them."""

T = TypeVar("T")
Pairs: TypeAlias = Sequence[tuple[str, str]]
"""Keys and values of an address, as they stand in it."""


@dataclass(frozen=True)
class Options:
    """How to ask, and how to decide.

    Attributes
    ----------
    estimand : what to bound
    threshold : what it must reach; None for the usual one
    cautious : whether decisions go by the far ends of the intervals, of models that give any
    usual : what is asked unless the address says otherwise: which arms, and when
    """

    estimand: Estimand = field(default_factory=Estimand)
    threshold: float | None = None
    cautious: bool = True
    usual: Estimand = field(default_factory=Estimand)

    @property
    def reach(self) -> float:
        """What the quantity must reach."""
        return self.estimand.quantity.default_threshold if self.threshold is None else self.threshold

    @property
    def unusual(self) -> bool:
        """Whether any option beyond quantity and threshold is set."""
        seen = {name: getattr(self.estimand, name) for name in _SEEN}
        return self != replace(self, estimand=replace(Estimand(), **seen), cautious=True)

    def pairs(self, usual: str) -> list[tuple[str, str]]:
        """What differs from the usual, as it stands in an address."""
        quantity = find_quantity(usual) if self.usual.quantity.name != usual else self.usual.quantity
        standard = replace(self.usual, quantity=quantity, payoffs=UNIT_PAYOFFS if self.estimand.payoffs else None)
        said = [
            pair
            for each in _ESTIMAND
            if (value := getattr(self.estimand, each.name)) != getattr(standard, each.name)
            for pair in _written(each.name, value)
        ]
        if self.threshold is not None:
            reach = "cost" if self.estimand.payoffs else "threshold", f"{self.threshold:.12g}"
            said.insert(sum(name == "quantity" for name, _ in said), reach)
        return said if self.cautious else [*said, ("cautious", "no")]


def _written(name: str, value: Any) -> list[tuple[str, str]]:
    """A field of an estimand as it stands in an address."""
    if isinstance(value, Payoffs):
        return [(kind, f"{worth:.12g}") for kind, worth in zip(PAYOFFS, value.as_tuple(), strict=True)]
    if name == "contrast":
        return [(name, write_contrast(value))]
    if isinstance(value, tuple):
        return [(name, str(each)) for each in value]
    if isinstance(value, Quantity):
        return [(name, value.name)]
    if isinstance(value, bool):
        return [(name, "yes" if value else "no")]
    return [(name, f"{value:.12g}" if isinstance(value, float) else str(value))]


@dataclass(frozen=True)
class State:
    """The people asked about, as one query's codes, and how to ask."""

    query: tuple[int, ...]
    options: Options

    @property
    def codes(self) -> Codes:
        """The query, shape (1, covariates)."""
        return codes_of([self.query])

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
        self._quoted = lru_cache(4096)(
            lambda place, code: urlencode(
                {PREFIX + model.schema.names[place]: model.schema.covariates[place].text(code)}
            )
        )
        self.usually = usual_question(model.structure, Estimand(find_quantity(model.quantity)))
        self._how = lru_cache(256)(lambda options: urlencode(options.pairs(self.usual)))

    @cached_property
    def trial(self) -> Model:
        """The model that answers from the experiment alone."""
        return self.model.from_trial_alone()

    def read(self, pairs: Pairs, own: Collection[str] = (), instead: Pairs = ()) -> tuple[State, str]:
        """The state, and what is wrong with the address if anything is; what is wrong is left out of the state.

        A page may have keys of its `own`, and something that it says `instead` of what the address does.
        """
        said = [(key, value) for key, value in pairs if value and len(key) <= MOST_TEXT and len(value) <= MOST_TEXT]
        twice = repeated(said, lists=_LISTS)
        problems = [*too_long(pairs), *twice.values(), *_unknown({key for key, _ in said}, own)]
        said = [*((key, value) for key, value in said if key not in twice), *instead]
        levels = {key.removeprefix(PREFIX): level for key, level in said if key.startswith(PREFIX)}
        state = State(self._query(levels, problems), self._options(said, problems))
        return state, " ".join(problems)

    def write(self, state: State) -> str:
        """The shortest address of a state, without the path."""
        people = [self._quoted(place, code) for place, code in enumerate(state.query) if code != OPEN]
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
        return self._readable(levels, problems)

    def _readable(self, levels: Mapping[str, str], problems: list[str]) -> tuple[int, ...]:
        """What can be read of levels that cannot all be, up to the last mistake that is told."""
        found, before = [(OPEN,) * len(self.schema.names)], len(problems)
        for name, level in levels.items():
            if len(problems) - before == MOST_TOLD:
                problems.append("What comes after that was not read.")
                break
            found.append(self._query({name: level}, problems))
        return tuple(next((code for code in codes if code != OPEN), OPEN) for codes in zip(*found, strict=True))

    def _options(self, pairs: Pairs, problems: list[str]) -> Options:
        def usable(read: Callable[[], T], otherwise: T) -> T:
            try:
                return read()
            except PnsightError as error:
                problems.append(str(error))
                return otherwise

        given = dict(pairs)
        quantity = usable(lambda: find_quantity(given.get("quantity") or self.usual), find_quantity(self.usual))
        payoffs = usable(lambda: _payoffs(given), UNIT_PAYOFFS) if quantity.has_payoffs else None
        estimand = usual_question(self.model.structure, Estimand(quantity, payoffs))
        for name in (each.name for each in _ESTIMAND if each.name not in ("quantity", "payoffs")):
            estimand = usable(partial(self._with, estimand, name, pairs), estimand)
        threshold = usable(lambda: _threshold(given, quantity), None)
        cautious = usable(lambda: one_of("cautious", given, ("yes", "no")) == "yes", True)
        return Options(estimand, threshold, cautious, self.usually)

    def _with(self, estimand: Estimand, name: str, pairs: Pairs) -> Estimand:
        """The estimand with one more field as the address has it; the model may refuse it."""
        texts = [value for key, value in pairs if key == name]
        if not texts:
            return estimand
        said = {name: _said(name, dict(pairs), texts)}
        parsed = Estimand.parse(estimand.quantity, payoffs=estimand.payoffs, **said)
        checked = self.model.estimand(replace(estimand, **{name: getattr(parsed, name)}))
        if checked.trial_alone:
            _ = self.trial  # a model that cannot answer from it says why
        return checked


def _said(name: str, given: Mapping[str, str], texts: list[str]) -> Any:
    """What an address says of a field of an estimand, by the type of the field's default."""
    usual = getattr(Estimand, name)
    if name in _LISTS:
        return texts
    if isinstance(usual, bool):
        return one_of(name, given, ("no", "yes")) == "yes"
    return _number(given, name, usual) if isinstance(usual, float) or name == "horizon" else texts[-1]


def too_long(pairs: Pairs) -> list[str]:
    """What to say about names and values that are longer than any that could be meant."""
    return [
        f"{key[:40]} has a name or value of {max(len(key), len(value)):,} characters; give at most {MOST_TEXT:,}."
        for key, value in pairs
        if len(key) > MOST_TEXT or len(value) > MOST_TEXT
    ]


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
    strange = sorted(key for key in keys if key not in known and not key.startswith(PREFIX))
    more = [f"{len(strange) - MOST_TOLD} more options are none."] if len(strange) > MOST_TOLD else []
    return [*(f"no option is called {key!r}.{did_you_mean(key, known)}" for key in strange[:MOST_TOLD]), *more]


def _threshold(given: Mapping[str, str], quantity: Quantity) -> float | None:
    threshold = _number(given, "cost" if quantity.has_payoffs else "threshold", None)
    if threshold is not None:
        refuse_threshold(threshold, quantity.name)
    return None if threshold == quantity.default_threshold else threshold


def _payoffs(given: Mapping[str, str]) -> Payoffs:
    usual = zip(PAYOFFS, UNIT_PAYOFFS.as_tuple(), strict=True)
    return Payoffs.of([_number(given, kind, worth) for kind, worth in usual])


def _number(given: Mapping[str, str], name: str, usual: T) -> float | T:
    """A number that was typed, or the usual one if none was."""
    text = given.get(name, "").strip()
    if not text:
        return usual
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not abs(number) <= MAX_PAYOFF:
        raise QueryError(f"{name} is {text!r}; give a number such as 0.4.")
    return number
