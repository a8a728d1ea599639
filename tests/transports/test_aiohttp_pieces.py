"""`fast_transport()` sends large bodies in pieces."""

import asyncio

from itwin_platform._http.connections.aiohttp import _pieces

BODY = bytes(range(256)) * 600


async def test_each_piece_of_a_body_has_the_time_limit_anew_and_the_response_has_none() -> None:
    """A limit runs while pieces are sent, and ends with the last of them: the response has a limit of its own."""
    async with asyncio.timeout(None) as limit:
        pieces, running = [], []
        async for piece in _pieces(BODY, limit, 60.0):
            pieces.append(piece)
            running.append(limit.when())
        assert limit.when() is None
    assert b"".join(pieces) == BODY
    assert [len(piece) for piece in pieces] == [65_536, 65_536, 22_528]
    assert None not in running


async def test_a_body_is_sent_completely_after_an_early_response() -> None:
    """When the service responds before the end of the body, the rest is still sent."""
    async with asyncio.timeout(None) as limit:
        pieces = _pieces(BODY, limit, 60.0)
        received = [await anext(pieces)]
    received += [piece async for piece in pieces]
    assert b"".join(received) == BODY
