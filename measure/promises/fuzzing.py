"""Fuzzed bodies, statuses and headers, which raise only the exceptions of the client."""

import json
import random
import re
from collections.abc import Callable
from datetime import UTC, datetime

import httpx
from itwin_platform import BackoffPolicy, PlatformClient, PlatformError
from itwin_platform._errors import status_error_class
from itwin_platform._requests.sender import DecodedResponse
from itwin_platform_api.api.detectors import create_detector
from itwin_platform_api.api.itwins import get_primary_account, list_itwins
from itwin_platform_api.api.repositories import create_repository_resource, update_repository
from itwin_platform_api.api.scenes import create_scene, list_scene_objects
from itwin_platform_api.api.webhooks import update_webhook
from itwin_platform_transport import CallInfo, CallResult, Response
from itwin_platform_transport.policy import parse_retry_after

from .calls import CALLS
from .figure import Figure, exactly

NOW = datetime(2026, 3, 1, tzinfo=UTC)
#: What every response of the client has.
CALL = CallInfo(method="GET", route="/", policy=BackoffPolicy())
#: The status of a success of each operation, and the generated function that parses it.
PARSERS: tuple[tuple[int, Callable[..., object]], ...] = (
    (201, create_detector.parse_response),
    (200, get_primary_account.parse_response),
    (200, list_itwins.parse_response),
    (201, create_repository_resource.parse_response),
    (200, update_repository.parse_response),
    (201, create_scene.parse_response),
    (200, list_scene_objects.parse_response),
    (200, update_webhook.parse_response),
)
NAMES = re.findall(
    r"\w+",
    """error code message target details statusCode iTwins iTwin objects object scene sceneContext sceneData repository
    resource detector webhook _links next prev self href id class subClass type displayName createdDateTime status
    kind version data capabilities resources uri graphics options authentication active eventTypes isPartial
    lastModified creationTime latestVersion versions guid relatedId dataCenterLocation position order visible x y z""",
)
VALUES: tuple[object, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1.5,
    1e308,
    float("nan"),
    float("inf"),
    10**30,
    "",
    " ",
    "\ud800",
    "\x00",
    "Active",
    "2022-06-09T17:26:11.13",
    "11/3/2023 8:07:01 PM",
    "0000-00-00T00:00:00Z",
    "9999-12-31T23:59:60Z",
    "x" * 300,
    "RepositoryResource",
    "View3d",
    "https://a.example/?$skip=1",
    [],
    {},
    [None],
    {"href": None},
    {"href": 7},
)
RAW = (
    b"",
    b"null",
    b"[]",
    b"{",
    b"\xff\xfe",
    b"\xef\xbb\xbf{}",
    b"[" * 5000,
    b"9" * 5000,
    b"<html>",
    b'{"a":1}{"b":2}',
)


def value(source: random.Random, depth: int) -> object:
    """Return a JSON value with property names of the service."""
    kind = source.random()
    if depth == 0 or kind < 0.4:
        return source.choice(VALUES)
    if kind < 0.85:
        return {source.choice(NAMES): value(source, depth - 1) for _ in range(source.randint(0, 5))}
    return [value(source, depth - 1) for _ in range(source.randint(0, 3))]


def body(source: random.Random) -> bytes:
    """Return JSON with wrong values, sometimes cut or corrupted, and sometimes a body that is not JSON."""
    if source.random() < 0.1:
        return source.choice(RAW)
    text = json.dumps(value(source, 4)).encode()
    if source.random() < 0.2:
        cut = source.randint(0, len(text))
        return text[:cut] + source.randbytes(source.randint(0, 3)) + text[cut + source.randint(0, 4) :]
    return text


def fuzzed_responses(*, count: int, seed: int = 1) -> int:
    """Parse `count` responses, half of them errors, and count the exceptions that are not PlatformError."""
    source = random.Random(seed)
    pool = [body(source) for _ in range(max(100, count // 10))]
    unexpected = 0
    for number in range(count):
        content = pool[number % len(pool)]
        try:
            if number % 2:
                status, parse = PARSERS[source.randrange(len(PARSERS))]
                result = CallResult(Response(status, content=content), 1, 0.0, None, None, None, None)
                parse(DecodedResponse(CALL, result, limit=len(content)))
            else:
                status = source.randint(300, 999)
                error = status_error_class(status)(status=status, headers={}, body=content, attempts=1)
                str(error).encode()
        except PlatformError:
            continue
        except Exception:  # noqa: BLE001  # it is counted
            unexpected += 1
    return unexpected


def fuzzed_waits(*, count: int, seed: int = 1) -> int:
    """Parse `count` `retry-after` headers, and count the results that are neither positive seconds nor None."""
    source = random.Random(seed)
    parts = re.findall(
        r"\S+",
        "0 1 9 30 1994 . , ; : - + e x GMT UTC Sun Mon Sunday Mar 01 06-Nov-94 12:00:20 -0000 inf nan \u0661 \x00 \xff",
    )
    unexpected = 0
    for _ in range(count):
        texts = [source.choice(("", " ", ", ")).join(source.choices(parts, k=source.randint(0, 6))) for _ in range(2)]
        if source.random() < 0.3:
            texts[0] = source.choice("0123456789-+.") * source.randint(1, 500)
        try:
            seconds = parse_retry_after(texts[0], date=texts[1], now=NOW)
            unexpected += not (seconds is None or 0 < seconds < float("inf"))
        except Exception:  # noqa: BLE001  # it is counted
            unexpected += 1
    return unexpected


async def fuzzed_calls(*, count: int, seed: int = 1) -> int:
    """Make `count` calls through the client, and count the exceptions that are not PlatformError."""
    source = random.Random(seed)
    unexpected = 0

    def respond(request: httpx.Request) -> httpx.Response:
        status = source.choice((200, 200, 201, 204, 301, 400, 401, 404, 409, 413, 418, 422, 429, 500, 999))
        headers = {"retry-after": "3600", "content-encoding": source.choice(("identity", "identity", "gzip", "br"))}
        return httpx.Response(status, headers=headers, stream=httpx.ByteStream(body(source)))

    for _ in range(count // len(CALLS)):
        # A new client for each round, because a cooldown would delay the next rounds.
        transport = httpx.MockTransport(respond)
        async with PlatformClient(
            "https://service.example", vendor="acme", token="t-1", transport=transport
        ) as platform:
            for call in CALLS.values():
                try:
                    await call(platform)
                except PlatformError:
                    continue
                except Exception:  # noqa: BLE001  # it is counted
                    unexpected += 1
    return unexpected


async def fuzzing(*, responses: int = 1_000_000, waits: int = 100_000, calls: int = 20_000) -> list[Figure]:
    """Fuzz responses as values, calls through the client, and `retry-after` headers."""
    return [
        exactly(
            f"{responses:,} fuzzed bodies x statuses: exceptions that are not ours",
            fuzzed_responses(count=responses),
            0,
        ),
        exactly(f"{calls:,} of them through the client: the same", await fuzzed_calls(count=calls), 0),
        exactly(f"{waits:,} retry-after values: anything but seconds or None", fuzzed_waits(count=waits), 0),
    ]
