"""The data that the package brings, which may be in a zip file."""

from importlib.resources import files

_PACKAGE = __name__.rpartition("._service.")[0]


def data_file(path: str) -> bytes:
    """Return the content of a file of the package; the path begins in the folder of the package."""
    return files(_PACKAGE).joinpath(path).read_bytes()
