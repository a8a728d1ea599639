"""The version of the distribution, and what the transport calls things: log, spans, Redis keys, headers."""

from itwin_platform_transport import Conventions, adopt

__version__ = "0.1.0"

#: What names a request in the logs of the service.
CORRELATION_ID = "x-correlation-id"

CONVENTIONS = Conventions(
    package=__package__ or "",  # the name of a vendored copy too
    version=__version__,
    field_prefix="itwin_",
    span_prefix="itwin_platform.",
    key_prefix="itwin-gate:",
    # A file of the source tree, or its address once there is a site.
    documentation="docs/troubleshooting.md",
    # A second name has been seen beside the documented one.
    retry_after=("retry-after", "itwinplatform-ratelimit-retry-after-seconds"),
    correlation_id=CORRELATION_ID,
    # Two undocumented sets of headers have been seen, and either is read.
    limit_tier=("itwinplatform-ratelimited-tier", "itwinplatform-tier", "tier"),
    limit_api=("itwinplatform-ratelimited-api",),
    limit_operation=("itwinplatform-ratelimited-operation",),
)
adopt(CONVENTIONS)
