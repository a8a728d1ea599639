"""Runs openapi-python-client on a document, with the names and the templates of this project.

The generator runs in this process, so that it uses our names, and a missing attribute in a template is an error. A
warning of the generator ends the run, because it means that the generator dropped a part of the document.
"""

import contextlib
import io
import json
import os
import re
import shutil
import sysconfig
import traceback
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from jinja2 import StrictUndefined, TemplateError, TemplateRuntimeError, TemplateSyntaxError, UndefinedError
from openapi_python_client import Project
from openapi_python_client.config import Config, ConfigFile, MetaType
from openapi_python_client.parser import GeneratorData
from openapi_python_client.parser.errors import GeneratorError
from openapi_python_client.schema.untrusted_string import UntrustedString
from openapi_python_client.strings import PythonIdentifier

from tools.generation import naming
from tools.generation.document import PROJECT, TEMPLATES, Keys, Node, Problem, operations, resolve, with_lines
from tools.generation.document_checks import problems
from tools.generation.params import Params, param_name
from tools.generation.preparation import prepared
from tools.generation.request_rules import RequestRules
from tools.generation.secrets import extensions_of, known_secrets, lost_marks, marks_of
from tools.generation.tables import ModelsOfKinds, kind_of, table_of
from tools.generation.wrapper_fit import import_errors, schemas_without_method

SUPPORT = TEMPLATES / "support"
NOTICE = """# Generated: do not edit

`make generate` writes this folder from `openapi.yaml`, `generator-config.yaml` and `templates/`. The next run
overwrites a change made here by hand, and `make check-generated` rejects it. Code that a specification cannot describe
belongs in `wrapper/`.
"""


def write_package(document: Node, package: Path, *, name: str, text: str | None = None) -> None:
    """Write the client package of the document called `name` to the folder `package`, which must not exist yet.

    With the source of the document, `text`, problems are reported with its line numbers.

    Raises:
        SystemExit: The document has a problem, the generator warned or failed, or the package cannot be imported.
    """
    config = Config.from_sources(
        ConfigFile.load_from_path(PROJECT / "generator-config.yaml"),
        MetaType.NONE,
        PROJECT,  # not read: the document is an argument
        "utf-8",
        overwrite=False,
        output_path=package,
    )
    text = json.dumps(document, indent=1) if text is None else text
    source, found = document, problems(document)
    try:
        rules, params = RequestRules(document), Params(document)
        found += lost_marks(document, known=known_secrets())
        document = prepared(document)
    finally:  # an invalid document may raise any error: the problems are reported instead
        if found:
            raise SystemExit("\n".join([f"{name} needs another form:", *with_lines(found, text=text, name=name)]))
    # The generator runs ruff from the PATH, and this environment need not be activated.
    os.environ["PATH"] = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    naming.use_own_names()
    with _reported(name), contextlib.redirect_stdout(io.StringIO()):
        data = GeneratorData.from_dict(dict(document), config=config)
        if isinstance(data, GeneratorError):
            raise SystemExit(f"the generator rejects {name}:\n{_words([data], text=text, name=name)}")
        naming.rename(source, data, config)
        describe_references(document, data)
        project = Project(openapi=data, config=config, custom_template_path=TEMPLATES)
        project.env.undefined = StrictUndefined
        project.env.globals.update(
            unsupported=_unsupported,
            marks_of=marks_of,
            extensions_of=extensions_of,
            kind_of=kind_of,
            table_of=partial(table_of, of_kinds=models_of_kinds(source)),
            rules_of=rules.of,
            param_of=params.of,
            param_name=param_name,
            param_values_of=params.values_of,
            param_exports=params.exports,
            names_of=params.names_of,
            unexported=unexported(source),
        )
        errors = project.build()
    if errors:
        raise SystemExit(f"the generator rejects {name}:\n{_words(errors, text=text, name=name)}")
    for path in sorted(SUPPORT.glob("*.py")):
        shutil.copyfile(path, package / path.name)
    (package / "operations.py").write_text(_operations(source, config), encoding="utf-8")
    (package / "py.typed").write_text("", encoding="utf-8")
    (package / "README.md").write_text(NOTICE, encoding="utf-8")
    if lines := import_errors(package.name, package.parent):
        raise SystemExit("\n".join([f"the package generated from {name} cannot be imported:", *lines]))


