"""Python names for the names of an OpenAPI document: `iTwinId` becomes `itwin_id`, `View3dData` stays `View3dData`.

The generator makes every name of a class, module, function, argument and attribute from the words of the original.
`use_own_names()` gives it these words, so that no name needs an entry in a configuration file. A name that the
templates use for something else gets an underscore: a parameter `quote` becomes `quote_`, and a schema `UUID` becomes
`UUID_`. `x-python-name` beside a property or a parameter is the name itself.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from keyword import iskeyword
from pathlib import Path
from typing import Any
from unicodedata import normalize

from openapi_python_client import strings
from openapi_python_client.config import Config
from openapi_python_client.parser import GeneratorData
from openapi_python_client.parser.openapi import Endpoint
from openapi_python_client.parser.properties import Property, model_property
from openapi_python_client.schema.untrusted_string import UntrustedString

from tools.generation.document import TEMPLATES, Node, operation_called

#: The key of an object with the names of the fields of its properties.
FIELD_NAMES = "x-field-names"
#: Names with an inner capital that are one word.
BRANDS = ("iTwin", "iModel", "OAuth")
_BRAND = "|".join(f"[{name[0].lower()}{name[0].upper()}]{name[1:]}s?[0-9]*(?![a-z])" for name in BRANDS)
# A brand; a word with its digits and the lower-case letters after them; capitals; digits.
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
    # A name in another alphabet is one word.
    return [word for chunk in chunks for word in (_WORD.findall(chunk) if chunk.isascii() else [chunk])]


def pascal_case(value: str | UntrustedString) -> str:
    """Return the name of a class: each word starts with a capital and keeps its other capitals."""
    return "".join(word[0].upper() + word[1:] for word in split_words(strings.sanitize(plain(value))))


def snake_case(value: str) -> str:
    """Return the name of a module, a function or an argument."""
    return "_".join(split_words(value)).lower()


def python_name(wire: str, declared: Node) -> str:
    """Return the name of a parameter or a property in Python; an empty string if it has no letter."""
    name = declared.get("x-python-name") or snake_case(strings.sanitize(normalize("NFKC", wire)))
    if name[:1].isdecimal():
        name = f"field_{name}"
    return f"{name}_" if name in strings.RESERVED_WORDS or iskeyword(name) else name


def field_names(properties: Mapping[str, Any]) -> dict[str, str]:
    """Return the names of the fields of a model by the names of the properties."""
    names = {wire: python_name(wire, inner if isinstance(inner, Mapping) else {}) for wire, inner in properties.items()}
    return {wire: f"{name}_" if name in _members() else name for wire, name in names.items()}


def member_names(values: Sequence[Any], names: Sequence[str]) -> list[str]:
    """Return the names of the members of an enum, as the generator makes them."""
    if len(names) != len(values):
        names = [_member_name(value, number) for number, value in enumerate(values)]
    return [strings.snake_case(name).upper() for name in names]


def _member_name(value: Any, number: int) -> str:
    if isinstance(value, int):
        return f"VALUE_NEGATIVE_{-value}" if value < 0 else f"VALUE_{value}"
    return str(value) if value[:1].isalpha() else f"VALUE_{number}"


@cache
def _members() -> frozenset[str]:
    classes = (TEMPLATES / "model.py.jinja", TEMPLATES / "support" / "schemas.py")
    return frozenset().union(*(_names(_MEMBER, path.read_text(encoding="utf-8")) for path in classes))


def plain(value: str | UntrustedString) -> str:
    """Return a string that the generator took from a document."""
    return value.get_untrusted_value() if isinstance(value, UntrustedString) else str(value)


def use_own_names() -> None:
    """Patch the generator to build names by the functions of this module.

    It has no setting for that: `class_overrides` passes through its own `pascal_case`, which turns `View3dData` into
    `View3DData`, and arguments and attributes have no override.
    """
    strings.split_words, strings.pascal_case = split_words, pascal_case
    # No conflict is left to resolve: `document_checks` rejects duplicate names, and `rename` sets the names.
    model_property._resolve_naming_conflict = lambda *_: None  # noqa: SLF001  # it has no setting for that either
    Endpoint._check_parameters_for_conflicts = lambda self, **_: self  # type: ignore[method-assign]  # noqa: SLF001
    strings.RESERVED_WORDS |= {
        name for path in TEMPLATES.glob("*.jinja") for name in _imported(path) if name[0].isupper()
    }


def rename(document: Node, data: GeneratorData, config: Config) -> None:
    """Set the name of each field and each argument.

    An argument gets an underscore if the templates use its name themselves.
    """
    module = TEMPLATES / "endpoint_module.py.jinja"
    reserved = {*_imported(module), *_names(_BOUND, _TAG.sub("", module.read_text(encoding="utf-8"))), "client", "body"}
    for endpoint in (each for tag in data.endpoint_collections_by_tag.values() for each in tag.endpoints):
        _, parameters = operation_called(document, plain(endpoint.name))
        declared = {(each["in"], each["name"]): each for each in parameters}
        for place in ("path", "query", "header"):
            for each in getattr(endpoint, f"{place}_parameters"):
                name = python_name(plain(each.name), declared.get((place, plain(each.name)), {}))
                name = f"{name}_" if name in reserved else name
                route = plain(endpoint.path).replace(f"{{{each.python_name}}}", f"{{{name}}}")
                endpoint.path = UntrustedString(route)
                _set_name(each, name, config)
    for model in data.models:
        names = (model.data.model_extra or {}).get(FIELD_NAMES, {})
        for each in (*(model.required_properties or ()), *(model.optional_properties or ())):
            _set_name(each, names[plain(each.name)], config)


def _set_name(declared: Property, name: str, config: Config) -> None:
    if declared.python_name != name:
        declared.set_python_name(UntrustedString(name), config, skip_snake_case=True)


def _imported(template: Path) -> list[str]:
    """Return the names that the code of a template imports."""
    found = _IMPORT.findall(template.read_text(encoding="utf-8"))
    return [part.split()[-1] for names in found for part in names.strip("()\n").split(",") if part.strip()]


def _names(pattern: re.Pattern[str], code: str) -> set[str]:
    """Return the matches of all groups of a pattern."""
    return {name for found in pattern.findall(code) for name in found if name}
