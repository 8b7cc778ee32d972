"""What upstream's tests share: arrays of every type, processes, patched kernels."""

import os

import numpy
import pytest
import torch

import tilery.tileon as tileon
import tilery.tileon.language as tl
from tilery.tileon import _internal_testing as shared


@pytest.mark.parametrize("dtype", [*shared.dtypes_with_bfloat16, "bool"])
def test_arrays_go_to_kernels_and_back(dtype):
    @tileon.jit
    def copy(x, y, N: tl.constexpr):
        i = tl.arange(0, N)
        tl.store(y + i, tl.load(x + i))

    x = shared.numpy_random(64, dtype)
    assert x.dtype.name == ("float32" if dtype == "bfloat16" else dtype)
    assert dtype not in shared.integral_dtypes or 0 not in x
    source = shared.to_triton(x, device="cpu", dst_type=dtype)
    target = shared.to_triton(numpy.zeros_like(x), device="cpu", dst_type=dtype)
    assert shared.torch_dtype_name(source.dtype) == dtype and shared.str_to_triton_dtype(dtype) is not None
    copy[(1,)](source, target, 64)
    numpy.testing.assert_array_equal(shared.to_numpy(target), x)
    assert shared.unwrap_tensor(source).data_ptr() == source.data_ptr()


def test_random_numbers_stay_between():
    x = shared.numpy_random((1000,), "int32", low=-3, high=4)
    assert set(x.tolist()) == {-3, -2, -1, 1, 2, 3}
    with pytest.raises(RuntimeError, match="unknown element type complex64"):
        shared.numpy_random(3, "complex64")


def _child(value):
    print(os.environ["MARK"], file=__import__("sys").stderr)
    if value < 0:
        raise ValueError("negative")


def test_processes():
    good, bad = (shared.run_in_process(_child, (value,), env={"MARK": "here"}) for value in (1, -1))
    assert good.exc is None and good.driver_stderr_output == "here\n"
    assert isinstance(bad.exc, ValueError) and str(bad.exc) == "negative" and "MARK" not in os.environ


def test_which_machine():
    backend = tileon.runtime.driver.active.get_current_target().backend
    assert shared.is_cpu() == (backend == "cpu") and shared.is_cuda() == (backend == "cuda")
    assert not shared.is_hip() and not shared.is_hip_gfx1250() and not shared.is_xpu() and shared.get_arch()
    assert shared.is_hopper_or_newer() >= shared.is_hopper() and not shared.is_interpreter()
    with pytest.raises(AttributeError):
        _ = shared.is_something


def test_patched_kernels():
    @tileon.jit
    def kernel(x):
        tl.store(x, WORD)  # noqa: F821

    x = torch.zeros(1)
    shared.patch_kernel(kernel, {"WORD": "41 + 1"})[(1,)](x)
    assert x.item() == 42
