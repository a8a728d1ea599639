from enum import StrEnum
from typing import Self

from ..decoding import open_member


class ErrorDetailCode(StrEnum):
    """The documented codes of error details. `ErrorDetail.code` is a String that holds one of them."""

    INVALID_HEADER_VALUE = "InvalidHeaderValue"
    INVALID_PARAMETER = "InvalidParameter"
    INVALID_REQUEST_BODY = "InvalidRequestBody"
    INVALID_VALUE = "InvalidValue"
    MISSING_REQUIRED_PROPERTY = "MissingRequiredProperty"
    OPERATION_NOT_FOUND = "OperationNotFound"

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return open_member(cls, value)

    def __reduce_ex__(self, proto: object) -> tuple[type[Self], tuple[str]]:
        return type(self), (self.value,)  # before 3.11.4 copying looks up the name, which fails for an unknown member
