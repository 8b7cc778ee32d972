"""Element types with lanes."""

from __future__ import annotations

import re

from ...errors import error

_FORM = re.compile(r"(bool|handle|(?:bfloat|float|uint|int)(\d+)(?:_[a-z0-9]+?)?)(?:x(\d+))?")


class DataType(str):
    """`float16`, `int8x4`, ...: equal to its text; `bits` of one lane."""

    bits: int
    lanes: int

    def __new__(cls, name: str) -> DataType:
        found = _FORM.fullmatch(str(name))
        if found is None:
            raise error(ValueError, f"unknown element type {name!r}", hint="for example 'float16' or 'int8x4'")
        made = str.__new__(cls, str(name))
        made.bits = int(found[2] or {"bool": 8, "handle": 64}[found[1]])
        made.lanes = int(found[3] or 1)
        return made

    @property
    def itemsize(self) -> int:
        """Bytes of all lanes."""
        return (self.bits * self.lanes + 7) // 8
