"""An editor's side of the language server protocol: as much as asking about a place in a program takes."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Self

from tests.support.real_time import LONGEST


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
