"""Who can use the sandbox: Host names, pages of other origins, TLS, and the size of requests."""

import ssl
import tracemalloc
from collections.abc import AsyncIterator

import httpx
import pytest
from itwin_platform_sandbox import Sandbox

HEADERS = {"Authorization": "Bearer a"}
PAGE = "http://localhost:3000"


@pytest.mark.parametrize("host", ["rebound.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "", "a b"])
@pytest.mark.parametrize(("method", "path"), [("POST", "/sandbox/faults"), ("GET", "/"), ("GET", "/itwins/")])
async def test_a_rebound_name_reaches_nothing(
    http: httpx.AsyncClient, sandbox: Sandbox, method: str, path: str, host: str
) -> None:
    """A Host that is neither loopback nor allowed gives 421 on every path."""
    response = await http.request(method, path, json={"name": "stall"}, headers={"Host": host})
    assert (response.status_code, response.json()["error"]["code"]) == (421, "HostNotAllowed")
    assert sandbox.faults == ()


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8080", "app.localhost", "127.0.0.1", "[::1]:80", "192.0.2.7"])
async def test_loopback_names_and_addresses_are_allowed(http: httpx.AsyncClient, host: str) -> None:
    """An address cannot be rebound, and these names mean this machine."""
    assert (await http.get("/itwins/", headers={"Host": host})).status_code == 200


@pytest.mark.parametrize(
    ("arguments", "host"),
    [
        ({"allow_hosts": "sandbox"}, "sandbox:8080"),
        ({"allow_hosts": ["a", "Sandbox"]}, "sandbox"),
        ({"allow_hosts": "*"}, "any.example"),
        ({"public_url": "https://proxy.example:8443/api"}, "proxy.example"),
    ],
)
async def test_further_names_can_be_allowed(arguments: dict[str, str], host: str) -> None:
    """allow_hosts and the public URL allow a name."""
    async with Sandbox(itwins=1, **arguments) as sandbox, httpx.AsyncClient() as http:  # type: ignore[arg-type]
        response = await http.get(f"{sandbox.base_url}/itwins/", headers={**HEADERS, "Host": host})
    assert response.status_code == 200


@pytest.fixture
async def cors() -> AsyncIterator[httpx.AsyncClient]:
    """A client of a sandbox for pages of one origin."""
    async with (
        Sandbox(itwins=3, cors=PAGE) as sandbox,
        httpx.AsyncClient(base_url=sandbox.base_url, headers=HEADERS) as http,
    ):
        yield http


async def test_a_page_of_a_named_origin_may_call_and_control(cors: httpx.AsyncClient) -> None:
    """An allowed origin can send preflights, read responses, errors and headers, and set faults."""
    preflight_headers = {
        "Origin": PAGE,
        "Access-Control-Request-Method": "PATCH",
        "Access-Control-Request-Headers": "authorization,content-type,x-max-return",
    }
    preflight = await cors.options("/webhooks/w", headers=preflight_headers)
    assert preflight.status_code == 200
    assert preflight.headers["access-control-allow-origin"] == PAGE
    assert "x-max-return" in preflight.headers["access-control-allow-headers"]
    added = await cors.post("/sandbox/faults", json={"name": "html_502"}, headers={"Origin": PAGE})
    assert added.status_code == 201
    for status in (502, 200):
        response = await cors.get("/itwins/", headers={"Origin": PAGE})
        assert (response.status_code, response.headers["access-control-allow-origin"]) == (status, PAGE)
    assert "retry-after" in response.headers["access-control-expose-headers"]


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://["])
async def test_a_page_of_another_origin_may_neither(cors: httpx.AsyncClient, origin: str) -> None:
    """No header lets it read, and nothing lets it control."""
    response = await cors.get("/itwins/", headers={"Origin": origin})
    assert "access-control-allow-origin" not in response.headers
    assert (await cors.post("/sandbox/reset", headers={"Origin": origin})).status_code == 403


async def test_without_cors_there_is_no_such_header(http: httpx.AsyncClient) -> None:
    """The default is closed."""
    response = await http.get("/itwins/", headers={"Origin": PAGE})
    assert not [name for name in response.headers if name.startswith("access-control")]


async def test_the_page_cannot_be_framed(http: httpx.AsyncClient) -> None:
    """A page of another site cannot lay it under its own buttons."""
    headers = (await http.get("/")).headers
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"cors": "localhost:3000"}, "cors"),
        ({"cors": "http://localhost:3000/"}, "cors"),
        ({"cors": "http://["}, "cors"),
        ({"cors": "http://"}, "cors"),
        ({"public_url": "proxy"}, "public_url"),
        ({"public_url": "http://["}, "public_url"),
        ({"public_url": "http://proxy:port"}, "public_url"),
        ({"public_url": "http://proxy/a b"}, "public_url"),
        ({"path_prefix": "/a b"}, "path_prefix"),
        ({"path_prefix": "/a/../b"}, "path_prefix"),
        ({"path_prefix": "/a?b"}, "path_prefix"),
        ({"allow_hosts": "http://proxy"}, "allow_hosts"),
        ({"allow_hosts": ["a", "proxy:80"]}, "allow_hosts"),
        ({"vendor": "a b"}, "vendor"),
        ({"port": 99999}, "port"),
        ({"seed": None}, "seed"),
        ({"rate": (100, 60)}, "rate"),
        ({"rate": "fast"}, "rate"),
        ({"itwins": 0}, "itwins"),
        ({"objects": -1}, "objects"),
        ({"latency": -0.1}, "latency"),
        ({"jitter": -0.1}, "jitter"),
        ({"path_prefix": "api"}, "path_prefix"),
        ({"path_prefix": "/api/"}, "path_prefix"),
        ({"path_prefix": "/sandbox"}, "path_prefix"),
        ({"path_prefix": "/sandbox/api"}, "path_prefix"),
    ],
)
def test_a_setting_that_makes_no_sense_is_rejected(arguments: dict[str, object], field: str) -> None:
    """The error names the argument."""
    with pytest.raises(ValueError, match=f"^{field}: "):
        Sandbox(**{"itwins": 1} | arguments)  # type: ignore[arg-type] # what the test is about


