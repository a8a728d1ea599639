"""Get primary account. Source: section 4.4."""

from itwin_platform_sandbox._exchange import Answer, OperationRequest
from itwin_platform_sandbox._itwin_properties import summary
from itwin_platform_sandbox._state import Platform


def get_primary_account(platform: Platform, request: OperationRequest) -> Answer:
    """Answer with the summary of the caller's primary Account iTwin. Source: section 4.4."""
    del request  # any authenticated caller, no parameters, no body
    return Answer(200, {"iTwin": summary(platform.itwins[platform.account_id])})
