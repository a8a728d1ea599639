"""The transport with the names and headers that the platform sets at import."""

import itwin_platform  # noqa: F401  # the import sets them
