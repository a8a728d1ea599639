"""Create detector on the wire. Source: section 4.7."""

from typing import Any

import pytest
from itwin_platform import UNSET, Detector, DetectorType, PlatformClient
from pytest_httpx import HTTPXMock

from tests.operations.conftest import OPERATIONS, request_of, sent_json

CREATE = OPERATIONS["create_detector"]


@pytest.mark.parametrize(
    ("keywords", "body"),
    [
        ({}, b'{"name":"@a/b","type":"PhotoObjectDetector"}'),
        ({"display_name": UNSET}, b'{"name":"@a/b","type":"PhotoObjectDetector"}'),
        ({"display_name": None}, b'{"name":"@a/b","type":"PhotoObjectDetector","displayName":null}'),
        ({"description": None}, b'{"name":"@a/b","type":"PhotoObjectDetector","description":null}'),
        ({"documentation_url": None}, b'{"name":"@a/b","type":"PhotoObjectDetector","documentationUrl":null}'),
        (
            {"display_name": "D", "description": "", "documentation_url": "https://x"},
            (
                b'{"name":"@a/b","type":"PhotoObjectDetector","displayName":"D","description":"",'
                b'"documentationUrl":"https://x"}'
            ),
        ),
    ],
    ids=["required", "UNSET", "display_name None", "description None", "documentation_url None", "all"],
)
async def test_absent_null_and_value_are_three_things(
    keywords: dict[str, Any], body: bytes, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """What is omitted is not sent, None is sent as null, a value as itself."""
    httpx_mock.add_response(status_code=201, json=CREATE.sample())
    await platform.detectors.create(name="@a/b", type=DetectorType.PHOTO_OBJECT_DETECTOR, **keywords)
    assert request_of(httpx_mock).content == body
    assert request_of(httpx_mock).url.raw_path == b"/api/reality-analysis/detectors"


@pytest.mark.parametrize("kind", [*DetectorType, *(str(each) for each in DetectorType), "VideoDetector", ""], ids=repr)
async def test_the_type_is_a_member_or_any_string(
    kind: DetectorType | str, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """A member and its text are the same on the wire, and a string that the enum does not know is sent too."""
    httpx_mock.add_response(status_code=201, json=CREATE.sample())
    await platform.detectors.create(name="n", type=kind)
    assert sent_json(httpx_mock) == {"name": "n", "type": str(kind)}


@pytest.mark.parametrize("seen", [False, True], ids=["described", "seen"])
async def test_the_detector_is_unwrapped(seen: bool, platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """The result is the detector itself, and nothing of it is lost, versions of any structure among it."""
    httpx_mock.add_response(status_code=201, json=CREATE.sample(seen=seen))
    detector = await platform.detectors.create(name="@example/cracks", type="PhotoObjectDetector")
    assert type(detector) is Detector
    assert detector.to_dict() == CREATE.sample(seen=seen)["detector"]
    assert isinstance(detector.type_, DetectorType)
    assert detector.display_name == ("" if seen else None)
