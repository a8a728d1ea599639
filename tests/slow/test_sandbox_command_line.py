"""`python -m itwin_platform_sandbox`."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

COMMAND = [sys.executable, "-m", "itwin_platform_sandbox"]


@contextmanager
def running(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process and the line that it prints."""
    command = [*COMMAND, "--port", "0", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_at_once(number: signal.Signals) -> None:
    """Exit status 0, nothing but the base URL printed, although a client is connected and waits."""
    with running("--latency", "3600") as (process, base_url), httpx.Client(base_url=base_url) as http:
        assert http.get("/sandbox/faults").status_code == 200
        with pytest.raises(httpx.ReadTimeout):
            http.get("/itwins/", timeout=0.05)
        signalled = time.monotonic()
        process.send_signal(number)
        output, errors = process.communicate(timeout=10)
        assert time.monotonic() - signalled < 1
    assert (process.returncode, output, errors) == (0, "", "")


def test_options_reach_the_sandbox() -> None:
    """iTwins, objects, rate, its form, faults and prefix are those that were asked for."""
    options = [
        "--itwins",
        "7",
        "--objects",
        "3",
        "--rate",
        "3/60",
        "--retry-after",
        "date",
        "--path-prefix",
        "/api",
        "--seed",
        "5",
    ]
    faults = ["--fault", "html_502,operation=list_itwins", "--fault", "empty,operation=get_primary_account"]
    headers = {"Authorization": "Bearer a"}
    with running(*options, *faults) as (_, base_url), httpx.Client(base_url=base_url, headers=headers) as http:
        assert base_url.endswith("/api")
        assert http.get("/itwins/").status_code == 502
        assert len(http.get("/itwins/").json()["iTwins"]) == 7
        assert http.get("/itwins/myprimaryaccount").content == b""
        assert http.get("/itwins/").status_code == 200
        limited = http.get("/itwins/")
    assert limited.status_code == 429
    assert limited.headers["retry-after"].endswith("GMT")


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
    [["--rate", "fast"], ["--itwins", "0"], ["--fault", "explode"], ["--fault", "refuse"], ["--retry-after", "later"]],
)
def test_a_wrong_option_is_said_in_one_line(arguments: list[str]) -> None:
    """Exit status 2 and no traceback."""
    ended = subprocess.run([*COMMAND, "--port", "0", *arguments], capture_output=True, text=True, check=False)  # noqa: S603
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
    assert ended.stderr.splitlines()[-1].startswith("python -m itwin_platform_sandbox: error: ")
