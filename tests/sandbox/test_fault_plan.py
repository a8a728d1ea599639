"""Which faults there are, and which request meets which."""

from typing import get_args

import pytest
from itwin_platform_sandbox import FAULTS, Fault, Sandbox
from itwin_platform_sandbox._faults.catalogue import FaultName
from itwin_platform_sandbox._faults.faulty_service import RESPONSE_CHANGES
from itwin_platform_sandbox._faults.plan import SEEN_FAULTS, FaultPlan, fault_from_text, fault_from_values, fault_values
from itwin_platform_sandbox._faults.scripted_responses import SCRIPTED_RESPONSES
from itwin_platform_sandbox._faults.wire import DELIVERIES

HANDLED_BY_NAME = {"refuse", "reset_before_effect", "token_expires", "max_return_refused"}


def test_every_fault_of_the_table_is_carried_out() -> None:
    """The table, the type of the names and the functions behind them have the same names."""
    assert set(get_args(FaultName)) == FAULTS.keys()
    assert HANDLED_BY_NAME | SCRIPTED_RESPONSES.keys() | RESPONSE_CHANGES.keys() | DELIVERIES.keys() == FAULTS.keys()
    assert {fault.name for fault in SEEN_FAULTS} <= FAULTS.keys()
    assert all(kind.does for kind in FAULTS.values())


def names_met(plan: FaultPlan, operations: list[str | None]) -> list[str | None]:
    """What each of these requests meets on delivery."""
    met = [plan.next_fault("deliver", operation, "success") for operation in operations]
    return [fault.name if fault else None for fault in met]


ANY: list[str | None] = ["list_itwins"] * 5


@pytest.mark.parametrize(
    ("faults", "operations", "met"),
    [
        (
            [Fault(name="empty", operation="create_scene", count=2)],
            ["list_itwins", "create_scene", None, "create_scene", "create_scene"],
            [None, "empty", None, "empty", None],
        ),
        (
            [Fault(name="empty"), Fault(name="null", count=2), Fault(name="list", skip=1)],
            *(ANY, ["empty", "null", "null", None, "list"]),
        ),
        ([Fault(name="stall", count=None, skip=2)], ANY, [None, None, "stall", "stall", "stall"]),
    ],
    ids=["as often as asked for, to its operation", "in the order in which they were added", "for ever, after some"],
)
def test_a_fault_happens_when_it_was_asked_for(
    faults: list[Fault], operations: list[str | None], met: list[str | None]
) -> None:
    """One request meets one fault of delivery; other operations pass and do not count, and clearing ends all."""
    plan = FaultPlan()
    for fault in faults:
        plan.add(fault)
    assert names_met(plan, operations) == met
    plan.clear()
    assert names_met(plan, ["list_itwins"]) == [None]


def test_a_fault_of_success_waits_for_a_success() -> None:
    """An error passes a fault that is for successful responses, and does not use it up."""
    plan = FaultPlan()
    plan.add(Fault(name="truncated_json"))
    assert plan.next_fault("deliver", "list_itwins", "error") is None
    assert plan.next_fault("deliver", "list_itwins", "success") is not None


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("stall", Fault(name="stall")),
        (
            "stall,operation=list_itwins,count=2,skip=1,seconds=0.5",
            Fault(name="stall", operation="list_itwins", count=2, skip=1, seconds=0.5),
        ),
        ("rate_limited,count=forever,retry_after=date", Fault(name="rate_limited", count=None, retry_after="date")),
    ],
)
def test_a_fault_is_written_on_the_command_line(text: str, fault: Fault) -> None:
    """name,field=value,... gives the same fault as the arguments do."""
    assert fault_from_text(text) == fault


@pytest.mark.parametrize("text", ["stall,seconds", "stall,=1", "stall,name=empty,x=1"])
def test_other_text_is_no_fault(text: str) -> None:
    """A field without value or of another name is rejected."""
    with pytest.raises(ValueError, match=r"\S"):
        fault_from_text(text)


def test_a_fault_survives_being_written_and_read() -> None:
    """What the control endpoint shows can be sent to it again."""
    fault = Fault(name="next_foreign", operation="list_itwins", count=None, skip=3, origin="http://other.example")
    assert fault_from_values(fault_values(fault)) == fault


def test_the_sandbox_shows_what_is_to_come() -> None:
    """faults lists what fault() has added, and clear_faults() removes it."""
    sandbox = Sandbox(itwins=1, objects=0)
    sandbox.fault("empty", operation="list_itwins", count=2)
    assert list(sandbox.faults) == [Fault(name="empty", operation="list_itwins", count=2)]
    sandbox.clear_faults()
    assert not sandbox.faults
    with pytest.raises(ValueError, match="not one of refuse, reset_before_effect"):
        sandbox.fault("explode")  # type: ignore[arg-type] # a name that the type does not allow
    with pytest.raises(ValueError, match=r"did you mean rate_limited\?"):
        sandbox.fault("rate_limit")  # type: ignore[arg-type] # the same
