from collections.abc import Callable
from typing import Any

import httpx

from ...client import AuthenticatedClient
from ...errors import decode_error
from ...models.detector_create import DetectorCreate
from ...models.detector_response import DetectorResponse
from ...types import (
    Response,
    encode,
    encode_parameters,
)


def _get_kwargs(
    *,
    body: DetectorCreate,
    accept: str = "application/vnd.{vendor}.itwin-platform.v2+json",
    encode_body: Callable[[Any], Any] = encode,
) -> dict[str, Any]:
    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/reality-analysis/detectors",
        "headers": encode_parameters(
            {
                "Accept": accept,
            }
        ),
        "extensions": {"route": "/reality-analysis/detectors"},
    }
    _kwargs["json"] = encode_body(body)
    return _kwargs


def _parse_response(*, response: httpx.Response) -> DetectorResponse:
    if response.status_code == 201:
        try:
            body: Any = response.json()
        except (ValueError, RecursionError) as error:
            raise decode_error(response) from error
        if not isinstance(body, dict):
            raise decode_error(response)
        return DetectorResponse.from_dict(body)
    raise decode_error(response)


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: DetectorCreate,
    accept: str = "application/vnd.{vendor}.itwin-platform.v2+json",
) -> Response[DetectorResponse]:
    """As `asyncio`, and returns the status, the headers and the bytes of the answer as well."""

    http = client.get_async_httpx_client()
    kwargs = _get_kwargs(
        body=body,
        accept=accept,
        encode_body=getattr(http, "encode_body", encode),
    )
    response = await http.request(**kwargs)
    return Response(
        status_code=response.status_code,
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(response=response),
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

    Authorization: Bearer access token with scope `itwin-platform`. Permission required for detector
    creation: not shown in the description.

    Source: sections 4.7, 2.8, 5

    Args:
        accept (str): Required on every operation. The recommended value is the vendor media type for the platform
            API with a version segment, v2 for create detector and update webhook. `{vendor}` stands for the vendor's
            name, which is not shown in the description; it is to be replaced before sending.
            Source: section 9 Default: 'application/vnd.{vendor}.itwin-platform.v2+json'.
        body (DetectorCreate): Body of create detector.
            Source: sections 4.7, 2.8

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
