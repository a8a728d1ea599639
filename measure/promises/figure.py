"""Measured figures beside the promises that they must keep."""

from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A promise, the allowed and the measured value in words, and whether the promise holds."""

    promise: str
    allowed: str
    measured: str
    holds: bool


def at_most(promise: str, measured: float, allowed: float, *, unit: str = "") -> Figure:
    """Return a figure that holds if it is not larger than `allowed`."""
    return Figure(
        promise=promise,
        allowed=f"<= {allowed:g}{unit}",
        measured=f"{measured:.4g}{unit}",
        holds=measured <= allowed,
    )


def for_comparison(name: str, measured: float, *, unit: str = "") -> Figure:
    """Return a figure without a promise, for comparison with other figures."""
    return Figure(promise=name, allowed="", measured=f"{measured:.4g}{unit}", holds=True)


def not_measured(name: str, reason: str) -> Figure:
    """Return a figure that was not measured on this machine, with the reason."""
    return Figure(promise=name, allowed="", measured=f"not measured: {reason}", holds=True)


def exactly(promise: str, measured: int, allowed: int) -> Figure:
    """Return a count that holds if it equals `allowed`."""
    return Figure(promise=promise, allowed=f"{allowed:,}", measured=f"{measured:,}", holds=measured == allowed)


def print_figures(name: str, figures: Iterable[Figure], *, seconds: float) -> None:
    """Print a table that marks broken promises."""
    table = Table("promise", "allowed", "measured", "", title=f"{name}, {seconds:.0f} s")
    for figure in figures:
        kept = "holds" if figure.allowed else ""
        mark = kept if figure.holds else "[bold red]BROKEN[/]"
        table.add_row(figure.promise, figure.allowed, figure.measured, mark)
    Console(width=120).print(table)
