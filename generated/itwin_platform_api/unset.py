"""The absent value: what an argument or a field is when it is not there, as opposed to null."""

from typing import TYPE_CHECKING, Literal, NoReturn, final


@final
class Unset:
    """The type of UNSET. It survives copy, deepcopy and pickle, so `is UNSET` always holds."""

    __slots__ = ()
    _instance: "Unset | None" = None

    def __new__(cls) -> "Unset":  # noqa: D102 - there is one, whoever calls it
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    if not TYPE_CHECKING:
        # Hidden from type checkers: they are to report an attribute of what may be absent.

        def __getattr__(self, name: str) -> NoReturn:
            raise AttributeError(
                f"the value is UNSET, so it has no {name!r}: the service did not return this property. In a listing, "
                'representation="full" or select=... requests it'
            )

    def __bool__(self) -> Literal[False]:
        return False

    def __repr__(self) -> str:
        return "UNSET"

    def __copy__(self) -> "Unset":
        return self

    def __deepcopy__(self, memo: object) -> "Unset":
        return self

    def __reduce__(self) -> str:
        return "UNSET"


UNSET: Unset = Unset()
