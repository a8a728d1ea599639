"""What an error says of a body that is not the platform's own: its first words, else its content type and size."""

import json
from typing import Any

import httpx
import pytest
from itwin_platform import APIStatusError, ResponseDecodeError

from tests.wrapper.client.conftest import error_of

JSON, XML, HTML = "application/json", "application/xml", "text/html"
SOAP = b"<s:Body><s:Fault><faultcode>s:Server</faultcode><faultstring>%s</faultstring></s:Fault></s:Body>"
SOAP_12 = b'<e:Code><e:Value>e:Sender</e:Value></e:Code><e:Reason><e:Text xml:lang="en">Words</e:Text></e:Reason>'
#: Content type, body and the first line of the text, by the convention or the service that writes it.
SHAPES: dict[str, tuple[str, Any, str]] = {
    "problem details": (
        "application/problem+json",
        {"title": "No credit", "detail": "It is 3."},
        "No credit: It is 3.",
    ),
    "problem with a title": (JSON, {"type": "about:blank", "title": "Bad Request", "status": 400}, "Bad Request"),
    "title twice": (JSON, {"title": "Bad Request", "detail": "Bad Request"}, "Bad Request"),
    "OAuth": (JSON, {"error": "invalid_token", "error_description": "It expired"}, "invalid_token: It expired"),
    "OAuth without words": (JSON, {"error": "invalid_grant"}, "invalid_grant"),
    "FastAPI": (JSON, {"detail": "Not Found"}, "Not Found"),
    "FastAPI, a list": (JSON, {"detail": [{"loc": ["query", "n"], "msg": "not an integer"}]}, "not an integer"),
    "FastAPI, an object": (JSON, {"detail": {"message": "Words"}}, "Words"),
    "Django": (JSON, {"email": ["Enter an address."]}, "email: Enter an address."),
    "Rails": (JSON, {"errors": {"name": ["can't be blank"]}}, "name: can't be blank"),
    "fields with strings": (JSON, {"errors": {"name": "is blank", "x": []}}, "name: is blank"),
    "Okta": (JSON, {"errorCode": "E0000011", "errorSummary": "Words", "errorCauses": []}, "E0000011: Words"),
    "Google without words": (JSON, {"error": {"errors": [{"reason": "r", "message": "Words"}], "code": 400}}, "Words"),
    "Laravel": (JSON, {"message": "", "exception": "NotFound", "trace": [{"line": 1}]}, "NotFound"),
    "Zendesk": (JSON, {"error": "RecordNotFound", "description": "Words"}, "Words"),
    "errors as strings": (JSON, {"errors": ["first", "second"]}, "first"),
    "GraphQL": (JSON, {"errors": [{"message": "Words", "path": ["a"]}]}, "Words"),
    "JSON:API": (JSON, {"errors": [{"status": "422", "title": "Invalid", "detail": "Short"}]}, "Invalid: Short"),
    "ASP.NET": (JSON, {"Message": "Words", "ExceptionMessage": "more"}, "Words"),
    "ASP.NET, validation": (JSON, {"title": "Two errors.", "errors": {"Name": ["required"]}}, "Two errors."),
    "OData": (JSON, {"error": {"code": "X", "message": {"lang": "en", "value": "Words"}}}, "X: Words"),
    "OData 3": (JSON, {"odata.error": {"code": "X", "message": {"value": "Words"}}}, "X: Words"),
    "Spring": (JSON, {"status": 404, "error": "Not Found", "message": "No item 7", "path": "/x"}, "No item 7"),
    "Spring without words": (JSON, {"status": 404, "error": "Not Found", "message": " "}, "Not Found"),
    "AWS": ("application/x-amz-json-1.1", {"__type": "a#Throttling", "Message": "Rate exceeded"}, "Rate exceeded"),
    "AWS, a type alone": (JSON, {"__type": "UnrecognizedClientException"}, "UnrecognizedClientException"),
    "AWS Lambda": (JSON, {"errorMessage": "Words", "errorType": "X"}, "Words"),
    "Azure API Management": (JSON, {"statusCode": 401, "message": "Words"}, "Words"),
    "Google": (JSON, {"error": {"code": 403, "message": "Denied", "status": "PERMISSION_DENIED"}}, "Denied"),
    "Google, a list": (JSON, [{"error": {"code": 403, "message": "Denied"}}], "Denied"),
    "Salesforce": (JSON, [{"message": "Words", "errorCode": "MALFORMED_ID"}], "MALFORMED_ID: Words"),
    "Apigee": (JSON, {"fault": {"faultstring": "Quota", "detail": {"errorcode": "x"}}}, "Quota"),
    "Intuit": (JSON, {"Fault": {"Error": [{"Message": "Words", "Detail": "d", "code": "610"}]}}, "610: Words"),
    "Elasticsearch": (JSON, {"error": {"root_cause": [], "type": "x", "reason": "no such index"}}, "no such index"),
    "CouchDB": (JSON, {"error": "not_found", "reason": "missing"}, "missing"),
    "Jira": (JSON, {"errorMessages": ["Words"], "errors": {}}, "Words"),
    "Slack": (JSON, {"ok": False, "error": "invalid_auth"}, "invalid_auth"),
    "NestJS": (JSON, {"message": ["first", "second"], "error": "Bad Request"}, "first"),
    "Cloudflare": (JSON, {"errors": [{"code": 1003, "message": "Words"}], "result": None}, "Words"),
    "FHIR": (JSON, {"resourceType": "OperationOutcome", "issue": [{"diagnostics": "Words"}]}, "Words"),
    "an envelope": (JSON, {"status": "error", "data": {"message": "Words"}}, "Words"),
    "a string": (JSON, "Words", "Words"),
    "an object by another name": (JSON, {"responseStatus": {"message": "Words"}, "status": "x"}, "Words"),
    "a list by another name": (JSON, {"violations": ["x", {"field": "f", "message": "Words"}]}, "Words"),
    "deep": (JSON, {"error": {"error": {"error": {"message": "Words"}}}}, "Words"),
    "too deep": (JSON, {"error": [[[[[[[{"message": "Words"}]]]]]]]}, "JSON, 45 B: see .body"),
    "S3": (XML, b"<?xml version='1.0'?><Error><Code>NoKey</Code><Message>Words</Message></Error>", "NoKey: Words"),
    "SOAP 1.1": ("text/xml", SOAP % b"Words", "Words"),
    "SOAP 1.2": ("application/soap+xml", SOAP_12, "Words"),
    "OGC": (XML, b"<o:Exception exceptionCode='x'><o:ExceptionText>Words</o:ExceptionText></o:Exception>", "Words"),
    "WMS": (XML, b"<Report><ServiceException code='x'>\nWords\n</ServiceException></Report>", "Words"),
    "WCF": (XML, b'<string xmlns="http://schemas.example">Words</string>', "Words"),
    "markup in CDATA": (XML, b"<e>\n<message>\n<![CDATA[a <b>\nc]]>\n</message></e>", "a <b> c"),
    "CDATA": (XML, b"<error><message><![CDATA[Words & more]]></message></error>", "Words & more"),
    "nginx": (HTML, b"<html>\r\n<head><title>502 Bad Gateway</title></head><center>x</center>", "502 Bad Gateway"),
    "a title in capitals": (
        HTML,
        b"<HTML><TITLE lang='en'>Access &amp; Rights\n denied</TITLE>",
        "Access & Rights denied",
    ),
    "HAProxy": (HTML, b"<html><body><h1>503 Service Unavailable</h1>\nNone.", "503 Service Unavailable"),
    "HTML without words": (HTML, b"<html><img src='x'></html>" + b" " * 2000, "HTML, 2 kB: see .body"),
    "XML without words": (XML, b"<a/>", "XML, 4 B: see .body"),
    "no words beside a code": (JSON, {"error": {}, "code": "A"}, "A: JSON, 26 B: see .body"),
    "HTML without words as JSON": (JSON, b" <html>", "HTML, 7 B: see .body"),
    "HTML that is labelled as JSON": (JSON, b"<title>Words</title>", "Words"),
    "text that is labelled as JSON": (JSON, b"upstream connect error", "upstream connect error"),
    "text that is labelled as HTML": (HTML, b"no healthy upstream", "no healthy upstream"),
    "text without a label": ("", b"a < b\nmore", "a < b"),
    "a number": ("", b"7", "7"),
    "text like HTML": ("text/plain", b" <a>\nb", "<a>"),
    "a label in capitals": (" TEXT/plain ; charset=utf-8", b"\xef\xbb\xbf{a}\nb", "{a}"),
    "JSON that is cut off": (JSON, b'{"message": "Wor', "JSON, 16 B: see .body"),
    "JSON without words": (JSON, {"a": {"b": 1}, "c": [], "d": [1]}, "JSON, 34 B: see .body"),
    "null": (JSON, None, "JSON, 4 B: see .body"),
    "no label": ("", b"[", "no content type, 1 B: see .body"),
    "an image": ("image/png", b"\x89PNG\r\n\x1a\n", "image/png, 8 B: see .body"),
    "zeros": ("application/octet-stream", b"a\0b", "application/octet-stream, 3 B: see .body"),
    "nothing": (JSON, b"", "an empty body"),
}


