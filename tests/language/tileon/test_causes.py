"""The classes and causes of errors, as programs written for upstream catch them."""

import pickle
import re
import traceback

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl
from tilery.tileon.compiler.errors import CompilationError, CompileTimeAssertionFailure, UnsupportedLanguageConstruct


@tileon.jit
def bad_axis(x_ptr):
    tl.store(x_ptr, tl.sum(tl.expand_dims(tl.arange(0, 4), 3)))


@tileon.jit
def calls_bad_axis(x_ptr):
    tl.store(x_ptr, 0.0)
    bad_axis(x_ptr)


@tileon.jit
def undefined(x_ptr):
    tl.store(x_ptr, nothing)  # noqa: F821


@tileon.jit
def negated_tuple(x_ptr):
    tl.store(x_ptr, -(0, 0))


@tileon.jit
def asserts(x_ptr, N: tl.constexpr = 3):
    tl.static_assert(N == 4, "N is four")


@tileon.jit
def tries(x_ptr):
    try:
        tl.store(x_ptr, 0.0)
    finally:
        pass


@tileon.jit(do_not_specialize=["N"])
def contradicts(x_ptr, N: tl.constexpr):
    tl.store(x_ptr, N)


def raised(kernel, *arguments):
    with pytest.raises(CompilationError) as caught:
        kernel[(1,)](torch.zeros(4), *arguments)
    return caught.value


def test_functions_of_tl_are_causes(device):
    wrong = raised(bad_axis)
    assert isinstance(wrong, ValueError) and isinstance(wrong, tileon.TritonError)
    assert type(wrong.__cause__) is ValueError and "invalid axis 3" in str(wrong.__cause__)
    assert wrong.error_message == str(wrong.__cause__)
    assert traceback.extract_tb(wrong.__cause__.__traceback__)[-1].filename == tl.core.__file__
    first, *_, last = str(wrong).splitlines()
    assert first.endswith(": at 2:27: in `bad_axis`") and last == wrong.error_message


def test_calls_are_a_chain(device):
    outer = raised(calls_bad_axis)
    inner = outer.__cause__
    assert isinstance(inner, CompilationError) and type(inner.__cause__) is ValueError
    places = ["at 2:27: in `bad_axis`", "at 3:4: in `calls_bad_axis`"]
    assert re.findall(r"at \d+:\d+: .*", str(inner)) == places[:1] and re.findall(r"at \d+:\d+: .*", str(outer)) == places


@pytest.mark.parametrize("kernel, kind", [(undefined, NameError), (negated_tuple, TypeError)])
def test_what_python_finds_has_no_cause(device, kernel, kind):
    wrong = raised(kernel)
    assert isinstance(wrong, kind) and wrong.__cause__ is None


def test_classes(device):
    wrong = raised(asserts)
    assert isinstance(wrong, CompileTimeAssertionFailure) and isinstance(wrong, AssertionError) and wrong.__cause__ is None
    assert isinstance(raised(tries), UnsupportedLanguageConstruct)
    assert "N marked as constexpr and listed in do_not_specialize" in str(raised(contradicts, 5))


@pytest.mark.parametrize("kernel", [bad_axis, asserts, undefined])
def test_pickled(device, kernel):
    wrong = raised(kernel)
    again = pickle.loads(pickle.dumps(wrong))
    assert type(again) is type(wrong) and str(again) == str(wrong)


def test_gluon_is_refused_by_name():
    import importlib

    for name in ("tilery.tileon.experimental.gluon", "tilery.tileon.experimental.gluon.language"):
        with pytest.raises(ModuleNotFoundError, match="Gluon's programs are not taken") as caught:
            importlib.import_module(name)
        assert "triton.language" in str(caught.value)
    import tilery.triton  # noqa: F401

    with pytest.raises(ModuleNotFoundError, match="Gluon's programs are not taken"):
        from tilery.triton.experimental import gluon  # noqa: F401
