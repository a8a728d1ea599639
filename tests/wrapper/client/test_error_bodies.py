"""The text of an error with a body of any form: its first words, else its content type and size."""

import json
from typing import Any

import httpx
import pytest
from itwin_platform import APIStatusError, ResponseDecodeError

from tests.wrapper.client.conftest import error_of

JSON, XML, HTML = "application/json", "application/xml", "text/html"
SOAP = b"<s:Body><s:Fault><faultcode>s:Server</faultcode><faultstring>%s</faultstring></s:Fault></s:Body>"
NAMES = """message error_description errormessage error_message errormsg errmsg faultstring msg errorsummary detail
    title text reason description diagnostics exceptiontext serviceexception exceptionmessage errormessages usermessage
    status_message error errors issue value h1 h2 p string data response result meta exception __type"""
#: Content type, body and the first line of the text, by the convention or the service that writes it.
SHAPES: dict[str, tuple[str, Any, str]] = {
    "problem details": (JSON, {"title": "No credit", "detail": "It is 3."}, "No credit: It is 3."),
    "title twice": (JSON, {"title": "Bad Request", "detail": "Bad Request"}, "Bad Request"),
    "OAuth": (JSON, {"error": "invalid_token", "error_description": "It expired"}, "invalid_token: It expired"),
    "Django": (JSON, {"email": ["Enter an address."]}, "email: Enter an address."),
    "Rails": (JSON, {"errors": {"name": [], "age": "too young"}, "a": ["b"]}, "age: too young"),
    "JSON:API": (JSON, {"errors": [{"status": "422", "title": "Invalid", "detail": "Short"}]}, "Invalid: Short"),
    "OData": (JSON, {"error": {"code": "X", "message": {"lang": "en", "value": "Words"}}}, "X: Words"),
    "Spring without words": (JSON, {"status": 404, "error": "Not Found", "message": " "}, "Not Found"),
    "Salesforce": (JSON, [{"message": "Words", "errorCode": "MALFORMED_ID"}], "MALFORMED_ID: Words"),
    "a string": (JSON, "Words", "Words"),
    "an object by another name": (JSON, {"responseStatus": {"message": "Words"}, "status": "x"}, "Words"),
    "deep": (JSON, {"message": "Outer", "error": {"error": {"error": {"message": "Words"}}}}, "Words"),
    "too deep": ("application/problem+json", {"error": [[[[[{"message": "Words"}]]]]]}, "JSON, 41 B: see .body"),
    "a list by another name": (JSON, {"violations": [{"message": "Words"}]}, "Words"),
    "too many": (JSON, {"errors": [*[0] * 10, "Words"]}, "JSON, 51 B: see .body"),
    **{name: (JSON, {name.title(): "Words"}, "Words") for name in NAMES.split()},
    **{
        name: (JSON, {name: {"error_code": "A", "text": "b"}}, "A: b") for name in ("odata.error", "fault", "exception")
    },
    "S3": (XML, b"<?xml version='1.0'?><Error><Code>NoKey</Code><Message>Words</Message></Error>", "NoKey: Words"),
    "SOAP 1.1": ("text/xml", SOAP % b"Words", "Words"),
    "markup in CDATA": (XML, b"<e>\n<message>\n<![CDATA[a <b>\nc]]>\n</message></e>", "a <b> c"),
    "nginx": (HTML, b"<html>\r\n<head><title>502 Bad Gateway</title></head><center>x</center>", "502 Bad Gateway"),
    "HTML without words": (HTML, b"<html><img src='x'></html>".ljust(1000), "HTML, 1 kB: see .body"),
    "no words beside a code": (JSON, {"error": {}, "code": "A"}, "A: JSON, 26 B: see .body"),
    "HTML without words as JSON": (JSON, b" <html>", "HTML, 7 B: see .body"),
    "text without a label": ("", b"a < b\nmore", "a < b"),
    "a label in capitals": (" TEXT/plain ; charset=utf-8", b"\xef\xbb\xbf{a}\nb", "{a}"),
    "XML without words": (XML, b"<a/>", "XML, 4 B: see .body"),
    "JSON that is cut off": (JSON, b'{"message": "Wor', "JSON, 16 B: see .body"),
    "zeros": ("application/octet-stream", b"a\0b", "application/octet-stream, 3 B: see .body"),
    "nothing": (JSON, b"", "an empty body"),
}


