"""What processors have beside NEON: dot products of bytes, with and without signs, and atomic updates of one instruction."""

import pytest
from aarch64 import launches
from aarch64.machine import IS_HERE, MISSING
from programs import frame
from programs.frame import Argument

pytestmark = pytest.mark.skipif(not IS_HERE, reason=MISSING)


@pytest.fixture(scope="module")
def machine():
    with launches.there("aarch64-dotprod") as machine:
        yield machine


def agrees(kernel, machine, *arguments):
    calls = machine.calls
    outcome = frame.run(frame.Program("aarch64", 1, f"from aarch64.kernels import {kernel} as launch\n", arguments))
    assert outcome.kind == "agrees", outcome
    assert machine.calls > calls, "it ran here"


@pytest.mark.parametrize("a", ["int8", "uint8"])
@pytest.mark.parametrize("b", ["int8", "uint8"])
@pytest.mark.parametrize("shape", [(90, 70, 133), (3, 32, 64)])
def test_bytes(a, b, shape, machine):
    m, n, k = shape
    arguments = Argument("a", (m, k), a, "any"), Argument("b", (k, n), b, "any"), Argument("c", (m, n), "int32", "none")
    agrees("bytes_product", machine, *arguments)


def test_updates(machine):
    results = Argument("counts", (40,), "int32", "none"), Argument("greatest", (4,), "int32", "none")
    agrees("updates", machine, Argument("x", (1000,), "int32", "below:40"), *results)
