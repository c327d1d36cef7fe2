"""Statements about counterfactuals in text, such as ``Y0 == 0 and Y2 == 1``.

A statement speaks of a person by ``X``, the treatment they choose, ``Y0``, ``Y1``, ..., the outcome they have under
each treatment, and ``Y``, the outcome they show. Levels are numbers from 0. It may compare, add, subtract, multiply and
join with ``and``, ``or`` and ``not``; it is Python's grammar, of which nothing else is accepted and nothing is run.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from pnsight.errors import QuantityError, join_names

_COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_COMBINE: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
_JOIN: Mapping[type[ast.boolop], Callable[[Any, Any], Any]] = {ast.And: np.logical_and, ast.Or: np.logical_or}


def evaluate(statement: str, people: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """The statement's value for each of the people, whose X, Y, Y0, ... are arrays of one shape."""
    try:
        tree = ast.parse(statement.strip(), mode="eval")
    except SyntaxError:
        raise QuantityError(
            f"the statement {statement!r} cannot be read; write for example 'Y0 == 0 and Y1 == 1' (two equals signs)."
        ) from None
    shape = next(iter(people.values())).shape
    return np.broadcast_to(np.asarray(_value(tree.body, people, statement)), shape)


def _value(node: ast.expr, people: Mapping[str, npt.NDArray[Any]], statement: str) -> Any:
    def of(part: ast.expr) -> Any:
        return _value(part, people, statement)

    match node:
        case ast.Name(id=name) if name in people:
            return people[name]
        case ast.Name(id=name):
            raise QuantityError(f"the statement {statement!r} names {name!r}; it may name {join_names(people)}.")
        case ast.Constant(value=int() | float() as number):
            return np.asarray(number)
        case ast.BoolOp(op=op, values=values):
            return reduce(_JOIN[type(op)], map(of, values))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return np.logical_not(of(operand))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -(of(operand) * 1)  # a truth value counts as 0 or 1
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _COMBINE:
            return _COMBINE[type(op)](of(left) * 1, of(right) * 1)
        case ast.Compare(left=left, ops=ops, comparators=rest) if all(type(op) in _COMPARE for op in ops):
            sides = [of(side) for side in (left, *rest)]
            pairs = zip(ops, sides, sides[1:], strict=False)
            return reduce(np.logical_and, [_COMPARE[type(op)](one, other) for op, one, other in pairs])
    raise QuantityError(
        f"the statement {statement!r} has {ast.unparse(node)!r}; it may compare, add, subtract and multiply, and join "
        "with and, or, not."
    )
