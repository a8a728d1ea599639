"""What an editor shows while an application is written, and what type checkers say of the code of the pages."""

import json
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pytest

from tests.support.code_blocks import PAGES, PROJECT, blocks_of, is_prelude
from tests.support.processes import ended
from tests.support.public_face import CALLABLES, GROUPS
from tests.support.real_time import LONGEST
from tools.vendoring.vendor import vendor


class LanguageServer:
    """pyright's language server with one program open in it; use it in `with`."""

    def __init__(self, folder: Path, program: str) -> None:
        self._program = program
        self._uri = (folder / "program.py").as_uri()
        self._number = 0
        scripts = Path(sys.executable).parent
        self._process = subprocess.Popen(  # noqa: S603  # a tool of this project's environment
            [str(scripts / "basedpyright-langserver"), "--stdio"],
            env=os.environ | {"PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        # A server that hangs is ended, so that a test fails instead of waiting.
        self._watch = threading.Timer(LONGEST, self._process.kill)
        self._watch.start()
        self.ask("initialize", processId=None, rootUri=folder.as_uri(), capabilities={})
        self._send("initialized", {})
        opened = {"uri": self._uri, "languageId": "python", "version": 1, "text": program}
        self._send("textDocument/didOpen", {"textDocument": opened})

    def at(self, text: str, what: str) -> Any:
        """Ask about the place right behind a string of the program: `hover`, `signatureHelp` or `completion`."""
        before = self._program[: self._program.index(text) + len(text)]
        place = {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1}
        return self.ask(f"textDocument/{what}", textDocument={"uri": self._uri}, position=place)

    def ask(self, method: str, **parameters: object) -> Any:
        """Send a request and return its result."""
        self._number += 1
        self._send(method, parameters, id=self._number)
        while True:
            message = self._receive()
            if "method" not in message and message["id"] == self._number:
                return message["result"]
            if "method" in message and "id" in message:
                self._write({"jsonrpc": "2.0", "id": message["id"], "result": None})

    def _send(self, method: str, parameters: dict[str, Any], **identity: int) -> None:
        self._write({"jsonrpc": "2.0", "method": method, "params": parameters, **identity})

    def _write(self, message: dict[str, Any]) -> None:
        body = json.dumps(message).encode()
        assert self._process.stdin
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout
        length = 0
        while (line := self._process.stdout.readline()) not in (b"\r\n", b""):
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        if not length:
            raise EOFError(f"the language server ended, or said nothing for {LONGEST:g} s")
        received: dict[str, Any] = json.loads(self._process.stdout.read(length))
        return received

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._watch.cancel()
        self._process.kill()
        self._process.communicate()


pytest.importorskip("basedpyright", reason="a tool of the checkout, which environments of the wheel are without")

PROGRAM = '''
from itwin_platform import BasicAuthentication, PlatformClient, SceneObjectCreate, SceneObjectCreateParam


async def use(platform: PlatformClient) -> None:
    """Each group, each way to be shown something."""
    pager = platform.itwins.list(sub_class="Project")
    async for itwin in pager:
        print(itwin.display_name)
    await platform.repositories.update("i", "r", uri="u")
    await platform.scenes.create("i", display_name="S")
    await platform.detectors.create(name="n", type="PhotoObjectDetector")
    await platform.webhooks.activate("w")
    platform.itwins.list(status="")
    platform.itwins.list(sub_class=["Asset", ""])
    platform.itwins.list(query_scope="")
    platform.itwins.list(order_by="")
    platform.itwins.list(select=["id", ""])
    platform.itwins.list_all(partition_by="")
    platform.scenes.list_objects("s", "i", order_by="")
    SceneObjectCreate(kind="")
    await platform.detectors.create(name="n", type="")
    await platform.webhooks.update("w", event_types="")
    await platform.repositories.update("i", "r", authentication={"type": "", "passw": ""})
    await platform.repositories.update("i", "r", options={"minim": 1})
    await platform.scenes.create("i", display_name="S", objects=[{"kind": "View3d", "disp": "V"}])
    await platform.scenes.create("i", display_name="T", objects=[{"kind": ""}])
    camera: SceneObjectCreateParam = {"kind": "View3d", "version": "1.0.0", "data": {"isOrth": True}}
    await platform.scenes.create("i", display_name="S", objects=[camera])
    BasicAuthentication(
'''
#: What is completed in a string: the values of an enum, and the names of a mapping.
COMPLETED = {
    'list(status="': {"Active", "Inactive", "Trial"},
    'list(sub_class=["Asset", "': {"Account", "Asset"},
    'list(query_scope="': {"MemberOfiTwin", "OrganizationAdmin"},
    'itwins.list(order_by="': {"displayName", "displayName DESC", "createdDateTime ASC"},
    'select=["id", "': {"displayName", "createdDateTime"},
    'partition_by="': {"createdDateTime", "lastModifiedDateTime"},
    '"i", order_by="': {"kind"},
    'SceneObjectCreate(kind="': {"RepositoryResource", "View3d"},
    '"T", objects=[{"kind": "': {"RepositoryResource", "View3d"},
    'name="n", type="': {"PhotoObjectDetector", "PointCloudSegmentationDetector"},
    'event_types="': {"iTwins.iTwinCreated.v1"},
    'authentication={"type": "': {"Basic", "Header", "OAuth2AuthorizationCodePKCE", "QueryParameter"},
    '"passw': {"password"},
    'options={"minim': {"minimumLevel"},
    'objects=[{"kind": "View3d", "disp': {"displayName"},
    '"data": {"isOrth': {"isOrthographic"},
}
#: What hovering over each name shows: a part of the signature or type, and of the documentation.
HOVERS = {
    "platform.itwins.lis": ("-> Pager[ITwin]", "The first request is sent when iteration starts"),
    "platform.itwin": ("itwins: ITwins", "The operations on iTwins"),
    "itwin.display_nam": ("display_name: str", "Display name."),
    "platform.repositories.updat": ("-> CoroutineType[Any, Any, Repository]", "Technical Preview"),
    "platform.scenes.creat": ("display_name: str", "Technical Preview"),
    "platform.detectors.creat": ("-> CoroutineType[Any, Any, Detector]", "create_detector on the specification page"),
    "platform.webhooks.activat": ("-> CoroutineType[Any, Any, Webhook]", "update_webhook on the specification page"),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LanguageServer]:
    """A language server that reads an application."""
    with LanguageServer(tmp_path_factory.mktemp("application"), PROGRAM) as running:
        yield running


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_offers_its_methods_and_nothing_else(server: LanguageServer, group: str) -> None:
    """After `platform.itwins.` an editor lists the operations."""
    offered = server.at(f"platform.{group}.", "completion")["items"]
    assert {item["label"] for item in offered if not item["label"].startswith("_")} == {
        name.partition(".")[2] for name in CALLABLES if name.startswith(f"{group}.")
    }


@pytest.mark.parametrize("text", HOVERS)
def test_hovering_shows_signature_and_documentation(server: LanguageServer, text: str) -> None:
    """A call shows what it takes and gives, and what it does; a field its type and meaning."""
    shown = server.at(text, "hover")["contents"]["value"]
    assert [part for part in HOVERS[text] if part not in shown] == []


SIGNATURES = {
    "platform.itwins.list(": (
        *("sub_class: ITwinSubClassParam | Iterable[ITwinSubClassParam] | Unset", "concurrency: int = 1"),
        "one value or an iterable; recommended",
    ),
    "    BasicAuthentication(": ("username: str, password: str",),
}


@pytest.mark.parametrize("text", SIGNATURES)
def test_the_arguments_show_while_a_call_is_written(server: LanguageServer, text: str) -> None:
    """Every keyword with its type, the documentation of the call, and the fields of a complete object."""
    signature: Any = server.at(text, "signatureHelp")["signatures"][0]
    shown = signature["label"] + signature.get("documentation", {}).get("value", "")
    assert [part for part in SIGNATURES[text] if part not in shown] == []


@pytest.mark.parametrize("text", COMPLETED)
def test_strings_are_completed(server: LanguageServer, text: str) -> None:
    """An editor offers the values of an enum, although any string is accepted, and the names of a mapping."""
    offered = server.at(text, "completion")["items"]
    assert {item["label"].strip('"') for item in offered} >= COMPLETED[text]


#: It imports what the page has just generated.
OF_A_MADE_UP_OPERATION = "docs/regenerating.md"
FOLDERS = [str(PROJECT / name) for name in ("wrapper", "generated", "sandbox")]


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a module for each page, and for each program or test file in it, and the vendored copy of one."""
    folder = tmp_path_factory.mktemp("application")
    (folder / "my_service").mkdir()
    (folder / "my_service" / "__init__.py").touch()
    copied = folder / "my_service" / "_vendor"
    vendor(project=PROJECT, destination=copied, name="itwin", overwrite=False, command="make vendor")
    (prelude,) = [block for block in blocks_of(PROJECT / "docs" / "quickstart.md", "python") if is_prelude(block)]
    for page in PAGES:
        name = page.relative_to(PROJECT).as_posix()
        if name == OF_A_MADE_UP_OPERATION:
            continue
        module, typed = name.removesuffix(".md").replace("/", "_").replace("-", "_"), [prelude.text]
        for block in blocks_of(page, "python"):
            if "asyncio.run(" in block.text:
                (folder / f"{module}_{block.line}.py").write_text(block.text, encoding="utf-8")
            elif not is_prelude(block):
                typed.append(block.text)
        # In functions, because `await` stands alone in `python -m asyncio` only.
        blocks = textwrap.indent("\n".join(typed[1:]) or "pass", "    ")
        body = textwrap.indent(f"{prelude.text}\nasync def blocks() -> None:\n{blocks}", "    ")
        (folder / f"{module}.py").write_text(f"import asyncio\n\n\nasync def page() -> None:\n{body}", encoding="utf-8")
    return folder


def said(folder: Path, *command: str) -> str:
    """Run a tool in the folder, and return what it says."""
    process = ended(*command, folder=folder, variables={"MYPYPATH": os.pathsep.join(FOLDERS)}, status=None)
    return process.stdout + process.stderr


def test_mypy_accepts_the_code_of_the_pages(application: Path) -> None:
    """Strictly, as an application of a reader who pastes it; a page may define a name again."""
    modules = [path.name for path in sorted(application.glob("*.py"))]
    options = ["--strict", "--config-file=", "--allow-redefinition", "--disable-error-code=no-redef"]
    output = said(application, "mypy", *options, "--explicit-package-bases", *modules)
    assert output == f"Success: no issues found in {len(modules)} source files\n"


def test_pyright_accepts_the_code_of_the_pages(application: Path) -> None:
    """In its standard mode, as most editors run it."""
    settings = {"include": ["*.py"], "extraPaths": FOLDERS, "pythonVersion": "3.11", "typeCheckingMode": "standard"}
    (application / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    output = said(application, "basedpyright", "--level", "error", "--pythonpath", sys.executable)
    assert output == "0 errors, 0 warnings, 0 notes\n"
