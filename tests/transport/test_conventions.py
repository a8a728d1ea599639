"""What the package above hands in: without it the names are neutral, and no header of a service is read."""

import json
import logging

import httpx
import pytest
from itwin_platform_transport import BackoffPolicy, BackoffTransport, Conventions, NotSentError, conventions
from itwin_platform_transport.policy import retry_after_of

from tests.support.processes import ended
from tests.transport.attempts.test_policy import NOW

#: Everything that the platform's package hands in is absent here: nothing imports it.
ALONE = """
import asyncio, json, logging, sys
import httpx
from itwin_platform_transport import BackoffPolicy, BackoffTransport, NotSentError

records = []
class Kept(logging.Handler):
    def emit(self, record):
        records.append([record.name, "request_attempt" in vars(record)])
logging.getLogger("itwin_platform_transport").addHandler(Kept())
logging.getLogger("itwin_platform_transport").setLevel(logging.DEBUG)

async def main():
    headers = {"itwinplatform-ratelimit-retry-after-seconds": "9", "x-correlation-id": "c-1"}
    events = []
    service = httpx.MockTransport(lambda _: httpx.Response(429, headers=headers))
    policy = BackoffPolicy(max_wait=0.0)
    async with httpx.AsyncClient(transport=BackoffTransport(service, policy=policy, on_event=events.append)) as client:
        response = await client.get("https://service.example/")
    return response.status_code, [getattr(event, "correlation_id", None) for event in events], events[0].seconds < 2

found = asyncio.run(main())
print(json.dumps([found, records[-1], NotSentError.doc_url, "itwin_platform" in sys.modules]))
"""


def test_alone_it_knows_no_platform() -> None:
    """Its own logger, neutral prefixes, no page of documentation, and only the headers that HTTP defines."""
    found, record, documentation, is_imported = json.loads(ended("python", "-c", ALONE).stdout)
    assert found == [429, [None, None], True]
    assert (record, documentation) == (["itwin_platform_transport", True], "")
    assert not is_imported


def test_prefixes_are_neutral_without_a_package_above() -> None:
    """Those of fields, spans and keys, which others rely on; there is neither a version nor a page."""
    own = Conventions()
    assert (own.field_prefix, own.span_prefix, own.key_prefix) == ("request_", "request.", "gate:")
    assert (own.package, own.version, own.documentation) == ("itwin_platform_transport", "", None)


async def test_names_are_handed_in(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Logger, fields, headers and the page of the documentation are those of the package above."""
    own = Conventions(
        package="acme",
        field_prefix="acme_",
        documentation="errors.html",
        retry_after=("x-acme-wait", "retry-after"),
        correlation_id="x-acme-id",
        limit_tier=("x-acme-tier",),
    )
    monkeypatch.setattr(conventions, "current", own)
    assert NotSentError.doc_url == "errors.html#notsenterror"
    assert retry_after_of(httpx.Headers({"retry-after": "2", "X-Acme-Wait": "7"}), now=NOW) == 7.0
    assert own.limit_of({"x-acme-tier": "gold"}) == ("gold", None, None)
    service = httpx.MockTransport(lambda _: httpx.Response(200, headers={"x-acme-id": "a-1"}))
    with caplog.at_level(logging.DEBUG, "acme"):
        async with httpx.AsyncClient(transport=BackoffTransport(service, policy=BackoffPolicy())) as client:
            await client.get("https://service.example/")
    (record,) = caplog.records
    assert (record.name, vars(record)["acme_correlation_id"]) == ("acme", "a-1")
