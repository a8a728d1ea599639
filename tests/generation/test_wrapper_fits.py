"""What the wrapper uses of the generated package is there."""

from tools.generation.wrapper_fit import misfits


def test_the_wrapper_fits_the_generated_package() -> None:
    """Every function, argument, model and attribute that the wrapper names is generated."""
    assert not misfits(), "\n" + "\n\n".join(misfits())
