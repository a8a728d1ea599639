"""The transport as an application has it: with the names and headers that the platform hands in."""

import itwin_platform  # noqa: F401  # importing it is what hands them in
