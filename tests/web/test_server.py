"""`pnsight serve`: where it listens, what it says, and how it ends."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest

import pnsight
import web_models
from pnsight.cli.main import main
from pnsight.errors import OutputError
from pnsight.web import server
from pnsight.web.limits import IN_PLACE, USUAL, Limits
from running import running


@contextmanager
def serving(folder, *options):
    """The program, which is ended where a test fails before it ends it."""
    command = [sys.executable, "-m", "pnsight", "serve", str(folder), "--port", "0", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("served") / "model"
    pnsight.save(web_models.plug_in(), found)
    return found


def test_the_program_serves_until_it_is_interrupted(tmp_path):
    pnsight.save(pnsight.PlugIn().fit(web_models.study()), tmp_path)
    with serving(tmp_path, "--min-cell", "3") as process:
        said = process.stderr.readline()
        address = re.fullmatch(r"the explorer is at (http://127\.0\.0\.1:\d+/) \(Ctrl-C stops it\)\n", said).group(1)
        token = process.stderr.readline().removeprefix(f"a browser that is asked for a token gets one at {address}?")
        assert re.fullmatch(r"token=[\w-]{32}\n", token)
        with urllib.request.urlopen(f"{address}api/model") as response:
            assert "counts below 3 are withheld" in json.load(response)["notes"][0]
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "", "stopped\n")


def test_no_request_is_written_down(folder):
    with serving(folder) as process:
        address = re.search(r"http://\S+", process.stderr.readline()).group()
        process.stderr.readline()
        for path in ("answer?with.sex=male", "nothing?with.sex=male", "api/bounds?query=sex%3Dx"):
            try:
                urllib.request.urlopen(address + path).close()
            except urllib.error.HTTPError as error:
                error.close()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (out, err) == ("", "stopped\n")


def test_serving_does_not_load_what_it_does_not_need(folder):
    code = (
        "import sys, pnsight.web, pnsight; pnsight.web.create_app(pnsight.load(sys.argv[1]));"
        "print([name for name in ('jax', 'matplotlib', 'sklearn', 'scipy', 'pandas') if name in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"


def test_other_commands_do_not_load_the_web_libraries():
    code = "import sys, pnsight.cli.main; print([name for name in ('fastapi', 'uvicorn') if name in sys.modules])"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"


def test_a_port_in_use_is_told_with_exit_code_2(folder, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(SystemExit) as stop:
            main(["serve", str(folder), "--port", str(port)])
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert f"cannot listen at 127.0.0.1 port {port}: {os.strerror(98)}; choose another with --port" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--host", "no such host"], "cannot listen at 'no such host'"),
        (["--port", "70000"], "70000 was given; expected between 0 and 65535"),
        (["--min-cell", "1"], "1 was given; expected at least 2"),
        (["--threshold", "30"], "lies between 0 and 1, and 30 was given; did you mean 0.3?"),
    ],
)
def test_mistakes_end_with_exit_code_2(folder, arguments, said, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["serve", str(folder), *arguments])
    assert stop.value.code == 2
    assert said in capsys.readouterr().err


def test_a_folder_without_a_model_is_told(tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["serve", str(tmp_path)])
    assert stop.value.code == 2
    assert "is not a model" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("host", "alone"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("pc", False)],
)
def test_only_loopback_is_for_this_machine_alone(host, alone):
    assert server.is_loopback(host) == alone


@pytest.fixture
def not_started(monkeypatch):
    """A server that ends at once, as if by Ctrl-C, after it has started."""

    def run(self, sockets=None):
        if self._when_started:
            self._when_started()
        raise KeyboardInterrupt

    monkeypatch.setattr(server._Server, "run", run)


def served(*arguments, **options):
    """What is said by a server that ends at once."""
    said = []
    server.serve(web_models.plug_in(), *arguments, port=0, say=said.append, limits=IN_PLACE, **options)
    return said


@pytest.mark.parametrize(("host", "warned"), [("127.0.0.1", False), ("0.0.0.0", True)])
def test_whoever_serves_others_is_warned(host, warned, not_started):
    said = served(host)
    assert any("no password and no encryption" in line for line in said) == warned
    assert said[-1] == "stopped"
    guarded = served(host, token=True)
    assert any("has the token can ask this model; there is no encryption" in line for line in guarded) == warned


def test_with_a_token_it_is_a_part_of_the_address(not_started, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    said = served(token=True, threshold=0.3, open_browser=True)
    assert re.fullmatch(r"the explorer is at http://\S+/\?threshold=0\.3&token=[\w-]{32} \(Ctrl-C stops it\)", said[0])
    assert opened[0] in said[0]
    assert said[1:] == ["stopped"]
    assert served(token=True)[0] != said[0]


def test_a_token_that_somebody_thought_of_is_not_printed(not_started, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    said = served(token="correct-horse-battery", open_browser=True)
    assert said[0].endswith("/ and asks for your token (Ctrl-C stops it)")
    assert "correct-horse" not in "".join(said)
    assert opened[0].endswith("/?token=correct-horse-battery")


@pytest.mark.parametrize("token", ["short", "", "with spaces in between", "ä" * 20, "a\nb" * 10])
def test_a_token_that_is_easily_guessed_or_cannot_be_sent_is_refused(token, not_started):
    with pytest.raises(OutputError, match=f"the token has {len(token)} characters; give at least 16"):
        served(token=token)


@pytest.mark.parametrize("proxy", ["*", "proxy.example", "", "256.0.0.1"])
def test_a_proxy_is_named_by_its_address(proxy, not_started):
    with pytest.raises(OutputError, match="give the address from which the proxy asks"):
        served(proxy=proxy)


@pytest.mark.parametrize(("proxy", "scheme"), [(None, "http"), ("10.0.0.1", "http"), ("127.0.0.1", "https")])
def test_forwarded_headers_count_only_from_the_proxy_that_is_named(proxy, scheme, monkeypatch):
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")
    found = []

    async def app(scope, receive, send):
        found.append(scope["scheme"])

    config = server.settings(app, IN_PLACE, proxy)
    config.load()
    forwarded = [(b"x-forwarded-proto", b"https"), (b"x-forwarded-for", b"192.0.2.7")]
    scope = {"type": "http", "scheme": "http", "client": ("127.0.0.1", 5), "headers": forwarded}
    asyncio.run(config.loaded_app(scope, None, None))
    assert found == [scheme]


def test_the_options_of_the_command_reach_the_server(folder, monkeypatch):
    called = []
    monkeypatch.setattr("pnsight.web.serve", lambda *arguments: called.append(arguments[8:]))
    own = {"PNSIGHT_TOKEN": "correct-horse-battery"}
    behind = ["--name", "a.example", "--name", "b.example", "--proxy", "127.0.0.1"]
    for options, environment in [([], {}), (["--token", *behind], {}), (["--token"], own), ([], own)]:
        monkeypatch.setattr("os.environ", environment)
        with pytest.raises(SystemExit, match="0"):
            main(["serve", str(folder), *options])
    assert called == [
        (False, (), None),
        (True, ["a.example", "b.example"], "127.0.0.1"),
        ("correct-horse-battery", (), None),
        (False, (), None),
    ]


def test_no_more_connections_are_taken_than_files_may_be_open(monkeypatch):
    monkeypatch.setattr("resource.getrlimit", lambda _: (256, 256))
    assert server._within_means(USUAL).connections == 96
    monkeypatch.setattr("resource.getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert server._within_means(USUAL) == USUAL


class Own(pnsight.PlugIn):
    """A model whose class no other program knows."""


Own.__module__ = "__main__"


def test_a_model_that_other_processes_cannot_know_is_served_without_them(not_started):
    said = []
    server.serve(Own().fit(web_models.study(rows=40)), port=0, say=said.append)
    assert "Own is defined in this program itself" in said[0]
    assert said[-1] == "stopped"


def test_a_browser_is_opened_if_asked_for(not_started, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    served()
    assert opened == []
    said = served(open_browser=True)
    assert opened[0] in said[0]


def test_the_address_asks_for_the_threshold_that_was_given(not_started, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    said = served(open_browser=True, threshold=0.3)
    assert opened[0].endswith("/?threshold=0.3")
    assert opened[0] in said[0]


def test_a_browser_is_told_the_address_of_a_server_for_all():
    with server.listen("0.0.0.0", 0) as listening:
        assert server.address_of(listening, "0.0.0.0").startswith("http://localhost:")
        assert server.address_of(listening, "::1").startswith("http://[::1]:")


def test_a_socket_that_cannot_be_had_is_the_users_mistake():
    with pytest.raises(OutputError, match=r"cannot listen at '256\.0\.0\.1'"):
        server.listen("256.0.0.1", 0)


def test_a_real_server_answers_over_a_connection_that_is_kept():
    with running(web_models.clinic()) as address:
        connection = http.client.HTTPConnection(address.removeprefix("http://"))
        for path in ("/", "/answer?with.sex=male", "/api/model", "/static/explorer.js"):
            connection.request("GET", path)
            response = connection.getresponse()
            assert response.status == 200
            assert response.read()
            assert response.headers["server"] is None
        connection.close()


def test_a_real_server_computes_in_other_processes():
    limits = Limits(quick_workers=1, heavy_workers=1)
    with running(web_models.plug_in(), limits=limits) as address:
        for path in ("/answer?with.sex=male", "/advice", "/api/rank", "/api/ask", "/groups/table"):
            with urllib.request.urlopen(address + path) as response:
                assert response.status == 200
        with pytest.raises(urllib.error.HTTPError, match="400") as refused:
            urllib.request.urlopen(f"{address}/api/bounds?query=sex%3Dx")
        assert "no level 'x'" in refused.value.read().decode()
        refused.value.close()
        body = b"text=sex%0Amale%0Afemale%0A"
        with urllib.request.urlopen(f"{address}/people.csv", data=body) as response:
            assert response.read().startswith(b"sex,query,decision")


def test_a_request_that_takes_too_long_ends_on_a_real_server():
    with running(web_models.plug_in(), limits=Limits(quick_workers=1, heavy_workers=1, heavy_seconds=0.0)) as address:
        with pytest.raises(urllib.error.HTTPError, match="413") as refused:
            urllib.request.urlopen(f"{address}/api/rank")
        assert "took longer than 0 seconds" in refused.value.read().decode()
        refused.value.close()
        with urllib.request.urlopen(f"{address}/api/bounds") as response:
            assert response.status == 200
