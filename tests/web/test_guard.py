"""What every request must pass, and what every answer carries."""

from __future__ import annotations

import asyncio

import pytest

import web_models
from pnsight.web import create_app
from pnsight.web import middleware as guard
from pnsight.web.middleware import HEADERS
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


BEGINNING = b'--x\r\ncontent-disposition: form-data; name="text"\r\n\r\n'


async def _in_pieces(size: int):
    yield BEGINNING
    for _ in range(size // 1000):
        yield b"x" * 1000


@pytest.mark.parametrize("path", ["/people", "/people/result", "/people.csv", "/api/bounds"])
def test_a_large_body_is_refused_whether_it_says_its_size_or_not(client, path, monkeypatch):
    monkeypatch.setattr(guard, "MOST_BODY", 5000)
    kind = "application/json" if "api" in path else "multipart/form-data; boundary=x"
    said = client.post(path, content=BEGINNING + b"x" * 6000, headers={"content-type": kind})
    unsaid = client.post(path, content=_in_pieces(1_000_000), headers={"content-type": kind})
    for response in (said, unsaid):
        assert response.status_code == 413
        assert "the request is larger than" in response.text
        assert response.headers["referrer-policy"] == "no-referrer"


def test_a_large_body_is_not_read_to_its_end(monkeypatch):
    monkeypatch.setattr(guard, "MOST_BODY", 5000)
    read, sent = [], []

    async def receive():
        read.append(1)
        return {"type": "http.request", "body": b"x" * 1000, "more_body": True}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/bounds",
        "query_string": b"",
        "http_version": "1.1",
        "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")],
    }
    asyncio.run(create_app(web_models.plug_in())(scope, receive, send))
    assert sent[0]["status"] == 413
    assert len(read) == 6


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
    monkeypatch.setattr("pnsight.web.api._model", broken)
    response = client.get(f"{path}?with.sex=male")
    assert response.status_code == 500
    assert "secret" not in response.text
    assert "Traceback" not in response.text
    written = capfd.readouterr().err
    assert f"RuntimeError while answering {path}" in written
    assert "secret" not in written
    assert "with.sex" not in written


def test_an_upload_that_is_none_is_refused(client):
    response = client.post("/people", content=b"nonsense", headers={"content-type": "multipart/form-data; boundary=x"})
    assert response.status_code == 400
    response = client.post("/people", content=b"{}", headers={"content-type": "application/json"})
    assert response.status_code == 400
    assert "No table was sent" in response.text


def test_other_kinds_of_connection_are_passed_over():
    app = guard.Guard(create_app(web_models.plug_in()), "localhost")
    asyncio.run(app({"type": "websocket"}, None, None))
