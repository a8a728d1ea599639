"""The parser of the engine and that of httpx, h11, read the same responses."""

from measure.promises.parsing import Messages, compared
from tests.support.examples import examples


async def test_no_response_is_read_differently() -> None:
    """The two parsers agree on a response that both accept, and a rejection by one of them has a known reason."""
    made = Messages(seed=11)
    found, unknown = await compared(made.segments() for _ in range(examples(800)))
    assert unknown == []
    assert found["accepted by both"] > examples(250)
