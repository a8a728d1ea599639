"""Each example runs on its own, states its promise, and is listed."""

import ast
import re
from pathlib import Path

import pytest

from tests.support.processes import ended
from tests.support.programs import EXAMPLES, run

#: What each says once in the end, besides what the tests of its own look at.
SAYS = {
    "tour": [r"8 operations, \d+ requests\."],
    "progress": [r"5000 iTwins in 50 pages"],
    "switch_webhooks": [
        r"1998 webhooks activated, 2 failed:\n  lost-699: PATCH .*: 404 Webhook.*\n  lost-1399: PATCH",
    ],
    "web_service": [r"received list_itwins: cancelled(.*\n)+/account 503 RateLimitError Retry-After (30|2\d)\n"],
    "several_workers": [
        r"the browser saw \{200: 60\}\nworkers that responded: [1-4]\nthe platform saw \{200: 60",
    ],
    "nightly_export": [r"13200 iTwins in itwins\.csv"],
    "four_programs": [
        r"GET /itwins/2 -> 503, Retry-After: 3\n",
        r"CSV: 250 rows, 250 ids, 20 columns\n",
        r"levels 3 to 20, query parameters kept: \{'key': 'made-up'\}\n",
        r"password changed: BasicAuthentication\(<hidden>\)\n",
        r"OutcomeUnknownError, scene_id kept: True\n",
        r"BadRequestError, so the first request had arrived: sceneData\.objects\[0\]\.id is not unique\.\n",
        r"objects of the scene: \['Layer', 'RepositoryResource'\]\n",
        r"5 responses \{200: 5\} with 8 requests\n",
    ],
    "receive_webhooks": [
        r"POST /events -> 204\n(.*\n)*POST /events -> 204\n(.*\n)*POST /events -> 401\n",
        *("handled: ", "came before: ", "rejected: "),
    ],
    "traces": ['"http.response.status_code": 429', '"http.request.resend_count": 1', '"parent_id": null'],
}
#: These have tests of their own that run them.
ELSEWHERE = {"rotating_tokens", "scene_page", "test_with_sandbox"}
ALL = sorted(path.stem for path in EXAMPLES.glob("*.py") if path.stem != "__main__")


@pytest.mark.parametrize("name", SAYS)
def test_runs_by_itself(name: str, tmp_path: Path) -> None:
    """Without arguments and environment it ends well, has done what it is for, and shows no secret."""
    said = run(name, folder=tmp_path).stdout
    assert [expected for expected in SAYS[name] if len(re.findall(expected, said)) != 1] == []
    assert not re.search("made-up-|a made-up secret|Bearer", said)


def test_the_test_file_passes_where_nothing_is_configured(tmp_path: Path) -> None:
    """Copied into a folder with no configuration of pytest, the test file runs all its tests."""
    (tmp_path / "test_copied.py").write_text((EXAMPLES / "test_with_sandbox.py").read_text(encoding="utf-8"))
    # Without this option pytest-asyncio always warns.
    options = ["--rootdir", str(tmp_path), "-o", "asyncio_default_fixture_loop_scope=function"]
    process = ended("python", "-W", "error", "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, folder=tmp_path)
    assert "4 passed" in process.stdout


def test_none_is_forgotten() -> None:
    """`make examples` runs each, README.md names each, and each is run by a test."""
    runner = ast.parse((EXAMPLES / "__main__.py").read_text(encoding="utf-8"))
    run_by_make = {node.value for node in ast.walk(runner) if isinstance(node, ast.Constant)}
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert [name for name in ALL if name not in run_by_make] == []
    assert [name for name in ALL if f"examples/{name}.py" not in readme] == []
    assert set(ALL) == {*SAYS, *ELSEWHERE}


@pytest.mark.parametrize("name", ALL)
def test_is_one_short_file_that_says_what_it_shows(name: str) -> None:
    """It imports no other example and no private module, and its docstring says how to run it."""
    program = ast.parse((EXAMPLES / f"{name}.py").read_text(encoding="utf-8"))
    imported = {node.module or "" for node in ast.walk(program) if isinstance(node, ast.ImportFrom)}
    assert not imported & set(ALL)
    assert {module for module in imported if module.startswith("itwin")} <= {"itwin_platform", "itwin_platform_sandbox"}
    assert re.search(rf"(python|pytest) examples/{name}\.py|make demo", ast.get_docstring(program) or "")
