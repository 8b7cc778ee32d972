"""Operators with a wrong operand are named as the program writes them, on whichever side the value stands that knows why."""

import importlib.util
import sys

import pytest
import torch

from tilery import ninetoothed, tilelang, tileon  # noqa: F401 in the sources

ARITHMETIC = ["+", "-", "*", "/", "//", "%", "<<", ">>", "&", "|", "^"]
ORDER = ["<", "<=", ">", ">="]
HEAD = """
import torch

from tilery import ninetoothed, tilelang, tileon
from tilery.ninetoothed import Tensor, language as ntl
from tilery.tilelang import language as T
from tilery.tileon import language as tl
"""
SOURCES = {
    "tileon": """
@tileon.jit
def kernel(p, out):
    i = tl.program_id(0)
    y = {}
    tl.store(out, 1)

call = kernel[(1,)]
""",
    "ninetoothed": """
def arrangement(p, out):
    return p.tile((4,)), out.tile((4,))

def application(p, out):
    i = p + 1
    y = {}
    out = p

call = ninetoothed.make(arrangement, application, (Tensor(1), Tensor(1)))
""",
    "tilelang": """
@tilelang.jit
def make():
    @T.prim_func
    def kernel(p: T.Tensor((4,), "float32"), out: T.Tensor((4,), "float32")):
        with T.Kernel(2) as i:
            y = {}
            out[i] = 1

    return kernel

def call(*arguments):
    make()(*arguments)
""",
}


@pytest.fixture
def message(tmp_path, monkeypatch, request):
    """(language, expression) -> (what is wrong with it, the whole text)"""

    def run(language, expression, kind=TypeError):
        name = f"wrong_operator_{len(sys.modules)}"
        path = tmp_path / f"{name}.py"
        path.write_text(HEAD + SOURCES[language].format(expression))
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        with pytest.raises(kind) as caught:
            module.call(torch.zeros(4), torch.zeros(4))
        assert f"y = {expression}" in str(caught.value)
        return str(caught.value)

    return run


NO_TILES = [
    (op, other, expression)
    for op in ARITHMETIC + ORDER
    for other in ("None", "'a'", "[1]", "(1, 2)")
    for expression in ("{other} {op} i", "i {op} {other}")
    if (op, other, expression) != ("%", "'a'", "{other} {op} i")  # which formats the value
]


@pytest.mark.parametrize("language", ["tileon", "ninetoothed"])
@pytest.mark.parametrize("op, other, expression", NO_TILES)
def test_tiles_and_what_is_none(message, language, op, other, expression):
    text = message(language, expression.format(op=op, other=other))
    assert f"operator {op} takes tiles and numbers, got {other}" in text


@pytest.mark.parametrize("op", ORDER + ["==", "!="])
@pytest.mark.parametrize(
    "expression", ["0 {op} p", "p {op} 0", "p {op} i", "i {op} p", "tl.constexpr(0) {op} p", "-1 {op} p {op} i"]
)
def test_addresses(message, op, expression):
    assert f"operator {op} takes numbers, and `p` is the address of a tensor" in message("tileon", expression.format(op=op))


@pytest.mark.parametrize("op", ORDER + ["<<", "&", "@"])
def test_numbers_of_tilelang(message, op):
    between = f"'{op}' not supported between instances of" if op in ORDER else f"unsupported operand type(s) for {op}:"
    assert f"{between} a run-time number and 'NoneType'" in message("tilelang", f"i {op} None")
    assert f"{between} 'NoneType' and a run-time number" in message("tilelang", f"None {op} i")
    assert f"{between} 'tuple' and a run-time number" in message("tilelang", f"(1, 2) {op} i")


@pytest.mark.parametrize("op", ORDER + ["==", "!=", "+", "@"])
def test_buffers_of_tilelang(message, op):
    for expression in (f"0 {op} p", f"p {op} 0", f"p {op} i", f"i {op} p"):
        text = message("tilelang", expression)
        assert f" {op} compares" in text or f"'{op}'" in text or f"for {op}:" in text
        assert "hint: work on its elements" in text and "a buffer" in text


@pytest.mark.parametrize("expression", ["'a' + p", "(1,) + p", "[1] + i", "-p", "~p", "abs(p)", "min(p, i)"])
def test_no_class_of_ours_is_named(message, expression):
    text = message("tilelang", expression)
    assert ("a buffer" in text or "a run-time number" in text) and "Memory" not in text and "Val" not in text


@pytest.mark.parametrize("call", ["max(p, i)", "min(i, p)", "exp(p)", "pow(p, 2)", "bitwise_and(1, p)", "isnan(p)"])
def test_functions_of_numbers(message, call):
    text = message("tilelang", f"T.{call}")
    assert " takes numbers, got a buffer" in text and "hint: work on its elements" in text
    name, operands = call.split("(")
    assert f"T.{name} takes numbers, got None" in message("tilelang", f"T.{name}({operands.replace('p', 'None')}")


def test_what_python_has_operators_for(message):
    assert "hint: write dot(a, b)" in message("tileon", "i @ i")
    assert "hint: write dot(a, b)" in message("ninetoothed", "i @ 1")
    assert "hint: multiply, or write libdevice.pow(x, y)" in message("tileon", "i ** 2")


@pytest.mark.parametrize(
    "language, expression, text, hint",
    [
        ("tileon", "tl.zeros((4,), torch.float32)", "unknown element type torch.float32", "or its name: 'float32'"),
        ("tileon", "tl.zeros((4,), 'floot')", "unknown element type 'floot'", "known are bool, int8 to int64"),
        ("tileon", "tl.argmax(tl.arange(0, 4))", "argmax() missing 1 required", "its parameters: argmax("),
        ("tileon", "tl.arange(0, 4).dtyp", "'tensor' object has no attribute 'dtyp'", "did you mean dtype?"),
        ("ninetoothed", "p.shap", "has no attribute 'shap'", "did you mean shape?"),
        ("ninetoothed", "ntl.zeros((4,), torch.float16)", "unknown element type torch.float16", "or its name: 'float16'"),
    ],
)
def test_names_that_are_nearly_right(message, language, expression, text, hint):
    found = message(language, expression, Exception)
    assert text in found and hint in found and "<locals>" not in found


def test_layouts_are_a_dict(message):
    assert "T.annotate_layout takes a dict {buffer: layout}, got a buffer" in message("tilelang", "T.annotate_layout(p)")
