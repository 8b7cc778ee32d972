"""What NineToothed programs may set in vain (core/ignored.py)."""

from ..core.ignored import Option

# {function: {option: why}}
ROWS: dict[str, dict[str, Option]] = {}
