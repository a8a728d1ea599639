"""Models and values behave as values: how they show themselves, `attrs.asdict`, copies, equality and hashing."""

import copy
import dataclasses
import pickle
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from itwin_platform import (
    UNSET,
    AccessToken,
    AttemptEnded,
    BackoffPolicy,
    BackoffTransport,
    BasicAuthentication,
    CooldownStarted,
    DataCenterLocation,
    ErrorDetail,
    EventType,
    Gate,
    ITwin,
    ITwinStatus,
    ITwinSubClass,
    ITwinSummary,
    NotFoundError,
    Page,
    PlatformClient,
    RateLimit,
    RepositoryOptions,
    ResponseDecodeError,
    SceneObject,
    SceneState,
    UsageError,
    View3dData,
)
from itwin_platform_api.types import Response
from itwin_platform_transport.attempts.tokens import TokenSource
from itwin_platform_transport.connections.engine import EngineTransport

from tests.wrapper.client.conftest import answering

NOT_FOUND = NotFoundError(
    status=404, headers={}, body=b'{"code": "A", "message": "B", "innererror": "planted"}', attempts=1
)
PLATFORM = PlatformClient("https://s.example/api", vendor="acme", token="planted")
VIEW = PLATFORM.with_options(headers={"X-Key": "planted"}, correlation_id="planted")
TIMED = ITwin.from_dict({"createdDateTime": "2022-06-09T17:26:11.13"})
OPTIONS = RepositoryOptions(query_parameters={"key": "planted"}, minimum_level=1, maximum_level=None)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
GATE = "Gate(max_in_flight=20, in_flight=0, waiting=0)"
STATE = SceneState(display_name="S", last_modified=None, is_partial=True)
RECEIVED: Response[Any] = Response(status_code=200, content=b"planted", headers={"a": "planted"}, parsed=None)
NO_BODY = "response with status 200: the body does not match the specification"
#: Each value as it shows itself.
SHOWN: list[tuple[object, str]] = [
    (UNSET, "UNSET"),
    (ITwinStatus.ACTIVE, "<ITwinStatus.ACTIVE: 'Active'>"),
    (ITwinStatus("Paused"), "<ITwinStatus.Paused: 'Paused'>"),
    (ITwin.from_dict({"id": "i", "type": None}), "ITwin(id='i', type_=None)"),
    (ITwin.from_dict({}), "ITwin()"),
    (ITwin.from_dict({"id": 10**60}), f"ITwin(id={'1' + '0' * 17}…{'0' * 19})"),
    (ITwin.from_dict({"displayName": "a\nb"}), r"ITwin(display_name='a\nb')"),
    (ITwin.from_dict({"displayName": "a" * 500}), f"ITwin(display_name='{'a' * 37}…{'a' * 38}')"),
    (TIMED, "ITwin(created_date_time=2022-06-09T17:26:11.130000+00:00)"),
    (ITwin.from_dict({"b": "planted", "a": 1}), "ITwin(additional_properties=['a', 'b'])"),
    (View3dData.from_dict({"ecefTransform": [1.5] * 16}), "View3dData(ecef_transform=[1.5, … 15 more])"),
    (View3dData.from_dict({"ecefTransform": [1, 2, 3]}), "View3dData(ecef_transform=[1, 2, 3])"),
    (SceneObject.from_dict({"data": dict.fromkeys("abcde", 1)}), "SceneObject(data={'a': 1, 'b': 1, 'c': 1, …})"),
    (SceneObject.from_dict({"data": {"a": [[[[[[[1, 2]]]]]]]}}), "SceneObject(data={'a': [[[[[[…]]]]]]})"),
    (RECEIVED, "Response(status_code=200, parsed=None)"),
    (PLATFORM, "PlatformClient(base_url='https://s.example/api', vendor='acme')"),
    (VIEW, "PlatformClient(base_url='https://s.example/api', vendor='acme', with options)"),
    (AccessToken("planted"), "AccessToken(expires_at=None)"),
    (
        BasicAuthentication(username="planted", password="planted"),
        "BasicAuthentication(type_='Basic', username=<hidden>, password=<hidden>)",
    ),
    (OPTIONS, "RepositoryOptions(query_parameters=<hidden>, minimum_level=1, maximum_level=None)"),
    (Gate(), GATE),
    (PLATFORM.itwins, "ITwins('https://s.example/api')"),
    (PLATFORM.scenes, "Scenes('https://s.example/api')"),
    (PLATFORM.itwins.list(filter="planted"), "Pager(list itwins, items_read=0, pages_read=0)"),
    (Page(items=["planted"] * 3, resume="planted"), "Page(3 items, more follow)"),
    (Page(items=[], resume=None), "Page(0 items, the last)"),
    (BackoffTransport(EngineTransport()), f"BackoffTransport(EngineTransport(in_use=0, idle=0), gate={GATE})"),
    (TokenSource("planted"), "TokenSource(<hidden>)"),
    (RateLimit(requests=100, per=60.0), "RateLimit(requests=100, per=60.0)"),
    (ErrorDetail(code="A", message="B"), "ErrorDetail(code='A', message='B', target=None)"),
    (STATE, "SceneState(display_name='S', last_modified=None, is_partial=True)"),
    (UsageError("a rule", code="A", target="b"), "UsageError('a rule (A [b])')"),
    (NOT_FOUND, "NotFoundError('404 A: B')"),
    (ResponseDecodeError(200, {}, b"planted"), f"ResponseDecodeError('{NO_BODY}')"),
]


