"""Access to the sandbox: Host names, pages of other origins, TLS, the size of requests, and wrong settings."""

import ssl
import tracemalloc
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from itwin_platform_sandbox import Sandbox

from tests.support.sandboxes import client_of, error_of, serving

PAGE = "http://localhost:3000"


@pytest.mark.parametrize("host", ["rebound.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "", "a b"])
@pytest.mark.parametrize(("method", "path"), [("POST", "/sandbox/faults"), ("GET", "/itwins/")])
async def test_a_rebound_name_reaches_nothing(
    http: httpx.AsyncClient, sandbox: Sandbox, method: str, path: str, host: str
) -> None:
    """A Host that is neither loopback nor allowed gives 421 on every path."""
    response = await http.request(method, path, json={"name": "stall"}, headers={"Host": host})
    assert error_of(response) == "421 HostNotAllowed"
    assert sandbox.faults == ()


@pytest.mark.parametrize(
    ("arguments", "host"),
    [
        *(
            ({}, host)
            for host in ("localhost", "LOCALHOST:8080", "app.localhost", "127.0.0.1", "[::1]:80", "192.0.2.7")
        ),
        ({"allow_hosts": "sandbox"}, "sandbox:8080"),
        ({"allow_hosts": ["a", "Sandbox"]}, "sandbox"),
        ({"allow_hosts": "*"}, "any.example"),
        ({"public_url": "https://proxy.example:8443/api"}, "proxy.example"),
    ],
)
async def test_loopback_addresses_and_allowed_names_are_allowed(arguments: dict[str, str], host: str) -> None:
    """An address cannot be rebound, loopback names mean this machine; allow_hosts and the public URL allow a name."""
    async with serving(**arguments) as (_, http):
        assert (await http.get("/itwins/", headers={"Host": host})).status_code == 200


@pytest.mark.parametrize(
    ("origin", "controls"), [("http://{own}", True), *((origin, False) for origin in (PAGE, "null", "http://["))]
)
async def test_a_page_of_another_origin_controls_nothing(origin: str, controls: bool) -> None:
    """A browser sends a simple POST without a preflight, so the sandbox rejects it by its origin."""
    async with serving() as (sandbox, http):
        http.headers["Origin"] = origin.format(own=sandbox.base_url.removeprefix("http://"))
        changes = [await http.post("/sandbox/reset"), await http.delete("/sandbox/faults")]
    assert [response.status_code for response in changes] == ([200, 204] if controls else [403, 403])


WRONG_SETTINGS: dict[str, tuple[object, ...]] = {
    "public_url": ("proxy", "http://[", "http://proxy:port", "http://proxy/a b"),
    "path_prefix": ("/a b", "/a/../b", "/a?b", "api", "/api/", "/sandbox", "/sandbox/api"),
    "allow_hosts": ("http://proxy", ["a", "proxy:80"]),
    "vendor": ("a b",),
    "port": (99999, "80"),
    "seed": (None,),
    "rate": ((100, 60), "fast", "", "100/", "-1/60", "1/1/1", "1" * 5000 + "/1"),
    "itwins": (0, "many", 1.5),
    "objects": (-1, True),
    "latency": (-0.1, "1"),
    "clock": (5,),
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in WRONG_SETTINGS.items() for value in values]
)
def test_a_setting_that_makes_no_sense_is_rejected(name: str, value: Any) -> None:
    """The ValueError names the argument."""
    with pytest.raises(ValueError, match=f"^{name}: "):
        Sandbox(**{name: value})


async def test_links_name_the_public_url() -> None:
    """Links have the public URL, so that a client behind a proxy stays behind it."""
    async with serving(itwins=3, path_prefix="/v", public_url="https://proxy.example/api/") as (_, http):
        links = (await http.get("/itwins/?$top=1")).json()["_links"]
    assert links["next"]["href"] == "https://proxy.example/api/itwins/?$skip=1&$top=1"


async def test_a_client_verifies_the_throwaway_certificate() -> None:
    """A client that trusts `ca_file` follows links and meets faults; another client rejects the certificate."""
    async with Sandbox(itwins=3, tls=True) as sandbox, client_of(sandbox) as http:
        trusted = ssl.create_default_context(cafile=sandbox.ca_file)
        async with httpx.AsyncClient(verify=trusted, headers=http.headers) as verifying:
            body = (await verifying.get(f"{sandbox.base_url}/itwins/?$top=1")).json()
            assert (await verifying.get(body["_links"]["next"]["href"])).status_code == 200
            for name, error in (("reset_in_body", httpx.TransportError), ("refuse", httpx.ConnectError)):
                sandbox.fault(name, seconds=3600)  # type: ignore[arg-type] # names of a table
                with pytest.raises(error):
                    await verifying.get(f"{sandbox.base_url}/itwins/")
                sandbox.clear_faults()
        async with httpx.AsyncClient() as untrusting:
            with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
                await untrusting.get(f"{sandbox.base_url}/itwins/")
    with pytest.raises(RuntimeError, match="tls"):
        _ = Sandbox(itwins=1).ca_file


async def test_a_body_without_end_is_not_kept(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """A body above 8 MiB gets 413, and its rest takes no memory."""

    async def body() -> AsyncIterator[bytes]:
        for _ in range(40):
            yield b" " * 2**20

    tracemalloc.start()
    response = await http.patch(f"/webhooks/{sandbox.webhook_id}", content=body())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert error_of(response) == "413 RequestTooLarge"
    assert peak < 24 * 2**20
    assert [(record.status, record.body) for record in sandbox.requests] == [(413, None)]
    assert (await http.get("/itwins/")).status_code == 200
