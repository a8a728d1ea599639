"""Reads a seed file: YAML if its name ends with .yaml or .yml, otherwise JSON."""

from pathlib import Path

from ..fields import FieldError, read_fields
from ..json_values import JSON, JSONObject, NotJSONError, read_json, write_json

PARTS = ("itwins", "repositories", "scenes", "detectors", "webhooks")


def read_seed_file(path: Path) -> JSONObject:
    """Return the document in the file; `FieldError` if there is none."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise FieldError("seed", f"cannot read {path}: {error.strerror}") from error
    if path.suffix.lower() in (".yaml", ".yml"):
        value = _read_yaml(path.name, content)
    else:
        try:
            value = read_json(content)
        except NotJSONError as error:
            raise FieldError("seed", f"{path.name} is not JSON: {error}") from error
    return read_fields(value, PARTS)


def _read_yaml(name: str, content: bytes) -> JSON:
    try:
        import yaml
    except ImportError as error:
        message = "YAML needs PyYAML: `pip install pyyaml`, or write the seed file as JSON"
        raise FieldError("seed", message) from error

    class Loader(yaml.SafeLoader):
        """A loader without times, which are strings in JSON."""

    Loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    try:
        # By way of JSON: YAML has sets and numbers that JSON does not have.
        return read_json(write_json(yaml.load(content, Loader)))  # noqa: S506 - a kind of SafeLoader
    except RecursionError:
        raise FieldError("seed", f"{name} nests too many levels") from None
    except (yaml.YAMLError, TypeError, ValueError) as error:
        raise FieldError("seed", f"{name} is not YAML with JSON's values: {' '.join(str(error).split())}") from error
