"""The warning for what a later version removes."""


class PlatformDeprecationWarning(DeprecationWarning):
    """A name of this package is deprecated.

    It has its own category, so that the tests of an application can turn these warnings alone into errors:
    `filterwarnings = ["error::itwin_platform.PlatformDeprecationWarning"]`.

    Args:
        text: what is deprecated, and what to write instead.
        since: the first version that warns.
        removal: the version that removes it.
    """

    def __init__(self, text: str, since: str, removal: str) -> None:
        super().__init__(text, since, removal)
        self.since = since
        self.removal = removal

    def __str__(self) -> str:
        return f"{self.args[0]} (deprecated since {self.since}, removed in {self.removal})"
