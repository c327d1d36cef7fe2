"""What the server writes down: each message once a minute, and how often it was left out meanwhile.

Whoever floods a server with requests floods its log too, if every one that fails is written down.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager

MINUTE = 60.0

_MOST_KINDS = 100
"""Kinds of messages that are told apart."""


class Repeats:
    """Counts messages of one kind that come in the same minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since: dict[Hashable, tuple[float, int]] = {}

    def admit(self, kind: Hashable) -> int | None:
        """None if a message of this kind is to be left out, otherwise how many were since the last."""
        key = kind if kind in self._since or len(self._since) < _MOST_KINDS else None
        now = self._clock()
        begun, left_out = self._since.get(key, (-MINUTE, 0))
        if now - begun < MINUTE and key in self._since:
            self._since[key] = begun, left_out + 1
            return None
        self._since[key] = now, 0
        return left_out

    def write(self, kind: Hashable, text: str) -> None:
        """Write something to standard error, unless something of its kind was within the last minute."""
        left_out = self.admit(kind)
        if left_out is not None:
            print(text.rstrip("\n") + _more(left_out), file=sys.stderr)


def _more(left_out: int) -> str:
    return f" ({left_out:,} more like this in between)" if left_out else ""


class Sparing(logging.Filter):
    """Lets a message of a logger through once a minute."""

    def __init__(self, repeats: Repeats) -> None:
        super().__init__()
        self._repeats = repeats

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to write a message; what was left out before it is added to it."""
        raised = record.exc_info[0] if record.exc_info else None
        left_out = self._repeats.admit((record.name, record.levelno, str(record.msg), raised))
        if left_out:
            record.msg, record.args = record.getMessage() + _more(left_out), ()
        return left_out is not None


@contextmanager
def sparing_log() -> Iterator[None]:
    """Have what the libraries of the server log written to standard error, sparingly, and only if it is an error."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("pnsight: %(message)s"))
    handler.addFilter(Sparing(Repeats()))
    loggers = [logging.getLogger(name) for name in ("uvicorn.error", "asyncio")]
    before = [(logger.handlers, logger.propagate, logger.level) for logger in loggers]
    for logger in loggers:
        logger.handlers, logger.propagate, logger.level = [handler], False, logging.ERROR
    try:
        yield
    finally:
        for logger, (handlers, propagate, level) in zip(loggers, before, strict=True):
            logger.handlers, logger.propagate, logger.level = handlers, propagate, level