def _operations(document: Node, config: Config) -> str:
    """Return the source of `operations.py`: the module of each operation, and the limits of bodies."""
    modules, limits = list[str](), list[str]()
    for path, method, node, _ in operations(document):
        tag, name = PythonIdentifier(node["tags"][0], "tag"), PythonIdentifier(node["operationId"], config.field_prefix)
        modules.append(f'    "{name}": "api.{tag}.{name}",')
        if limit := resolve(document, node.get("requestBody", {})).get("x-max-body-bytes"):
            limits.append(f'    ("{method.upper()}", "{path}"): {limit:_},')
    lines = ['"""The modules of the operations, and the limits of bodies."""', "", "#: The module of each operation."]
    lines += ["MODULES: dict[str, str] = {", *sorted(modules), "}"]
    lines += ["#: The maximum size of a body in bytes, by method and route."]
    return "\n".join([*lines, "BODY_LIMITS: dict[tuple[str, str], int] = {", *limits, "}", ""])


def describe_references(document: Node, data: GeneratorData) -> None:
    """Give each property that refers to a schema its own description, in place of the description of the schema."""
    schemas = document.get("components", {}).get("schemas", {})
    by_class = {naming.pascal_case(name): schema.get("properties") or {} for name, schema in schemas.items()}
    for model in data.models:
        properties = by_class.get(str(model.class_info.name), {})
        for generated in (*(model.required_properties or ()), *(model.optional_properties or ())):
            declared = properties.get(naming.plain(generated.name), {})
            if "$ref" in declared and "description" in declared:
                generated.description = UntrustedString(declared["description"])


def unexported(document: Node) -> frozenset[str]:
    """Return the models and types that the wrapper does not export: marked ones, and those without a method."""
    schemas = document.get("components", {}).get("schemas", {})
    found = schemas_without_method(document) | {
        name for name, schema in schemas.items() if schema.get("x-exported") is False
    }
    return frozenset([*map(naming.pascal_case, found), *map(param_name, found)])


def models_of_kinds(document: Node) -> ModelsOfKinds:
    """Return the models of the properties with `x-kinds`: the property `kind` determines the model.

    Returns:
        By the name of the model and the property: the model for each kind; no model for an object that is not decoded.
    """
    found: dict[str, dict[str, dict[str, str]]] = {}
    for name, schema in document.get("components", {}).get("schemas", {}).items():
        for wire, inner in (schema.get("properties") or {}).items():
            node = resolve(document, inner)
            if "x-kinds" in node or (node.get("x-undecoded") and node.get("type") == "object"):
                models = {kind: naming.pascal_case(model) for kind, model in node.get("x-kinds", {}).items()}
                found.setdefault(naming.pascal_case(name), {})[wire] = models
    return found


def _unsupported(message: str) -> str:
    """Let a template reject a document."""
    raise TemplateRuntimeError(message)


@contextlib.contextmanager
def _reported(name: str) -> Iterator[None]:
    """Report an error of a template or of the generator with its place, instead of a traceback."""
    try:
        yield
    except TemplateError as error:
        raise SystemExit(f"{name}:1: {_template_words(error)}") from error
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{type(error).__name__} in {Path(frame.filename).name}:{frame.lineno}: {error}"
        raise SystemExit(f"{name}:1: the generator cannot read it: {text}") from error


def _words(errors: Sequence[GeneratorError], *, text: str, name: str) -> str:
    """Return the messages of the generator, each with the line of the schema or the operation that it names."""
    lines: list[str] = []
    for error in errors:
        message = f"{error.header} {error.detail or ''}".strip()
        schema, route = re.search(r"/components/schemas/(\w+)", message), re.search(r"\b([A-Z]+) (/\S*)", message)
        keys: Keys = ("components", "schemas", schema[1]) if schema else ()
        if route and not schema:
            keys = ("paths", route[2], route[1].lower())
        lines += with_lines([Problem(keys=keys, text=message)], text=text, name=name)
    return "\n".join(lines)


def _template_words(error: TemplateError) -> str:
    """Return the template, the line and the text of an error of Jinja."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.endswith(".jinja")]
    place = f"{frames[-1].filename}:{frames[-1].lineno}: " if frames else ""
    if isinstance(error, TemplateSyntaxError):
        place = place or f"{error.filename or error.name}:{error.lineno}: "
    text = f"{place}{error.message}"
    if not isinstance(error, TemplateSyntaxError | UndefinedError):
        return text
    return (
        f"{text}\nA template uses a name that this version of the generator does not have."
        '\nWhat to do: docs/regenerating.md, "Upgrade the generator"'
    )
