"""The error for certificates that cannot be read, which names their place."""

import ssl
from collections.abc import Mapping
from unittest.mock import Mock

import httpx
import pytest
from itwin_platform_transport.connections.environment import default_certificates
from itwin_platform_transport.connections.failures import SettingError

MISSING = FileNotFoundError(2, "No such file or directory")
MALFORMED = ssl.SSLError(1, "planted")
MALFORMED.reason = "NO_START_LINE"
FILE, DIRECTORY = {"SSL_CERT_FILE": "/a.pem"}, {"SSL_CERT_DIR": "/b"}


@pytest.mark.parametrize(
    ("variables", "trust_env", "error", "message"),
    [
        (FILE, True, MISSING, "the environment variable SSL_CERT_FILE names '/a.pem' (no such file or directory)"),
        (FILE | DIRECTORY, True, MALFORMED, "the environment variable SSL_CERT_FILE names '/a.pem' (no start line)"),
        (DIRECTORY, True, MISSING, "the environment variable SSL_CERT_DIR names '/b' (no such file or directory)"),
        ({}, True, MISSING, "certifi (no such file or directory)"),
        (FILE | DIRECTORY, False, MISSING, "certifi (no such file or directory)"),
    ],
)
def test_certificates_that_cannot_be_read_are_named(
    monkeypatch: pytest.MonkeyPatch, variables: Mapping[str, str], trust_env: bool, error: OSError, message: str
) -> None:
    """The text has the environment variable or certifi, and the reason."""
    monkeypatch.delenv("SSL_CERT_DIR")  # `no_trusted_authority` sets it
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    read = Mock(side_effect=error)
    monkeypatch.setattr(httpx, "create_ssl_context", read)
    with pytest.raises(SettingError) as raised:
        default_certificates(trust_env=trust_env)
    assert str(raised.value) == f"the certificates to trust cannot be read: {message}"
    read.assert_called_once_with(trust_env=trust_env)
