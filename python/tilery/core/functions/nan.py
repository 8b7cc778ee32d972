"""What minimum and maximum make of a NaN."""

import enum


class PropagateNan(enum.Enum):
    """Whether a NaN wins or loses against a number."""

    NONE = 0
    ALL = 0xFFFF
