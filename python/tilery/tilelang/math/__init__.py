"""Integer helpers."""

from __future__ import annotations

from ...core.checks import host_number


def cdiv(a: int, b: int) -> int:
    """a / b rounded up."""
    return -(-host_number(a) // host_number(b))  # numpy's unsigned numbers wrap around


def next_power_of_2(n: int) -> int:
    """The smallest power of two that is at least n."""
    return 1 << max(host_number(n) - 1, 0).bit_length()
