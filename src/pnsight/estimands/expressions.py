"""Statements about counterfactuals in text, such as ``Y[high] >= mild and Y[placebo] == none``.

A statement speaks of a person by ``X``, the treatment they choose, ``Y[arm]``, the outcome they have under an arm, and
``Y``, the outcome they show; of times to an event by ``T`` and ``T[arm]``, and where people are assigned an arm, by
``D[arm]``, what they take then. Arms and outcomes are named, bare or in quotes, or are numbers. It may compare, add,
subtract, multiply and join with ``and``, ``or`` and ``not``; it is Python's grammar, of which nothing else is accepted
and nothing is run.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from pnsight.data.schema import is_number, label
from pnsight.errors import QuantityError, did_you_mean, join_names

MAX_LENGTH = 2000
"""Characters that a statement may have."""

_COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_MIRRORED: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.Eq,
    ast.NotEq: ast.NotEq,
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
}
_COMBINE: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
_JOIN: Mapping[type[ast.boolop], Callable[[Any, Any], Any]] = {ast.And: np.logical_and, ast.Or: np.logical_or}


@dataclass(frozen=True)
class Coded:
    """What a statement may name: a value of each of the people, as a position among named ones.

    Attributes
    ----------
    name : in statements
    codes : shape (people,)
    labels : names of the values, in order; none where codes are the values
    ordered : whether one value can be above another
    horizons : of times, the ends of all intervals but the last; a code is an interval
    """

    name: str
    codes: npt.NDArray[Any]
    labels: tuple[str, ...] = ()
    ordered: bool = True
    horizons: tuple[float, ...] = ()

    @property
    def numbers(self) -> npt.NDArray[Any] | None:
        """The values as numbers, if they are; shape (people,)."""
        if self.horizons:
            return None
        if not self.labels:
            return self.codes
        return np.array([float(text) for text in self.labels])[self.codes] if all(map(is_number, self.labels)) else None


People = Mapping[str, npt.NDArray[Any] | Coded | Mapping[str, Coded]]
"""What a statement may name: values of each of the people or, of ``Y[arm]``, by arm."""


def evaluate(statement: str, people: People) -> npt.NDArray[Any]:
    """The statement's value for each of the people.

    Parameters
    ----------
    statement
        Text.
    people
        What it may name; arrays of one shape are values themselves.

    Returns
    -------
    Of that shape; `QuantityError` says what cannot be read, and where.
    """
    if len(statement) > MAX_LENGTH:
        raise QuantityError(f"a statement has {len(statement):,} characters; expected at most {MAX_LENGTH:,}.")
    known = {name: Coded(name, value) if isinstance(value, np.ndarray) else value for name, value in people.items()}
    reader = _Reader(statement.strip(), known)
    first = next(iter(known.values()))
    shape = (first if isinstance(first, Coded) else next(iter(first.values()))).codes.shape
    return np.broadcast_to(np.asarray(reader.read()), shape)


@dataclass(frozen=True)
class _Name:
    """A name that is none of a person's: one of the values of what it is compared with."""

    text: str
    node: ast.expr


