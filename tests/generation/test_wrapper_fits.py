"""What the wrapper uses of the generated package is there."""

from tools.generation.wrapper_fit import misfits
from tools.spec.reading import SPECIFICATION, load


def test_the_wrapper_fits_the_generated_package() -> None:
    """Every function, argument, model and wire name that the wrapper uses is there, and so is every limit."""
    found = misfits(load(str(SPECIFICATION)))
    assert not found, "\n" + "\n\n".join(found)
