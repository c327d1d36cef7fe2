"""Scoring: a decision and its answer for every person of a table, block by block, equal people computed once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pnsight.data.profiles import hash_rows
from pnsight.data.schema import Codes
from pnsight.decisions.rule import NONE, NOT, TREAT, UNCERTAIN
from pnsight.decisions.which_arm import decide_without_notes
from pnsight.errors import QueryError
from pnsight.estimands.estimand import Estimand, EstimandLike
from pnsight.models import Model
from pnsight.notes import WARNING, Note
from pnsight.queries.bound_table import CONTRADICTED, EXTRAPOLATED, INVALID, OK, SUPPORT
from pnsight.queries.people import PeopleEncoder
from pnsight.queries.query_texts import query_texts

PROBLEM = "problem"
"""The column that says why a row cannot be read."""

BLOCK_ROWS = 131_072
"""People that are scored at once."""

MOST_REMEMBERED = 262_144
"""Distinct people whose answers are kept from block to block."""

_RECURRING = 0.9
"""Share of people in a block that are distinct above which hardly any recurs."""

_STEP = 64
"""People are answered in a multiple of this number."""

_FIRST = ("decision", "decision_cautious", "between", "arm", "query")
_TEXTS = (*_FIRST, "status", "basis")
_PER_TABLE = ("decisions_counted", "arms_counted", "extrapolated_undecided", "answers_contradicted")
"""Notes that count queries, in whose place people are counted."""


@dataclass
class Tally:
    """How many people there were, by decision and by status, and the first one that could not be read."""

    people: int = 0
    decisions: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    extrapolated: int = 0
    first_problem: tuple[int, str] | None = None

    def add(self, answers: Any, problems: Mapping[int, str]) -> None:
        """Count a block of answers, in which some rows cannot be read."""
        if problems and self.first_problem is None:
            row = min(problems)
            self.first_problem = (self.people + row + 1, problems[row])
        self.people += answers.num_rows
        for name, counter in (("decision", self.decisions), ("status", self.statuses)):
            counter.update({one["values"]: one["counts"] for one in answers[name].value_counts().to_pylist()})
        wanted = {"decision": NONE, "basis": EXTRAPOLATED, "status": OK}
        left = reduce(pc.and_, (pc.equal(answers[name], text) for name, text in wanted.items()))
        self.extrapolated += pc.sum(left).as_py() or 0

    @property
    def notes(self) -> tuple[Note, ...]:
        """The decisions by kind, and for whom there is none."""
        found = [Note("people_scored", {"people": self.people, "decisions": self._by_decision()})]
        if self.extrapolated:
            found.append(Note("people_extrapolated", {"people": self.extrapolated, "of": self.people}, WARNING))
        if self.statuses[CONTRADICTED]:
            values = {"people": self.statuses[CONTRADICTED], "of": self.people}
            found.append(Note("people_contradicted", values, WARNING))
        if self.first_problem is not None:
            row, words = self.first_problem
            invalid = {"people": self.statuses[INVALID], "of": self.people, "row": row, "problem": words}
            found.append(Note("people_invalid", invalid, WARNING))
        return tuple(found)

    def _by_decision(self) -> list[dict[str, Any]]:
        usual = [word for word in (TREAT, NOT, UNCERTAIN) if self.decisions[word]]
        named = [*usual, *sorted(set(self.decisions) - {*usual, NONE}), *([NONE] if self.decisions[NONE] else [])]
        return [{"decision": word, "people": self.decisions[word]} for word in named]


@dataclass
class Scorer:
    """Answers blocks of people from a model; a copy of it goes to where the data live.

    Parameters
    ----------
    model, threshold, cautious, quantity, extrapolate, options
        As `pnsight.decide` takes them.
    most_remembered
        Distinct people whose answers are kept from block to block.
    """

    model: Model
    threshold: float | None = None
    cautious: bool = False
    quantity: EstimandLike = None
    extrapolate: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    most_remembered: int = MOST_REMEMBERED
    tally: Tally = field(default_factory=Tally, init=False, repr=False)

    def __post_init__(self) -> None:
        """Answer about nobody, which refuses what cannot be asked before any row is read."""
        asked = self.quantity
        if self.options.get("simultaneous") or (isinstance(asked, Estimand) and asked.simultaneous):
            raise QueryError(
                "--simultaneous (simultaneous=True) is about all answers of a table together, and people are scored "
                "block by block; leave it out, or ask pnsight decide about a table that fits into memory."
            )
        self._lock = Lock()
        self._encoder = PeopleEncoder(self.model.schema, self.model.capabilities.exact_only)
        self._whole = bool((self.model.study.counts == np.floor(self.model.study.counts)).all())
        self._forget()

    def _forget(self) -> None:
        nobody = np.empty((0, len(self.model.schema.names)), dtype=self.model.schema.code_type)
        self._keys = _keys(nobody, self.model.schema.shape)
        self._answers = self._answer(nobody)
        self.schema = self._answers.schema.append(pa.field(PROBLEM, pa.string()))

    def __getstate__(self) -> dict[str, Any]:
        """All but what was computed, which another process computes anew."""
        kept = ("model", "threshold", "cautious", "quantity", "extrapolate", "options", "most_remembered")
        return {name: getattr(self, name) for name in kept}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state)
        self.tally = Tally()
        self.__post_init__()

    @property
    def names(self) -> list[str]:
        """Names of the columns that are added."""
        return list(self.schema.names)

    @property
    def estimand(self) -> Estimand:
        """What is asked, for what is said about answers; of several arms, one of the comparisons."""
        return self.model.estimand(self.quantity, **{**self.options, "contrast": self._contrast})

    def score(self, columns: Mapping[str, Any], rows: int) -> Any:
        """Score a block of people.

        Parameters
        ----------
        columns
            Arrow arrays by covariate.
        rows
            How many people there are.

        Returns
        -------
        pyarrow.Table
            One row a person, in the same order.
        """
        with self._lock:  # Polars and Dask score several blocks at once
            return self._score(columns, rows)

    def _score(self, columns: Mapping[str, Any], rows: int) -> Any:
        parts = []
        for begin in range(0, max(rows, 1), BLOCK_ROWS):
            size = min(BLOCK_ROWS, rows - begin)
            parts.append(self._score_block({name: v.slice(begin, size) for name, v in columns.items()}, size))
        return pa.concat_tables(parts)

    def _score_block(self, columns: Mapping[str, Any], rows: int) -> Any:
        people = self._encoder.encode(columns, rows)
        valid = people.valid
        found = self._look_up(people.codes[valid])
        if not valid.all():
            place = np.cumsum(valid) - 1
            found = found.take(pa.array(place, mask=~valid))
            found = _set(found, ~valid, {"decision": NONE, "decision_cautious": NONE, "status": INVALID, "basis": ""})
        problems = [people.problems.get(row) for row in range(rows)] if people.problems else pa.nulls(rows, pa.string())
        found = found.append_column(self.schema.field(PROBLEM), pa.array(problems, pa.string()))
        self.tally.add(found, people.problems)
        return found

    def _look_up(self, codes: Codes) -> Any:
        """The answer of each person; those who are new are answered once, and remembered unless hardly any recurs."""
        if not len(self._keys) and _hardly_any_recurs(codes):
            return self._answer(codes)
        keys, first, place = np.unique(_keys(codes, self.model.schema.shape), return_index=True, return_inverse=True)
        at = np.searchsorted(self._keys, keys)
        known = at < len(self._keys)
        known[known] = self._keys[at[known]] == keys[known]
        new = ~known
        if not new.any():
            return self._answers.take(pa.array(at[place.ravel()]))
        answers = pa.concat_tables([self._answers, self._answer(codes[first[new]])]).combine_chunks()
        at[new] = len(self._keys) + np.arange(new.sum())
        result = answers.take(pa.array(at[place.ravel()]))
        self._remember(np.concatenate([self._keys, keys[new]]), answers, len(self._keys))
        return result

    def _remember(self, keys: npt.NDArray[Any], answers: Any, old: int) -> None:
        """Keep answers in the order of their keys; where they are too many, only the newest."""
        if len(keys) > self.most_remembered:
            keys, answers = keys[old:], answers.slice(old)
        order = np.argsort(keys, kind="stable")
        self._keys, self._answers = keys[order], answers.take(pa.array(order))

    def _answer(self, codes: Codes) -> Any:
        """Decisions and answers as an Arrow table."""
        people, codes = len(codes), _filled_up(codes)
        found = decide_without_notes(
            self.model, codes, self.threshold, self.cautious, self.quantity, self.extrapolate, **self.options
        )
        self._contrast = found.contrast or self.options.get("contrast")
        if len(codes) == 0:
            self.caption = found.caption
            self.notes = tuple(note for note in found.notes if note.kind not in _PER_TABLE)
        columns = {**found.arrays(), "query": query_texts(self.model.schema, codes)}
        ordered = [name for name in _FIRST if name in columns] + [name for name in columns if name not in _FIRST]
        return pa.table({name: self._array(name, columns[name]) for name in ordered}).slice(0, people)

    def _array(self, name: str, values: Any) -> Any:
        """A column as Arrow keeps it, NaN as missing."""
        if name in SUPPORT and self._whole:
            values = np.asarray(values, dtype=np.int64)
        return values if isinstance(values, pa.Array) else pa.array(values, self._type(name), from_pandas=True)

    def _type(self, name: str) -> Any:
        if name in _TEXTS:
            return pa.string()
        return pa.int64() if name in SUPPORT and self._whole else pa.float64()


def _filled_up(codes: Codes) -> Codes:
    """The last person again, up to a whole step of matrix products: what is left over may differ in the last digit."""
    lacking = -len(codes) % _STEP
    return np.concatenate([codes, codes[-1:].repeat(lacking, axis=0)]) if lacking else codes


def _hardly_any_recurs(codes: Codes) -> bool:
    """Whether people with numbers nearly all differ, so that it does not pay to sort and to remember them."""
    return codes.dtype == np.int64 and len(np.unique(hash_rows(codes))) > _RECURRING * len(codes)


def _keys(codes: Codes, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """What only equal people share, shape (people,): a number, or bytes where it would be too large."""
    sizes = np.array(shape, dtype=np.int64) + 1  # one more for open
    if not len(sizes):
        return np.zeros(len(codes), dtype=np.int64)
    if codes.dtype == np.int64:  # numbers, which no shape describes
        return np.ascontiguousarray(codes).view(f"V{8 * codes.shape[1]}").ravel()
    if np.log2(sizes).sum() < 62:
        return np.asarray(np.ravel_multi_index(tuple((codes + 1).T), tuple(sizes)), dtype=np.int64)
    return np.ascontiguousarray(codes + 1, dtype=">i4").view(f"V{4 * codes.shape[1]}").ravel()


def _set(table: Any, rows: npt.NDArray[np.bool_], texts: Mapping[str, str]) -> Any:
    """The table with these texts in some rows."""
    for name, text in texts.items():
        values = pc.if_else(pa.array(rows), pa.scalar(text, pa.string()), table[name])
        table = table.set_column(table.schema.get_field_index(name), table.schema.field(name), values)
    return table
