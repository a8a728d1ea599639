"""The words of errors: short, and safe to write to a log."""

import re

#: The most characters of the text of an error.
LONGEST_TEXT = 2048
#: Characters that end a line, steer a terminal, or turn the direction of a line.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """Escape control characters, so that the words of a service cannot forge a line of a log; cut what is very long."""
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], text[:LONGEST_TEXT])


def cut_text(said: list[str], ours: list[str]) -> str:
    """Join lines, the service's first; when they are too long, its words are cut and ours are kept."""
    words, room = "\n".join(said), LONGEST_TEXT - sum(len(line) + 1 for line in ours)
    return "\n".join([words if len(words) <= room else words[: room - 3] + "...", *ours])