async def test_links_name_the_public_url() -> None:
    """A proxy that rewrites Host does not lead its clients past it."""
    async with (
        Sandbox(itwins=3, path_prefix="/v", public_url="https://proxy.example/api/") as sandbox,
        httpx.AsyncClient(headers=HEADERS) as http,
    ):
        links = (await http.get(f"{sandbox.base_url}/itwins/?$top=1")).json()["_links"]
    assert links["next"]["href"] == "https://proxy.example/api/itwins/?$skip=1&$top=1"


async def test_a_client_verifies_the_throwaway_certificate() -> None:
    """With the authority of `ca_file` the call succeeds, without it the certificate is not trusted."""
    async with Sandbox(itwins=3, tls=True) as sandbox:
        trusted = ssl.create_default_context(cafile=sandbox.ca_file)
        async with httpx.AsyncClient(verify=trusted, headers=HEADERS) as http:
            body = (await http.get(f"{sandbox.base_url}/itwins/?$top=1")).json()
            assert (await http.get(body["_links"]["next"]["href"])).status_code == 200
            assert body["_links"]["next"]["href"].startswith("https://")
            sandbox.fault("reset_in_body")
            with pytest.raises(httpx.TransportError):
                await http.get(f"{sandbox.base_url}/itwins/")
            sandbox.fault("refuse", seconds=3600)
            with pytest.raises(httpx.ConnectError):
                await http.get(f"{sandbox.base_url}/itwins/")
            sandbox.clear_faults()
        async with httpx.AsyncClient(headers=HEADERS) as http:
            with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
                await http.get(f"{sandbox.base_url}/itwins/")
    with pytest.raises(RuntimeError, match="tls"):
        _ = Sandbox(itwins=1).ca_file


async def test_a_body_without_end_is_not_kept(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Above 8 MiB the response is 413, and the memory does not grow with the rest of the body."""

    async def body() -> AsyncIterator[bytes]:
        for _ in range(40):
            yield b" " * 2**20

    tracemalloc.start()
    response = await http.patch(f"/webhooks/{sandbox.webhook_id}", content=body())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (response.status_code, response.json()["error"]["code"]) == (413, "RequestTooLarge")
    assert peak < 24 * 2**20
    assert sandbox.requests[-1].status == 413
    assert sandbox.requests[-1].body is None
    assert (await http.get("/itwins/")).status_code == 200


async def test_equal_headers_are_kept_once(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """A client that sends the same headers a thousand times fills the memory with them once."""
    for _ in range(2):
        await http.get("/itwins/")
    first, second = sandbox.requests
    assert first.headers is second.headers


async def test_secrets_in_a_query_are_not_recorded(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Parameters that carry secrets elsewhere are hidden in the journal and on the page."""
    secrets = {"access_token": "s3cret-a", "api_key": "s3cret-b", "sig": "s3cret-c", "code": "s3cret-d"}
    await http.get("/itwins/", params={**secrets, "$top": "5", "$continuationToken": "MTAw"})
    record = sandbox.requests[0]
    assert record.query == {**dict.fromkeys(secrets, "<hidden>"), "$top": "5", "$continuationToken": "MTAw"}
    assert "s3cret" not in (await http.get("/")).text
    assert "s3cret" not in (await http.get("/sandbox/requests")).text
