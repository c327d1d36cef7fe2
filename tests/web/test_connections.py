"""Connections that ask nothing do not keep out those that do."""

from __future__ import annotations

import http.client
import socket
from contextlib import suppress
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

import web_models
from pnsight.web.connections import Connection, connections_within
from pnsight.web.limits import IN_PLACE
from pnsight.web.server import settings
from running import running


class Transport:
    """Takes down what is done to a connection."""

    def __init__(self):
        self.written, self.ended = b"", False

    def write(self, data):
        self.written += data

    def close(self):
        self.ended = True

    abort = close

    def is_closing(self):
        return self.ended

    def get_extra_info(self, name, default=None):
        return default

    def pause_reading(self):
        """Nothing."""

    resume_reading = pause_reading


class Timer:
    """Something that is to be done later, unless it is cancelled."""

    def __init__(self, seconds, action):
        self.seconds, self.action, self.cancelled = seconds, action, False

    def cancel(self):
        self.cancelled = True


class Loop:
    """An event loop whose time is set by hand, and which takes down what is to be done later."""

    def __init__(self):
        self.now, self.timers, self.tasks = 0.0, [], []

    def time(self):
        return self.now

    def call_later(self, seconds, action):
        self.timers.append(Timer(seconds, action))
        return self.timers[-1]

    def create_task(self, coroutine, **options):
        coroutine.close()
        return Task()


class Task:
    """Never done."""

    def add_done_callback(self, action):
        """Nothing."""


class State:
    """What a server shares among its connections."""

    def __init__(self):
        self.connections, self.tasks, self.default_headers, self.total_requests = set(), set(), [], 0


class Server:
    """A server of so many connections, without a network."""

    def __init__(self, connections=3):
        self.loop, self.state = Loop(), State()
        self.limits = replace(IN_PLACE, connections=connections, header_seconds=7.0)
        self.config = settings(lambda scope: None, self.limits)
        self.protocol = connections_within(self.limits)

    def connect(self) -> Connection:
        """One more connection, a moment later."""
        self.loop.now += 1
        found = self.protocol(self.config, self.state, {}, self.loop)
        found.connection_made(Transport())
        return found

    def waits(self, connection) -> bool:
        """Whether a connection will be ended if nothing comes in time."""
        due = [timer for timer in self.loop.timers if timer.action == connection.transport.abort]
        assert all(timer.seconds == 7.0 for timer in due)
        return any(not timer.cancelled for timer in due)


REQUEST = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n"


def test_the_head_of_a_request_has_to_come_in_time():
    server = Server()
    connection = server.connect()
    assert server.waits(connection)
    for letter in REQUEST[:-1]:
        connection.data_received(bytes([letter]))
        assert server.waits(connection)
    connection.data_received(REQUEST[-1:])
    assert not server.waits(connection)
    assert sum(timer.seconds == 7.0 for timer in server.loop.timers) == 1  # no letter bought more time


def test_the_next_request_of_a_connection_has_to_come_in_time_too():
    server = Server()
    connection = server.connect()
    connection.data_received(REQUEST)
    connection.cycle.response_complete = True
    connection.data_received(b"GET / HT")
    assert server.waits(connection)


def test_a_connection_that_is_over_is_not_ended_again():
    server = Server()
    connection = server.connect()
    connection.connection_lost(None)
    assert not server.waits(connection)
    assert server.state.connections == set()


def test_where_there_is_no_more_room_whoever_has_waited_longest_goes():
    server = Server()
    first, second, third = (server.connect() for _ in range(3))
    first.data_received(REQUEST)  # it asks something
    fourth = server.connect()
    assert [each.transport.ended for each in (first, second, third, fourth)] == [False, True, False, False]
    fifth = server.connect()
    assert [each.transport.ended for each in (first, third, fourth, fifth)] == [False, True, False, False]
    assert len(server.state.connections) == 3


def test_where_all_are_being_answered_another_is_told_to_come_again():
    server = Server()
    connections = [server.connect() for _ in range(3)]
    for each in connections:
        each.data_received(REQUEST)
    late = server.connect()
    assert late.transport.written.startswith(b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\n")
    assert late.transport.ended
    assert not any(each.transport.ended for each in connections)


def _ended(connection: socket.socket) -> bool:
    """Wait until the other side has ended a connection."""
    connection.settimeout(60)
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nhost: loc"])
def test_a_slow_connection_is_ended_by_a_real_server(sent):
    with running(web_models.plug_in(), limits=replace(IN_PLACE, header_seconds=0.01)) as address:
        place = urlsplit(address)
        with socket.create_connection((place.hostname, place.port)) as slow:
            slow.sendall(sent)
            assert _ended(slow)


def test_many_slow_connections_do_not_keep_others_out_of_a_real_server():
    with running(web_models.plug_in(), limits=replace(IN_PLACE, connections=5)) as address:
        place = urlsplit(address)
        slow = [socket.create_connection((place.hostname, place.port)) for _ in range(30)]
        for connection in slow:
            with suppress(OSError):  # it has been ended already
                connection.sendall(b"GET / HTTP/1.1\r\n")
        asking = http.client.HTTPConnection(place.netloc, timeout=60)
        asking.request("GET", "/api/model")
        assert asking.getresponse().status == 200
        assert all(_ended(connection) for connection in slow[:25])
        asking.close()
        for connection in slow:
            connection.close()
