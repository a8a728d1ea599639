"""How it is announced that a later version will lack something."""


class PlatformDeprecationWarning(DeprecationWarning):
    """Something of this package goes away: in which version it was announced, and in which it is gone.

    A category of its own, so that an application's tests can refuse what this package deprecates, and nothing else:
    `filterwarnings = ["error::itwin_platform.PlatformDeprecationWarning"]`.

    Args:
        text: what goes away, and what to write instead.
        since: the version that warned first.
        removal: the version that is without it.
    """

    def __init__(self, text: str, since: str, removal: str) -> None:
        super().__init__(text, since, removal)
        self.since = since
        self.removal = removal

    def __str__(self) -> str:
        return f"{self.args[0]} (deprecated since {self.since}, removed in {self.removal})"
