"""Send generated requests to the sandbox and check every response against `openapi.yaml`, with schemathesis.

In one run, parameters name stored data, so that the cases reach the rules. In the other run, schemathesis generates all
parameters. Every check of schemathesis is on. Each case goes to a sandbox under asyncio and to one under uvloop, and
their responses must be equal. The two runs are parallel, because most of the time goes into generating the cases.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from anyio.from_thread import start_blocking_portal
from itwin_platform_sandbox import Sandbox

PROJECT = Path(__file__).resolve().parents[2]
HOOKS = "measure.conformance.schemathesis_hooks"
# Both sandboxes have the same clock and the same address in links, so that their responses have the same bytes.
NOW = datetime(2025, 6, 2, 12, tzinfo=UTC)
PUBLIC_URL = "http://sandbox.example.com"
#: Seconds after which a run that has not ended fails.
TIMEOUT_SECONDS = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of a run, with the statuses of each operation; with `named`, the parameters name stored data."""

    named: bool
    cases: int
    failures: int
    seconds: float
    output: str
    statuses: Mapping[str, set[int]]

    @property
    def is_clean(self) -> bool:
        """Whether there were cases and no failure, and whether each operation succeeded with stored data."""
        succeed = all(any(status < 300 for status in found) for found in self.statuses.values())
        return self.cases > 0 and not self.failures and (succeed or not self.named)


def configuration(sandbox: Sandbox, *, named: bool) -> str:
    """Return the configuration of schemathesis; with `named`, parameters name stored data."""
    lines = [
        f'base-url = "{sandbox.base_url}"',
        # OpenAPI ignores a parameter called Accept, so the configuration sets one that every operation accepts.
        f'headers = {{ Authorization = "Bearer {sandbox.token}", Accept = "*/*" }}',
        # The specification leaves open how the service treats an unknown query parameter.
        "[generation]",
        "allow-extra-parameters = false",
        "[checks.positive_data_acceptance]",
        # The service rejects requests for reasons that OpenAPI cannot express, such as a name that is taken.
        "expected-statuses = [200, 201, 400, 401, 403, 404, 409, 422, 429]",
    ]
    if named:
        lines += [
            "[parameters]",
            f'"path.iTwinId" = "{sandbox.itwin_id}"',
            f'"query.iTwinId" = "{sandbox.itwin_id}"',
            f'"path.repositoryId" = "{sandbox.repository_ids["UrlTemplate"]}"',  # which may have every option
            f'"path.sceneId" = "{sandbox.scene_id}"',
            f'"path.webhookId" = "{sandbox.webhook_id}"',
        ]
    return "\n".join(lines) + "\n"


@contextmanager
def served(*, uvloop: bool) -> Iterator[Sandbox]:
    """Run a sandbox in a thread, under asyncio or uvloop."""
    sandbox = Sandbox(itwins=200, objects=50, any_token=False, now=lambda: NOW, public_url=PUBLIC_URL)
    with (
        start_blocking_portal(backend_options={"use_uvloop": uvloop}) as portal,
        portal.wrap_async_context_manager(sandbox),
    ):
        yield sandbox


def run(*, named: bool, examples: int, seed: int) -> Result:
    """Run schemathesis against two sandboxes."""
    started = time.perf_counter()
    with served(uvloop=False) as first, served(uvloop=True) as second, tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "schemathesis.toml"
        file.write_text(configuration(first, named=named))
        command = [
            *(str(Path(sys.executable).parent / "schemathesis"), "--config-file", str(file), "--no-color"),
            *("run", str(PROJECT / "openapi.yaml"), "--checks", "all", "--phases", "examples,coverage,fuzzing"),
            *("--max-examples", str(examples), "--seed", str(seed), "--continue-on-failure", "--warnings", "off"),
        ]
        environment = os.environ | {
            "SCHEMATHESIS_HOOKS": HOOKS,
            "PYTHONPATH": str(PROJECT),
            "CONFORMANCE_FIRST_URL": first.base_url,
            "CONFORMANCE_SECOND_URL": second.base_url,
        }
        # A run that does not end within the limit raises an error here.
        completed = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, cwd=folder, timeout=TIMEOUT_SECONDS
        )
        statuses: dict[str, set[int]] = {}
        for record in first.requests:
            if record.operation is not None and record.status is not None:
                statuses.setdefault(record.operation, set()).add(record.status)
    cases = re.search(r"(\d+) generated", completed.stdout)
    found = re.search(r"(\d+) unique failure", completed.stdout)
    return Result(
        named=named,
        cases=int(cases[1]) if cases else 0,
        failures=int(found[1]) if found else int(completed.returncode != 0),
        seconds=time.perf_counter() - started,
        output=completed.stdout + completed.stderr,
        statuses=statuses,
    )


def check(*, examples: int) -> bool:
    """Run both kinds in parallel, print cases, seconds and failures, and return whether there was no failure."""
    with ThreadPoolExecutor(max_workers=min(2, os.cpu_count() or 1)) as processes:
        results = list(processes.map(lambda named: run(named=named, examples=examples, seed=1), (True, False)))
    for result in results:
        values = "parameters of stored data" if result.named else "all generated"
        print(f"schemathesis, {values}: {result.cases} cases, {result.seconds:.0f} s, {result.failures} failures")
        for operation, statuses in sorted(result.statuses.items()):
            print(f"  {operation:28}{' '.join(map(str, sorted(statuses)))}")
        if not result.is_clean:
            print(result.output)
    print(f"schemathesis, total: {sum(result.cases for result in results)} cases, each under asyncio and under uvloop")
    return all(result.is_clean for result in results)
