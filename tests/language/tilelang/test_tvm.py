"""What programs use of upstream's compiler library."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T
from tilery.tilelang import tvm


@T.prim_func
def one(A: T.Tensor((4,), "float32")):
    with T.Kernel(4, threads=1) as i:
        A[i] = tvm.tirx.const(1.5, "float32") + tvm.tirx.floormod(i, 2)


def test_targets():
    target = tvm.target.Target("cuda -arch=sm_90a")
    assert target.kind.name == "cuda" and target.arch == "sm_90a"
    assert target == tvm.target.Target({"kind": "cuda", "arch": "sm_90a"})
    assert tvm.target.Target.current() is None
    with target, tvm.target.Target("llvm") as inner, tvm.transform.PassContext(opt_level=3, config={"tl.simplify": True}):
        assert tvm.target.Target.current() is inner
        a = np.zeros(4, np.float32)
        tilelang.compile(one, target=target)(a)
    assert tvm.target.Target.current() is None and a.tolist() == [1.5, 2.5, 1.5, 2.5]
    with pytest.raises(ValueError, match="unknown target 'fpga -fast'"):
        tvm.target.Target("fpga -fast")
    with pytest.raises(ValueError, match="there is no current target"):
        tvm.target.Target.current(allow_none=False)


def test_element_types():
    types = {"float16": (16, 1), "int8x4": (8, 4), "float8_e4m3fn": (8, 1), "bfloat16x2": (16, 2), "bool": (8, 1), "int4": (4, 1)}
    for name, (bits, lanes) in types.items():
        kind = tvm.DataType(name)
        assert kind == name and (kind.bits, kind.lanes) == (bits, lanes) and kind.itemsize == max(1, bits * lanes // 8)
    with pytest.raises(ValueError, match="unknown element type 'real'"):
        tvm.DataType("real")


def test_modules_and_values():
    named = one.with_attr("global_symbol", "two").with_attr({"target": "c"})
    module = tvm.IRModule.from_expr(named)
    assert module["two"] is named and isinstance(named, tvm.tirx.PrimFunc) and len(module) == 1
    assert named.attrs["target"] == "c" and "tile.kernel @two" in named.script() and one.attrs == {"global_symbol": "one"}
    assert tvm.tirx.const(3, "int32") == 3 and type(tvm.tirx.const(3, "float16")) is float
    n = tvm.tirx.Var("n", "int32")
    assert isinstance(n, tvm.tirx.PrimExpr) and repr(tvm.tirx.floordiv(n, 2)) == "(n // 2)" and tvm.tirx.min(3, 2) == 2


def test_what_is_not_there_says_why():
    for ask, name in ((lambda: tvm.arith, "tvm.arith"), (lambda: tvm.tirx.Block, "tvm.tirx.Block")):
        with pytest.raises(AttributeError, match=f"{name} is not supported\n  hint: passes and IR objects of upstream"):
            ask()
    with pytest.raises(NotImplementedError, match="instruments"):
        tvm.transform.PassContext(instruments=[one])


def test_under_its_own_name():
    program = "import tvm; from tvm.target import Target; from tvm import tirx, DataType; from tilelang import tvm as t;"
    program += "assert tvm.target is t.target and tirx is t.tirx; import torch; print(Target('c'), DataType('int8').bits)"
    code = f"from tilery import compat; compat.install(); exec({program!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "c 8\n", done.stderr


def test_marks_of_tests():
    def test():
        pass

    from tilery.tilelang import testing

    assert testing.requires_cuda(test) is test and testing.requires_cuda_compute_version_eq(9, 0)(test) is test
    assert testing.requires_llvm(test) is test and not hasattr(test, "pytestmark")
    assert testing.requires_rocm(test).pytestmark[0].kwargs == {"reason": "needs ROCm, which is no target of Tilery"}
    assert testing.requires_package("no_such_package").kwargs == {"reason": "needs no_such_package"}
    assert testing.requires_package("sys").args == (False,)


def test_types_of_libraries():
    import torch

    dtypes = tilelang.language.dtypes
    assert tilelang.DataType is tvm.DataType is T.DataType and tilelang.DataType("int8x4").lanes == 4
    assert dtypes._TORCH_DTYPE_TO_STR[torch.bfloat16] == "bfloat16"
    assert dtypes._STR_TO_TORCH_DTYPE["float8_e5m2"] == torch.float8_e5m2
    assert dtypes._NUMPY_DTYPE_TO_STR[np.dtype("int16")] == dtypes._NUMPY_DTYPE_TO_STR[np.int16] == "int16"
    assert dtypes._PYTHON_DTYPE_TO_STR == {int: "int32", float: "float32", bool: "bool"}
    with pytest.raises(AttributeError, match="no attribute '_JAX_DTYPE_TO_STR'"):
        dtypes._JAX_DTYPE_TO_STR


def test_sparse_layout():
    from tilery.tilelang.cuda.intrinsics import sparse_layout

    assert sparse_layout.GROUP_CONFIG[T.float16] == (2, 4) and sparse_layout.GROUP_CONFIG[T.float] == (1, 2)
    assert sparse_layout.get_e_factor(T.float16, T.int16) == 16 and sparse_layout.get_e_factor(T.float32, T.int16) == 8
    assert [sparse_layout.get_e_replicate_factor(kind) for kind in (T.int8, T.float16)] == [1, 2]


def test_testing():
    tvm.testing.assert_allclose([1.0, 2.0], np.array([1.0, 2.0]))
    with pytest.raises(AssertionError):
        tvm.testing.assert_allclose([1.0, 2.0], [1.0, 2.5])

    @tvm.testing.requires_package("no_such_package")
    @tvm.testing.requires_gpu
    def test():
        pass

    (mark,) = test.pytestmark
    assert mark.args == (True,) and "no_such_package" in mark.kwargs["reason"]
    with pytest.raises(AttributeError, match="tvm.testing.parameter is not supported"):
        tvm.testing.parameter


def test_numbers_that_have_names(device):
    """Library code binds a number once by tirx.Let; a kernel's number is one already."""
    from tilery.tilelang.tvm import tirx

    def bound(x, body):
        if isinstance(x, (tirx.Var, tirx.FloatImm, tirx.IntImm)):
            return body(x)
        var = tirx.Var("operand", x.dtype)
        return tirx.Let(var, x, body(var))

    @tilelang.jit(out_idx=[-1])
    def program(n):
        @T.prim_func
        def main(A: T.Tensor((n,), "float16"), B: T.Tensor((n,), "float16"), C: T.Tensor((n,), "float16")):
            with T.Kernel(1, threads=32):
                for i in T.Parallel(n):
                    least = tirx.call_intrin("float16", tirx.op.Op.get("tl.min_nan"), A[i], B[i])
                    C[i] = bound(least * 2, lambda x: tirx.Select(tirx.any(x > 1, x < -1), x, x * x))

        return main

    a, b = (torch.randn(40, generator=torch.Generator().manual_seed(k), device="cpu").half() for k in (1, 2))
    a[3] = float("nan")
    x = torch.minimum(a, b) * 2
    got = program(40)(a.to(device), b.to(device)).cpu()
    expected = torch.where((x > 1) | (x < -1), x, x * x)
    assert torch.equal(torch.nan_to_num(got), torch.nan_to_num(expected)) and bool(got[3].isnan())
