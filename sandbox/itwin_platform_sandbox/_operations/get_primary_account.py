"""Get primary account. Source: section 4.4."""

from itwin_platform_sandbox._exchange import Answer, OperationRequest
from itwin_platform_sandbox._itwin_properties import summary
from itwin_platform_sandbox._refusal import Refusal
from itwin_platform_sandbox._state import Platform


def get_primary_account(platform: Platform, request: OperationRequest) -> Answer:
    """Answer with the summary of the caller's primary Account iTwin. Source: section 4.4."""
    del request  # any authenticated caller, no parameters, no body
    account = platform.itwins.get(platform.account_id)
    if account is None:
        raise Refusal(404, "ResourceNotFound", "Requested resource is not available.")
    return Answer(200, {"iTwin": summary(account)})
