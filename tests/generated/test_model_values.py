"""Generated models and enums hold anything, lose nothing, show no secret and can be copied. Source: section 2."""

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from itwin_platform import UNSET, ITwin, ITwinStatus, Unset, escape
from itwin_platform_api import types
from itwin_platform_api.types import copy_values, encode

from tests.support.examples import examples
from tests.support.schema_values import ENUMS, MODELS, SCHEMAS, objects_of

EACH_MODEL = pytest.mark.parametrize("name", sorted(MODELS))
EACH_ENUM = pytest.mark.parametrize("enum", ENUMS.values(), ids=ENUMS)
FUTURE = "From the Future"


def pickled(value: Any) -> Any:
    """Return the value after a round trip through pickle."""
    return pickle.loads(pickle.dumps(value))  # noqa: S301  # our own bytes


def test_every_schema_has_its_model_or_enum() -> None:
    """Each object is a model, and each schema with values an enum with these members, no fewer and no more."""
    objects = {name for name, each in SCHEMAS.items() if each.get("type") == "object" and "x-undecoded" not in each}
    assert MODELS.keys() == objects
    documented = {name: sorted(each["enum"]) for name, each in SCHEMAS.items() if "enum" in each}
    assert {name: sorted(map(str, enum)) for name, enum in ENUMS.items()} == documented


@EACH_MODEL
@settings(max_examples=examples(15))
@given(data=st.data())
def test_a_round_trip_loses_nothing(name: str, data: st.DataObject) -> None:
    """`from_dict` and `to_dict` keep wrong types, null, missing and unknown fields, and leave the source unchanged.

    In options, null is as good as a missing property.
    """
    wire = data.draw(objects_of(SCHEMAS[name]))
    before = copy.deepcopy(wire)
    assert MODELS[name].from_dict(wire).to_dict() == without_null_options(name, before)
    assert wire == before


#: The models by the properties that hold options of a repository, directly or further inside.
HOLDS_OPTIONS = {"repository": "Repository", "options": "RepositoryOptions"}


def without_null_options(name: str, wire: object) -> object:
    """An object of a model without the options that are null."""
    if not isinstance(wire, dict):
        return wire
    fields, optional = MODELS[name].FIELDS, MODELS[name].OPTIONAL
    return {
        known: without_null_options(HOLDS_OPTIONS[known], value) if known in fields.keys() & HOLDS_OPTIONS else value
        for known, value in wire.items()
        if value is not None or known not in fields or fields[known][0] not in optional
    }


@EACH_MODEL
@settings(max_examples=examples(10))
@given(data=st.data())
def test_a_model_survives_copies_and_shows_itself(name: str, data: st.DataObject) -> None:
    """Copy, deepcopy and pickle give an equal model, and `repr` never fails."""
    model = MODELS[name].from_dict(data.draw(objects_of(SCHEMAS[name])))
    for again in (copy.copy(model), copy.deepcopy(model), pickled(model)):
        assert (again, again.to_dict(), repr(again)) == (model, model.to_dict(), repr(model))
    assert repr(model).startswith(f"{type(model).__name__}(")


@EACH_MODEL
def test_unknown_fields_are_a_mapping_of_their_own(name: str) -> None:
    """Unknown fields can be read and changed by subscript, are sent back, and are not those of another model."""
    model, other = (MODELS[name].from_dict({"fromTheFuture": {"a": 1}}) for _ in range(2))
    assert "fromTheFuture" in model
    assert model.additional_keys == ["fromTheFuture"]
    model["another"] = [2]
    del model["fromTheFuture"]
    assert model.to_dict() == {"another": [2]}
    assert model != other
    assert "another" not in MODELS[name].from_dict({})


@pytest.mark.parametrize("text", ['{"id": NaN}', '{"id": 1e400}', '{"id": "\\ud800"}', '{"id": ' + "9" * 4000 + "}"])
@EACH_MODEL
def test_unusual_json_is_accepted(name: str, text: str) -> None:
    """NaN, infinity, half a surrogate pair and huge integers survive a round trip."""
    parsed: dict[str, Any] = json.loads(text)
    assert repr(MODELS[name].from_dict(parsed).to_dict()) == repr(parsed)


