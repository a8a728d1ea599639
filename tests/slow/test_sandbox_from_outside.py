"""The sandbox as others use it: from the command line and from programs in other languages."""

import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.sandbox.test_package import block
from tests.support.processes import ended
from tests.support.real_time import LONGEST

COMMAND = [sys.executable, "-m", "itwin_platform_sandbox", "--port", "0"]


@contextmanager
def running(arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the command; yield the process and its first line of output."""
    command = [*COMMAND, *arguments.split()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_at_once(number: signal.Signals) -> None:
    """A signal ends the command with status 0 and no error, even while a client waits."""
    with running("--latency 3600") as (process, base_url), httpx.Client(base_url=base_url) as http:
        assert http.get("/sandbox/faults").status_code == 200
        with pytest.raises(httpx.ReadTimeout):
            http.get("/itwins/", timeout=0.05)
        process.send_signal(number)
        _, errors = process.communicate(timeout=LONGEST)
    assert (process.returncode, errors) == (0, "")


OPTIONS = (
    "--json --itwins 7 --objects 3 --seed 5 --rate 3/60 --path-prefix /api --public-url https://proxy.example "
    "--strict --no-any-token --vendor acme --latency 0.1 --allow-host sandbox"
)
SETTINGS = """{"strict": true, "any_token": false, "tls": false, "path_prefix": "/api", "host": "127.0.0.1", "port": 0,
"public_url": "https://proxy.example", "itwins": 7, "objects": 3, "vendor": "acme", "latency": 0.1,
"allow_hosts": ["sandbox"], "rate": {"requests": 3, "per": 60.0, "retry_after": "seconds"}}"""


def test_options_reach_the_sandbox() -> None:
    """`--json` prints one line with the body of `GET /sandbox`: address, settings, faults and ids."""
    with running(OPTIONS) as (_, line):
        printed = json.loads(line)
        assert printed == httpx.get(printed["control_url"]).json()
    assert printed["base_url"].endswith("/api")
    assert printed["token"] == "sandbox-token"
    assert (printed["counts"]["itwins"], printed["counts"]["scene objects"]) == (8, 3)
    assert printed["settings"] == json.loads(SETTINGS)


def test_it_serves_the_data_of_a_file_over_https(tmp_path: Path) -> None:
    """The seed of the page is served; the printed file verifies the certificate, and is removed at the end."""
    seed = tmp_path / "seed.json"
    seed.write_text(block("Seed exactly what a test needs", "json"), encoding="utf-8")
    with running(f"--json --tls --seed {seed}") as (process, line):
        printed = json.loads(line)
        trusted = ssl.create_default_context(cafile=printed["ca_file"])
        response = httpx.get(f"{printed['base_url']}/itwins/", headers={"Authorization": "Bearer a"}, verify=trusted)
        process.terminate()
        process.wait(timeout=LONGEST)
    assert [itwin["displayName"] for itwin in response.json()["iTwins"]] == ["Seeded account", "Harbour"]
    assert not Path(printed["ca_file"]).exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--rate fast", "--rate: must be requests/seconds such as 100/60, not 'fast'"),
        ("--itwins 0", "--itwins: must be at least 1"),
        ("--seed missing.json", "--seed: cannot read missing.json"),
        ("--host no-such-host.invalid", "cannot listen on no-such-host.invalid port 0: "),
        ("--port {taken}", "cannot listen on 127.0.0.1 port {taken}: "),
    ],
)
def test_a_wrong_option_is_named_in_one_line(arguments: str, message: str) -> None:
    """A wrong option ends with status 2 and one line that names it, or the address and the way out."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        taken = listening.getsockname()[1]
        process = ended(*COMMAND, *arguments.format(taken=taken).split(), status=2)
    *before, line = process.stderr.splitlines()
    assert [text.partition(":")[0] for text in before] == (["warning"] if "--host" in arguments else [])
    assert line.startswith(f"python -m itwin_platform_sandbox: error: {message.format(taken=taken)}")
    assert line.endswith("; choose another port with --port, 0 for a free one") is ("{taken}" in arguments)
    assert process.stdout == ""


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node.js is installed")
def test_the_tests_in_javascript_pass(tmp_path: Path) -> None:
    """Node.js runs the file as it stands on the page."""
    (tmp_path / "sandbox.test.mjs").write_text(block("Use JavaScript", "js"), encoding="utf-8")
    assert "# pass 2" in ended("node", "--test", "--test-reporter=tap", folder=tmp_path).stdout


@pytest.mark.skipif(shutil.which("javac") is None, reason="no JDK is installed")
def test_the_program_in_java_succeeds(tmp_path: Path) -> None:
    """Java runs the file as it stands on the page, with its assertions."""
    (tmp_path / "SandboxTest.java").write_text(block("Use Java", "java"), encoding="utf-8")
    ended("java", "-ea", "SandboxTest.java", folder=tmp_path)
