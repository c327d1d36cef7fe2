"""Who may ask: under which name, from which pages, and with which token."""

from __future__ import annotations

import hashlib
import hmac
import html
import ipaddress
import secrets
import socket
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import Scope

API = "/api/"

TOKEN = "token"
"""What the token is called in an address."""

HEAVY = ("/groups", "/groups/table", "/api/rank")
"""Addresses that make the server compute for long; so may whatever is posted."""

_LOOPBACK = ("localhost", "127.0.0.1", "::1")

_OTHER_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>A link from another site – pnsight</title></head>
<body><p>Another site led here. It cannot see what is shown, but it should not make this server compute either.</p>
<p><a href="{address}">Open the explorer</a> if that is what you want.</p></body></html>
"""


def refusal(path: str, status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    """An error in the language of whoever asked: JSON for programs, text for people."""
    if path.startswith(API):
        return JSONResponse({"error": message}, status, headers)
    return PlainTextResponse(f"{message}\n", status, headers)


def stopping(path: str) -> Response:
    """What is said of a request that the end of the server cuts off."""
    return refusal(path, 503, "the server is being stopped; ask again when it runs.")


def new_token() -> str:
    """A token that nobody can guess."""
    return secrets.token_urlsafe(24)


@dataclass(frozen=True)
class Access:
    """Who may ask a server.

    A page elsewhere can make a browser ask this server under a name of its own (DNS rebinding), but the browser then
    says that name: only hosts that this server goes by are answered. Under the server's own name the browser says from
    which site a request comes (`Sec-Fetch-Site`, or else `Origin`).

    Attributes
    ----------
    host : where the server listens
    names : other names that it goes by, such as that of a proxy in front of it
    token : what shows that somebody was told to ask
    required : whether every request needs the token; otherwise only those of a browser that does not say where they
        come from and that make the server compute for long
    """

    host: str = "127.0.0.1"
    names: Sequence[str] = ()
    token: str = field(default_factory=new_token, repr=False)
    required: bool = False

    @cached_property
    def _own(self) -> Collection[str]:
        """All names that the server goes by."""
        own = (socket.gethostname(), socket.getfqdn()) if is_any(self.host) else (self.host.strip("[]"),)
        return {name.lower() for name in (*_LOOPBACK, *own, *self.names)}

    def check(self, scope: Scope) -> Response | None:
        """What to answer to somebody who may not ask, or who shows the token in the address; None to go on."""
        headers, path = Headers(scope=scope), scope["path"]
        if not self._ours(headers.get("host", "")):
            return refusal(path, 400, "this server does not go by the name in the address; use the one it printed.")
        if _from_elsewhere(headers):
            return _refuse_elsewhere(scope, headers)
        pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if scope["method"] == "GET" and any(key == TOKEN for key, _ in pairs):
            return self._admit(scope, pairs)
        if self._knows_token(headers):
            return None
        if self.required:
            return refusal(path, 401, _TOKEN_NEEDED, _ASK_FOR_TOKEN)
        heavy = scope["method"] == "POST" or path in HEAVY
        return refusal(path, 403, _ORIGIN_UNKNOWN) if heavy and self._may_be_led(scope, headers) else None

    def _ours(self, host: str) -> bool:
        name = _name(host)
        return name in self._own or (is_any(self.host) and _is_address(name))

    def _admit(self, scope: Scope, pairs: Sequence[tuple[str, str]]) -> Response:
        """Take the token out of an address: a cookie knows it from then on."""
        if not _same(dict(pairs)[TOKEN], self.token):
            return refusal(scope["path"], 401, _WRONG_TOKEN, _ASK_FOR_TOKEN)
        rest = urlencode([pair for pair in pairs if pair[0] != TOKEN])
        found = RedirectResponse(_address(scope["path"], rest), 303)
        name, value = self._cookie
        found.set_cookie(name, value, httponly=True, samesite="strict", secure=scope["scheme"] == "https")
        return found

    @property
    def _cookie(self) -> tuple[str, str]:
        """A cookie of this server alone: the browser shows it to servers at other ports of the machine, too."""
        name, value = (hmac.new(self.token.encode(), what, hashlib.sha256).hexdigest() for what in (b"name", b"value"))
        return f"pnsight-{name[:12]}", value

    def _knows_token(self, headers: Headers) -> bool:
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and _same(given.strip(), self.token):
            return True
        name, value = self._cookie
        return "cookie" in headers and _same(cookie_parser(headers["cookie"]).get(name, ""), value)

    def _may_be_led(self, scope: Scope, headers: Headers) -> bool:
        """Whether a page elsewhere may have made a browser send this, which does not say so.

        Browsers say where a request comes from if it goes to this machine or is encrypted. Elsewhere, those that only
        fetch something do not, but they say what they are.
        """
        if "sec-fetch-site" in headers or headers.get("origin", "null") != "null":
            return False  # and it is this server's own site
        if "origin" in headers or "cookie" in headers:
            return True
        trusted = scope["scheme"] == "https" or is_loopback(_name(headers.get("host", "")))
        return not trusted and "mozilla/" in headers.get("user-agent", "").lower()


_ASK_FOR_TOKEN = {"www-authenticate": 'Bearer realm="pnsight"'}
_TOKEN_NEEDED = (
    "this explorer asks for a token: open the address with ?token= that the server printed when it started, or send "
    "the header 'Authorization: Bearer TOKEN'."
)
_WRONG_TOKEN = "this is not the token of this server; it prints one when it starts, and another the next time."
_ORIGIN_UNKNOWN = (
    "this browser does not say from which site the request comes, so it needs the token: open the address with "
    "?token= that the server printed when it started."
)
_ELSEWHERE = "this request comes from another site, and those are not answered; open the explorer itself."


def _from_elsewhere(headers: Headers) -> bool:
    """Whether a browser says that a request comes from another site."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site not in ("same-origin", "none")
    origin = headers.get("origin", "null")
    return origin != "null" and origin.partition("://")[2].lower() != headers.get("host", "").lower()


def _refuse_elsewhere(scope: Scope, headers: Headers) -> Response:
    """A link on another site is followed by a click more; all else that comes from there is refused."""
    followed = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    if scope["method"] != "GET" or not followed:
        return refusal(scope["path"], 403, _ELSEWHERE)
    address = _address(scope["path"], scope["query_string"].decode("latin-1"))
    return HTMLResponse(_OTHER_PAGE.format(address=html.escape(address)), 403)


def _address(path: str, query: str) -> str:
    """An address of this server: two slashes at its beginning would make it another's."""
    place = "/" + quote(path.lstrip("/"))
    return f"{place}?{query}" if query else place


def _same(given: str, expected: str) -> bool:
    """Whether two texts are the same, in a time that does not tell how nearly."""
    return hmac.compare_digest(given.encode(), expected.encode())


def _name(host: str) -> str:
    """The name in a `Host` header, without the port."""
    name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
    return name.strip("[]").lower().removesuffix(".")


def is_any(host: str) -> bool:
    """Whether a server at this host listens at all addresses of the machine."""
    return host in ("0.0.0.0", "::")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the host."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
