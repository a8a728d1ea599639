"""`repr` in a REPL, a notebook and a log: one short line that says what a value is, and no secret."""

from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import pytest
from itwin_platform import (
    UNSET,
    AccessToken,
    BackoffPolicy,
    BackoffTransport,
    BasicAuthentication,
    DataCenterLocation,
    ErrorDetail,
    Gate,
    ITwin,
    ITwinStatus,
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

from tests.support.faces import EngineTransport, TokenAuth
from tests.support.sample_models import ANSWERS

NOT_FOUND = NotFoundError(
    status=404, headers={}, body=b'{"code": "A", "message": "B", "innererror": "planted"}', attempts=1
)
PLATFORM = PlatformClient("https://s.example/api", vendor="acme", token="planted")
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
    (
        ITwin.from_dict({"createdDateTime": "2022-06-09T17:26:11.13"}),
        "ITwin(created_date_time=2022-06-09T17:26:11.130000+00:00)",
    ),
    (ITwin.from_dict({"b": "planted", "a": 1}), "ITwin(additional_properties=['a', 'b'])"),
    (View3dData.from_dict({"ecefTransform": [1.5] * 16}), "View3dData(ecef_transform=[1.5, … 15 more])"),
    (View3dData.from_dict({"ecefTransform": [1, 2, 3]}), "View3dData(ecef_transform=[1, 2, 3])"),
    (SceneObject.from_dict({"data": dict.fromkeys("abcde", 1)}), "SceneObject(data={'a': 1, 'b': 1, 'c': 1, …})"),
    (
        SceneObject.from_dict({"data": {"a": [[[[[[[1, 2, 3, 4]]]]]]]}}),
        "SceneObject(data={'a': [[[[[[…]]]]]]})",
    ),
    (
        Response(status_code=200, content=b"planted", headers={"a": "planted"}, parsed=None),
        "Response(status_code=200, parsed=None)",
    ),
    (
        PlatformClient("https://s.example/api", vendor="acme", token="planted"),
        "PlatformClient(base_url='https://s.example/api', vendor='acme')",
    ),
    (AccessToken("planted"), "AccessToken(expires_at=None)"),
    (BasicAuthentication(username="planted", password="planted"), "BasicAuthentication(<hidden>)"),
    (
        RepositoryOptions(query_parameters={"key": "planted"}, minimum_level=1, maximum_level=None),
        "RepositoryOptions(minimum_level=1, maximum_level=None)",
    ),
    (Gate(), "Gate(max_in_flight=20, in_flight=0, waiting=0)"),
    (PLATFORM.itwins, "ITwins('https://s.example/api')"),
    (PLATFORM.scenes, "Scenes('https://s.example/api')"),
    (PLATFORM.itwins.list(filter="planted"), "Pager(list itwins, 0 items of 0 pages read)"),
    (Page(items=["planted"] * 3, resume="planted"), "Page(3 items, more follow)"),
    (Page(items=[], resume=None), "Page(0 items, the last)"),
    (
        BackoffTransport(EngineTransport()),
        "BackoffTransport(EngineTransport(in_use=0, idle=0), gate=Gate(max_in_flight=20, in_flight=0, waiting=0))",
    ),
    (TokenAuth("planted"), "TokenAuth(<hidden>)"),
    (RateLimit(requests=100, per=60.0), "RateLimit(requests=100, per=60.0)"),
    (ErrorDetail(code="A", message="B"), "ErrorDetail(code='A', message='B', target=None)"),
    (
        SceneState(display_name="S", last_modified=None, is_partial=True),
        "SceneState(display_name='S', last_modified=None, is_partial=True)",
    ),
    (UsageError("a rule", code="A", target="b"), "UsageError('a rule (A [b])')"),
    (NOT_FOUND, "NotFoundError('404 A: B')"),
    (
        ResponseDecodeError(200, {}, b"planted"),
        "ResponseDecodeError('response with status 200: the body does not match the specification')",
    ),
]


@pytest.mark.parametrize(("value", "shown"), SHOWN, ids=[shown[:40] for _, shown in SHOWN])
def test_a_value_shows_what_it_is(value: object, shown: str) -> None:
    """The name of the class and what is set: nothing that is absent, nothing secret, no address in memory."""
    assert repr(value) == shown


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_a_response_shows_itself_in_one_line(name: str) -> None:
    """Whole responses too, without UNSET and without what is secret in them."""
    shown = repr(ANSWERS[name])
    assert "\n" not in shown
    assert len(shown) < 2000
    for unwanted in ("UNSET", "planted", " object at 0x"):
        assert unwanted not in shown


def test_a_listing_of_any_size_is_short() -> None:
    """Ten thousand items show as the first one and the number of the others."""
    itwins: Any = ANSWERS["list_itwins.200"]
    many = type(itwins)(itwins=itwins.itwins[:1] * 10_000, links=UNSET)
    assert len(repr(many)) < 1500
    assert "… 9999 more" in repr(many)


def test_every_member_of_an_enum_is_shown_in_full() -> None:
    """Only what is as long as no documented value is cut."""
    for location in DataCenterLocation:
        assert repr(location.value) in repr(ITwin.from_dict({"dataCenterLocation": location.value}))


def test_a_policy_shows_all_that_it_was_given() -> None:
    """The `repr` of a policy shows every value."""
    assert repr(BackoffPolicy()).startswith("BackoffPolicy(max_attempts=7, max_wait=60.0, deadline=120.0, ")
    assert all(f"{field.name}=" in repr(BackoffPolicy()) for field in fields(BackoffPolicy))


def test_an_expiry_shows_and_its_token_does_not() -> None:
    """What helps to find out why a token was refreshed."""
    shown = repr(AccessToken("planted", datetime(2026, 3, 1, tzinfo=UTC)))
    assert shown == "AccessToken(expires_at=datetime.datetime(2026, 3, 1, 0, 0, tzinfo=datetime.timezone.utc))"
