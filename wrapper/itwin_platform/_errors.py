"""The errors of the client, as one tree. Source: section 7.

PlatformError                     .method .route of the call, which its text begins with, and .path as it was sent
  |                               .correlation_id of the response, if one came
  |                               .resume continues a listing that failed, .collected has the items before it
  UsageError(ValueError)          rejected before sending: .argument .rule .code .target
    StateError                    a closed client or gate, or one of another event loop
  TransportError                  no response: .sent (whether the request can have had an effect) .attempts .scene_id
    NotSentError                  it certainly had none
    OutcomeUnknownError           it may have had one
    DeadlineExceededError         the deadline or the queue timeout passed
  TokenError                      the token provider failed, or returned no usable token
  PagingError                     a listing cannot be followed safely, or does not advance
  DeliveryError                   a webhook delivery whose signature or form is wrong
  ResponseDecodeError             a success that does not match the specification: .status .headers .body
    |                             .correlation_id .attempts
  APIStatusError                  a response with status 300 or above: .status .code .message .target .details .headers
    |                             .body .correlation_id .attempts .retryable .retry_after .retry_at
    BadRequestError               400
    AuthenticationError           401
    PermissionDeniedError         403
    NotFoundError                 404
    ConflictError                 409
    RequestTooLargeError          413
    UnprocessableError            422
    RateLimitError                429, of this call or of the call that started the cooldown: .tier .api .operation
    ServerError                   5xx

Each class has a `doc_url`: its section of the troubleshooting page.
"""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from itwin_platform_transport import RETRYABLE_STATUS_CODES, PlatformError, when_to_retry

from ._names import CORRELATION_ID, HEADERS

#: Most characters of the text of an error.
LONGEST_TEXT = 2048
#: Characters of an error's text that are reserved for the method and the route.
_LONGEST_CALL = 128
#: Characters that end a line, control a terminal, or change the direction of text.
_CONTROL = "[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]"
#: Most bytes of an error response that stay on the error.
KEPT = 65_536
#: Properties that hold an error object. These and all names below are compared in lower case.
_INNER = ("error", "odata.error", "fault", "exception")
#: Names of the message of an error, the most specific first: of the platform and most gateways, OAuth, SOAP, problem
#: details, FastAPI, Elasticsearch, FHIR, OGC and JSON:API; then names of elements in XML and HTML, and of envelopes.
_MESSAGES = (
    *("message", "error_description", "errormessage", "error_message", "errormsg", "errmsg", "faultstring", "msg"),
    *("errorsummary", "detail", "title", "text", "reason", "description", "diagnostics", "exceptiontext"),
    *("serviceexception", "exceptionmessage", "errormessages", "usermessage", "status_message", "error", "errors"),
    *("issue", "value", "h1", "h2", "p", "string", "data", "response", "result", "meta", "exception", "__type"),
)
#: Names that only an error object has: a success may have any of the others.
_OF_A_FAILURE = {*_INNER, "errors", "message", "error_description", "errormessage", "detail", "title"}
#: Names of the code of an error.
_CODES = ("code", "errorcode", "error_code")
#: Most nested containers, and most items of a list, that are searched for a message.
_DEEPEST, _MOST_ITEMS = 6, 10
#: A parameter of WWW-Authenticate, quoted or not.
_PARAMETER = r'(\w+)=(?:"([^"]*)"|([^\s",]+))'
#: An element of XML or HTML that contains only text.
_ELEMENT = r"<(?:[\w.-]+:)?([\w.-]+)(?:\s[^<>]*)?>(?:\s*<!\[CDATA\[((?:(?!\]\]>).){1,2048})\]\]>\s*|([^<>]+))</"


# Source: section 2.11.
@dataclass(frozen=True, slots=True)
class ErrorDetail:
    """One entry of an error's `details`; a property that the service omitted is None."""

    code: str | None = None
    message: str | None = None
    target: str | None = None

    def __str__(self) -> str:
        target = f" [{self.target}]" if self.target else ""
        return printable(f"{self.code or 'no code'}{target}: {self.message or 'no message'}")


class RateLimited:
    """The rate limit that response headers name."""

    __slots__ = ()
    headers: Mapping[str, str]

    @property
    def tier(self) -> str | None:
        """The tier of the limit; None when the service names none."""
        return HEADERS.limit_of(self.headers).tier

    @property
    def api(self) -> str | None:
        """The API of the limit; None when the service names none."""
        return HEADERS.limit_of(self.headers).api

    @property
    def operation(self) -> str | None:
        """The operation of the limit; None when the service names none."""
        return HEADERS.limit_of(self.headers).operation


class PagingError(PlatformError):
    """A listing that cannot be followed: a link leads to another operation, repeats, or does not advance."""


class DeliveryError(PlatformError):
    """A webhook delivery whose signature is missing or wrong, or whose body is not an event."""


