from enum import StrEnum
from typing import Self

from ..types import open_member


class WebhookScope(StrEnum):
    ACCOUNT = "Account"
    ITWIN = "iTwin"

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return open_member(cls, value)
