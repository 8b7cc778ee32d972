"""The digest changes with everything a function reads, and only then."""

import types

import pytest

from tilery.frontend.fingerprint import fingerprint, watched

SOURCE = """
import config
SCALE = {scale}
TABLE = [1, {{"k": {entry}}}]
def helper(x):
    return x * {factor}
def make(offset):
    def kernel(a, b={default}):
        return helper(a) + SCALE + config.BLOCK + offset + TABLE[0]
    return kernel
kernel = make({offset})
"""
BASE = dict(scale=3, entry=1, factor=2, default=4, offset=5, block=6)


def digest(**changes):
    values = {**BASE, **changes}
    config = types.ModuleType("config")
    config.BLOCK, config.UNUSED = values["block"], object()
    space = {"__name__": "program"}
    source = SOURCE.format(**values).replace("import config\n", "\n")
    space["config"] = config
    exec(compile(source, "program.py", "exec"), space)
    return fingerprint(space["kernel"])


def test_equal_programs_have_equal_digests():
    assert digest() == digest() is not None


@pytest.mark.parametrize("change", [{k: 99} for k in BASE])
def test_every_value_read_counts(change):
    assert digest(**change) != digest()


def test_types_of_constants_count():
    assert digest(scale="3") != digest(scale="3.0") and fingerprint(digest, 1) != fingerprint(digest, True)


def test_recursion_and_lines():
    space = {}
    exec("def f(n):\n    return g(n)\ndef g(n):\n    return f(n - 1) if n else 0\n", space)
    first = fingerprint(space["f"])
    exec("\ndef f(n):\n    return g(n)\ndef g(n):\n    return f(n - 1) if n else 0\n", space)
    assert first and fingerprint(space["f"]) != first


def test_gives_up_on_what_it_cannot_describe():
    thing = object()

    def f(n):
        return n, thing

    assert fingerprint(f) is None


def test_passing_values_are_not_taken_for_each_other():
    class Fresh:
        """Gives a new object each time it is asked, at an address that may have been another's."""

        def __init__(self, name):
            self.name = name

        @property
        def __tile_digest__(self):
            return (self.name, [self.name])

    digests = {fingerprint(digest, [Fresh("a"), Fresh(name)]) for name in "abcdef"}
    assert len(digests) == 6


def test_watched_globals():
    config = types.ModuleType("config")
    config.BLOCK = 6
    space = {"__name__": "program", "config": config}
    exec("SCALE = 3\nOTHER = 1\ndef g(x):\n    return x * SCALE\ndef f(x):\n    return g(x) + config.BLOCK + len([])\n", space)
    found = {(name, value) for _, name, value in watched(space["f"])}
    assert found == {("SCALE", 3), ("g", space["g"]), ("BLOCK", 6)}
    assert all(namespace[name] is value for namespace, name, value in watched(space["f"]))
