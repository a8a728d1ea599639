"""The text of an error is short, printable and free of tokens."""

import json
import pickle

import httpx
import httpx2
import pytest
from itwin_platform import APIStatusError, BackoffPolicy, BackoffTransport, PlatformClient, UsageError

TOKEN = "planted-token/of-30-characters"


async def error_for(
    body: bytes, *, status: int = 422, headers: dict[str, str] | None = None, token: str = TOKEN
) -> APIStatusError:
    """Return the error for a response."""
    transport = httpx.MockTransport(lambda _: httpx.Response(status, content=body, headers=headers))
    policy = BackoffPolicy(max_attempts=1)
    async with PlatformClient(
        "http://127.0.0.1", vendor="v", token=token, transport=transport, backoff=policy
    ) as given:
        with pytest.raises(APIStatusError) as caught:
            await given.itwins.get_primary_account()
    return caught.value


def body(message: str, **more: object) -> bytes:
    """Return the body of an error."""
    return json.dumps({"error": {"code": "Code", "message": message, **more}}).encode()


@pytest.mark.parametrize("escaped", [False, True])
async def test_a_token_in_the_message_of_the_service_is_redacted(escaped: bool) -> None:
    """Neither in text, repr, attributes nor a pickle, also where JSON writes it with escapes."""
    content = body(f"bad token {TOKEN}", target=TOKEN, details=[{"code": "C", "message": TOKEN, "target": TOKEN}])
    if escaped:
        content = content.replace(b"/", b"\\/")
    error = await error_for(content, headers={"x-echo": f"Bearer {TOKEN}", "x-correlation-id": TOKEN})
    kept = pickle.loads(pickle.dumps(error))  # noqa: S301  # our own
    for each in (error, kept):
        text = f"{each} {each!r} {each.message} {each.target} {each.details} {dict(each.headers)} {each.correlation_id}"
        assert TOKEN not in text
        assert "bad token [redacted]" in str(each)
    assert TOKEN.encode() not in error.body.replace(b"\\/", b"")


@pytest.mark.parametrize(
    ("token", "said", "expected"),
    [
        ("t-1", "t-1 is no token, (t-1)", "[redacted] is no token, ([redacted])"),
        ("t-1", "t-12, at-1 and t-1-b are others", "t-12, at-1 and t-1-b are others"),
        ("token", "a token is missing", "a token is missing"),
        ("tokento", "atokentob", "atokentob"),
        ("tokentok", "atokentokb", "a[redacted]b"),
    ],
)
async def test_a_short_token_is_redacted_where_it_stands_alone(token: str, said: str, expected: str) -> None:
    """A part of another word stays, and so does a token that is a word itself."""
    error = await error_for(body(said), token=token, headers={"x-echo": said})
    assert (error.message, error.headers["x-echo"]) == (expected, expected)
    assert error.body == body(expected)


async def test_control_characters_are_escaped() -> None:
    """Words of the service start no line of a log and steer no terminal."""
    hostile = "a\nERROR forged\r\x1b[31mred\x9b\u2028\u202e"
    error = await error_for(body(hostile, details=[{"code": hostile, "message": hostile, "target": hostile}]))
    assert len(str(error).splitlines()) == 2
    assert "\x1b" not in str(error)
    assert r"a\nERROR forged\r\x1b[31mred\x9b\u2028\u202e" in str(error)
    assert "\n" not in str(error.details[0])
    assert error.message == hostile


async def test_a_long_message_is_cut() -> None:
    """Of 3 MB, 2 kB are in the text and 64 KiB in `.body`; what we add ourselves stays."""
    correlation_id = "c" * 200
    error = await error_for(body("x" * 3_000_000), headers={"x-correlation-id": correlation_id})
    assert len(str(error)) <= 2048
    assert str(error).startswith("GET /itwins/myprimaryaccount: 422 Code: xxx")
    assert str(error).endswith(f"...\n- correlation id {correlation_id}")
    assert len(error.body) == 65_536
    many = await error_for(body("m", details=[{"code": "c"}] * 10_000), headers={"x-correlation-id": correlation_id})
    assert len(str(many)) <= 2048


async def test_an_object_of_another_library_is_rejected_at_construction() -> None:
    """A client or a transport of httpx2 is no surprise of the first call."""
    async with httpx2.AsyncClient() as other:
        with pytest.raises(UsageError, match=r"http_client must be an httpx.AsyncClient, not httpx2\..*not supported"):
            PlatformClient("http://127.0.0.1", vendor="v", token="t", http_client=other)  # type: ignore[arg-type]
    other_transport = httpx2.AsyncHTTPTransport()
    with pytest.raises(UsageError, match=r"transport must be an httpx.AsyncBaseTransport, not httpx2\.") as caught:
        PlatformClient("http://127.0.0.1", vendor="v", token="t", transport=other_transport)  # type: ignore[arg-type]
    assert "token" not in caught.value.rule
    with pytest.raises(UsageError, match="transport must be an"):
        BackoffTransport(other_transport)  # type: ignore[arg-type]
    await other_transport.aclose()
