"""Thousands of webhooks: each once, few at a time, and one failure stops no other."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from itwin_platform import AuthenticationError, NotFoundError, PlatformClient
from itwin_platform_sandbox import Sandbox

from examples.switch_webhooks import switch
from tests.support.programs import run

WORKERS = 5
COUNT = 300


async def test_each_webhook_is_changed_once_with_few_in_flight(
    itwin_sandbox: Sandbox, itwin_platform_client: PlatformClient
) -> None:
    """Whatever fails, each webhook is asked for once; tasks and webhooks taken stay as few as the workers."""
    tasks_before, most_tasks, taken = len(asyncio.all_tasks()), 0, 0
    most_ahead = 0

    def webhooks() -> Iterator[tuple[str, str]]:
        nonlocal most_tasks, most_ahead, taken
        for number in range(COUNT):
            most_tasks = max(most_tasks, len(asyncio.all_tasks()) - tasks_before)
            most_ahead = max(most_ahead, taken - len(itwin_sandbox.requests))
            taken += 1
            yield (itwin_sandbox.webhook_id if number == 150 else f"lost-{number}", f"secret-{number}")

    outcome = await switch(itwin_platform_client, webhooks(), active=True, workers=WORKERS)
    asked = Counter(request.path for request in itwin_sandbox.requests)
    assert outcome.switched == 1
    assert len(outcome.failed) == COUNT - 1
    assert all(isinstance(error, NotFoundError) for error in outcome.failed.values())
    assert len(asked) == asked.total() == COUNT
    assert max(request.in_flight for request in itwin_sandbox.requests) <= WORKERS
    assert most_ahead <= WORKERS
    assert most_tasks <= 2 * WORKERS


async def test_each_keeps_its_own_secret(itwin_sandbox: Sandbox, itwin_platform_client: PlatformClient) -> None:
    """Every update carries a secret, so that the service makes none."""
    await switch(itwin_platform_client, [(itwin_sandbox.webhook_id, "known")] * 3, active=False)
    assert [request.body for request in itwin_sandbox.requests] == [{"active": False, "secret": "<hidden>"}] * 3


@pytest.mark.itwin_sandbox(any_token=False)
async def test_a_rejected_token_ends_the_run(itwin_sandbox: Sandbox) -> None:
    """The other thousands are not tried with a token that is rejected."""
    async with PlatformClient(itwin_sandbox.base_url, vendor="sandbox", token="withdrawn") as platform:
        with pytest.raises(ExceptionGroup) as caught:
            await switch(platform, ((f"w-{number}", "secret") for number in range(COUNT)), active=True, workers=WORKERS)
    assert caught.group_contains(AuthenticationError)
    assert len(itwin_sandbox.requests) <= WORKERS


def test_a_file_is_switched_on_the_platform(itwin_sandbox: Sandbox, tmp_path: Path) -> None:
    """A file is switched on the platform that the environment names; the exit status tells of failures."""
    (tmp_path / "webhooks.csv").write_text(f"{itwin_sandbox.webhook_id},s-1\nnobody,s-2\n")
    variables = {
        "ITWIN_PLATFORM_BASE_URL": itwin_sandbox.base_url,
        "ITWIN_PLATFORM_VENDOR": "sandbox",
        "ITWIN_PLATFORM_TOKEN": itwin_sandbox.token,
    }
    ended = run("switch_webhooks", "webhooks.csv", folder=tmp_path, variables=variables, code=1)
    assert "1 webhooks activated, 1 failed:\n  nobody: PATCH /webhooks/{webhook_id}: 404" in ended.stdout
    assert {request.path for request in itwin_sandbox.requests} == {
        f"/webhooks/{itwin_sandbox.webhook_id}",
        "/webhooks/nobody",
    }
