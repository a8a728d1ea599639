"""UNSET: the value of an omitted argument or an absent field, as opposed to null."""

from typing import TYPE_CHECKING, Literal, NoReturn, final


@final
class Unset:
    """The type of UNSET. It survives copy, deepcopy and pickle, so `is UNSET` always holds."""

    __slots__ = ()
    _instance: "Unset | None" = None

    def __new__(cls) -> "Unset":  # noqa: D102 - the class has one instance
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    if not TYPE_CHECKING:
        # Hidden from type checkers, so that they report an attribute of a value that may be UNSET.

        def __getattr__(self, name: str) -> NoReturn:
            raise AttributeError(
                f"the value is UNSET, so it has no {name!r}: the service did not return this property. In a listing, "
                'representation="full" or select=... requests it'
            )

    def __bool__(self) -> Literal[False]:
        return False

    def __repr__(self) -> str:
        return "UNSET"

    def __reduce__(self) -> str:
        return "UNSET"  # a global name, which copy and pickle take as the object itself


UNSET: Unset = Unset()