@EACH_ENUM
def test_an_unknown_value_is_an_equal_string(enum: Any) -> None:
    """An unknown value compares, hashes, formats and sorts as its text, and is no member of the enum."""
    members = [*enum]
    unknown = enum(FUTURE)
    assert unknown == FUTURE == str(unknown) == f"{unknown}" == unknown.value == unknown.name
    assert ({unknown: 1}[FUTURE], {FUTURE: 1}[unknown]) == (1, 1)
    assert json.dumps([unknown]) == f'["{FUTURE}"]'
    assert FUTURE in repr(unknown)
    assert sorted([unknown, "A", "Z"]) == ["A", FUTURE, "Z"]
    assert [*enum] == members
    for copied in (copy.copy, copy.deepcopy, pickled):
        again, known = copied((unknown, members[0]))
        assert (again, type(again), known is members[0]) == (FUTURE, enum, True)


@pytest.mark.parametrize("value", [None, 5, True, b"Active", ["Active"]], ids=repr)
@EACH_ENUM
def test_an_enum_takes_strings_only(enum: Any, value: object) -> None:
    """An enum takes strings only; a response may hold any other value, which is kept."""
    with pytest.raises(ValueError, match="is not a valid"):
        enum(value)
    assert ITwin.from_dict({"status": value}).to_dict() == {"status": value}
    assert type(ITwin.from_dict({"status": FUTURE}).status) is ITwinStatus


def test_there_is_one_unset() -> None:
    """Copies, pickles of any protocol and the constructor give the same object, which is false and equals no other."""
    others = [copy.copy(UNSET), copy.deepcopy([UNSET])[0], Unset(), types.UNSET]
    others += [pickle.loads(pickle.dumps(UNSET, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]  # noqa: S301  # our own bytes
    assert all(other is UNSET for other in others)
    assert (bool(UNSET), repr(UNSET)) == (False, "UNSET")
    values: tuple[object, ...] = (None, "", 0, False, [], {})
    assert [value for value in values if value == UNSET] == []


def test_a_field_that_was_not_returned_is_unset() -> None:
    """A missing field is not written, a null one is; UNSET has no attributes, and the error tells how to request it."""
    model: Any = ITwin.from_dict({"parentId": None})
    assert (model.parent_id, model.image, model.to_dict()) == (None, UNSET, {"parentId": None})
    message = r"no 'year': the service did not return .* representation=\"full\" or select="
    with pytest.raises(AttributeError, match=message):
        _ = model.created_date_time.year


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("displayName", "displayName is a field of ITwin: read the attribute display_name"),
        ("class", "class is a field of ITwin: read the attribute class_"),
        ("no such key", "no such key"),
    ],
)
def test_a_key_that_is_a_field_names_its_attribute(key: str, said: str) -> None:
    """The KeyError of a documented field names its attribute."""
    with pytest.raises(KeyError) as caught:
        ITwin.from_dict({"id": "a", "displayName": "N"})[key]
    assert caught.value.args == (said,)


AUTHENTICATIONS = [name for name in MODELS if name.endswith("Authentication")]
SECRET: list[tuple[str, dict[str, Any]]] = [
    *((name, dict.fromkeys(SCHEMAS[name]["properties"], "planted") | {"type": "x"}) for name in AUTHENTICATIONS),
    *(("Repository", {"id": "r", "authentication": value}) for value in ("planted", ["planted"], {"type": "planted"})),
    ("Repository", {"authentication": {"type": "Basic", "username": "planted", "password": "planted"}}),
    ("Repository", {"authentication": {"type": "ApiKey", "apiKey": "planted"}}),
    ("Repository", {"options": {"queryParameters": {"apiKey": "planted"}}}),
    ("RepositoryUpdate", {"authentication": {"type": "Header", "key": "planted", "value": "planted"}}),
    ("RepositoryResponse", {"repository": {"authentication": {"type": "Header", "key": "planted"}}}),
    ("WebhookUpdate", {"secret": "planted", "active": True}),
    ("Webhook", {"id": "w", "secret": "planted"}),
    ("Resource", {"capabilities": {"graphics": {"uri": "https://planted"}}}),
    ("ITwin", {"anythingThatNobodyKnows": {"token": "planted"}}),
    ("ITwinsResponse", {"iTwins": [{"anythingThatNobodyKnows": {"token": "planted"}}]}),
]


