"""Run openapi-python-client on a document, with the names and the templates of this project.

The generator runs in this process, so that it uses our names, and a missing attribute in a template is an error. A
warning ends the run, because it means that the generator dropped a part of the document.
"""

import contextlib
import io
import os
import shutil
import subprocess
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined, TemplateError, TemplateRuntimeError, TemplateSyntaxError, UndefinedError
from openapi_python_client import Project
from openapi_python_client.config import Config, ConfigFile, MetaType
from openapi_python_client.parser import GeneratorData
from openapi_python_client.parser.errors import GeneratorError

from tools.generation import naming
from tools.generation.document_checks import problems
from tools.generation.pages import ModelsOfKinds, imported, page_shape
from tools.generation.preparation import prepared
from tools.spec.document import resolve

PROJECT = Path(__file__).resolve().parents[2]
TEMPLATES = PROJECT / "templates"
SUPPORT = TEMPLATES / "support"
NOTICE = """# Generated: do not edit

`make generate` writes this folder from `openapi.yaml`, `generator-config.yaml` and `templates/`. The next run
overwrites a change made here by hand, and `make check-generated` rejects it. What a specification cannot say belongs
in `wrapper/`.
"""


def write_package(document: Mapping[str, Any], package: Path, *, name: str) -> None:
    """Write the client package of the document called `name` to the folder `package`, which must not exist yet.

    Raises:
        SystemExit: The generator warned or failed; the message has its words.
    """
    config = Config.from_sources(
        ConfigFile.load_from_path(PROJECT / "generator-config.yaml"),
        MetaType.NONE,
        PROJECT / "openapi.yaml",  # not read: the document is an argument
        "utf-8",
        overwrite=False,
        output_path=package,
    )
    document = prepared(document)
    if found := problems(document):
        raise SystemExit("\n".join([f"{name} needs another form:", *found]))
    with naming.own_names(), _tools_on_path(), contextlib.redirect_stdout(io.StringIO()):
        data = GeneratorData.from_dict(dict(document), config=config)
        if isinstance(data, GeneratorError):
            raise SystemExit(f"the generator rejects {name}:\n{_words([data])}")
        if clashes := list(_clashes(data)):
            raise SystemExit("\n".join([f"the modules of {name} clash:", *clashes]))
        project = Project(openapi=data, config=config, custom_template_path=TEMPLATES)
        project.env.undefined = StrictUndefined
        of_kinds = models_of_kinds(document)
        project.env.globals.update(
            unsupported=_unsupported,
            secret_names=secret_names(document),
            models_of_kinds=of_kinds,
            page_shape=partial(page_shape, models=[*data.models], of_kinds=of_kinds),
            page_imports=imported,
        )
        try:
            errors = project.build()
        except TemplateError as error:
            raise SystemExit(_template_words(error)) from error
    if errors:
        raise SystemExit(f"the generator rejects {name}:\n{_words(errors)}")
    for path in sorted(SUPPORT.glob("*.py")):
        shutil.copyfile(path, package / path.name)
    (package / "py.typed").write_text("", encoding="utf-8")
    (package / "README.md").write_text(NOTICE, encoding="utf-8")
    check_imports(package, name=name)


def check_imports(package: Path, *, name: str) -> None:
    """Import each module of a package, and each name that it exports, in a new process.

    Raises:
        SystemExit: A module or a name cannot be imported.
    """
    command = [sys.executable, "-W", "error", "-c", _IMPORT_ALL, package.name]
    environment = os.environ | {"PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    completed = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if completed.returncode != 0:
        raise SystemExit(f"the package generated from {name} cannot be imported:\n{completed.stderr}")


_IMPORT_ALL = """
import importlib, pkgutil, sys
package = importlib.import_module(sys.argv[1])
found = [module.name for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
for module in map(importlib.import_module, [package.__name__, *found]):
    for name in getattr(module, "__all__", ()):
        getattr(module, name)
"""


def secret_names(document: Mapping[str, Any]) -> dict[str, set[str]]:
    """Return the properties marked `x-secret: true`, by the name of their model."""
    schemas = document.get("components", {}).get("schemas", {})
    return {
        naming.pascal_case(name): {
            wire for wire, inner in (schema.get("properties") or {}).items() if inner.get("x-secret") is True
        }
        for name, schema in schemas.items()
    }


def models_of_kinds(document: Mapping[str, Any]) -> ModelsOfKinds:
    """Return the models of the properties whose shape the property `kind` decides, marked `x-kinds`.

    Returns:
        By the name of the model and the property: the model for each kind.
    """
    found: dict[str, dict[str, dict[str, str]]] = {}
    for name, schema in document.get("components", {}).get("schemas", {}).items():
        for wire, inner in (schema.get("properties") or {}).items():
            if kinds := resolve(document, inner).get("x-kinds"):
                models = {kind: naming.pascal_case(model) for kind, model in kinds.items()}
                found.setdefault(naming.pascal_case(name), {})[wire] = models
    return found


def _unsupported(what: str) -> str:
    """End the generation from within a template."""
    raise TemplateRuntimeError(what)


@contextlib.contextmanager
def _tools_on_path() -> Iterator[None]:
    """Let the generator find the ruff of this environment, even if the environment is not activated."""
    before = os.environ.get("PATH", "")
    os.environ["PATH"] = os.pathsep.join([sysconfig.get_path("scripts"), before])
    try:
        yield
    finally:
        os.environ["PATH"] = before


def _clashes(data: GeneratorData) -> Iterator[str]:
    """Yield the modules that would overwrite each other."""
    modules = Counter(f"models/{item.class_info.module_name}.py" for item in (*data.models, *data.enums))
    for tag, collection in data.endpoint_collections_by_tag.items():
        modules.update(f"api/{tag}/{endpoint.name}.py" for endpoint in collection.endpoints)
    for module, count in modules.items():
        if count > 1:
            yield f"{module} would be written {count} times: give the schemas or operations names that differ more"


def _words(errors: Sequence[GeneratorError]) -> str:
    lines: list[str] = []
    for error in errors:
        lines.append(f"{error.header} {error.detail or ''}".strip())
        if (node := getattr(error, "data", None)) is not None:
            lines.append(node.model_dump_json(indent=2, exclude_unset=True, by_alias=True))
    return "\n".join(lines)


def _template_words(error: TemplateError) -> str:
    """Return the template, the line and the text of an error of Jinja."""
    frame, place = error.__traceback__, ""
    while frame is not None:
        name = frame.tb_frame.f_code.co_filename
        if name.endswith(".jinja"):
            place = f"{name}:{frame.tb_lineno}: "
        frame = frame.tb_next
    if not place and isinstance(error, TemplateSyntaxError):
        place = f"{error.filename or error.name}:{error.lineno}: "
    text = f"{place}{error.message}"
    if not isinstance(error, TemplateSyntaxError | UndefinedError):
        return text
    return (
        f"{text}\nA template uses a name that this version of the generator does not have."
        "\n`make templates-diff SINCE=<the version before>` shows what changed in the generator's own templates."
    )
