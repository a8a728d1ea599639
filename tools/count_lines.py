"""Prints, for each file of `wrapper/`, its lines and its lines of code: without blanks, comments and docstrings."""

import ast
import io
import tokenize
from pathlib import Path

WRAPPER = Path(__file__).resolve().parents[1] / "wrapper" / "itwin_platform"


def code_lines(source: str) -> int:
    """Counts the lines that hold anything but blanks, comments and docstrings."""
    quiet = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in quiet:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(
            node
        ):
            text = node.body[0]
            lines -= set(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    return len(lines)


def main() -> None:
    """Prints the table and its sums."""
    total = total_code = 0
    print(f"{'file':<28}{'lines':>7}{'code':>7}")
    for path in sorted(WRAPPER.rglob("*.py")):
        source = path.read_text()
        lines, code = len(source.splitlines()), code_lines(source)
        total, total_code = total + lines, total_code + code
        print(f"{path.name:<28}{lines:>7}{code:>7}")
    print(f"{'together':<28}{total:>7}{total_code:>7}")


if __name__ == "__main__":
    main()
