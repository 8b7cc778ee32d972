"""What messages call the classes of a kernel's values."""

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
