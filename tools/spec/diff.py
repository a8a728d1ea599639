"""Print the changes between two versions of the specification, breaking changes first.

Run as `python -m tools.spec.diff BASE [NEW]`. Each is a file or a git revision, and NEW is `openapi.yaml` by default.
A change is breaking if it can break working code: the service removes or requires a part, accepts less, or returns more
forms than before. A new value of an enum is not breaking, because enums are open. The exit status is 1 after a breaking
change.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from tools.generation.document import SPECIFICATION, Node, parse, text_of, with_lines
from tools.generation.document_checks import invalid
from tools.spec.normal_form import Difference, differences, normal_form, uses

#: The headings of the report, in their order.
HEADINGS = ("Breaking", "Not breaking", "Also changed", "Changed descriptions, which may contain a rule")
BREAKING, KNOWN, ALSO, WORDS = HEADINGS
#: Upper limits, which allow more if their value is larger, and lower limits, which allow less.
UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "x-max-body-bytes")
LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems")
#: Keys that a place omits, because the other keys identify it.
_SILENT = ("operations", "components", "schemas", "properties", "parameters", "schema", "content", "items")


def report(before: Node, after: Node) -> list[str]:
    """Return the lines to print: for each heading the number of changes, and a line for each."""
    used = uses(before, after)
    first, second = normal_form(before), normal_form(after)
    # An operation with the same method and path is a renamed one.
    gone = {node["route"]: name for name, node in first["operations"].items() if name not in second["operations"]}
    second["operations"] = {gone.get(node["route"], name): node for name, node in second["operations"].items()}
    found: defaultdict[str, list[str]] = defaultdict(list)
    for difference in differences(first, second):
        keys = difference.keys
        senders, returners = used["#/" + "/".join(keys[:3])]
        is_sent = bool(senders) or keys[2:3] in (("parameters",), ("requestBody",))
        is_returned = bool(returners) or keys[2:3] == ("responses",)
        each = replace(difference, is_sent=is_sent, is_returned=is_returned)
        sides = (("sent by", senders), ("returned by", returners))
        users = "; ".join(f"{verb} {', '.join(sorted(names))}" for verb, names in sides if names)
        heading = _heading(each)
        text = "" if heading == WORDS else f": {each.text}"
        found[heading].append(f"  {_place(keys)}{f' ({users})' if users else ''}{text}")
    counted = [heading for heading in HEADINGS if heading in found or heading in HEADINGS[:2]]
    return [line for heading in counted for line in (f"{heading}: {len(found[heading])}", *sorted(found[heading]))]


def _place(keys: tuple[str, ...]) -> str:
    """Return a place in words, such as `SceneCreate tags` of a schema or `list_itwins query $top` of an operation."""
    named = [key for at, key in enumerate(keys) if key not in _SILENT or keys[at - 1 : at] == ("properties",)]
    return " ".join(named or keys)


def _heading(each: Difference) -> str:
    *_, outer, holder, key = ("", "", *each.keys)
    if key in ("description", "summary", "title") and holder not in ("properties", "required"):
        return WORDS
    part = _PARTS.get(holder) if each.is_new or each.is_gone or holder == "enum" else None
    rule = (part if outer != "properties" else None) or (_KEYWORDS.get(key) if holder != "properties" else None)
    return ALSO if rule is None else BREAKING if rule(each) else KNOWN


def _accepts_less(each: Difference) -> bool:
    """Return whether a limit of a request is narrower."""
    key, is_changed = each.keys[-1], not each.is_new and not each.is_gone
    narrower = (
        (each.after < each.before) == (key in UPPER) if is_changed and key in (*UPPER, *LOWER) else not each.is_gone
    )
    return each.is_sent and narrower


Rule = Callable[[Difference], bool]
#: Whether a removed or a new part is breaking, by the key of its parent.
_PARTS: Mapping[str, Rule] = {
    **dict.fromkeys(("operations", "schemas", "properties", "headers"), lambda each: each.is_gone),
    "parameters": lambda each: each.is_gone or each.after.get("required") is True,
    # A client cannot decode a new success.
    "responses": lambda each: each.is_gone or (each.keys[-1].startswith("2") and each.keys[0] == "operations"),
    # The examples of a response are its errors.
    "examples": lambda each: each.is_gone and each.is_returned,
    **dict.fromkeys(("type", "oneOf", "anyOf"), lambda each: each.is_sent if each.is_gone else each.is_returned),
    "required": lambda each: each.is_returned if each.is_gone else each.is_sent,
    "enum": lambda each: not each.is_new,
}
#: Whether a changed value of a keyword is breaking.
_KEYWORDS: Mapping[str, Rule] = {
    **dict.fromkeys((*UPPER, *LOWER, "pattern", "multipleOf", "uniqueItems"), _accepts_less),
    **dict.fromkeys(("format", "const"), lambda each: each.is_returned or _accepts_less(each)),
    **dict.fromkeys(("operationId", "route", "tags", "accept", "$ref", "type", "items"), lambda _: True),
    **dict.fromkeys(("x-default", "x-technical-preview"), lambda _: False),
    "enum": lambda each: each.is_sent if each.is_new else each.is_returned,
    "required": lambda each: each.after is True,  # of a parameter or a body
    "code": lambda each: "examples" in each.keys,
}


def _valid(source: str) -> Node:
    text, name = text_of(source), Path(source).name
    document = parse(text, name=name)
    if found := invalid(document):
        raise SystemExit("\n".join([f"{name} is not valid:", *with_lines(found, text=text, name=name)]))
    return document


def main() -> None:
    """Read the command line, print, and exit with status 1 after a breaking change."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", help="the old document: a file or a git revision")
    parser.add_argument("new", nargs="?", default=str(SPECIFICATION), help="the new document, openapi.yaml by default")
    arguments = parser.parse_args()
    lines = report(_valid(arguments.base), _valid(arguments.new))
    print("\n".join(lines))
    if lines[0] != "Breaking: 0":
        raise SystemExit(1)


if __name__ == "__main__":
    main()
