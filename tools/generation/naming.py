"""Python names for the names of an OpenAPI document: `iTwinId` becomes `itwin_id`, `View3dData` stays `View3dData`.

The generator makes every name of a class, module, function, argument and attribute from the words of the original.
`own_names()` gives it these words, so that no name needs an entry in a configuration file.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from openapi_python_client import strings
from openapi_python_client.schema.untrusted_string import UntrustedString

#: Names with an inner capital that are one word.
BRANDS = ("iTwin", "iModel", "OAuth")
_BRAND = "|".join(f"[{name[0].lower()}{name[0].upper()}]{name[1:]}s?[0-9]*(?![a-z])" for name in BRANDS)
# A brand; a word, with digits and what follows them in lower case; letters that are all capitals; digits.
_WORD = re.compile(
    rf"{_BRAND}|[A-Z]?[a-z]+(?:[0-9]+[a-z]*)?|[A-Z]+[0-9]*(?![a-z])|[A-Z]|[0-9]+(?:[a-z]+|[A-Z]+(?![a-z]))?|\w"
)


def split_words(value: str) -> list[str]:
    """Return the words of a name: `iTwinAccountId` has three, `View3dData` has two."""
    chunks = re.findall(rf"[^{re.escape(strings.DELIMITERS)}]+", value)
    return [word for chunk in chunks for word in _WORD.findall(chunk)]


def pascal_case(value: str | UntrustedString) -> str:
    """Return the name of a class: each word keeps its capitals and starts with one."""
    text = value.get_untrusted_value() if isinstance(value, UntrustedString) else value
    return "".join(word[0].upper() + word[1:] for word in split_words(strings.sanitize(text)))


@contextmanager
def own_names() -> Iterator[None]:
    """Let the generator build its names from the words of this module.

    The generator has no setting for that, and would split `iTwinId` into `i`, `twin` and `id`.
    """
    with patch.object(strings, "split_words", split_words), patch.object(strings, "pascal_case", pascal_case):
        yield