@pytest.mark.parametrize(("value", "shown"), SHOWN, ids=[shown[:40] for _, shown in SHOWN])
def test_a_value_shows_what_it_is(value: object, shown: str) -> None:
    """The name of the class and what is set: nothing that is absent, nothing secret, no address in memory."""
    assert repr(value) == shown


def test_what_a_client_is_made_of_shows_no_token() -> None:
    """Tools that report errors show the attributes of an object."""
    assert "planted" not in repr(PLATFORM.generated) + repr(vars(PLATFORM))


def test_every_member_of_an_enum_is_shown_in_full() -> None:
    """Only what is as long as no documented value is cut."""
    for location in DataCenterLocation:
        assert repr(location.value) in repr(ITwin.from_dict({"dataCenterLocation": location.value}))


def test_an_expiry_shows_and_its_token_does_not() -> None:
    """What helps to find out why a token was refreshed."""
    assert repr(AccessToken("planted", NOON)) == f"AccessToken(expires_at={NOON!r})"


def test_a_deep_copy_shares_nothing() -> None:
    """Changing it leaves the original as it was."""
    itwin = ITwin.from_dict({"id": "a", "new": {"inner": [1]}})
    copied = copy.deepcopy(itwin)
    copied["new"]["inner"].append(2)
    assert itwin.to_dict() == {"id": "a", "new": {"inner": [1]}}
    assert copied != itwin


def test_models_compare_by_all_that_they_hold() -> None:
    """Another value, another absence, another unknown field: each makes another model; another class never equals."""
    model = ITwin.from_dict({"id": "a", "type": None})
    others: list[object] = [ITwinSummary.from_dict({"id": "a", "type": None}), {"id": "a", "type": None}, "a"]
    wires: list[dict[str, Any]] = [{"id": "b", "type": None}, {"id": "a"}, {"id": "a", "type": None, "new": 1}]
    others.extend(map(ITwin.from_dict, wires))
    assert model not in others
    assert model == ITwin.from_dict({"type": None, "id": "a"})


def test_a_model_can_be_changed_and_so_is_no_key() -> None:
    """A set or a dictionary rejects it with a TypeError: its id, which is a string, is the key to use."""
    with pytest.raises(TypeError, match="unhashable type: 'ITwin'"):
        hash(ITwin.from_dict({"id": "a"}))


#: Frozen values: equal where their fields are, and usable as keys.
VALUES: list[object] = [
    *(ITwinStatus.ACTIVE, ITwinStatus("Paused"), EventType.ITWINS_ITWIN_CREATED_V1, STATE),
    *(BackoffPolicy(max_attempts=2), RateLimit(requests=1, per=2.0), ErrorDetail(code="A")),
    AccessToken("t", NOON),
    CooldownStarted(method="GET", route="/a", seconds=1.0),
    AttemptEnded(method="GET", route="/", status=200, error=None, seconds=0.1, attempt=1, correlation_id=None),
]
COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),  # noqa: S301  # our own bytes
}


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_survives_copies_and_is_a_key(value: object, way: str) -> None:
    """Equal, of the same class, and found again in a set, because no field of it can be changed."""
    copied = COPIES[way](value)
    for field in dataclasses.fields(value) if dataclasses.is_dataclass(value) else ():
        with pytest.raises(AttributeError):
            setattr(value, field.name, "changed")
    assert type(copied) is type(value)
    assert {value: 1}[copied] == 1
    page = Page(items=[value], resume="r")
    assert COPIES[way](page) == page


def test_a_match_statement_reads_fields() -> None:
    """Enum members match their strings; a detail is matched by position, in the order of the wire."""
    match ITwin.from_dict({"subClass": "Project", "status": "Active", "parentId": None, "number": "P-1"}):
        case ITwin(sub_class=ITwinSubClass.PROJECT, status="Active", parent_id=None, number=number):
            assert number == "P-1"
        case _:
            pytest.fail("it does not match")
    match ErrorDetail("InvalidValue", "Too long.", "uri"):
        case ErrorDetail("InvalidValue", _, target):
            assert target == "uri"
        case _:
            pytest.fail("it is not matched")


async def test_a_pager_that_is_used_like_a_list_says_what_to_write() -> None:
    """`await pager` and `for item in pager` name `async for` and `collect()`."""
    pager: Any = PLATFORM.itwins.list()
    with pytest.raises(TypeError, match=r"await pager\.collect\(\)"):
        await pager
    with pytest.raises(TypeError, match="async for item in pager"):
        list(pager)


@pytest.mark.parametrize(("limit", "found"), [(None, ["a"]), (0, [])])
async def test_the_first_page_takes_one_request(limit: int | None, found: list[str]) -> None:
    """`first_page` sends one request, whatever `concurrency` is, and its page continues the listing."""
    page = {"iTwins": [{"id": "a"}], "_links": {"next": {"href": "?$skip=1&$top=1"}}}
    platform, requests = answering(lambda _: httpx.Response(200, json=page, headers={"x-correlation-id": "c"}))
    async with platform:
        first = await platform.itwins.list(page_size=1, concurrency=5, limit=limit).first_page()
    assert [each.id for each in first.items] == found
    assert first.resume is not None
    assert (len(requests), first.response and first.response.correlation_id) == ((1, "c") if found else (0, None))
