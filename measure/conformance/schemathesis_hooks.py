"""Hooks of schemathesis: a filter of expected failures, and a comparison of two event loops."""

import os

import requests
import schemathesis
from schemathesis import Case, CheckContext, HookContext, Response
from schemathesis.core.failures import Failure

FIRST_URL, SECOND_URL = (os.environ[name] for name in ("CONFORMANCE_FIRST_URL", "CONFORMANCE_SECOND_URL"))
_second = requests.Session()


@schemathesis.hook
def filter_failure(context: HookContext, failure: Failure, case: Case, response: Response) -> bool:
    """Drop the failures of responses that section 7 or RFC 7240 requires and schemathesis does not expect."""
    return not (_is_unknown_operation(failure, response) or _is_ignored_preference(failure))


def _is_unknown_operation(failure: Failure, response: Response) -> bool:
    # schemathesis expects 405 for another method. By section 7, the service responds with 404 to unknown operations.
    return (
        "unsupported_method" in failure.checks
        and response.status_code == 404
        and b"OperationNotFound" in response.content
    )


def _is_ignored_preference(failure: Failure) -> bool:
    # A server ignores an unknown preference (RFC 7240, section 2), and section 4.3 defines no error for it.
    return "negative_data_rejection" in failure.checks and "parameter `Prefer` in header" in failure.message


@schemathesis.check
def same_response_under_uvloop(ctx: CheckContext, response: Response, case: Case) -> None:
    """Send the request to the sandbox that runs under uvloop too, and compare the responses."""
    request = response.request.copy()
    request.url = str(request.url).replace(FIRST_URL, SECOND_URL, 1)
    other = _second.send(request, allow_redirects=False, timeout=30)
    if (other.status_code, other.content) != (response.status_code, response.content):
        raise AssertionError(f"under uvloop the response is {other.status_code} {other.content[:500]!r}")
