"""The version of the distribution, and where its errors are explained."""

__version__ = "0.1.0"
#: The page that explains each error class: a file of the source tree, or its address once there is a site.
TROUBLESHOOTING = "docs/troubleshooting.md"
