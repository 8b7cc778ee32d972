"""Frames of upstream's builder, which are loops here."""

from ....tracing.loops import Iteration, Serial

__all__ = ["IRBuilderFrame"]


class _Frame(type):
    def __instancecheck__(cls, value: object) -> bool:
        stepped = isinstance(value, Serial) and not (isinstance(value.step, int) and value.step == 1)
        return isinstance(value, Iteration) and not stepped


class IRBuilderFrame(metaclass=_Frame):
    """What upstream's builder enters for a loop; loops with steps are objects of their own."""
