"""The mutants of a module: each replaces the text at one place."""

import ast
import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass

_OPPOSITES: tuple[tuple[type[ast.AST], type[ast.AST]], ...] = (
    (ast.Lt, ast.LtE),
    (ast.Gt, ast.GtE),
    (ast.Eq, ast.NotEq),
    (ast.Is, ast.IsNot),
    (ast.In, ast.NotIn),
    (ast.And, ast.Or),
    (ast.Add, ast.Sub),
)
#: The replacement of each operator.
_OPERATORS = {**dict(_OPPOSITES), **{new: old for old, new in _OPPOSITES}, ast.Mult: ast.Add, ast.Div: ast.Mult}
#: Two consecutive words, which mark a string as a message.
_PROSE = re.compile(r"[a-z,:;] [a-z]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One change of a source.

    Args:
        line: the line of the change, from 1.
        start: offset of the first replaced byte.
        end: offset after the last replaced byte.
        before: the replaced text.
        text: the new text.
    """

    line: int
    start: int
    end: int
    before: str
    text: str

    def applied_to(self, source: bytes) -> bytes:
        """Return the source with the change."""
        return source[: self.start] + self.text.encode() + source[self.end :]


def mutants_of(source: str) -> Iterator[Mutant]:
    """Yield every mutant of a module, in the order of the code.

    Docstrings, annotations, types, imports, `__all__`, `__slots__` and messages are not mutated, because no test of
    behavior can notice it. Neither is an `assert`, which says what always holds, nor a choice: its condition is. Other
    strings are, such as names of headers.
    """
    tree = ast.parse(source)
    offsets = [0]
    for line in source.encode().splitlines(keepends=True):
        offsets.append(offsets[-1] + len(line))
    # Expressions that decide whether other code runs.
    conditions = {
        condition for node in ast.walk(tree) for condition in [getattr(node, "test", None), *getattr(node, "ifs", ())]
    }
    found: set[Mutant] = set()
    for node in _code_of(tree):
        start = offsets[node.lineno - 1] + node.col_offset
        end = offsets[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        before = source.encode()[start:end].decode()
        found |= {
            Mutant(line=node.lineno, start=start, end=end, before=before, text=text)
            for text in [*_changes_of(node), *(("True", "False") if node in conditions else ())]
            if text != before
        }
    yield from sorted(found, key=lambda mutant: (mutant.start, mutant.end, mutant.text))


def _code_of(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """Yield the expressions and statements that run, outside in."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.JoinedStr() | ast.Global() | ast.Nonlocal() | ast.Assert():
            return
        case ast.Expr(value=ast.Constant()) | ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return
        case ast.Call(func=ast.Name(id="TypeVar" | "cast")) | ast.Subscript(value=ast.Name(id="Literal")):
            return
        case ast.Assign(targets=[ast.Name(id="__all__" | "__slots__")]):
            return
    if isinstance(node, ast.expr | ast.stmt):
        yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "bases"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _code_of(child)


def _changes_of(node: ast.expr | ast.stmt) -> Iterator[str]:
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in _OPERATORS:
            yield _with(node, ops=[_OPERATORS[type(operator)]()])
        case ast.BoolOp(op=operator) | ast.BinOp(op=operator) if type(operator) in _OPERATORS:
            yield _with(node, op=_OPERATORS[type(operator)]())
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield f"({ast.unparse(operand)})"
        case ast.Constant(value=value):
            yield from _changes_of_constant(value)
        case ast.Call(keywords=keywords):
            for gone in keywords:
                if gone.arg is not None:
                    yield _with(node, keywords=[each for each in keywords if each is not gone])
        case _:
            yield from _changes_of_statement(node)


def _changes_of_constant(value: object) -> Iterator[str]:
    if isinstance(value, bool):
        yield str(not value)
    elif isinstance(value, int | float):
        yield repr(value + 1)
    elif isinstance(value, str) and not _PROSE.search(value):
        yield repr(f"{value}x")
    elif isinstance(value, bytes):
        yield repr(value + b"x")


def _changes_of_statement(node: ast.expr | ast.stmt) -> Iterator[str]:
    is_effect = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call | ast.Await)
    if is_effect or isinstance(node, ast.Assign | ast.AugAssign | ast.Raise):
        yield "pass"
    elif isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
        yield "return None"
    elif isinstance(node, ast.Break):
        yield "continue"


def _with(node: ast.expr, **fields: object) -> str:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return f"({ast.unparse(changed)})"