@pytest.mark.parametrize(("kind", "body", "said"), SHAPES.values(), ids=SHAPES)
async def test_the_text_has_the_first_words_of_any_error_body(kind: str, body: Any, said: str) -> None:
    """The text of an error has the code and the words of a body in any usual shape, else its type and size."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    error = await error_of(httpx.Response(400, content=content, headers={"content-type": kind} if kind else {}))
    assert isinstance(error, APIStatusError)
    code = "" if error.code else "without a code: "
    assert str(error) == f"GET /itwins/myprimaryaccount: 400 {code}{said}"
    assert error.message is None or said.endswith(error.message)


CHALLENGE = 'Bearer realm="api", error="invalid_token", error_description="It expired"'
MOVED = "https://user:secret@login.example/a?state=secret#b"
#: Status, the value of the status's header, body, and the text after the status.
HEADERS: list[tuple[int, str, bytes, str]] = [
    (401, CHALLENGE, b"", "invalid_token: It expired"),
    (401, CHALLENGE, b'{"code":"A"}', "A: It expired"),
    (401, "Bearer error=insufficient_scope, a=b", b"", "without a code: insufficient_scope"),
    (401, 'Basic realm="a@b"', b"", 'without a code: WWW-Authenticate: Basic realm="a@b"'),
    (405, "GET, PATCH", b"", "without a code: Allow: GET, PATCH"),
    (405, "a\x85b", b"<title>No</title>", "without a code: No\n- Allow: a\\x85b"),
    (302, MOVED, b"<title>Found</title>", "without a code: Found\n- Location: https://login.example/a"),
    (302, "/a#access_token=b", b"", "without a code: Location: /a"),
    (302, "https://u:a/b@c.example/d", b"", "without a code: Location: ...@c.example/d"),
]


@pytest.mark.parametrize(("status", "value", "body", "said"), HEADERS)
async def test_the_text_has_the_header_of_a_status(status: int, value: str, body: bytes, said: str) -> None:
    """The text has the challenge of a 401, the methods of a 405, and the target of a redirect without its secrets."""
    name = {401: b"www-authenticate", 405: b"allow", 302: b"location"}[status]
    error = await error_of(httpx.Response(status, content=body, headers=[(name, value.encode("latin-1"))]))
    assert str(error) == f"GET /itwins/myprimaryaccount: {status} {said}"


FAILED = ("error", "errors", "message", "error_description", "errormessage", "detail", "title")
LOGIN = b"<!DOCTYPE html>\n<html><body><h1>Sign in</h1></body>" + b" " * 2000
NO_JSON, NO_ACCOUNT = "the body is not JSON", "the response has no ITwinSummary, which the specification requires"
#: Content type and body of a response with status 200, and why it cannot be used.
SUCCESSES: dict[str, tuple[str, bytes, str]] = {
    "a login page": (HTML, LOGIN, f"{NO_JSON} (HTML, 2 kB: Sign in)"),
    "nothing": (JSON, b"", f"{NO_JSON} (an empty body)"),
    "a text": ("text/plain", b"OK", f"{NO_JSON} (text/plain, 2 B: OK)"),
    "an error": (JSON, b'{"error": {"message": "Quota exceeded"}}', f"{NO_ACCOUNT} (JSON, 40 B: Quota exceeded)"),
    **{
        name: (JSON, b'{"%s": "Words"}' % name.encode(), f"{NO_ACCOUNT} (JSON, {13 + len(name)} B: Words)")
        for name in FAILED
    },
    "a list": (JSON, b'["planted"]', "an object was expected"),
    "null": (JSON, b"null", "an object was expected (JSON, 4 B)"),
    "another object": (JSON, b'{"value": ["a"], "eventTypes": ["b"]}', NO_ACCOUNT),
    "control characters": (HTML, b"<title>a&#10;\x9b\xc2\x9b</title>", f"{NO_JSON} (HTML, 24 B: a \ufffd\\x9b)"),
}


@pytest.mark.parametrize(("kind", "body", "said"), SUCCESSES.values(), ids=SUCCESSES)
async def test_the_text_describes_a_success_that_cannot_be_decoded(kind: str, body: bytes, said: str) -> None:
    """The text has the title of HTML or the words of an error, and no value of another object."""
    error = await error_of(httpx.Response(200, content=body, headers={"content-type": kind}))
    assert isinstance(error, ResponseDecodeError)
    assert str(error) == f"GET /itwins/myprimaryaccount: response with status 200: {said}"


@pytest.mark.parametrize("status", [200, 403])
async def test_a_token_in_words_of_another_shape_is_redacted(status: int) -> None:
    """A token in a body is redacted, also when its characters are HTML entities."""
    body = b"<title>planted-token&#x2F;of-30-characters</title>"
    error = await error_of(httpx.Response(status, content=body), token="planted-token/of-30-characters")
    assert "of-30-characters" not in str(error)
    assert "[redacted]" in str(error)
