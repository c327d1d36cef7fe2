"""The log stays small whatever is asked: what repeats itself is written once a minute, and counted."""

from __future__ import annotations

import logging

import pytest

from pnsight.web.repeats import MINUTE, Repeats, Sparing, sparing_log


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_a_message_is_written_once_a_minute_and_counted_in_between(clock):
    found = Repeats(clock)
    assert [found.admit("full") for _ in range(5)] == [0, None, None, None, None]
    assert found.admit("other") == 0
    clock.now = MINUTE
    assert [found.admit("full"), found.admit("full"), found.admit("other")] == [4, None, 0]


def test_there_are_only_so_many_kinds_of_messages(clock):
    found = Repeats(clock)
    written = [kind for kind in range(10_000) if found.admit(kind) is not None]
    assert len(written) < 110


def test_what_libraries_log_is_written_sparingly(clock):
    logger, written = logging.Logger("asyncio"), []
    handler = logging.Handler()
    handler.emit = lambda record: written.append(record.getMessage())
    handler.addFilter(Sparing(Repeats(clock)))
    logger.addHandler(handler)
    for attempt in range(2048):
        logger.error("socket.accept() out of system resource %s", attempt)
    clock.now = MINUTE
    logger.error("socket.accept() out of system resource %s", "again")
    assert written == [
        "socket.accept() out of system resource 0",
        "socket.accept() out of system resource again (2,047 more like this in between)",
    ]


def test_what_the_server_writes_is_written_sparingly(clock, capsys):
    found = Repeats(clock)
    for path in ("/a", "/b", "/c"):
        found.write("fault", f"fault at {path}\n")
    clock.now = MINUTE
    found.write("fault", "fault at /d\n")
    assert capsys.readouterr().err == "fault at /a\nfault at /d (2 more like this in between)\n"


def test_libraries_log_errors_only_and_as_before_when_the_server_has_stopped(capfd):
    logger = logging.getLogger("asyncio")
    before = logger.handlers, logger.propagate, logger.level
    with sparing_log():
        for _ in range(100):
            logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
            logger.error("socket.accept() out of system resource")
    assert (logger.handlers, logger.propagate, logger.level) == before
    assert capfd.readouterr().err == "pnsight: socket.accept() out of system resource\n"
