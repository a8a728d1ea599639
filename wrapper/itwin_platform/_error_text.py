"""The words of errors: short, and safe to write to a log."""

import math
import re

#: The most characters of the text of an error.
LONGEST_TEXT = 2048
#: Characters that end a line, steer a terminal, or turn the direction of a line.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """Escape control characters, so that the words of a service cannot forge a line of a log; cut what is very long."""
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], text[:LONGEST_TEXT])


def in_seconds(seconds: float) -> str:
    """Write a duration for people: whole seconds from 10 on, rounded up, two digits below."""
    return f"{math.ceil(seconds)} s" if seconds > 9.9 else f"{seconds:.2g} s"


def counted(count: int, noun: str) -> str:
    """Write a count with its noun in the right number."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def sent_so_far(count: int) -> str:
    """Tell how many requests were sent."""
    return f"{counted(count, 'request')} {'was' if count == 1 else 'were'} sent" if count else "nothing was sent"


def when_to_retry(*, is_rate_limit: bool, retry_after: float | None, reason: str | None) -> str | None:
    """Tell when to retry, and why the client did not; None when neither is known.

    Args:
        is_rate_limit: whether the status is 429.
        retry_after: the delay that the service asks for, in seconds.
        reason: why the client did not retry.
    """
    if retry_after is not None:
        advice = f"retry in {in_seconds(retry_after)}" + (f" ({reason})" if reason else "")
    elif reason:
        advice = f"not retried: {reason}"
    else:
        return "rate limited" if is_rate_limit else None
    return f"rate limited: {advice}" if is_rate_limit else advice


def join_lines(said: list[str], advice: str | None, *, correlation_id: str | None) -> str:
    """Join what the service said with when to retry and what to tell support; what is too long is cut of the former."""
    ours = [] if advice is None else [f"- {advice}"]
    if correlation_id:
        ours.append(f"- correlation id {printable(correlation_id[:200])}")
    words, room = "\n".join(said), LONGEST_TEXT - sum(len(line) + 1 for line in ours)
    return "\n".join([words if len(words) <= room else words[: room - 3] + "...", *ours])
