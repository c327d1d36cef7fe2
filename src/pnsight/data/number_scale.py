"""The scale of a numeric covariate: the numbers seen, their ranks, how they are written, and readable groups."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from pnsight._typing import BoolArray, FloatArray, IndexArray
from pnsight.data.number_codes import LARGEST, NO_NUMBER, NumberCodes, high_ends, is_range, low_ends, pack
from pnsight.errors import QueryError

Coding: TypeAlias = Literal["standardised", "piecewise", "stepped"]
"""What networks see of a number: the number itself; its rank, and how far it is through each eighth of the people; or
its rank, and which twentieths of the people it has passed."""

STANDARDISED: Coding = "standardised"
PIECEWISE: Coding = "piecewise"
STEPPED: Coding = "stepped"

GROUPS = 4
"""Groups of about equally many people that a numeric covariate is cut into where groups are listed or tested."""

_KNOTS = 64
"""Steps of the ranks that are kept."""

_READABLE = 0.04
"""Share of people by which the edge of a group may be moved to a number with fewer digits."""

_PIECES, _STEPS = 8, 20

_FURTHEST_RANK = 0.001
"""Ranks nearer to 0 or 1 are brought to it: their normal scores would be infinite."""

_MOST_SCALES = 5.0
"""Standardised numbers beyond this are brought to it."""

_END = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|\d{4}-\d\d-\d\d(?:[T ][\d:]+(?:\.\d+)?)?"
_RANGE = re.compile(rf"(?P<low>{_END})\s*\.\.\s*(?P<strict><?)\s*(?P<high>{_END})")
_ONE_SIDED = re.compile(r"(?P<sign>>=|<=|>|<)\s*(?P<end>[^<>=\s]+)")
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")

_EXACT = 2**24
"""Below this every whole number has a code of its own."""

_MANY = 4096
"""Codes from which on their texts are written together."""

_PLAIN = (1e-3, 1e6)
"""Sizes between which the shortest text of a number that is not whole is the same everywhere."""

_LONG = 1e16
"""Whole numbers from here on are written with an exponent."""

_MISSING = "missing"
_SECONDS = 86400.0


@dataclass(frozen=True)
class NumberScale:
    """What is known of the numbers of a covariate.

    Attributes
    ----------
    knots, ranks
        Numbers from the least seen to the greatest, each above the one before, and the share of people below each,
        half of those at it included.
    centre, scale
        Mean and standard deviation of the numbers.
    edges
        Inner edges of the groups, each the least number of the group above it.
    whole
        Whether all are whole numbers.
    origin
        Of dates and times, the day from which days are counted, as YYYY-MM-DD.
    missing
        Whether some people have no number.
    """

    knots: tuple[float, ...]
    ranks: tuple[float, ...]
    centre: float
    scale: float
    edges: tuple[float, ...]
    whole: bool = False
    origin: str | None = None
    missing: bool = False

    @classmethod
    def of(cls, numbers: FloatArray, rows: FloatArray, origin: str | None = None, groups: int = GROUPS) -> NumberScale:
        """The scale of numbers that were seen.

        Parameters
        ----------
        numbers, rows : shape (n,)
            Numbers, NaN where missing, and how many rows have each.
        origin
            Of dates, the day from which days are counted.
        groups
            How many groups to make at most.

        Returns
        -------
        NumberScale
        """
        seen = ~np.isnan(numbers)
        values, place = np.unique(numbers[seen].astype(np.float32).astype(np.float64), return_inverse=True)
        share = np.bincount(place.ravel(), rows[seen]) / rows[seen].sum()
        ranks = np.cumsum(share) - share / 2
        centre = float(values @ share)
        spread = math.sqrt(float(((values - centre) ** 2) @ share))
        whole = bool((values == np.round(values)).all() and abs(values).max() < _EXACT)
        steps = np.searchsorted(ranks, np.linspace(0, 1, _KNOTS + 1)).clip(max=len(values) - 1)
        kept = np.unique([0, *steps, len(values) - 1])
        return cls(
            tuple(values[kept].tolist()),
            tuple(ranks[kept].tolist()),
            centre,
            spread or 1.0,
            _group_edges(values, share, groups, whole),
            whole,
            origin,
            not bool(seen.all()),
        )

    @property
    def low(self) -> float:
        """The least number seen."""
        return self.knots[0]

    @property
    def high(self) -> float:
        """The greatest number seen."""
        return self.knots[-1]

    # --- what networks and distances see -----------------------------------------------------------------

    def rank(self, numbers: npt.ArrayLike) -> FloatArray:
        """The share of people below each number, from 0 to 1, in the shape of the numbers."""
        return np.interp(np.asarray(numbers, dtype=np.float64), self.knots, self.ranks)

    @cached_property
    def _normal_scores(self) -> FloatArray:
        """The standard normal number that as many people would be below as are below each knot, shape (knots,)."""
        ranks = np.clip(self.ranks, _FURTHEST_RANK, 1 - _FURTHEST_RANK)
        return np.array([NormalDist().inv_cdf(rank) for rank in ranks])

    def inputs(self, codes: npt.NDArray[Any], coding: Coding) -> list[FloatArray]:
        """Columns that networks see of single numbers, each of shape (people,).

        Numbers are standardised; or the normal scores of their ranks take their place, with how far each number is
        through each eighth of the people, from -1 to 1 (Gorishniy, Rubachev and Babenko 2022, "On embeddings for
        numerical features in tabular deep learning"), or with whether it has passed each twentieth. A missing one is as
        the mean, and where some are missing a last column says which. Numbers outside those seen are as the nearest
        seen.

        Parameters
        ----------
        codes : shape (people,)
            Codes of single numbers.
        coding
            Which of these.

        Returns
        -------
        list of arrays
        """
        numbers = low_ends(codes).astype(np.float64)
        unknown = np.isinf(numbers)
        within = np.clip(numbers, self.low, self.high)
        if coding == STANDARDISED:
            columns = [np.clip((within - self.centre) / self.scale, -_MOST_SCALES, _MOST_SCALES)]
        else:
            rank = self.rank(within)
            columns = [np.interp(within, self.knots, self._normal_scores)]
            if coding == PIECEWISE:
                columns += [2 * np.clip(rank * _PIECES - piece, 0, 1) - 1 for piece in range(_PIECES)]
            else:
                columns += [np.where(rank > step / _STEPS, 1.0, -1.0) for step in range(1, _STEPS)]
        columns = [np.where(unknown, 0.0, column) for column in columns]
        return [*columns, np.where(unknown, 1.0, -1.0)] if self.missing else columns

    # --- groups ------------------------------------------------------------------------------------------

    @cached_property
    def group_codes(self) -> NumberCodes:
        """Codes of the groups, in order, and last of a missing number where there are some, shape (groups,).

        Where all have one number, the group is that number.
        """
        if not self.edges:
            numbers = np.array([self.low, NO_NUMBER] if self.missing else [self.low])
            return pack(numbers, numbers)
        lows = np.array([-LARGEST, *self.edges], dtype=np.float32)
        below = [self._below(edge) for edge in self.edges]
        found = pack(lows, np.array([*below, LARGEST], dtype=np.float32))
        return np.append(found, pack(NO_NUMBER, NO_NUMBER)) if self.missing else found

    @property
    def group_names(self) -> tuple[str, ...]:
        """The groups as people write them: ``<40``, ``40..51``, ``>=52``."""
        return tuple(self.text(int(code)) for code in self.group_codes)

    def group_of(self, codes: npt.NDArray[Any]) -> IndexArray:
        """The group of each number, and of each range within one group; -1 of a range that reaches over several."""
        low = self._edges_passed(low_ends(codes))
        found = np.where(low == self._edges_passed(high_ends(codes)), low, -1) if is_range(codes).any() else low
        return np.where(np.isinf(low_ends(codes)), len(self.edges) + 1, found)

    def _edges_passed(self, numbers: npt.NDArray[Any]) -> IndexArray:
        """How many edges are not above each number, in the shape of the numbers; there are few."""
        found = np.zeros(np.shape(numbers), dtype=np.intp)
        for edge in np.array(self.edges, dtype=np.float32):
            found += numbers >= edge
        return found

    def with_groups(self, groups: int) -> NumberScale:
        """The same numbers in at most so many groups."""
        return replace(self, edges=_group_edges(np.array(self.knots), self._knot_shares, groups, self.whole))

    @property
    def readable_ends(self) -> tuple[float, float]:
        """Numbers with few digits below which, and above which, there are from a hundredth to a twentieth of people."""
        values, below = np.array(self.knots), np.cumsum(self._knot_shares)

        def number(below_it: float) -> float:
            return float(values[min(int(np.searchsorted(below, below_it)), len(values) - 1)])

        return _simplest(number(0.01), number(0.05), self.whole), _simplest(number(0.95), number(0.99), self.whole)

    @property
    def _knot_shares(self) -> FloatArray:
        """About which share of people each knot stands for, shape (knots,)."""
        middles = (np.array(self.ranks[1:]) + np.array(self.ranks[:-1])) / 2
        return np.diff([0.0, *middles, 1.0])

    def _below(self, number: float) -> float:
        """The greatest number below another."""
        if self.whole:
            return math.ceil(number) - 1.0
        return float(np.nextafter(np.float32(number), np.float32(-np.inf)))

    def _above(self, number: float) -> float:
        """The least number above another."""
        if self.whole:
            return math.floor(number) + 1.0
        return float(np.nextafter(np.float32(number), np.float32(np.inf)))

    # --- reading and writing -----------------------------------------------------------------------------

    def code(self, value: Any) -> int | None:
        """The code of a number or range as people write it; None where it is neither.

        Parameters
        ----------
        value
            A number, a date if there is an origin, or text: ``52``, ``40..65`` with both ends, ``40..<65`` without the
            upper one, ``>=65``, ``>65``, ``<=40``, ``<40``, or ``missing`` where some are.

        Returns
        -------
        int or None

        Raises
        ------
        QueryError
            If a range is empty.
        """
        if isinstance(value, str):
            return self._parse(value.strip())
        number = self.number(value)
        return None if number is None else int(pack(number, number))

    def number(self, value: Any) -> float | None:
        """A single number, or date where there is an origin, as a number; None where it is neither."""
        if isinstance(value, bool | np.bool_):
            return None
        if isinstance(value, datetime.date | np.datetime64) or self.origin is not None:
            return days_since(value, self.origin)
        if isinstance(value, str):
            number = float(value) if _NUMBER.fullmatch(value) else math.nan
        else:
            try:
                number = float(value)
            except (TypeError, ValueError):
                return None
        return number if abs(number) <= LARGEST else None

    def _parse(self, text: str) -> int | None:
        if text == _MISSING and self.missing:
            return int(pack(NO_NUMBER, NO_NUMBER))
        if (found := _ONE_SIDED.fullmatch(text)) is not None:
            end = self.number(found["end"])
            return None if end is None else self._one_sided(found["sign"], end)
        if (found := _RANGE.fullmatch(text)) is not None:
            low, high = self.number(found["low"]), self.number(found["high"])
            if low is None or high is None:
                return None
            return self._range(low, self._below(high) if found["strict"] else high, text)
        number = self.number(text)
        return None if number is None else int(pack(number, number))

    def _one_sided(self, sign: str, end: float) -> int:
        if sign[0] == ">":
            return int(pack(self._from(end) if sign == ">=" else self._above(end), LARGEST))
        return int(pack(-LARGEST, self._to(end) if sign == "<=" else self._below(end)))

    def _from(self, low: float) -> float:
        """The low end of a range: of whole numbers, a whole one."""
        return float(math.ceil(low)) if self.whole else low

    def _to(self, high: float) -> float:
        """The high end of a range: of whole numbers, a whole one."""
        return float(math.floor(high)) if self.whole else high

    def _range(self, low: float, high: float, text: str) -> int:
        low, high = self._from(low), self._to(high)
        if np.float32(low) > np.float32(high):
            reason = "holds no whole number, and all numbers seen are whole" if self.whole else "is empty"
            raise QueryError(f"the range {text!r} {reason}; write the lower end first, as in 40..65.")
        return int(pack(low, high))

    def text(self, code: int) -> str:
        """A number or range as people write it, which `code` reads back to the same code."""
        packed = np.array([code], dtype=np.int64)
        low, high = float(low_ends(packed)[0]), float(high_ends(packed)[0])
        if math.isinf(low):
            return _MISSING
        if low == high:
            return self.number_text(low)
        if low == -LARGEST and high == LARGEST:
            return f">={self.number_text(low)}"
        if high == LARGEST:
            below = self._below(low)
            shorter = not self.whole and len(self.number_text(below)) < len(self.number_text(low))
            return f">{self.number_text(below)}" if shorter else f">={self.number_text(low)}"
        strict = self._strict(high)
        if low == -LARGEST:
            return f"<{strict}" if strict else f"<={self.number_text(high)}"
        if strict and not self.whole:
            return f"{self.number_text(low)}..<{strict}"
        return f"{self.number_text(low)}..{self.number_text(high)}"

    def texts(self, codes: npt.NDArray[Any]) -> list[str]:
        """`text` of many codes, shape (codes,)."""
        numbers = low_ends(codes)
        if len(codes) < _MANY or self.origin is not None or is_range(codes).any() or np.isinf(numbers).any():
            return [self.text(code) for code in codes.tolist()]
        import pyarrow as pa  # writes numbers several times as fast, but takes long to load

        found: list[str] = pa.array(numbers).cast(pa.string()).to_pylist()
        for place in np.flatnonzero(~is_plain(numbers)):
            found[place] = self.number_text(float(numbers[place]))  # with an exponent, or without a point
        return found

    def _strict(self, high: float) -> str:
        """The number just above an end, if the end is meant to be below it."""
        above = self.number_text(self._above(high))
        return above if self.whole or len(above) < len(self.number_text(high)) else ""

    def number_text(self, number: float) -> str:
        """A single number as people write it; of days, the date."""
        plain = float(str(np.float32(number)))
        if self.origin is not None:
            return _date_text(plain, self.origin)
        return str(int(plain)) if plain.is_integer() and abs(plain) < _LONG else repr(plain)

    def both(self, one: int, other: int, name: str) -> int:
        """The code of the numbers that are in two ranges; refused where there are none."""
        codes = np.array([one, other], dtype=np.int64)
        low, high = float(low_ends(codes).max()), float(high_ends(codes).min())
        if low > high:
            raise QueryError(
                f"no number of {name!r} is both {self.text(one)} and {self.text(other)}; give one range, as in "
                f"{name}=40..65."
            )
        return int(pack(low, high))


def is_two_sided(text: str) -> bool:
    """Whether a text is of the form ``40..65`` or ``40..<65``."""
    return _RANGE.fullmatch(text) is not None


def is_plain(numbers: npt.NDArray[Any]) -> BoolArray:
    """Which numbers everyone writes alike: finite ones that are not whole, neither very small nor large, any shape."""
    size = np.abs(numbers)
    return np.asarray((size >= _PLAIN[0]) & (size < _PLAIN[1]) & (numbers != np.round(numbers)))


def _group_edges(values: FloatArray, share: FloatArray, groups: int, whole: bool) -> tuple[float, ...]:
    """Edges near quantiles with few digits, each the least number of the group above it."""
    below = np.cumsum(share)
    found: list[float] = []
    for k in range(1, groups):
        at = k / groups
        low, high = (
            values[min(int(np.searchsorted(below, at + off)), len(values) - 1)] for off in (-_READABLE, _READABLE)
        )
        edge = float(np.float32(_simplest(float(low), float(high), whole)))
        if edge > (found[-1] if found else values[0]) and edge <= values[-1]:
            found.append(edge)
    return tuple(found) if found or len(values) < 2 else (float(values[1]),)


def _simplest(low: float, high: float, whole: bool) -> float:
    """The number with fewest digits between two, near their middle."""
    middle, width = (low + high) / 2, high - low
    largest = math.ceil(math.log10(max(abs(low), abs(high), 1e-30)))
    for power in range(largest, largest - 8, -1):
        for step in (5 * 10.0 ** (power - 1), 10.0 ** (power - 1) * 2, 10.0 ** (power - 1)):
            candidate = float(f"{round(middle / step) * step:.12g}")
            if low <= candidate <= high and (not whole or candidate.is_integer()):
                return candidate
        if width == 0:
            break
    return high


# --- dates ---------------------------------------------------------------------------------------------


def parse_date(value: Any) -> datetime.datetime | None:
    """A date or time, or its ISO text, as a time; None where it is neither."""
    if isinstance(value, str):
        try:
            value = datetime.datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.UTC).replace(tzinfo=None) if value.tzinfo else value
    if isinstance(value, datetime.date):
        return datetime.datetime.combine(value, datetime.time())
    return None


def days_since(value: Any, origin: str | None) -> float | None:
    """Days from the origin to a date or time; None where either is none."""
    moment = parse_date(value)
    if moment is None or origin is None:
        return None
    return (moment - datetime.datetime.fromisoformat(origin)).total_seconds() / _SECONDS


def _date_text(days: float, origin: str) -> str:
    try:
        moment = datetime.datetime.fromisoformat(origin) + datetime.timedelta(days=days)
    except OverflowError:
        return (datetime.date.max if days > 0 else datetime.date.min).isoformat()
    return moment.date().isoformat() if moment.time() == datetime.time() else moment.isoformat()


def earliest_day(values: Sequence[Any]) -> str | None:
    """The day of the earliest of dates and times; None where one is neither, or there are none."""
    moments = [parse_date(value) for value in values]
    known = [moment for moment in moments if moment is not None]
    return min(known).date().isoformat() if known and len(known) == len(moments) else None
