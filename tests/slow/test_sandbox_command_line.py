"""`python -m itwin_platform_sandbox`."""

import json
import os
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.support.processes import ended
from tests.support.real_time import LONGEST

COMMAND = [sys.executable, "-m", "itwin_platform_sandbox"]


@contextmanager
def running(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process and the first line that it prints."""
    command = [*COMMAND, "--port", "0", *" ".join(arguments).split()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_at_once(number: signal.Signals) -> None:
    """Exit status 0 and no word of an error, although a client is connected and waits."""
    with running("--latency", "3600") as (process, base_url), httpx.Client(base_url=base_url) as http:
        assert http.get("/sandbox/faults").status_code == 200
        with pytest.raises(httpx.ReadTimeout):
            http.get("/itwins/", timeout=0.05)
        process.send_signal(number)
        _, errors = process.communicate(timeout=LONGEST)
    assert (process.returncode, errors) == (0, "")


def test_options_reach_the_sandbox() -> None:
    """iTwins, objects, rate, its form, faults and prefix are those that were asked for."""
    options = "--itwins 7 --objects 3 --rate 3/60 --retry-after date --path-prefix /api --seed 5"
    faults = "--fault html_502,operation=list_itwins --fault empty,operation=get_primary_account"
    headers = {"Authorization": "Bearer a"}
    with running(options, faults) as (_, base_url), httpx.Client(base_url=base_url, headers=headers) as http:
        assert base_url.endswith("/api")
        assert http.get("/itwins/").status_code == 502
        assert len(http.get("/itwins/").json()["iTwins"]) == 7
        assert http.get("/itwins/myprimaryaccount").content == b""
        assert http.get("/itwins/").status_code == 200
        limited = http.get("/itwins/")
    assert limited.status_code == 429
    assert limited.headers["retry-after"].endswith("GMT")


def test_a_taken_port_is_said_in_one_line() -> None:
    """The line names address and port and says what to do, and there is no traceback."""
    with running() as (_, base_url):
        port = base_url.rpartition(":")[2]
        process = ended(*COMMAND, "--port", port, status=2)
    (line,) = process.stderr.splitlines()
    assert line.startswith(f"python -m itwin_platform_sandbox: error: cannot listen on 127.0.0.1 port {port}: ")
    assert line.endswith("; choose another port with --port, 0 for a free one")


def test_it_prints_what_a_test_starts_with(tmp_path: Path) -> None:
    """With --json one line has address, token and the ids of everything that the seed file has."""
    seed = tmp_path / "seed.json"
    seed.write_text('{"itwins": [{"displayName": "Harbour"}], "detectors": [{"name": "cracks"}]}', encoding="utf-8")
    with running("--json", "--seed", str(seed)) as (_, line):
        printed = json.loads(line)
        overview = httpx.get(printed["control_url"]).json()
    assert printed == overview
    assert (printed["token"], printed["ids"]["detectors"]) == ("sandbox-token", ["cracks"])
    assert printed["ids"]["itwin_id"] in printed["ids"]["itwins"]


def test_a_host_that_others_reach_is_warned_of() -> None:
    """The warning goes to standard error, and the sandbox runs."""
    with running("--host", "0.0.0.0") as (process, base_url):  # noqa: S104 - what the test is about
        assert base_url.startswith("http://0.0.0.0:")
        assert process.stderr is not None
        assert process.stderr.readline().startswith("warning: 0.0.0.0 is not a loopback address")


def test_it_serves_https() -> None:
    """The printed file verifies the certificate, and is gone when the sandbox has ended."""
    with running("--json", "--tls") as (process, line):
        printed = json.loads(line)
        trusted = ssl.create_default_context(cafile=printed["ca_file"])
        response = httpx.get(f"{printed['base_url']}/itwins/", headers={"Authorization": "Bearer a"}, verify=trusted)
        process.terminate()
        process.wait(timeout=LONGEST)
    assert response.status_code == 200
    assert not Path(printed["ca_file"]).exists()


def test_it_can_behave_as_seen() -> None:
    """--as-seen turns on what goes beyond the description."""
    with running("--as-seen") as (_, base_url):
        response = httpx.get(f"{base_url}/itwins/myprimaryaccount", headers={"Authorization": "Bearer a"})
    assert "Tier" in response.headers


def test_it_can_take_one_token_and_one_vendor_only() -> None:
    """--no-any-token rejects every token but the sandbox's own, --vendor every other vendor word."""
    statuses = []
    with running("--no-any-token", "--vendor", "acme") as (_, base_url):
        for token, vendor in (("other", "acme"), ("sandbox-token", "other"), ("sandbox-token", "acme")):
            accept = f"application/vnd.{vendor}.itwin-platform.v1+json"
            headers = {"Authorization": f"Bearer {token}", "Accept": accept}
            statuses.append(httpx.get(f"{base_url}/itwins/", headers=headers).status_code)
    assert statuses == [401, 404, 200]


@pytest.mark.parametrize(
    "arguments",
    [
        *(
            "--rate fast",
            "--itwins 0",
            "--fault explode",
            "--fault refuse",
            "--retry-after later",
            "--retry-after date",
        ),
        *("--rate-kind token_bucket", "--port 99999", "--port http", "--seed missing.json"),
        *("--host no-such-host.invalid", "--cors localhost"),
    ],
)
def test_a_wrong_option_is_said_in_one_line(arguments: str) -> None:
    """Exit status 2 and no traceback."""
    process = ended(*COMMAND, "--port", "0", *arguments.split(), status=2)
    assert "Traceback" not in process.stderr
    assert process.stdout == ""
    assert process.stderr.splitlines()[-1].startswith("python -m itwin_platform_sandbox: error: ")
