"""Passwords are hidden wherever a URL or what a database says of it is shown."""

from __future__ import annotations

import pytest

from pnsight._redact import redact_message, redact_url, redact_urls

URLS = {
    "postgresql://me:hush@host/base": "postgresql://me:***@host/base",
    "postgresql://me:hu@sh@host/base": "postgresql://me:***@host/base",
    "postgresql://me:hu/s:h@host/base": "postgresql://me:***@host/base",
    "postgresql://me@server:hush@server.net/base": "postgresql://me@server:***@server.net/base",
    "redis://:hush@host": "redis://:***@host",
    "postgresql:/me:hush@host/base": "postgresql:/me:***@host/base",
    "postgresql://me:hush": "postgresql://me:***",
    "postgresql://host/base?user=me&password=hu;s'h&x=1": "postgresql://host/base?user=me&password=***&x=1",
    "postgresql://host/base?sslpassword=hush": "postgresql://host/base?sslpassword=***",
    "snowflake://me@host/base?TOKEN=hush": "snowflake://me@host/base?TOKEN=***",
    "mssql+pyodbc:///?odbc_connect=UID%3Dme%3BPWD%3Dhush": "mssql+pyodbc:///?odbc_connect=***",
    "mssql+pyodbc:///?odbc_connect=DRIVER={x};PWD={hu;sh}": "mssql+pyodbc:///?odbc_connect=***",
}
PLAIN = [
    "postgresql://me@host:5432/base",
    "postgresql://host:5432",
    "postgresql://[::1]:5432/base?sslmode=require",
    "sqlite:///C:/data/trial.db",
    "sqlite:////home/me/trial.db?timeout=5",
    "trial.csv",
]
DRIVERS_SAY = [
    ("postgresql://me:hu@sh@host/base", 'could not translate host name "sh@host" to address', "host"),
    ("postgresql://me:h%40sh@host/base", "login of me with h@sh was refused", "refused"),
    ("postgresql://me:sh@host/base", "shall we say: password sh of the server is wrong", "shall"),
    ("mssql+pyodbc:///?odbc_connect=UID%3Dme%3BPWD%3Dh%2Bsh%3B", "[08001] login with 'h+sh' failed", "failed"),
    ("", "cannot open DRIVER={x};UID=me;PWD={h;sh};SERVER=host", "SERVER=host"),
    ("", "bad connection string: host=a password='h sh' dbname=b", "dbname=b"),
    ("", "bad query UID%3Dme%3BPWD%3Dhsh%3BSERVER%3Dhost", "SERVER"),
    ("", "no route to 'jdbc:postgresql://host/base?user=me&password=hsh'", "no route"),
    ("", "no route to postgresql://me:h@sh@host/base today", "@host/base today"),
]


@pytest.mark.parametrize(("url", "shown"), URLS.items())
def test_a_url_is_shown_without_its_password(url, shown):
    assert redact_url(url) == shown
    assert redact_url(shown) == shown


@pytest.mark.parametrize("url", PLAIN)
def test_what_holds_no_password_is_shown_as_it_is(url):
    assert redact_url(url) == url
    assert redact_urls(f"the table {url!r} is not there") == f"the table {url!r} is not there"


@pytest.mark.parametrize(("url", "said", "kept"), DRIVERS_SAY)
def test_what_a_driver_says_is_shown_without_passwords(url, said, kept):
    shown = redact_message(said, url)
    assert "***" in shown
    assert not any(part in shown.replace("shall", "") for part in ("sh", "h+", "h@", "h;", "'h "))
    assert kept in shown


def test_a_url_within_any_message_is_shown_without_its_password():
    said = "no model folder 'postgresql://me:hush@host/base?password=hush'; the group token=high is meant"
    shown = "no model folder 'postgresql://me:***@host/base?password=***'; the group token=high is meant"
    assert redact_urls(said) == shown


def test_a_long_message_does_not_take_long():
    redact_message("a:/b:" * 1000 + "password" * 500 + "a.b-" * 1000)
