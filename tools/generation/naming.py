"""Python names for the names of an OpenAPI document: `iTwinId` becomes `itwin_id`, `View3dData` stays `View3dData`.

The generator makes every name of a class, module, function, argument and attribute from the words of the original.
`use_own_names()` gives it these words, so that no name needs an entry in a configuration file. A name that the
templates use for something else gets an underscore: a parameter `quote` becomes `quote_`, and a schema `UUID` becomes
`UUID_`.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from openapi_python_client import strings
from openapi_python_client.config import Config
from openapi_python_client.parser import GeneratorData
from openapi_python_client.parser.properties import Property
from openapi_python_client.schema.untrusted_string import UntrustedString

from tools.generation.document import TEMPLATES

#: Names with an inner capital that are one word.
BRANDS = ("iTwin", "iModel", "OAuth")
_BRAND = "|".join(f"[{name[0].lower()}{name[0].upper()}]{name[1:]}s?[0-9]*(?![a-z])" for name in BRANDS)
# A brand; a word, with digits and what follows them in lower case; letters that are all capitals; digits.
_WORD = re.compile(
    rf"{_BRAND}|[A-Z]?[a-z]+(?:[0-9]+[a-z]*)?|[A-Z]+[0-9]*(?![a-z])|[A-Z]|[0-9]+(?:[a-z]+|[A-Z]+(?![a-z]))?|\w"
)
_IMPORT = re.compile(r"^(?:from [\w.]+ )?import (\([^)]*\)|.*)$", re.MULTILINE)
_MEMBER = re.compile(r"^ +def (\w+)\(|^    (additional_properties|CONSTANTS|FIELDS|OTHERS|SECRETS)\b", re.MULTILINE)
_TAG = re.compile(r"{%.*?%}|{{.*?}}|{#.*?#}", re.DOTALL)
# A function, an argument or a variable: a keyword of a call has no space before its `=`.
_BOUND = re.compile(r"\bdef (\w+)\(|^ *(\w+)(?:: \w| = )|\bas (\w+):$", re.MULTILINE)


def split_words(value: str) -> list[str]:
    """Return the words of a name: `iTwinAccountId` has three, `View3dData` has two."""
    chunks = re.findall(rf"[^{re.escape(strings.DELIMITERS)}]+", value)
    return [word for chunk in chunks for word in _WORD.findall(chunk)]


def pascal_case(value: str | UntrustedString) -> str:
    """Return the name of a class: each word keeps its capitals and starts with one."""
    return "".join(word[0].upper() + word[1:] for word in split_words(strings.sanitize(plain(value))))


def snake_case(value: str) -> str:
    """Return the name of a module, a function or an argument."""
    return "_".join(split_words(value)).lower()


def plain(value: str | UntrustedString) -> str:
    """Return a string that the generator took from a document."""
    return value.get_untrusted_value() if isinstance(value, UntrustedString) else str(value)


def use_own_names() -> None:
    """Let the generator build its names from the words of this module, from now on.

    It has no setting for that. A class that `class_overrides` names goes through its own `pascal_case`, which makes
    `View3DData` of `View3dData`, and arguments and attributes have no override.
    """
    strings.split_words, strings.pascal_case = split_words, pascal_case
    strings.RESERVED_WORDS |= {
        name for path in TEMPLATES.glob("*.jinja") for name in _imported(path) if name[0].isupper()
    }


def rename_reserved(data: GeneratorData, config: Config) -> None:
    """Give an underscore to each argument and attribute whose name the templates use for something else."""
    module = TEMPLATES / "endpoint_module.py.jinja"
    code = _TAG.sub("", module.read_text(encoding="utf-8"))
    arguments = {*_imported(module), *_names(_BOUND, code), "client"}
    for collection in data.endpoint_collections_by_tag.values():
        for endpoint in collection.endpoints:
            bodies = [body.prop for body in endpoint.bodies]
            _rename([each for each in endpoint.list_all_parameters() if each not in bodies], arguments, config)
    classes = (TEMPLATES / "model.py.jinja", TEMPLATES / "support" / "schemas.py")
    members = set[str]().union(*(_names(_MEMBER, path.read_text(encoding="utf-8")) for path in classes))
    for model in data.models:
        _rename([*(model.required_properties or ()), *(model.optional_properties or ())], members, config)


def _rename(properties: Iterable[Property], reserved: set[str], config: Config) -> None:
    for each in properties:
        if each.python_name in reserved:
            each.set_python_name(UntrustedString(f"{each.python_name}_"), config, skip_snake_case=True)


def _imported(template: Path) -> list[str]:
    """Return the names that the code of a template imports."""
    found = _IMPORT.findall(template.read_text(encoding="utf-8"))
    return [part.split()[-1] for names in found for part in names.strip("()\n").split(",") if part.strip()]


def _names(pattern: re.Pattern[str], code: str) -> set[str]:
    """Return what the groups of a pattern find."""
    return {name for found in pattern.findall(code) for name in found if name}
