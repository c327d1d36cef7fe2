"""Who may ask: pages of other sites may not, programs and the explorer's own pages may, and with a token who has it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

import web_models
from pnsight.web import create_app
from pnsight.web.access import Access
from pnsight.web.limits import IN_PLACE
from web_clients import Client

SECRET = "a-token-that-is-long"
TABLE = {"data": {"text": "sex\nmale\n"}}
BROWSER = "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/140.0"

QUICK = ["/", "/answer?with.sex=male", "/static/explorer.js", "/api/model", "/api/bounds?query=sex%3Dmale"]
HEAVY = ["/groups", "/groups/table", "/api/rank"]


def app_for(host="127.0.0.1", **options):
    return Client(create_app(web_models.plug_in(), limits=IN_PLACE, access=Access(host, token=SECRET, **options)))


@pytest.fixture(scope="module")
def usual():
    return app_for()


@pytest.fixture(scope="module")
def locked():
    return app_for(required=True)


# --- other sites ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [*QUICK, *HEAVY])
@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},  # another server of this machine, at another port
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"},
        {"origin": "https://evil.example"},
        {"origin": "http://127.0.0.1:9999"},
    ],
)
def test_what_another_site_has_a_browser_ask_is_refused(usual, path, headers):
    response = usual.get(path, headers=headers)
    assert response.status_code == 403
    assert "from another site" in response.text


def test_a_form_of_another_site_is_refused(usual):
    for headers in ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, {"origin": "https://evil.example"}):
        assert usual.post("/people", headers=headers, **TABLE).status_code == 403


def test_a_browser_that_asks_whether_another_site_may_is_told_that_it_may_not(usual):
    asked = {"origin": "https://evil.example", "access-control-request-method": "POST"}
    response = usual.request("OPTIONS", "/api/rank", headers=asked)
    assert response.status_code == 403
    assert "access-control-allow-origin" not in response.headers


def test_a_link_on_another_site_is_followed_with_one_click_more(usual):
    followed = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    response = usual.get('/groups?text="><script>&by=lower', headers=followed)
    assert response.status_code == 403
    assert '<a href="/groups?text=' in response.text
    assert "<script>" not in response.text
    assert usual.get("http://127.0.0.1//evil.example/x", headers=followed).text.count('href="/evil.example/x"') == 1


# --- whoever may ask --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"user-agent": "curl/8.5.0"},
        {"user-agent": BROWSER, "sec-fetch-site": "same-origin"},
        {"user-agent": BROWSER, "sec-fetch-site": "none"},
        {"user-agent": BROWSER, "origin": "http://127.0.0.1"},
        {"sec-fetch-site": "same-origin", "origin": "null"},  # a form, as the pages send no referrer
    ],
)
def test_programs_and_own_pages_are_answered(usual, headers):
    for path in (*QUICK, *HEAVY):
        assert usual.get(path, headers=headers).status_code == 200
    assert usual.post("/people", headers=headers, **TABLE).status_code == 200
    assert usual.post("/api/bounds", headers=headers, json={}).status_code == 200


@pytest.mark.parametrize("headers", [{"cookie": "other=1"}, {"origin": "null"}])
def test_who_may_have_been_led_by_another_site_needs_the_token_for_long_work(usual, headers):
    for path in QUICK:
        assert usual.get(path, headers=headers).status_code == 200
    for path in HEAVY:
        response = usual.get(path, headers=headers)
        assert response.status_code == 403
        assert "?token= that the server printed" in response.text
        assert usual.get(path, headers={**headers, "authorization": f"Bearer {SECRET}"}).status_code == 200
    assert usual.post("/people", headers=headers, **TABLE).status_code == 403


def test_where_browsers_do_not_say_where_a_request_comes_from_they_need_the_token_for_long_work():
    others = app_for("192.0.2.7")
    plain, programs = {"host": "192.0.2.7:8000", "user-agent": BROWSER}, {"host": "192.0.2.7:8000"}
    for path in QUICK:
        assert others.get(path, headers=plain).status_code == 200
    for path in HEAVY:
        assert others.get(path, headers=plain).status_code == 403
        assert others.get(path, headers=programs).status_code == 200
    assert others.get("/groups", headers={**plain, **_cookie(others, "192.0.2.7:8000")}).status_code == 200


# --- the token --------------------------------------------------------------------------------------------


def _cookie(client, host="127.0.0.1"):
    """What a browser sends after it has opened the address with the token."""
    shown = client.get("/", params={"token": SECRET}, headers={"host": host})
    return {"cookie": shown.headers["set-cookie"].split(";")[0]}


@pytest.mark.parametrize("path", [*QUICK, *HEAVY, "/nothing", "/?xtoken=1", "/?with.sex=token=1", "/api/openapi.json"])
def test_with_a_token_nobody_is_answered_without_it(locked, path):
    for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": f"Basic {SECRET}"}, {"cookie": "a=b"}):
        response = locked.get(path, headers={"sec-fetch-site": "same-origin", **headers})
        assert response.status_code == 401
        assert response.headers["www-authenticate"] == 'Bearer realm="pnsight"'
        assert "asks for a token" in response.text
    assert locked.get(path, headers={"authorization": f"bearer {SECRET}"}).status_code in (200, 400, 404)


def test_whoever_has_the_token_is_answered(locked):
    for headers in ({"authorization": f"Bearer {SECRET}"}, _cookie(locked)):
        for path in (*QUICK, *HEAVY):
            assert locked.get(path, headers=headers).status_code == 200
        assert locked.post("/people", headers=headers, **TABLE).status_code == 200


def test_the_token_of_an_address_becomes_a_cookie_and_leaves_the_address(locked):
    response = locked.get(f"/groups?by=upper&token={SECRET}&text=%22a%22")
    assert response.status_code == 303
    assert response.headers["location"] == "/groups?by=upper&text=%22a%22"
    cookie = response.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Secure" not in cookie
    assert SECRET not in cookie
    assert response.headers["cache-control"] == "no-store"


def test_the_cookie_of_an_encrypted_connection_is_sent_over_such_only(locked):
    app = locked.app
    sent = []

    async def send(message):
        sent.append(message)

    async def encrypted():
        query = b"token=" + SECRET.encode()
        scope = {"type": "http", "method": "GET", "path": "/", "query_string": query, "http_version": "1.1"}
        await app({**scope, "scheme": "https", "headers": [(b"host", b"localhost")]}, None, send)

    asyncio.run(encrypted())
    assert b"Secure" in dict(sent[0]["headers"])[b"set-cookie"]


@pytest.mark.parametrize("path", ["//evil.example/", "///evil.example", "/\\evil.example", "/%5Cevil.example"])
def test_the_token_never_leads_to_another_server(locked, path):
    location = locked.get(f"http://127.0.0.1{path}?token={SECRET}").headers["location"]
    assert location.startswith("/")
    assert location[1] not in "/\\"


@pytest.mark.parametrize("wrong", ["", "x", SECRET + "x", "ä"])
def test_a_wrong_token_is_told(usual, locked, wrong):
    for client in (usual, locked):
        response = client.get("/", params={"token": wrong})
        assert response.status_code == 401
        assert "not the token of this server" in response.text
        assert "set-cookie" not in response.headers


def test_a_cookie_is_good_for_one_token_alone(locked):
    access = replace(Access(token="another-token-also-long"), required=True)
    other = Client(create_app(web_models.plug_in(), access=access))
    assert other.get("/", headers=_cookie(locked)).status_code == 401


def test_other_sites_are_refused_even_with_the_cookie(locked):
    assert locked.get("/", headers={**_cookie(locked), "sec-fetch-site": "same-site"}).status_code == 403


def test_tokens_are_not_shown_by_accident_and_differ():
    assert SECRET not in repr(Access(token=SECRET))
    assert Access().token != Access().token
    assert len(Access().token) >= 32


def test_a_server_behind_a_proxy_goes_by_the_name_of_that():
    named = app_for(names=("Study.example",))
    assert named.get("/about", headers={"host": "study.example"}).status_code == 200
    assert named.get("/about", headers={"host": "other.example"}).status_code == 400
    own = {"host": "study.example", "origin": "https://study.example"}
    assert named.post("/people", headers=own, **TABLE).status_code == 200
