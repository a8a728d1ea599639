from collections.abc import Iterable
from typing import Any

from ...client import AuthenticatedClient
from ...decoding import (
    blank,
)
from ...encoding import encode_parameters, fields_of
from ...errors import decode_error, read_object
from ...expected import fit
from ...models.detector import Detector
from ...models.detector_create import DetectorCreate
from ...models.detector_response import DetectorResponse
from ...models.detector_type import DetectorType
from ...request import Received, RequestValues, send
from ...rules import Reject, Rule, check
from ...structures import ResponseReader, made_of, optional, structure
from ...types import Response

METHOD: str = "POST"
ROUTE: str = "/reality-analysis/detectors"
#: The JSON types of the response, as the document has them.
EXPECTED: Any = {
    "detector": {
        "name": "string",
        "displayName": "string",
        "description": "string",
        "type": "string",
        "documentationUrl": "string",
        "versions": [None],
    }
}
#: What the document says of each argument.
RULES: dict[str, Rule] = {
    "body": Rule(
        argument="",
        kind="object",
        required=True,
        code="InvalidRealityAnalysisRequest",
        properties={
            "name": Rule(argument="name", kind="string", required=True, code="InvalidRealityAnalysisRequest"),
            "displayName": Rule(
                argument="display_name", kind="string", nullable=True, code="InvalidRealityAnalysisRequest"
            ),
            "description": Rule(
                argument="description", kind="string", nullable=True, code="InvalidRealityAnalysisRequest"
            ),
            "type": Rule(argument="type", kind="string", required=True, code="InvalidValue", target="detector.type"),
            "documentationUrl": Rule(
                argument="documentation_url", kind="string", nullable=True, code="InvalidRealityAnalysisRequest"
            ),
        },
    )
}


def build_request(
    *,
    body: DetectorCreate,
    accept: str = "application/vnd.{vendor}.itwin-platform.v2+json",
    reject: Reject | None = None,
) -> RequestValues:
    """Return the request as values; nothing is sent.

    The other arguments are those of `asyncio`.

    Args:
        reject: makes the error of the first rule of the document that an argument breaks. Nothing is checked by default.
    """

    fields = fields_of(body)
    if reject is not None:
        check(
            RULES,
            {
                "accept": accept,
                "body": fields,
            },
            reject,
        )
    return RequestValues(
        method=METHOD,
        route=ROUTE,
        path=ROUTE,
        query={},
        headers=encode_parameters(
            {
                "Accept": accept,
            }
        ),
        body=fields,
        given=body,
    )


def parse_response(response: Received) -> DetectorResponse:
    """Decode a success.

    Raises:
        errors.ResponseDecodeError, or what the client in use raises instead: the response is not as described.
    """

    if 200 <= response.status_code < 300:
        read = _READER.read(response.content)
        return DetectorResponse.from_dict(read_object(response, EXPECTED)) if read is None else read
    raise decode_error(response)


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: DetectorCreate,
    accept: str = "application/vnd.{vendor}.itwin-platform.v2+json",
) -> Response[DetectorResponse]:
    """As `asyncio`, and returns the status, the headers and the bytes of the response as well."""

    response = await send(
        client.get_async_httpx_client(),
        build_request(
            body=body,
            accept=accept,
        ),
    )
    return Response(
        status_code=response.status_code,
        content=response.content,
        headers=response.headers,
        parsed=parse_response(response),
    )


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: DetectorCreate,
    accept: str = "application/vnd.{vendor}.itwin-platform.v2+json",
) -> DetectorResponse:
    """Create detector

    Technical Preview: for testing only, not for production use; may change.

    Creates a detector, an entry of the detector library. A new detector has no versions.

    Authorization: access token with scope `itwin-platform`. Permission required for detector
    creation: not documented.

    Args:
        accept (str): The media type that the operation returns. `{vendor}` stands for the vendor's name and is
            replaced before sending. Default: 'application/vnd.{vendor}.itwin-platform.v2+json'.
        body (DetectorCreate): Body of create detector.

    Raises:
        errors.ResponseDecodeError, or what the client in use raises instead: a success that cannot be read.
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            accept=accept,
        )
    ).parsed


def _make_detector(values: Any) -> Detector:
    fit(EXPECTED["detector"]["versions"], values.versions)
    model = blank(Detector)
    model.additional_properties = {}
    model.name = values.name
    model.type_ = values.type_
    model.versions = values.versions
    model.display_name = values.display_name
    model.description = values.description
    model.documentation_url = values.documentation_url
    return model


def _make_detector_response(values: Any) -> DetectorResponse:
    model = blank(DetectorResponse)
    model.additional_properties = {}
    model.detector = made_of(values.detector)
    return model


def _structures(unknown: Iterable[str]) -> Iterable[Any]:
    fields = [
        optional("name", str | None, "name"),
        optional("type_", DetectorType | None, "type"),
        optional("versions", Any, "versions"),
        optional("display_name", str | None, "displayName"),
        optional("description", str | None, "description"),
        optional("documentation_url", str | None, "documentationUrl"),
    ]
    detector_ = structure(_make_detector, fields, unknown)
    fields = [
        optional("detector", detector_ | None, "detector"),
    ]
    detector_response_ = structure(_make_detector_response, fields, unknown)
    for item in [detector_response_]:
        yield item


_READER = ResponseReader[DetectorResponse](_structures)