@pytest.mark.parametrize(("name", "wire"), SECRET, ids=lambda value: str(value)[:50])
def test_a_secret_shows_in_no_text(name: str, wire: dict[str, Any]) -> None:
    """Secret fields are hidden in `repr` and absent in `vars()`; the values are there all the same.

    Unknown fields show by their names only in `repr`.
    """
    model = MODELS[name].from_dict(wire)
    for shown in (repr(model), str(model), f"{model}", repr([model]), repr({"a": model})):
        assert "planted" not in shown
        assert name in shown
    assert model.to_dict() == wire
    # Undocumented values, query parameters too, are not known as secrets: FastAPI returns them.
    assert ("planted" in str(vars(model))) is (name in ("ITwin", "ITwinsResponse", "Webhook") or "options" in wire)


@pytest.mark.parametrize(("name", "wire"), SECRET, ids=lambda value: str(value)[:50])
def test_rich_shows_no_secret(name: str, wire: dict[str, Any]) -> None:
    """`__rich_repr__`, which rich documents as yielding names with values, yields the fields of `repr` and no secret."""
    model = MODELS[name].from_dict(wire)
    shown = [*model.__rich_repr__()]
    assert "planted" not in str(shown)
    assert [field for field, _ in shown if f"{field}=" not in repr(model)] == []


def test_a_field_without_a_secret_shows() -> None:
    """`repr` shows a null secret as None and omits a missing one, so that neither looks hidden."""
    for name, field in (("Repository", "authentication"), ("WebhookUpdate", "secret")):
        assert f"{field}=None" in repr(MODELS[name].from_dict({field: None}))
        assert field not in repr(MODELS[name].from_dict({}))
    shown = repr(ITwin.from_dict({"id": "i-1", "status": "Active", "parentId": None, "new": 1}))
    parts = ("id='i-1'", "status='Active'", "parent_id=None", "additional_properties=['new']")
    assert [part for part in parts if part not in shown] == []


#: Uses of a deeply nested model, and the innermost string of each result.
USES: dict[str, tuple[Callable[[ITwin], Any], str]] = {
    "to_dict()": (lambda model: model.to_dict(), "<"),
    "encode()": (lambda model: encode([model])[0], "<"),
    "pickle": (lambda model: pickled(model).additional_properties, "<"),
    "deepcopy()": (lambda model: copy.deepcopy(model).additional_properties, "<"),
    "escape()": (escape, "&lt;"),
}


def levels(value: Any) -> tuple[int, Any]:
    """Return the number of levels of a value, and the innermost value; comparing such values is a RecursionError."""
    depth = 0
    while isinstance(value, dict | list):
        (value,) = value.values() if isinstance(value, dict) else value
        depth += 1
    return depth, value


@pytest.mark.parametrize(("use", "inside"), USES.values(), ids=USES)
def test_a_value_of_any_depth_can_be_used(use: Callable[[ITwin], Any], inside: str) -> None:
    """Any depth that can be decoded can be encoded, copied, pickled and escaped."""
    # Fewer levels than json.loads decodes in any version of Python, and more than functions of Python can go.
    model = ITwin.from_dict(json.loads('{"new": ' + '[{"<": ' * 400 + '"<"' + "}]" * 400 + "}"))
    assert levels(use(model)) == (801, inside)


