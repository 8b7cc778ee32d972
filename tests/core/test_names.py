"""Names that programs get wrong are refused with those that may be meant."""

import inspect
import types

import pytest

from tilery.core import names
from tilery.frontend.wording import did_you_mean


@names.takes_options
def decorate(function=None, *, num_warps=4, num_stages=3, _own=None):
    """A text."""
    return function, num_warps, num_stages


class Config:
    @names.takes_options
    def __init__(self, values, num_warps=4):
        self.values = values, num_warps


def test_options():
    assert decorate(1, num_stages=2) == (1, 4, 2) and decorate.__doc__ == "A text."
    assert [*inspect.signature(decorate).parameters] == ["function", "num_warps", "num_stages", "_own"]
    with pytest.raises(TypeError, match=r"^decorate\(\) got an unexpected .*'num_warp'\n  hint: did you mean num_warps\?$"):
        decorate(num_warp=8)
    with pytest.raises(TypeError, match=r"'x'\n  hint: its options: function, num_stages, num_warps$"):
        decorate(x=8)
    assert Config(1, num_warps=2).values == (1, 2)
    with pytest.raises(TypeError, match=r"^Config\(\) got .* 'num_wraps'\n  hint: did you mean num_warps\?"):
        Config({}, num_wraps=2)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        Config()


def test_attributes_of_modules(monkeypatch):
    module = types.ModuleType("some_module")
    module.__all__ = ["compile", "jit"]
    monkeypatch.setitem(names.sys.modules, "some_module", module)
    assert str(names.no_attribute("some_module", "compil")).endswith("'compil'\n  hint: did you mean compile?")
    assert str(names.no_attribute("some_module", "zzz")) == "module 'some_module' has no attribute 'zzz'"
    assert type(names.no_attribute("some_module", "__path__")) is AttributeError


def test_did_you_mean():
    known = ["alloc_shared", "alloc_fragment", "T", "copy"]
    assert did_you_mean("aloc_shared", known) == "did you mean alloc_shared?"
    assert did_you_mean("ALLOC_SHARED", known, "T.{}".format) == "did you mean T.alloc_shared?"
    for both in (["Parallel", "parallel"], ["parallel", "Parallel"]):
        for name in both:
            assert did_you_mean(name.replace("ll", "l"), both) == f"did you mean {name}?"
    assert did_you_mean("silu", ["Serial", "ceildiv"]) is None
    assert did_you_mean("to", known) is None and did_you_mean("zzz", known) is None and did_you_mean("x", []) is None
