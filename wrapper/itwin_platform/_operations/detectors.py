"""Detectors: entries of an AI detector library. Source: sections 1, 2.8 and 4.7."""

from typing import Any, cast

from itwin_platform_api import models
from itwin_platform_api.api.detectors import create_detector
from itwin_platform_api.types import UNSET, Unset

from .._requests.sender import ErrorsOfCall, unwrap
from . import Group


class Detectors(Group):
    """The operation on detectors, as `platform.detectors`."""

    async def create(
        self,
        *,
        name: str,
        type: models.DetectorTypeParam,
        display_name: str | Unset | None = UNSET,
        description: str | Unset | None = UNSET,
        documentation_url: str | Unset | None = UNSET,
    ) -> models.Detector:
        """Create a detector, which has no versions yet.

        Technical Preview: for testing only, not for production use; may change.

        Args:
            name: the detector's name.
            type: the kind of detector, a member or its string, also one that the enum does not know yet.
            display_name: a name for people; None is sent as null.
            description: the objects that it detects; None is sent as null.
            documentation_url: where it is documented; None is sent as null.

        Returns:
            The detector as stored.

        Raises:
            UsageError: the name or the type is missing or not a string.
            OutcomeUnknownError: the response was lost; the detector may exist.
            BadRequestError: the service rejects a value (`InvalidRealityAnalysisRequest`).
            NotFoundError: the resource or the operation does not exist.
            PlatformError: the errors of every call: AuthenticationError, RateLimitError, ServerError, TokenError,
                NotSentError, DeadlineExceededError, ResponseDecodeError.

        Example:
            ```python
            detector = await platform.detectors.create(
                name="cracks@example", type="PhotoObjectDetector", display_name="Cracks"
            )
            print(detector.versions)
            ```

        Source: section 4.7, create_detector on the specification page of the documentation.
        """
        with ErrorsOfCall(create_detector.METHOD, create_detector.ROUTE):
            body = models.DetectorCreate(
                name=name,
                type_=cast("Any", type),
                display_name=display_name,
                description=description,
                documentation_url=documentation_url,
            )
            response = await self._sender.send(create_detector.build_request(body=body, reject=self._reject))
        return unwrap(response, create_detector.parse_response(response).detector, models.Detector)
