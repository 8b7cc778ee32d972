"""Helpers that the tests import."""

FACTOR = 11


def clamp(x, lo, hi):
    if x < lo:
        return lo + x * 0
    return min(x, hi)


def scaled(x):
    return x * FACTOR


def endless(a, b):
    if a < b:
        return endless(a + 1, b)
    return a


def power(x, n):
    return 1 if n == 0 else x * power(x, n - 1)


def broken(x):
    return x + missing  # noqa: F821
