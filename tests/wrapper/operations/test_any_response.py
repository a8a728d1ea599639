"""A call returns a result or raises an exception of the package, for any response."""

import json

import httpx
import pytest
from hypothesis import given, settings, strategies as st
from itwin_platform import PlatformClient, PlatformError

from tests.support.event_loops import in_virtual_time
from tests.support.examples import examples
from tests.support.operations import OPERATIONS, SPECIFICATION
from tests.support.schema_values import ANY_JSON, values_of
from tests.wrapper.operations.conftest import BASE_URL, called

STATUSES = (201, 204, 300, 307, 400, 401, 404, 409, 413, 418, 422, 429, 500, 999)
ODD = (b"", b"{", b"\xff\xfe", b"\xef\xbb\xbf{}", b"[" * 5000, b"9" * 5000, b"<html>", b'{"a":1}{"b":2}')
ERRORS = st.fixed_dictionaries({"error": ANY_JSON | st.fixed_dictionaries({"code": ANY_JSON, "details": ANY_JSON})})


@st.composite
def bodies(draw: st.DrawFn, name: str) -> bytes:
    """Bodies that fit the operation, or partly, or not at all; some are broken."""
    operation = OPERATIONS[name]
    responses = SPECIFICATION["paths"][operation.path][operation.method.lower()]["responses"]
    schema = responses[str(operation.success)]["content"]["application/json"]["schema"]
    if draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from(ODD) | st.binary())
    body = json.dumps(draw(values_of(schema) | ERRORS | ANY_JSON)).encode()
    if draw(st.integers(0, 4)) == 0:
        cut = draw(st.integers(0, len(body)))
        return body[:cut] + draw(st.binary(max_size=3)) + body[cut + draw(st.integers(0, 3)) :]
    return body


@pytest.mark.parametrize("name", OPERATIONS)
def test_any_response_is_a_result_or_an_error_of_the_package(name: str) -> None:
    """Any status, header and body is a result or a PlatformError."""

    async def call(status: int, encoding: str, body: bytes) -> str:
        headers = {"content-encoding": encoding, "retry-after": "3600"}
        transport = httpx.MockTransport(
            lambda _: httpx.Response(status, headers=headers, stream=httpx.ByteStream(body))
        )
        async with PlatformClient(BASE_URL, vendor="v", token="t", transport=transport) as platform:
            try:
                return repr(await called(platform, name))
            except PlatformError as error:
                return str(error)

    statuses = st.just(OPERATIONS[name].success) | st.sampled_from(STATUSES)

    @settings(max_examples=examples(100), deadline=None)
    @given(statuses, st.sampled_from(["identity", "identity", "gzip", "br"]), bodies(name))
    def tried(status: int, encoding: str, body: bytes) -> None:
        assert in_virtual_time(call(status, encoding, body)).encode("utf-8", "surrogatepass")

    tried()
