"""Run clients of other teams against the sandbox, by the specification and as observed, and print a table."""

from pathlib import Path

from .hand_written import hand_written
from .itwins_client import itwins_client, itwins_client_in_a_page


async def check(node: Path | None) -> bool:
    """Run every client and print a table; without `node` only the hand-written requests."""
    clean = True
    for as_seen in (False, True):
        rows = await hand_written(as_seen=as_seen)
        if node is not None:
            rows = [
                *await itwins_client(node, as_seen=as_seen),
                *await itwins_client_in_a_page(node, as_seen=as_seen),
                *rows,
            ]
        print(f"Clients of other teams, sandbox {'as seen' if as_seen else 'by the specification'}:")
        for client, call, result, good in rows:
            print(f"  {'ok' if good else 'WRONG':<6}{client:<32}{call:<42}{result}")
            clean = clean and good
    return clean
