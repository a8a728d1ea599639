"""The version of the distribution, where its errors are explained, and its log."""

import logging

__version__ = "0.1.0"
#: The page that explains each error class: a file of the source tree, or its address once there is a site.
TROUBLESHOOTING = "docs/troubleshooting.md"

#: What the fields of log records begin with, and the attributes of spans that no convention names.
FIELD_PREFIX, SPAN_PREFIX = "itwin_", "itwin_platform."
#: What the keys of a shared gate begin with in Redis.
KEY_PREFIX = "itwin-gate:"

#: The logger has the name of the package, also in a vendored copy.
LOG = logging.getLogger(__package__)
# Without a handler, warnings would reach stderr in an application that configures no logging.
LOG.addHandler(logging.NullHandler())
