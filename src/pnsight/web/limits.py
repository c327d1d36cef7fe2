"""What one server grants its askers: how much they may send, how long that may take, and how many may ask at once."""

from __future__ import annotations

from dataclasses import dataclass

MOST_TEXT = 4000
"""Characters of one value of an address, a form or a query."""


@dataclass(frozen=True)
class Limits:
    """Limits of a server.

    Attributes
    ----------
    body_bytes, json_bytes, bodies_bytes : what one request may send, what it may send as JSON, and what all that are
        under way may have sent together
    address_characters : length of an address after the question mark
    header_seconds, body_seconds : time to send the head of a request, and what follows it
    idle_seconds : time that a connection is kept between two requests
    request_seconds : time from the head of a request to the last byte of its answer
    parting_seconds : time that requests under way have to end when the server stops
    connections : connections at once
    quick_workers, quick_waiting, quick_seconds : processes that answer about single groups, requests that may wait for
        one, and the time that the work may take; without processes it is done where it is asked for and not ended
    heavy_workers, heavy_waiting, heavy_seconds : the same for rankings and long tables
    advice_patience, ranking_patience : seconds that a page waits for these before it comes without and looks again
    answer_patience : seconds that a program or an uploaded table waits, for a free worker and for the work
    """

    body_bytes: int = 6_000_000
    json_bytes: int = 2_000_000
    bodies_bytes: int = 120_000_000
    address_characters: int = 16_000
    header_seconds: float = 10.0
    body_seconds: float = 60.0
    idle_seconds: int = 30
    request_seconds: float = 180.0
    parting_seconds: int = 3
    connections: int = 500
    quick_workers: int = 2
    quick_waiting: int = 200
    quick_seconds: float = 20.0
    heavy_workers: int = 2
    heavy_waiting: int = 16
    heavy_seconds: float = 60.0
    advice_patience: float = 1.0
    ranking_patience: float = 8.0
    answer_patience: float = 90.0


USUAL = Limits()
"""The limits of a server that is told of no others."""

IN_PLACE = Limits(quick_workers=0, heavy_workers=0)
"""Everything computed by whoever asks for it: for tests, and for applications that are run by something else."""
