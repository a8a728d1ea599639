"""The words of errors: short, and safe to write to a log."""

import re
from datetime import datetime

#: The most characters of the text of an error.
LONGEST_TEXT = 2048
#: Characters that end a line, steer a terminal, or turn the direction of a line.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """Escape control characters, so that the words of a service cannot forge a line of a log; cut what is very long."""
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], text[:LONGEST_TEXT])


def join_lines(
    said: list[str], retry_after: float | None, retry_at: datetime | None, *, correlation_id: str | None
) -> str:
    """Join what the service said with when to retry and what to tell support; what is too long is cut of the former."""
    ours = []
    if retry_at is not None:
        ours.append(f"- wait {retry_after:g} s, until {retry_at.isoformat(timespec='seconds')}")
    if correlation_id:
        ours.append(f"- correlation id {printable(correlation_id[:200])}")
    words, room = "\n".join(said), LONGEST_TEXT - sum(len(line) + 1 for line in ours)
    return "\n".join([words if len(words) <= room else words[: room - 3] + "...", *ours])
