"""What messages call the classes of a kernel's values, and what they advise."""

from __future__ import annotations

import re
from typing import Any

from ...frontend.wording import did_you_mean

WORDS = {
    "Element": "an element",
    "Lanes": "a vector of elements",
    "LocalVar": "a T.alloc_var",
    "Memory": "a buffer",
    "Node": "an expression of sizes",
    "OneThread": "a condition on the thread's index",
    "Ramp": "a T.Ramp",
    "Region": "a slice of a buffer",
    "ThreadIndex": "the thread's index",
    "Val": "a run-time number",
    "Var": "a run-time size",
    "Vector": "a vector",
}

BY_ELEMENT = "work on its elements, as in `for i in T.Parallel(n): C[i] = A[i] + B[i]`"
_OPERATION = re.compile("unsupported operand|not supported between|bad operand|concatenate")
_MEMBERS = ("access_ptr", "data", "dtype", "ndim", "scope", "shape")


def index_hint(index: Any) -> str | None:
    """What may be wrong with an index that is no number."""
    if isinstance(index, tuple):
        named = "`with T.Kernel(m, n) as (bx, by)` or `for i, j in T.Parallel(m, n)`"
        return f"it holds several indices: give each a name, as in {named}"
    return "divide integers with //" if isinstance(index, float) else None


def hint_for(message: str) -> str | None:
    """Advice on what Python refuses to do with buffers and indices, by its message in these words."""
    if "values to unpack" in message:
        return "give each extent a name: `with T.Kernel(m, n) as (bx, by)`, `for i, j in T.Parallel(m, n)`"
    if re.search(r"a buffer\b(?! has)", message) and _OPERATION.search(message):
        return BY_ELEMENT
    unknown = re.search(r"^a buffer has no attribute '(\w+)'", message)
    if unknown is None:
        return None
    return did_you_mean(unknown[1], _MEMBERS) or "it has " + ", ".join(_MEMBERS)
