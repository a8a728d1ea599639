"""A response that decodes to much more than a program expects."""

import gzip
import io

import httpx
from itwin_platform_sandbox import Sandbox


async def test_a_gzip_bomb_is_small_on_the_wire_and_valid(sandbox: Sandbox) -> None:
    """Less than 300 kB unpack to more than 256 MiB of JSON, and the checksum is right."""
    sandbox.fault("gzip_bomb")
    headers = {"Authorization": "Bearer a"}
    async with (
        httpx.AsyncClient() as http,
        http.stream("GET", f"{sandbox.base_url}/itwins/", headers=headers) as response,
    ):
        packed = b"".join([chunk async for chunk in response.aiter_raw()])
    assert response.headers["content-encoding"] == "gzip"
    assert len(packed) < 300_000
    with gzip.GzipFile(fileobj=io.BytesIO(packed)) as unpacked:
        pieces = iter(lambda: unpacked.read(2**24), b"")
        size, visible = 0, b""
        for piece in pieces:
            size, visible = size + len(piece), visible + piece.strip()
    assert (size, visible) == (256 * 2**20 + 2, b"{}")
