"""Kernels of all three languages, compiled as bundles for AArch64 and run under qemu, against the interpreter's bounds."""

import pytest
from aarch64 import launches
from aarch64.machine import IS_HERE, MISSING
from programs import frame
from programs.frame import Argument

pytestmark = pytest.mark.skipif(not IS_HERE, reason=MISSING)


@pytest.fixture(scope="module")
def machine():
    with launches.there() as machine:
        yield machine


def given(name, shape, dtype="float32", fill="normal", **more):
    return Argument(name, shape, dtype, fill, **more)


def out(name, shape, dtype="float32"):
    return Argument(name, shape, dtype, "none")


def product(dtype, total, m=45, n=70, k=83):
    return given("a", (m, k), dtype), given("b", (k, n), dtype), out("c", (m, n), total)


CASES = {
    "add": (given("x", (1003,)), given("y", (1003,)), out("out", (1003,))),
    "add float64": (given("x", (1003,), "float64"), given("y", (1003,), "float64"), out("out", (1003,), "float64")),
    "add int8": (given("x", (1003,), "int8", "any"), given("y", (1003,), "int8", "any"), out("out", (1003,), "int8")),
    "mathematics": (given("x", (1500,), "int32", "any"), out("out", (12, 1500))),
    "mathematics float64": (given("x", (1500,), "int64", "any"), out("out", (12, 1500), "float64")),
    "softmax": (given("x", (5, 201)), out("out", (5, 201))),
    "layer_norm": (given("x", (7, 157), "float16"), given("w", (157,)), given("b", (157,)), out("out", (7, 157), "float16")),
    "matmul": product("float32", "float32"),
    "matmul float64": product("float64", "float64"),
    "matmul float16": product("float16", "float16"),
    "matmul bfloat16": product("bfloat16", "float32"),
    "matmul int8": (given("a", (45, 83), "int8", "any"), given("b", (83, 70), "int8", "any"), out("c", (45, 70), "int32")),
    "matmul of one row": product("float32", "float32", m=1),
    "scan": (given("x", (6, 117)), out("sums", (6, 117)), out("products", (6, 117))),
    "sort": (given("x", (768,)), out("up", (768,)), out("down", (768,))),
    "sort int16": (given("x", (512,), "int16", "any"), out("up", (512,), "int16"), out("down", (512,), "int16")),
    "extremes": (
        given("x", (9, 101), "int32", "small"),
        *(out(name, (9,), "int32") for name in ("greatest", "where", "least", "any")),
    ),
    "histogram": (given("x", (1000,), "int32", "below:40"), out("counts", (40,), "int32"), out("greatest", (4,), "int32")),
    "float_atomics": (given("x", (512,), "float32", "small"), out("total", (64,)), out("turns", (2,), "int32")),
    "gather": (given("x", (300,), "float16"), given("index", (450,), "int64", "below:300"), out("out", (450,), "float16")),
    "convert int32 to bfloat16": (given("x", (2000,), "int32", "any"), out("out", (2000,), "bfloat16")),
    "convert float32 to uint8": (given("x", (2000,), "float32", "positive"), out("out", (2000,), "uint8")),
    "convert_bits to float16": (given("x", (2000,), "int32", "any"), out("out", (2000,), "float16")),
    "convert_bits to bfloat16": (given("x", (2000,), "int32", "any"), out("out", (2000,), "bfloat16")),
    "convert_bits to float8": (given("x", (2000,), "int32", "any"), out("out", (2000,), "float8_e4m3fn")),
    "convert_bits of float16": (given("x", (2000,), "int16", "any"), out("out", (2000,), "float64")),
    "convert_bits of float64": (given("x", (2000,), "int64", "any"), out("out", (2000,), "float16")),
    "convert_bfloat16_bits": (given("x", (2000,), "int16", "any"), out("out", (2000,))),
    **{
        f"integers {name}": (given("x", (500,), name, "any"), given("y", (500,), name, "any"), out("out", (5, 500), name))
        for name in ("int8", "int16", "int32", "int64")
    },
    "half": (given("x", (500,), "float16"), given("y", (500,), "float16"), out("out", (4, 500), "float16")),
    "half bfloat16": (given("x", (500,), "bfloat16"), given("y", (500,), "bfloat16"), out("out", (4, 500), "bfloat16")),
    "collatz": (given("x", (30,), "int32", "below:1000"), out("steps", (30,), "int32")),
    "turned": (given("x", (64, 32), "float16"), out("out", (32, 64), "float16")),
    "gemm": (given("a", (70, 90), "float16"), given("b", (90, 50), "float16"), out("c", (70, 50))),
    "gauss": (given("x", (37, 85)), given("y", (37, 85)), out("out", (37, 85))),
}


@pytest.mark.parametrize("case", CASES)
def test_kernel(case, machine):
    kernel, calls = case.split()[0], machine.calls
    outcome = frame.run(frame.Program("aarch64", len(case), f"from aarch64.kernels import {kernel} as launch\n", CASES[case]))
    assert outcome.kind == "agrees", outcome
    assert machine.calls > calls, "it ran here"