@dataclass(frozen=True)
class _Reader:
    statement: str
    people: Mapping[str, Coded | Mapping[str, Coded]]

    def read(self) -> Any:
        try:
            return self._number(ast.parse(self.statement, mode="eval").body)
        except (SyntaxError, ValueError) as error:
            at = f" at character {error.offset}" if isinstance(error, SyntaxError) and error.offset else ""
            raise QuantityError(
                f"the statement {self.statement!r} cannot be read{at}; write for example 'Y0 == 0 and Y1 == 1' (two "
                "equals signs), and put names that are not single words in quotes."
            ) from None
        except (RecursionError, MemoryError):
            raise QuantityError(
                f"the statement {self.statement[:40]!r}... is nested too deeply; simplify it."
            ) from None

    def _fail(self, node: ast.expr, what: str) -> NoReturn:
        raise QuantityError(f"the statement {self.statement!r} {what} (at character {node.col_offset + 1}).")

    def _number(self, node: ast.expr) -> Any:
        """The value of a part as numbers or truth values."""
        found = self._value(node)
        if isinstance(found, _Name):
            self._fail(node, f"names {found.text!r}; it may name {join_names(self.people)}")
        if not isinstance(found, Coded):
            return found
        numbers = found.numbers
        if numbers is None:
            self._fail(node, f"takes {found.name} for a number; compare it with one of its values")
        return numbers

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Name(id=name) if isinstance(self.people.get(name), Coded):
                return self.people[name]
            case ast.Name(id=name) if name in self.people:
                self._fail(node, f"has {name} without an arm; write {name}[arm]")
            case ast.Name(id=text) | ast.Constant(value=str() as text):
                return _Name(text, node)
            case ast.Subscript(value=ast.Name(id=name), slice=index):
                return self._under_arm(node, name, index)
            case ast.Constant(value=int() | float() as number):
                return np.asarray(number)
            case ast.BoolOp(op=op, values=values):
                return reduce(_JOIN[type(op)], map(self._number, values))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return np.logical_not(self._number(operand))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -(self._number(operand) * 1)  # a truth value counts as 0 or 1
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _COMBINE:
                return _COMBINE[type(op)](self._number(left) * 1, self._number(right) * 1)
            case ast.Compare(left=left, ops=ops, comparators=rest) if all(type(op) in _COMPARE for op in ops):
                sides = [self._value(side) for side in (left, *rest)]
                pairs = zip(ops, sides, sides[1:], strict=False)
                return reduce(np.logical_and, [self._compare(node, type(op), *both) for op, *both in pairs])
        raise QuantityError(
            f"the statement {self.statement!r} has {ast.unparse(node)!r}; it may compare, add, subtract and multiply, "
            "and join with and, or, not."
        )

    def _under_arm(self, node: ast.expr, name: str, index: ast.expr) -> Coded:
        by_arm = self.people.get(f"{name}[]")
        if not isinstance(by_arm, Mapping):
            self._fail(node, f"has {name}[...]; it may name {join_names(_shown(self.people))}")
        match index:
            case ast.Name(id=text):
                arm = text
            case ast.Constant(value=str() | int() | float() as value):
                arm = label(value) or ""
            case _:
                self._fail(node, f"has {ast.unparse(node)!r}; expected one arm, as in {name}[{next(iter(by_arm))!r}]")
        if arm not in by_arm:
            self._fail(node, f"has the arm {arm!r}; expected {join_names(by_arm)}{did_you_mean(arm, by_arm)}")
        return by_arm[arm]

    def _compare(self, node: ast.expr, op: type[ast.cmpop], left: Any, right: Any) -> Any:
        if not isinstance(left, Coded) and isinstance(right, Coded):
            return self._compare(node, _MIRRORED[op], right, left)
        if isinstance(left, _Name) or (isinstance(right, _Name) and not isinstance(left, Coded)):
            name = left if isinstance(left, _Name) else right
            self._fail(name.node, f"names {name.text!r}; it may name {join_names(_shown(self.people))}")
        if not isinstance(left, Coded):
            return _COMPARE[op](left, right)
        if not left.ordered and op not in (ast.Eq, ast.NotEq):
            self._fail(node, f"asks whether {left.name} is above or below; its values have no order")
        if isinstance(right, Coded) and (left.labels, left.horizons) == (right.labels, right.horizons):
            return _COMPARE[op](left.codes, right.codes)
        if isinstance(right, _Name):
            return _COMPARE[op](left.codes, self._code(left, right))
        if left.horizons:
            return self._compare_time(node, op, left, right)
        numbers = left.numbers
        if numbers is None:
            self._fail(node, f"compares {left.name} with a number; its values are {join_names(left.labels)}")
        return _COMPARE[op](numbers, right.numbers if isinstance(right, Coded) else right)

    def _code(self, of: Coded, name: _Name) -> int:
        if name.text not in of.labels:
            values = join_names(of.labels) or "numbers"
            self._fail(
                name.node,
                f"compares {of.name} with {name.text!r}; its values are {values}{did_you_mean(name.text, of.labels)}",
            )
        return of.labels.index(name.text)

    def _compare_time(self, node: ast.expr, op: type[ast.cmpop], time: Coded, right: Any) -> Any:
        horizons = [float(value) for value in np.ravel(right)] if not isinstance(right, Coded) else []
        if len(horizons) != 1 or horizons[0] not in time.horizons or op not in (ast.Gt, ast.LtE):
            known = join_names(f"{h:g}" for h in time.horizons)
            self._fail(
                node, f"compares {time.name} by what the tables do not show; write > or <= and a horizon: {known}"
            )
        return _COMPARE[op](time.codes, time.horizons.index(horizons[0]))


def _shown(people: Mapping[str, Any]) -> list[str]:
    return [name.replace("[]", "[arm]") for name in people]
