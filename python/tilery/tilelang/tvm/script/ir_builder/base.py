"""What loops are before they are entered."""

from ....tracing.loops import Iteration as IRBuilderFrame

__all__ = ["IRBuilderFrame"]