@pytest.mark.parametrize(("kind", "body", "said"), SHAPES.values(), ids=SHAPES)
async def test_the_first_words_of_any_error_body_are_said(kind: str, body: Any, said: str) -> None:
    """The code and the words, in any usual shape; without words, the content type and the size."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    error = await error_of(httpx.Response(400, content=content, headers={"content-type": kind} if kind else {}))
    assert isinstance(error, APIStatusError)
    code = "" if error.code else "without a code: "
    assert str(error) == f"GET /itwins/myprimaryaccount: 400 {code}{said}"
    assert error.message is None or said.endswith(error.message)


EXPIRED = 'Bearer realm="api", error="invalid_token", error_description="It expired"'
MOVED = "https://user:secret@login.example/a?state=secret#b"
NO_SCOPE = " without a code: insufficient_scope"
#: Status, headers, body, and what the text says after the status.
HEADERS: dict[str, tuple[int, dict[str, str], bytes, str]] = {
    "a challenge": (401, {"www-authenticate": EXPIRED}, b"", " invalid_token: It expired"),
    "a challenge without words": (
        401,
        {"www-authenticate": "Bearer"},
        b"",
        " without a code: WWW-Authenticate: Bearer",
    ),
    "a challenge and a body": (401, {"www-authenticate": EXPIRED}, b'{"code":"A","message":"B"}', " A: B"),
    "a challenge and a code": (401, {"www-authenticate": EXPIRED}, b'{"code":"A"}', " A: It expired"),
    "a challenge without quotes": (403, {"www-authenticate": "Bearer error=insufficient_scope, a=b"}, b"", NO_SCOPE),
    "methods": (405, {"allow": "GET, PATCH"}, b"", " without a code: Allow: GET, PATCH"),
    "methods and a body": (405, {"allow": "GET"}, b"<title>No</title>", " without a code: No\n- Allow: GET"),
    "another path": (307, {"location": "/login"}, b"", " without a code: Location: /login"),
    "another site": (
        *(302, {"location": MOVED}, b"<title>Found</title>"),
        " without a code: Found\n- Location: https://login.example/a",
    ),
    "a fragment": (302, {"location": "/a#access_token=b"}, b"", " without a code: Location: /a"),
    "a user with a slash": (
        302,
        {"location": "https://u:a/b@c.example/d"},
        b"",
        " without a code: Location: ...@c.example/d",
    ),
    "control characters": (405, {"allow": "a\x85b"}, b"x", " without a code: x\n- Allow: a\\x85b"),
}


@pytest.mark.parametrize(("status", "headers", "body", "said"), HEADERS.values(), ids=HEADERS)
async def test_headers_that_say_more_of_a_status_are_said(
    status: int, headers: dict[str, str], body: bytes, said: str
) -> None:
    """The challenge of a 401, the methods of a 405, and the target of a redirect without what may be confidential."""
    raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    error = await error_of(httpx.Response(status, content=body, headers=raw))
    assert str(error) == f"GET /itwins/myprimaryaccount: {status}{said}"


LOGIN = b"<!DOCTYPE html>\n<html><head><title>Sign in</title></head>" + b" " * 2000
NO_JSON, NO_ACCOUNT = "the body is not JSON", "the response has no ITwinSummary, which the specification requires"
#: Content type and body of a response with status 200, and why it cannot be used.
SUCCESSES: dict[str, tuple[str, bytes, str]] = {
    "a login page": (HTML, LOGIN, f"{NO_JSON} (HTML, 2 kB: Sign in)"),
    "a login page as JSON": (JSON, LOGIN, f"{NO_JSON} (HTML, 2 kB: Sign in)"),
    "nothing": (JSON, b"", f"{NO_JSON} (an empty body)"),
    "a text": ("text/plain", b"OK", f"{NO_JSON} (text/plain, 2 B: OK)"),
    "an error": (JSON, b'{"error": {"message": "Quota exceeded"}}', f"{NO_ACCOUNT} (JSON, 40 B: Quota exceeded)"),
    "an error as a string": (JSON, b'{"error": "Quota exceeded"}', f"{NO_ACCOUNT} (JSON, 27 B: Quota exceeded)"),
    "errors": (JSON, b'{"errors": [{"message": "x"}], "data": null}', f"{NO_ACCOUNT} (JSON, 44 B: x)"),
    "a string": (JSON, b'"x"', "an object was expected (JSON, 3 B: x)"),
    "null": (JSON, b"null", "an object was expected (JSON, 4 B)"),
    "another object": (JSON, b'{"value": ["a"], "eventTypes": ["b"]}', NO_ACCOUNT),
    "a list": (JSON, b'["a"]', "an object was expected"),
    "control characters": (HTML, b"<title>a&#10;\x9b\xc2\x9b</title>", f"{NO_JSON} (HTML, 24 B: a \ufffd\\x9b)"),
}


@pytest.mark.parametrize(("kind", "body", "said"), SUCCESSES.values(), ids=SUCCESSES)
async def test_a_success_that_cannot_be_used_says_what_came(kind: str, body: bytes, said: str) -> None:
    """HTML with its title, an empty body, and the words of an error; never a value of another object."""
    error = await error_of(httpx.Response(200, content=body, headers={"content-type": kind}))
    assert isinstance(error, ResponseDecodeError)
    assert str(error) == f"GET /itwins/myprimaryaccount: response with status 200: {said}"


@pytest.mark.parametrize("status", [200, 403])
async def test_a_token_in_words_of_another_shape_is_redacted(status: int) -> None:
    """A login page may repeat the token, and write its characters as entities."""
    body = b"<title>planted-token&#x2F;of-30-characters</title>"
    error = await error_of(httpx.Response(status, content=body), token="planted-token/of-30-characters")
    assert "of-30-characters" not in str(error)
    assert "[redacted]" in str(error)
