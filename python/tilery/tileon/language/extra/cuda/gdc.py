"""Launches that depend on each other: each begins when the one before it has ended."""


def gdc_wait() -> None:
    """Waits for the launch before this one, which has ended."""


def gdc_launch_dependents() -> None:
    """Lets the next launch begin; it does when this one has ended."""
