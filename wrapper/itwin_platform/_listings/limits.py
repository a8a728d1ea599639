"""The limits of listings, and the check of an integer against its limits. Source: sections 4.3, 4.6 and 8."""

from .._errors import UsageError

#: The most iTwins of one listing.
MOST_RETURNED = 10_000
#: The most items of one page.
ITWINS_PER_PAGE = 1000
OBJECTS_PER_PAGE = 100


def check_integer(
    name: str,
    value: object,
    *,
    least: int,
    most: int | None = None,
    code: str | None = None,
    target: str | None = None,
) -> None:
    """Check an integer and its range."""
    if type(value) is not int or value < least or (most is not None and value > most):
        allowed = f"from {least} to {most}" if most is not None else f"of at least {least}"
        raise UsageError(f"{name} must be an integer {allowed}", code=code, target=target)
