"""Launches that depend on each other (`launch_pdl=True`): each may begin while the one before it runs, on GPUs from Hopper on."""

from .....core.tile.value import native


def gdc_wait() -> None:
    """Waits for the launch before this one: where programs begin, if `launch_pdl=True` lets them begin beside it."""


def gdc_launch_dependents() -> None:
    """Lets the next launch begin beside this one, when all programs have begun, if it says `launch_pdl=True`."""
    native().kernel_hints({"launch_dependents": True})
