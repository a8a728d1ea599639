"""Limits of the document for whole requests."""

#: The most bytes of a body, by method and route.
BODY_LIMITS: dict[tuple[str, str], int] = {
    ("POST", "/scenes/"): 4_718_592,
}
