"""Passwords in what is shown: in the URLs of databases, and in what databases and their drivers say about them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote, unquote_plus

HIDDEN = "***"

_KEY = r"[\w.-]*(?:password|passwd|passphrase|pwd|secret|token|api[_-]?key|credentials?)"
_QUOTED = r"\{(?:[^}]|\}\})*\}|'(?:[^'\\]|\\.)*'|\"[^\"]*\""  # as in connection strings of ODBC and of PostgreSQL

# Two slashes, or the one that is left of them in a path. A third begins a file, as in sqlite:///C:/trial.db.
_SIGNED_IN = re.compile(r"(?P<before>:/{1,2}(?!/)[^:/]*:)(?P<secret>.*)(?P<after>@)", re.DOTALL)
_NO_PORT = re.compile(r"(?P<before>:/{1,2}(?![/\[])[^:/@]*:)(?P<secret>(?!\d*(?:[/?]|$))[^@]+)(?P<after>$)", re.DOTALL)
_PARAMETER = re.compile(rf"(?P<before>[?&](?:{_KEY}|odbc_connect)=)(?P<secret>[^&]*)(?P<after>)", re.IGNORECASE)

_URL = re.compile(r"[A-Za-z][\w+.-]*:/{1,3}[^\s'\"]*")
_ASSIGNED = re.compile(
    rf"(?P<before>\b{_KEY}\s*(?:=|%3D)\s*)(?P<secret>{_QUOTED}|(?:(?!%3B|%26)[^\s&;,'\"])*)(?P<after>)", re.IGNORECASE
)

_MIN_DISTINCT = 4  # characters: a shorter password may be a part of other words


def redact_url(url: str) -> str:
    """Hide the passwords in the URL of a database.

    Parameters
    ----------
    url
        As SQLAlchemy writes it, or nearly so: an ``@`` or a slash in a password need not be escaped.

    Returns
    -------
    str
        The URL with ``***`` in place of the password, of parameters such as ``password``, and of a whole
        ``odbc_connect``.
    """
    return _hide(url, _SIGNED_IN, _NO_PORT, _PARAMETER)


def redact_urls(text: str) -> str:
    """Hide the passwords in URLs within a text.

    Parameters
    ----------
    text
        Any message; it may name a URL where something else was expected.

    Returns
    -------
    str
        The text with ``***`` in place of passwords.
    """
    return _URL.sub(lambda found: _hide(found[0], _SIGNED_IN, _PARAMETER), text)


def redact_message(message: str, url: str = "") -> str:
    """Hide passwords in what a database or its driver says.

    Parameters
    ----------
    message
        What it says.
    url
        The URL by which it was asked.

    Returns
    -------
    str
        The message with ``***`` in place of the passwords of that URL, whole or in parts, and of whatever else looks
        like one: before the ``@`` of a URL, or after ``password=``, ``PWD=`` and the like.
    """
    for secret in sorted(set(_secrets(url)), key=len, reverse=True):
        whole = (r"(?<!\w)", r"(?!\w)") if len(secret) < _MIN_DISTINCT else ("", "")
        message = re.sub(re.escape(secret).join(whole), HIDDEN, message)
    return _hide(redact_urls(message), _ASSIGNED)


def _hide(text: str, *patterns: re.Pattern[str]) -> str:
    for pattern in patterns:
        text = pattern.sub(rf"\g<before>{HIDDEN}\g<after>", text)
    return text


def _secrets(url: str) -> Iterator[str]:
    """Passwords of a URL, as written and as understood, and the parts that a parser may take them apart into."""
    for pattern in (_SIGNED_IN, _NO_PORT, _PARAMETER):
        for found in pattern.finditer(url):
            for secret in (found["secret"], unquote(found["secret"]), unquote_plus(found["secret"])):
                inner = [part["secret"].strip("{}'\"") for part in _ASSIGNED.finditer(secret)]  # of an odbc_connect
                yield from filter(None, inner or (secret, *re.split(r"[@:/?#\s]", secret)))
