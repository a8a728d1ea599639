"""The transport in a zip file, as in a zipapp, where no file of it is on disk."""

import zipfile
from pathlib import Path

import pytest

from tests.support.processes import PROJECT, ended

PROGRAM = """
from itwin_platform_transport import BackoffTransport, RedisGate, __file__

gate = RedisGate("redis://127.0.0.1:1", name="limits")
print(BackoffTransport(gate=gate), __file__)
"""


def test_a_redis_gate_reads_its_script_from_a_zip_file(tmp_path: Path) -> None:
    """The script that runs in Redis comes from the archive, as the modules do."""
    pytest.importorskip("redis")
    archive = tmp_path / "transport.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in sorted((PROJECT / "transport").rglob("*")):
            if path.suffix in (".py", ".lua"):
                file.write(path, path.relative_to(PROJECT / "transport"))
    process = ended("python", "-W", "error", "-c", PROGRAM, folder=tmp_path, variables={"PYTHONPATH": str(archive)})
    assert "RedisGate" in process.stdout
    assert str(archive) in process.stdout
