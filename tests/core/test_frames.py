"""Tracebacks of kernels' errors, in programs that run under plain Python."""

import traceback

import numpy as np
import pytest

import tilery
from tilery import ninetoothed, tilelang, tileon
from tilery.core import frames
from tilery.errors import Error, error
from tilery.ninetoothed import Tensor
from tilery.tilelang import language as T
from tilery.tileon import language as tl


@tileon.jit
def plain(x):
    tl.store(x, missing)  # noqa: F821


@tileon.autotune([tileon.Config({}, num_warps=n) for n in (1, 2)], key=[])
@tileon.jit
def tuned(x):
    tl.store(x, missing)  # noqa: F821


@ninetoothed.jit
def arranged(x: Tensor(1).tile((16,))):
    x = missing  # noqa: F821, F841


@tilelang.jit
def made(n):
    @T.prim_func
    def kernel(x: T.Tensor((n,), "float32")):
        with T.Kernel(1):
            x[0] = missing  # noqa: F821

    return kernel


CALLS = {
    "Tileon": (lambda x: plain[(1,)](x), 0),
    "an autotuner": (lambda x: tuned[(1,)](x), 2),
    "NineToothed": (lambda x: arranged(x), 2),
    "TileLang": (lambda x: made(16)(x), 2),
}


@pytest.mark.parametrize("call, most", CALLS.values(), ids=CALLS)
def test_few_frames_of_ours(call, most):
    """Those between the call and where it is handed on, none of what compiles; the error itself says where in the kernel."""
    with pytest.raises(NameError, match=r"(?s)test_frames\.py:\d+.*missing") as raised:
        call(np.zeros(16, np.float32))
    files = [frame.filename for frame in traceback.extract_tb(raised.value.__traceback__)]
    ours = [file for file in files if file.startswith(tuple(tilery.__path__))]
    assert len(ours) <= most and files[0] == __file__, files


def test_all_frames_where_they_are_asked_for(monkeypatch):
    monkeypatch.setenv("TRITON_FRONT_END_DEBUGGING", "1")
    with pytest.raises(NameError) as raised:
        plain[(1,)](np.zeros(32, np.float64))
    files = [frame.filename for frame in traceback.extract_tb(raised.value.__traceback__)]
    assert any(file.endswith("core/compile.py") for file in files)


def raised_by(function):
    try:
        function()
    except BaseException as wrong:
        return wrong


def names(trace):
    return [frame.name for frame in traceback.extract_tb(trace)]


def test_what_is_ours(monkeypatch):
    """Of an error that is none of Tilery's and comes from the user's own function, ours between are left out; of one of ours, all
    are."""

    def own():
        raise KeyError("x")

    def between():
        eval(compile("own()", tilery.__path__[0] + "/between.py", "eval"), {"own": own})

    assert names(frames.of_program(raised_by(between))) == ["raised_by", "between", "own"]
    inside = compile("1 / 0", tilery.__path__[0] + "/inside.py", "eval")
    assert names(frames.of_program(raised_by(lambda: eval(inside)))) == ["raised_by", "<lambda>", "<module>"]
    told = compile("fail()", tilery.__path__[0] + "/told.py", "eval")

    def fail():
        raise error(ValueError, "wrong")

    monkeypatch.setattr(frames, "_OWN", (*frames._OWN, __file__))
    wrong = raised_by(lambda: eval(told, {"fail": fail}))
    assert isinstance(wrong, Error) and frames.of_program(wrong) is None


def test_causes_that_say_the_same():
    def fail():
        try:
            raise error(ValueError, "inner")
        except Error as inner:
            inner.__traceback__ = None
            raise error(ValueError, "outer") from inner

    wrong = raised_by(fail)
    frames.of_program(wrong)
    assert wrong.__cause__ is None and wrong.__suppress_context__
