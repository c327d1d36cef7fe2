"""What every request must pass, and what every answer carries."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

import web_models
from pnsight.web import create_app
from pnsight.web.access import Access
from pnsight.web.limits import IN_PLACE
from pnsight.web.middleware import HEADERS, Guard
from pnsight.web.worker import Fault
from web_clients import Client

ADDRESSES = ["/", "/answer", "/static/style.css", "/api/model", "/nothing", "/api/nothing", "/about", "/api/"]


@pytest.mark.parametrize("path", ADDRESSES)
def test_every_answer_tells_the_browser_what_it_may_do(client, path):
    headers = client.get(path).headers
    assert {name: headers[name] for name in HEADERS} == HEADERS
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "set-cookie" not in headers
    assert headers["cache-control"] == ("max-age=3600" if "static" in path else "no-store")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8000", "localhost:1", "LOCALHOST", "[::1]:8000", "[::1]"])
def test_the_names_of_this_machine_are_answered(client, host):
    assert client.get("/api/model", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil.example", ""]
)
def test_other_names_are_not(client, host):
    for path in ("/", "/api/model"):
        response = client.get(path, headers={"host": host})
        assert response.status_code == 400
        assert "does not go by the name" in response.text
        assert response.headers["x-content-type-options"] == "nosniff"


def test_a_server_for_others_goes_by_its_own_name_or_any_address_of_the_machine():
    named = Client(create_app(web_models.plug_in(), "study.example"))
    assert named.get("/about", headers={"host": "study.example:8000"}).status_code == 200
    assert named.get("/about", headers={"host": "192.0.2.7"}).status_code == 400
    every = Client(create_app(web_models.plug_in(), "0.0.0.0"))
    assert every.get("/about", headers={"host": "192.0.2.7:8000"}).status_code == 200
    assert every.get("/about", headers={"host": "evil.example"}).status_code == 400


def test_a_long_address_is_refused(client):
    for path in ("/?", "/api/bounds?"):
        response = client.get(path + "x" * 20_000)
        assert response.status_code == 414
        assert "longer than 16,000 characters" in response.text


SMALL = replace(IN_PLACE, body_bytes=5000, json_bytes=5000)

BEGINNING = b'--x\r\ncontent-disposition: form-data; name="text"\r\n\r\n'


async def _in_pieces(size: int):
    yield BEGINNING
    for _ in range(size // 1000):
        yield b"x" * 1000


@pytest.mark.parametrize("path", ["/people", "/people/result", "/people.csv", "/api/bounds"])
def test_a_large_body_is_refused_whether_it_says_its_size_or_not(path):
    client = Client(create_app(web_models.plug_in(), limits=SMALL))
    kind = "application/json" if "api" in path else "multipart/form-data; boundary=x"
    said = client.post(path, content=BEGINNING + b"x" * 6000, headers={"content-type": kind})
    unsaid = client.post(path, content=_in_pieces(1_000_000), headers={"content-type": kind})
    for response in (said, unsaid):
        assert response.status_code == 413
        assert "the request is larger than" in response.text
        assert response.headers["referrer-policy"] == "no-referrer"


def posting(path="/api/bounds", kind=b"application/json"):
    """A request whose body comes by and by."""
    headers = [(b"host", b"localhost"), (b"content-type", kind)]
    whole = {"type": "http", "method": "POST", "path": path, "query_string": b"", "http_version": "1.1"}
    return {**whole, "scheme": "http", "headers": headers}


async def answered(app, receive, scope):
    """What the application sends."""
    sent = []

    async def send(message):
        sent.append(message)

    await app(scope, receive, send)
    return sent


def test_a_large_body_is_not_read_to_its_end():
    read = []

    async def receive():
        read.append(1)
        return {"type": "http.request", "body": b"x" * 1000, "more_body": True}

    sent = asyncio.run(answered(create_app(web_models.plug_in(), limits=SMALL), receive, posting()))
    assert sent[0]["status"] == 413
    assert (b"connection", b"close") in sent[0]["headers"]
    assert len(read) == 6


def test_json_is_read_at_one_go_and_has_a_limit_of_its_own():
    client = Client(create_app(web_models.plug_in(), limits=replace(IN_PLACE, json_bytes=100)))
    response = client.post("/api/bounds", json={"queries": ["sex=male"] * 20})
    assert (response.status_code, "0.0001 MB" in response.text) == (413, True)
    assert client.post("/people", data={"text": "sex\n" + "male\n" * 20}).status_code == 200


def test_a_body_that_does_not_come_is_not_waited_for():
    async def receive():
        await asyncio.Event().wait()

    app = create_app(web_models.plug_in(), limits=replace(IN_PLACE, body_seconds=0.0))
    for path, kind in (("/api/bounds", b"application/json"), ("/people", b"multipart/form-data; boundary=x")):
        sent = asyncio.run(answered(app, receive, posting(path, kind)))
        assert sent[0]["status"] == 408
        assert b"did not arrive within 0 seconds" in sent[1]["body"]


def test_no_more_than_a_sum_is_sent_at_once_by_all():
    limits = replace(IN_PLACE, bodies_bytes=8000)
    app = create_app(web_models.plug_in(), limits=limits)

    async def receive():
        return {"type": "http.request", "body": b"x" * 5000, "more_body": False}

    async def two():
        arrived, go_on = asyncio.Event(), asyncio.Event()

        async def held_up():
            if arrived.is_set():
                await go_on.wait()
            arrived.set()
            return {"type": "http.request", "body": b"x" * 4000, "more_body": True}

        first = asyncio.create_task(answered(app, held_up, posting()))
        await arrived.wait()
        second = await answered(app, receive, posting())
        go_on.set()
        await first
        return second, await answered(app, receive, posting())

    during, after = asyncio.run(two())
    assert during[0]["status"] == 503
    assert (b"retry-after", b"5") in during[0]["headers"]
    assert after[0]["status"] == 422


def test_a_request_that_takes_too_long_is_given_up():
    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def never(scope, receive, send):
        await asyncio.Event().wait()

    guard = Guard(never, Access(), replace(IN_PLACE, request_seconds=0.0))
    sent = asyncio.run(answered(guard, receive, posting()))
    assert sent[0]["status"] == 503
    assert b"took too long" in sent[1]["body"]


def test_a_request_that_is_cut_off_by_the_end_of_the_server_is_answered():
    begun = asyncio.Event()

    async def never(scope, receive, send):
        begun.set()
        await asyncio.Event().wait()

    async def cut_off():
        task = asyncio.create_task(answered(Guard(never, Access(), IN_PLACE), None, posting()))
        await begun.wait()
        task.cancel()
        return await task

    sent = asyncio.run(cut_off())
    assert sent[0]["status"] == 503
    assert b"being stopped" in sent[1]["body"]


def test_a_form_of_many_fields_is_refused_by_their_number(client):
    kind = {"content-type": "application/x-www-form-urlencoded"}
    response = client.post("/people", content=b"&" * 1_000_000, headers=kind)
    assert response.status_code == 413
    assert "1,000,001 fields; at most 2,000" in response.text


@pytest.mark.parametrize("length", ["-1", "many", "1e3", "999999999999999999999"])
def test_a_length_that_is_none_is_refused(client, length):
    response = client.post("/api/bounds", content=b"{}", headers={"content-length": length})
    assert response.status_code == 413


@pytest.mark.parametrize("path", ["/answer", "/api/model"])
def test_a_fault_of_ours_is_told_without_details_and_written_down_without_what_was_asked(path, monkeypatch, capfd):
    client = Client(create_app(web_models.plug_in()))

    def broken(*_, what="secret of a patient"):
        raise RuntimeError(what)

    monkeypatch.setattr("pnsight.web.pages.answer", broken)
    monkeypatch.setattr("pnsight.web.api_answers.model", broken)
    response = client.get(f"{path}?with.sex=male")
    assert response.status_code == 500
    assert "secret" not in response.text
    assert "Traceback" not in response.text
    written = capfd.readouterr().err
    assert f"RuntimeError while answering {path}" in written
    assert "secret" not in written
    assert "with.sex" not in written


def test_a_fault_in_a_worker_is_told_in_the_same_way_and_paths_without_control_codes(capfd):
    async def broken(scope, receive, send):
        raise Fault("KeyError", "  File of a worker\n")

    guard = Guard(broken, Access(), IN_PLACE)
    sent = [asyncio.run(answered(guard, None, posting("/api/\x1b[2J")))[0]["status"] for _ in range(5)]
    assert sent == [500] * 5
    assert capfd.readouterr().err == "pnsight: KeyError while answering /api/\\x1b[2J\n  File of a worker\n"


def test_an_upload_that_is_none_is_refused(client):
    response = client.post("/people", content=b"nonsense", headers={"content-type": "multipart/form-data; boundary=x"})
    assert response.status_code == 400
    response = client.post("/people", content=b"{}", headers={"content-type": "application/json"})
    assert response.status_code == 400
    assert "No table was sent" in response.text


def test_other_kinds_of_connection_are_passed_over():
    app = Guard(create_app(web_models.plug_in()), Access(), IN_PLACE)
    asyncio.run(app({"type": "websocket"}, None, None))
