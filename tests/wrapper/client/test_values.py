"""The `repr`, copies, equality and hashes of values."""

import copy
import dataclasses
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from itwin_platform import (
    AccessToken,
    AttemptEnded,
    BackoffPolicy,
    BackoffTransport,
    CooldownStarted,
    ErrorDetail,
    EventType,
    Gate,
    ITwin,
    ITwinStatus,
    NotFoundError,
    Page,
    PlatformClient,
    RateLimit,
    ResponseDecodeError,
    SceneObject,
    SceneState,
    View3dData,
)

from tests.generated.test_model_values import pickled
from tests.support.calls import SCENE

RATE = RateLimit(requests=1, per=2.0)
NOT_FOUND = NotFoundError(status=404, headers={}, body=b'{"code": "A", "message": "B", "x": "planted"}', attempts=1)
PLATFORM = PlatformClient("https://s.example/x", vendor="acme", token="planted")
VIEW = PLATFORM.with_options(headers={"X-Key": "planted"}, correlation_id="planted")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
STATE = SceneState(display_name="S", last_modified=None, is_partial=True)
NO_BODY = "response with status 200: the body does not match the specification"
#: Values as they show themselves.
SHOWN: list[tuple[object, str]] = [
    (ITwinStatus("Paused"), "<ITwinStatus.Paused: 'Paused'>"),
    (ITwin.from_dict({"id": 10**60}), f"ITwin(id={'1' + '0' * 17}…{'0' * 19})"),
    (ITwin.from_dict({"displayName": "a\nb"}), r"ITwin(display_name='a\nb')"),
    (ITwin.from_dict({"displayName": "a" * 500}), f"ITwin(display_name='{'a' * 37}…{'a' * 38}')"),
    (View3dData.from_dict({"ecefTransform": [1.5] * 16}), "View3dData(ecef_transform=[1.5, … 15 more])"),
    (SceneObject.from_dict({"data": dict.fromkeys("abcde", 1)}), "SceneObject(data={'a': 1, 'b': 1, 'c': 1, …})"),
    (SceneObject.from_dict({"data": {"a": [[[[[[[1, 2]]]]]]]}}), "SceneObject(data={'a': [[[[[[…]]]]]]})"),
    (PLATFORM, "PlatformClient(base_url='https://s.example/x', vendor='acme')"),
    (VIEW, "PlatformClient(base_url='https://s.example/x', vendor='acme', with options)"),
    (PLATFORM.itwins, "ITwins('https://s.example/x')"),
    (PLATFORM.scenes.list_objects(SCENE, "planted"), "Pager(list scene objects, items_read=0, pages_read=0)"),
    (PLATFORM.itwins.list_all(filter="planted"), "Pager(list all itwins, items_read=0, pages_read=0)"),
    (Page(items=["planted"] * 3, resume="planted"), "Page(3 items, more follow)"),
    (Page(items=[], resume=None), "Page(0 items, the last)"),
    (Gate(rate=RATE), f"Gate(max_in_flight=20, rate=[{RATE}], in_flight=0, waiting=0)"),
    (AccessToken("planted", NOON), f"AccessToken(expires_at={NOON!r})"),
    (NOT_FOUND, "NotFoundError('404 A: B')"),
    (ResponseDecodeError(200, {}, b"planted"), f"ResponseDecodeError('{NO_BODY}')"),
]


@pytest.mark.parametrize(("value", "shown"), SHOWN, ids=[shown[:40] for _, shown in SHOWN])
def test_the_repr_of_a_value(value: object, shown: str) -> None:
    """The `repr` of a value has its class and its set fields, without secrets."""
    assert repr(value) == shown


def test_the_attributes_of_a_client_show_no_token() -> None:
    """No attribute of a client shows the token, because error trackers show attributes."""
    assert "planted" not in repr((PLATFORM.generated, vars(PLATFORM), vars(BackoffTransport(token="planted"))))


#: Frozen values: equal where their fields are, and usable as keys.
VALUES: list[object] = [
    *(ITwinStatus.ACTIVE, ITwinStatus("Paused"), EventType.ITWINS_ITWIN_CREATED_V1, STATE),
    *(BackoffPolicy(max_attempts=2), RATE, ErrorDetail(code="A")),
    *(AccessToken("t", NOON), CooldownStarted(method="GET", route="/a", seconds=1.0)),
    AttemptEnded(method="GET", route="/", status=200, error=None, seconds=0.1, attempt=1, correlation_id=None),
]


@pytest.mark.parametrize("copied_by", [copy.copy, copy.deepcopy, pickled])
@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_survives_copies_and_is_a_key(value: object, copied_by: Callable[[Any], Any]) -> None:
    """Equal, of the same class, and found again in a set, because no field of it can be changed."""
    copied = copied_by(value)
    for field in dataclasses.fields(value) if dataclasses.is_dataclass(value) else ():
        with pytest.raises(AttributeError):
            setattr(value, field.name, "changed")
    assert type(copied) is type(value)
    assert {value: 1}[copied] == 1
    page = Page(items=[value], resume="r")
    assert copied_by(page) == page
