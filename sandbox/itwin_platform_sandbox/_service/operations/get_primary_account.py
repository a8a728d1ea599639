"""Get primary account. Source: section 4.4."""

from ..messages import OperationRequest, ServiceResponse
from ..queries.itwin_properties import summary
from ..state import Platform


def get_primary_account(platform: Platform, request: OperationRequest) -> ServiceResponse:
    """Return the summary of the caller's primary Account iTwin. Source: section 4.4."""
    del request  # any authenticated caller, no parameters, no body
    return ServiceResponse(200, {"iTwin": summary(platform.itwins[platform.account_id])})
