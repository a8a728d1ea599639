"""The version of the distribution, and where it is documented."""

__version__ = "0.1.0"
#: The address of the documentation site, with a slash at its end; empty until the site has one.
DOCUMENTATION = ""
