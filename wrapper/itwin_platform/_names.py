"""The name of the logger, and the headers of the service that are read."""

import logging

from itwin_platform_transport import ServiceHeaders

#: The logger of both packages.
LOGGER = logging.getLogger(__package__)
#: The header that identifies a request in the logs of the service.
CORRELATION_ID = "x-correlation-id"

HEADERS = ServiceHeaders(
    # A second name has been seen beside the documented one.
    retry_after=("retry-after", "itwinplatform-ratelimit-retry-after-seconds"),
    correlation_id=CORRELATION_ID,
    # Two undocumented sets of headers have been seen, and either is read.
    limit_tier=("itwinplatform-ratelimited-tier", "itwinplatform-tier", "tier"),
    limit_api=("itwinplatform-ratelimited-api",),
    limit_operation=("itwinplatform-ratelimited-operation",),
)