class APIStatusError(PlatformError):
    """A response with a status of 300 or above. A property that its body omits is None or empty.

    Attributes:
        status: the HTTP status.
        code: equal to a member of `ErrorCode` or to its string; a code that is not documented is kept.
        message: the message of the service, or of a gateway before it, from JSON, text, XML or HTML.
        target: the property or parameter that is wrong.
        details: one entry for each rule that the request breaks.
        headers: the response headers, looked up without regard to case.
        body: the first 64 KiB of the body.
        attempts: the number of attempts; 0 if a cooldown or an open circuit breaker ended the call before the first.
        retry_after: the delay that the service asked for, in seconds.
        retry_at: when that delay ends.
    """

    def __init__(
        self,
        *,
        status: int,
        headers: Mapping[str, str],
        body: bytes,
        attempts: int,
        retry_after: float | None = None,
        retry_at: datetime | None = None,
        reason: str | None = None,
        hide: Callable[[str], str] = str,
    ) -> None:
        parsed = _parsed(headers, body)
        challenge = {name: a or b for name, a, b in re.findall(_PARAMETER, headers.get("www-authenticate", ""))}
        error = _error_object(parsed) or challenge
        message = _message(parsed) or _message(challenge)

        def text(value: object) -> str | None:
            if not isinstance(value, str):
                return None
            # JSON can hold a lone surrogate, which no log can encode.
            # The token is hidden again after JSON is parsed: the body can write its characters as escapes.
            return hide(value.encode("utf-8", "replace").decode())

        self.status = status
        self.code: str | None = text(_code(error))
        self.message: str | None = text(message)
        self.target: str | None = text(error.get("target"))
        self.details: tuple[ErrorDetail, ...] = _details(error.get("details"), text)
        self.headers = headers
        self.body: bytes = body[:KEPT]
        self.attempts = attempts
        self.retry_after = retry_after
        self.retry_at = retry_at
        self.correlation_id: str | None = headers.get(CORRELATION_ID)
        super().__init__(self._text(reason))

    @property
    def retryable(self) -> bool:
        """True when the same request may succeed later: 429, 502, 503 and 504."""
        return self.status in RETRYABLE_STATUS_CODES

    def _text(self, reason: str | None) -> str:
        advice = when_to_retry(self.retry_after, reason=reason)
        if self.status == 429:
            advice = f"rate limited: {advice}" if advice else "rate limited"
        header = _telling_header(self.status, self.headers)
        lines = [header] if header and self.message and self.status != 401 else []
        if advice is not None and not (self.code or self.message):
            summary, advice = f"{self.status} {advice}", None
        else:
            message = self.message or header or _form(self.headers, self.body) + (": see .body" if self.body else "")
            summary = f"{self.status} {self.code or 'without a code'}: {message}"
        # Each detail takes a line, so more of them never fit into the text.
        details = [f"- {detail}" for detail in (*map(printable, lines), *self.details[:LONGEST_TEXT])]
        return join_lines([printable(summary), *details], advice, correlation_id=self.correlation_id)


class BadRequestError(APIStatusError):
    """400: the body is not valid."""


class AuthenticationError(APIStatusError):
    """401: no valid token, a missing scope, or malformed headers."""


class PermissionDeniedError(APIStatusError):
    """403: the caller lacks the permission for the operation."""


class NotFoundError(APIStatusError):
    """404: the resource or the operation does not exist."""


class ConflictError(APIStatusError):
    """409: the name or id exists already."""


class RequestTooLargeError(APIStatusError):
    """413: the request body is too large."""


class UnprocessableError(APIStatusError):
    """422: the request breaks a rule, which `details` name."""


class RateLimitError(APIStatusError, RateLimited):
    """429: the call was rate limited, or may not wait for the end of a known cooldown."""


class ServerError(APIStatusError):
    """5xx: the service failed. 502, 503 and 504 usually pass by themselves."""


_BY_STATUS: dict[int, type[APIStatusError]] = {
    400: BadRequestError,
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    413: RequestTooLargeError,
    422: UnprocessableError,
    429: RateLimitError,
}


def status_error_class(status: int) -> type[APIStatusError]:
    """Return the class of a status: the one in the tree, ServerError for any other 5xx, else APIStatusError."""
    return _BY_STATUS.get(status, ServerError if status >= 500 else APIStatusError)


def _parsed(headers: Mapping[str, str], body: bytes) -> object:
    """Parse a body: JSON as its values, XML and HTML as the texts of their elements, other text as its first line."""
    with suppress(ValueError, RecursionError):
        parsed = json.loads(body)
        if parsed is None or isinstance(parsed, str | list | dict):
            return parsed
    text = body[:KEPT].decode("utf-8-sig", "replace").strip()
    if text.startswith("<") and (elements := re.findall(_ELEMENT, text, re.DOTALL)):
        from html import unescape

        return {name: " ".join((cdata or unescape(text)).split()) for name, cdata, text in reversed(elements)}
    is_text = _media_type(headers) == "text/plain" or not re.match(r'[<{\["]|.*[\0\ufffd]', text)
    return text.splitlines()[0] if text and is_text else None


def _lowered(value: dict[str, object]) -> dict[str, object]:
    return {name.lower(): item for name, item in value.items()}


