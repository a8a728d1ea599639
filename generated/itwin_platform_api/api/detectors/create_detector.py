from ...client import AuthenticatedClient
from ...encoding import encode_parameters, fields_of
from ...models.detector_create import DetectorCreate
from ...models.detector_response import DetectorResponse
from ...request import Received, RequestValues, send
from ...rules import Reject, Rule, check
from ...structures import ResponseReader
from ...types import Response

METHOD: str = "POST"
ROUTE: str = "/reality-analysis/detectors"
#: The rules of the document for each argument.
RULES: dict[str, Rule] = {
    "body": Rule(
        "",
        "object",
        required=True,
        code="InvalidRealityAnalysisRequest",
        properties={
            "name": Rule("name", "string", required=True, code="InvalidRealityAnalysisRequest"),
            "displayName": Rule("display_name", "string", nullable=True, code="InvalidRealityAnalysisRequest"),
            "description": Rule("description", "string", nullable=True, code="InvalidRealityAnalysisRequest"),
            "type": Rule("type", "string", required=True, code="InvalidValue", target="detector.type"),
            "documentationUrl": Rule(
                "documentation_url", "string", nullable=True, code="InvalidRealityAnalysisRequest"
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
    """Return the request as values, without sending it.

    The other arguments are those of `asyncio`.

    Args:
        reject: returns the error for an argument that breaks a rule of the document. By default, nothing is checked.
    """
    fields = fields_of(body)
    if reject is not None:
        check(RULES, {"accept": accept, "body": fields}, reject)
    return RequestValues(
        METHOD,
        ROUTE,
        ROUTE,
        {},
        encode_parameters({"Accept": accept}),
        fields,
        body,
    )


_DETECTOR_RESPONSE = ResponseReader(DetectorResponse)


def parse_response(response: Received) -> DetectorResponse:
    """Decode a success.

    Raises:
        errors.ResponseDecodeError, or the error of the client in use: the response cannot be decoded.
    """
    return _DETECTOR_RESPONSE.read(response)


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: DetectorCreate,
    accept: str = "application/vnd.{vendor}.itwin-platform.v2+json",
) -> Response[DetectorResponse]:
    """Do the same as `asyncio`, and return the status, the headers and the bytes of the response as well."""
    values = build_request(body=body, accept=accept)
    response = await send(client.get_async_httpx_client(), values)
    return Response(response.status_code, response.content, response.headers, parse_response(response))


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
        errors.ResponseDecodeError, or the error of the client in use: the response cannot be decoded.
    """
    response = await asyncio_detailed(client=client, body=body, accept=accept)
    return response.parsed
