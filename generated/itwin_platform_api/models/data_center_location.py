from enum import StrEnum
from typing import Self

from ..decoding import open_member


class DataCenterLocation(StrEnum):
    """Data center location of an iTwin. Default `East US`."""

    AUSTRALIA_EAST = "Australia East"
    CANADA_CENTRAL = "Canada Central"
    CENTRAL_INDIA = "Central India"
    EAST_US = "East US"
    JAPAN_EAST = "Japan East"
    NORTH_EUROPE = "North Europe"
    SOUTHEAST_ASIA = "Southeast Asia"
    UK_SOUTH = "UK South"
    WEST_EUROPE = "West Europe"

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return open_member(cls, value)

    def __reduce_ex__(self, proto: object) -> tuple[type[Self], tuple[str]]:
        return type(self), (self.value,)  # before 3.11.4 copying looks up the name, which fails for an unknown member