def _message(value: object, depth: int = _DEEPEST) -> str | None:
    """Return the message of an error in a parsed body; None when there is none."""
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, list) and depth:
        return next(filter(None, (_message(item, depth - 1) for item in value[:_MOST_ITEMS])), None)
    if not isinstance(value, dict) or not depth:
        return None
    named = _lowered(value)
    names = [*(name for name in _INNER if not isinstance(named.get(name), str)), *_MESSAGES]
    message = next(filter(None, (_message(named.get(name), depth - 1) for name in names)), None)
    if message is None:
        # Objects under any other name.
        others = [item for item in named.values() if isinstance(item, dict | list)][:_MOST_ITEMS]
        objects = (item for other in others for item in (other if isinstance(other, list) else [other])[:_MOST_ITEMS])
        message = next(filter(None, (_message(item, depth - 1) for item in objects if isinstance(item, dict))), None)
    if message is None:
        # Messages under the names of the wrong fields, as Django and Rails write them.
        errors = named.get("errors")
        fields = (
            errors if isinstance(errors, dict) else {name: item for name, item in value.items() if type(item) is list}
        )
        firsts = ((name, item[0] if isinstance(item, list) and item else item) for name, item in fields.items())
        return next((f"{name}: {first}" for name, first in firsts if isinstance(first, str)), None)
    title = named.get("title")
    is_detail = message == named.get("detail") and message != title
    return f"{title}: {message}" if is_detail and isinstance(title, str) else message


def _error_object(parsed: object) -> Mapping[str, object]:
    """Return the innermost object that is an error, with its names in lower case."""
    error: Mapping[str, object] = {}
    for _ in range(_DEEPEST):
        if isinstance(parsed, list) and parsed:
            parsed = parsed[0]
        if isinstance(parsed, dict) and parsed:
            error = _lowered(parsed)
            parsed = next((error[name] for name in _INNER if isinstance(error.get(name), dict | list)), None)
    return error


def _code(error: Mapping[str, object]) -> object:
    code = next((error[name] for name in _CODES if isinstance(error.get(name), str)), None)
    # In OAuth, `error` is the code and `error_description` the message.
    return error.get("error") if code is None and "error_description" in error else code


def _details(value: object, text: Callable[[object], str | None]) -> tuple[ErrorDetail, ...]:
    items = [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
    return tuple(ErrorDetail(*(text(item.get(name)) for name in ("code", "message", "target"))) for item in items)


def _telling_header(status: int, headers: Mapping[str, str]) -> str | None:
    """Return the header that explains a status, with its name; None when there is none."""
    name = {401: "WWW-Authenticate", 405: "Allow"}.get(status, "Location" if status < 400 else "")
    value = headers.get(name.lower(), "")
    if name == "Location":  # its user information, its query and its fragment may be confidential
        value = re.sub("//[^/@]*@", "//", re.split("[?#]", value)[0])
        value = re.sub(".*@", "...@", value)  # a password with a slash
    return f"{name}: {value}" if value else None


def _media_type(headers: Mapping[str, str]) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def _form(headers: Mapping[str, str], body: bytes) -> str:
    """Describe a body without a message: its content type and its size."""
    if not body:
        return "an empty body"
    kind = _media_type(headers)
    name = kind.rpartition("/")[2].rpartition("+")[2].upper()
    if name == "JSON" and body.lstrip().startswith(b"<"):
        name = "HTML"  # a page of a proxy, labelled as the expected type
    name = name if name in ("HTML", "JSON", "XML") else kind or "no content type"
    return f"{name}, {len(body) // 1000:,} kB" if len(body) >= 1000 else f"{name}, {len(body)} B"


def described(headers: Mapping[str, str], body: bytes) -> str | None:
    """Describe the body of a success that is no JSON, or that holds the message of an error; None for any other."""
    parsed, is_json = _parsed(headers, body), not body.lstrip().startswith(b"<")
    if is_json and isinstance(parsed, dict):
        parsed = {name: item for name, item in parsed.items() if name.lower() in _OF_A_FAILURE}
    message = None if isinstance(parsed, list) else _message(parsed)
    if message is None and is_json and isinstance(parsed, dict | list):
        return None
    return _form(headers, body) + (f": {message}" if message else "")


def printable(text: str) -> str:
    """Escape control characters, so that a service cannot forge a line of a log, and cut long text."""
    return re.sub(_CONTROL, lambda character: ascii(character[0])[1:-1], text[:LONGEST_TEXT])


def join_lines(lines: list[str], advice: str | None, *, correlation_id: str | None) -> str:
    """Join lines from the service, the advice to retry and the correlation id. Long lines of the service are cut."""
    ours = [] if advice is None else [f"- {advice}"]
    if correlation_id:
        ours.append(f"- correlation id {printable(correlation_id[:200])}")
    text, longest = "\n".join(lines), LONGEST_TEXT - _LONGEST_CALL - len("\n".join(ours))
    return "\n".join([text if len(text) <= longest else text[: longest - 3] + "...", *ours])
