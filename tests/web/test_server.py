"""`pnsight serve`: where it listens, what it says, and how it ends."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

import pnsight
import web_models
from pnsight.cli.main import main
from pnsight.errors import OutputError
from pnsight.web import server
from running import running


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("served") / "model"
    pnsight.save(web_models.plug_in(), found)
    return found


def test_the_program_serves_until_it_is_interrupted(folder):
    command = [sys.executable, "-m", "pnsight", "serve", str(folder), "--port", "0", "--min-cell", "3"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        said = process.stderr.readline()
        address = re.fullmatch(r"the explorer is at (http://127\.0\.0\.1:\d+/) \(Ctrl-C stops it\)\n", said).group(1)
        with urllib.request.urlopen(f"{address}api/model") as response:
            assert "counts below 3 are withheld" in json.load(response)["notes"][0]
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "", "stopped\n")


def test_no_request_is_written_down(folder):
    command = [sys.executable, "-m", "pnsight", "serve", str(folder), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        address = re.search(r"http://\S+", process.stderr.readline()).group()
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


@pytest.mark.parametrize(("host", "warned"), [("127.0.0.1", False), ("0.0.0.0", True)])
def test_whoever_serves_others_is_warned(host, warned, not_started):
    said = []
    server.serve(web_models.plug_in(), host, 0, say=said.append)
    assert any("no password and no encryption" in line for line in said) == warned
    assert said[-1] == "stopped"


def test_a_browser_is_opened_if_asked_for(not_started, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    server.serve(web_models.plug_in(), port=0, say=lambda _: None)
    assert opened == []
    said = []
    server.serve(web_models.plug_in(), port=0, open_browser=True, say=said.append)
    assert opened[0] in said[0]


def test_the_address_asks_for_the_threshold_that_was_given(not_started, monkeypatch):
    opened, said = [], []
    monkeypatch.setattr("webbrowser.open", opened.append)
    server.serve(web_models.plug_in(), port=0, open_browser=True, say=said.append, threshold=0.3)
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
    import http.client

    with running(web_models.clinic()) as address:
        connection = http.client.HTTPConnection(address.removeprefix("http://"))
        for path in ("/", "/answer?with.sex=male", "/api/model", "/static/explorer.js"):
            connection.request("GET", path)
            response = connection.getresponse()
            assert response.status == 200
            assert response.read()
            assert response.headers["server"] is None
        connection.close()
