"""What tests of kernels share: arrays of every type, and which machine this is."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy
import torch

from . import knobs
from . import language as tl
from .runtime import driver
from .runtime.jit import TensorWrapper, reinterpret

int_dtypes = ["int8", "int16", "int32", "int64"]
uint_dtypes = ["uint8", "uint16", "uint32", "uint64"]
integral_dtypes = int_dtypes + uint_dtypes
float_dtypes = ["float16", "float32", "float64"]
float_dtypes_with_bfloat16 = [*float_dtypes, "bfloat16"]
dtypes = integral_dtypes + float_dtypes
dtypes_with_bfloat16 = [*dtypes, "bfloat16"]
torch_float8_dtypes = ["float8_e4m3fn", "float8_e5m2"]
torch_dtypes = ["bool", *int_dtypes, "uint8", *float_dtypes, "bfloat16"]
tma_dtypes = sorted({*dtypes_with_bfloat16} - {"int64", "uint64", "float64"})


def is_interpreter() -> bool:
    """Was upstream's interpreter asked for? It stands for the reference interpreter here (TILERY_ORACLE=1)."""
    return knobs.runtime.interpret


def get_current_target() -> Any:
    return None if is_interpreter() else driver.active.get_current_target()


def _is(backend: str) -> bool:
    target = get_current_target()
    return target is not None and target.backend == backend


def is_cuda() -> bool:
    return _is("cuda")


def is_cpu() -> bool:
    return not is_interpreter() and _is("cpu")


def is_hip() -> bool:
    return _is("hip")


def is_xpu() -> bool:
    return _is("xpu")


def get_arch() -> str:
    """What this machine's kernels are compiled for, as text."""
    target = get_current_target()
    return "" if target is None else str(target.arch)


def _capability() -> int:
    return driver.active.get_device_capability()[0] if is_cuda() else 0


def is_ampere_or_newer() -> bool:
    return _capability() >= 8


def is_hopper() -> bool:
    return _capability() == 9


def is_hopper_or_newer() -> bool:
    return _capability() >= 9


def is_blackwell() -> bool:
    return _capability() in (10, 11)


def is_blackwell_ultra() -> bool:
    return is_cuda() and driver.active.get_device_capability() == (10, 3)


def is_sm12x() -> bool:
    return _capability() == 12


def __getattr__(name: str) -> Any:
    """is_hip_...: is this such a GPU of AMD's?"""
    if not re.fullmatch(r"is_hip_\w+", name):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def asked() -> bool:
        return False

    asked.__name__ = name
    return asked


def str_to_triton_dtype(x: str) -> Any:
    """tl's element type of that name of torch or NumPy."""
    return tl.int1 if x == "bool" else getattr(tl, {"float8_e4m3fn": "float8e4nv", "float8_e5m2": "float8e5"}.get(x, x))


def numpy_random(shape: Any, dtype_str: str, rs: Any = None, low: Any = None, high: Any = None) -> Any:
    """Random values of a type; no integer is 0, so that they can divide."""
    shape = (shape,) if isinstance(shape, int) else shape
    rs = rs or numpy.random.RandomState(seed=17)
    if dtype_str in integral_dtypes:
        info = numpy.iinfo(getattr(numpy, dtype_str))
        low = info.min if low is None else max(low, info.min)
        high = info.max if high is None else min(high, info.max)
        x = rs.randint(low, high, shape, dtype=getattr(numpy, dtype_str))
        return numpy.where(x == 0, numpy.ones_like(x), x).astype(x.dtype)
    if dtype_str and "float8" in dtype_str:
        return rs.randint(20, 40, shape, dtype=numpy.int8)
    if dtype_str in float_dtypes:
        return rs.normal(0, 1, shape).astype(dtype_str)
    if dtype_str == "bfloat16":
        return (rs.normal(0, 1, shape).astype("float32").view("uint32") & numpy.uint32(0xFFFF0000)).view("float32")
    if dtype_str in ("bool", "int1", "bool_"):
        return rs.normal(0, 1, shape) > 0.0
    raise RuntimeError(f"unknown element type {dtype_str}")


def to_triton(x: Any, device: Any, dst_type: str | None = None) -> Any:
    """A NumPy array as a kernel's argument: a torch tensor, or, of an unsigned type, a TensorWrapper."""
    name = x.dtype.name
    if name in uint_dtypes:
        return reinterpret(torch.tensor(x.view(name.lstrip("u")), device=device), getattr(tl, name))
    if dst_type and "float8" in dst_type:
        return reinterpret(torch.tensor(x, device=device), getattr(tl, dst_type))
    tensor = torch.tensor(x, device=device)
    return tensor.bfloat16() if name == "float32" and dst_type == "bfloat16" else tensor


def to_numpy(x: Any) -> Any:
    """The values as a NumPy array, those of bfloat16 as float32."""
    if isinstance(x, TensorWrapper):
        return x.base.cpu().numpy().view(getattr(numpy, torch_dtype_name(x.dtype)))
    if not isinstance(x, torch.Tensor):
        raise ValueError(f"not an argument of a kernel: {type(x).__name__}")
    return (x.cpu().float() if x.dtype is torch.bfloat16 else x.cpu()).numpy()


def torch_dtype_name(dtype: Any) -> str:
    """The name without `torch.` or `tl.`."""
    if isinstance(dtype, tl.dtype):
        return dtype.__tile_dtype__ or dtype.name
    if isinstance(dtype, torch.dtype):
        return str(dtype).rpartition(".")[2]
    raise TypeError(f"not an element type: {type(dtype).__name__}")


def unwrap_tensor(t: Any) -> Any:
    """The torch tensor of an argument."""
    return t.base if isinstance(t, TensorWrapper) else t


def patch_kernel(template: Any, to_replace: dict[str, str]) -> Any:
    """A kernel with words of its source replaced."""
    kernel = tl_jit(template.fn)
    source = template.src
    for key, value in to_replace.items():
        source = source.replace(key, value)
    kernel._unsafe_update_src(source)
    return kernel


def tl_jit(fn: Callable[..., Any]) -> Any:
    from .runtime.jit import JITFunction

    return JITFunction(fn)


def supports_tma(byval_only: bool = False) -> bool:
    """Do descriptors work? On CPUs they are addressed element by element."""
    return is_interpreter() or is_cpu() or is_hopper_or_newer()


def supports_ws() -> bool:
    return is_hopper_or_newer()


def tma_skip_msg(byval_only: bool = False) -> str:
    return "needs a GPU of sm_90 or newer, or a CPU"


def requires_tma(function: Any) -> Any:
    """Decorator: a test that needs descriptors."""
    import pytest

    return pytest.mark.skipif(not supports_tma(), reason=tma_skip_msg())(function)


def default_alloc_fn(size: int, align: int, _: Any) -> Any:
    """An allocator for `triton.set_allocator`."""
    return torch.empty(size, dtype=torch.int8, device=driver.active.get_active_torch_device())


def _fresh_knobs_impl(skipped_attr: set[str] | None = None) -> tuple[Callable[[], Any], Callable[[], None]]:
    """(make all groups of switches, but for those skipped, what they are without environment variables; undo it)"""
    groups = {name: value for name, value in vars(knobs).items() if isinstance(value, knobs.base_knobs)}
    groups = {name: value for name, value in groups.items() if name not in (skipped_attr or ())}
    keys = {d.key for group in groups.values() for d in group.knob_descriptors.values()}
    paths = [v for group in groups.values() for v in vars(type(group)).values() if isinstance(v, knobs.env_paths)]
    keys |= {key for p in paths for key in p.keys}
    before: dict[str, str | None] = {}
    propagated = knobs.propagate_env

    def fresh() -> Any:
        before.update({key: os.environ.pop(key, None) for key in keys})
        knobs.propagate_env = True
        for name, group in groups.items():
            setattr(knobs, name, group.copy().reset())
        return knobs

    def reset() -> None:
        for name, group in groups.items():
            setattr(knobs, name, group)
        for key, text in before.items():
            if text is None:
                os.environ.pop(key, None)
            else:
                os.environ[key] = text
        knobs.propagate_env = propagated
        knobs.observe_launches()

    return fresh, reset


class ProcessResult:
    """What `run_in_process` found: the exception, and what was printed."""

    def __init__(self, exc: BaseException | None, driver_stderr_output: str) -> None:
        self.exc, self.driver_stderr_output = exc, driver_stderr_output


def run_in_process(
    client_fn: Callable[..., Any], args: tuple[Any, ...] = (), kwargs: Any = None, env: dict[str, str] | None = None
) -> ProcessResult:
    """Calls a function in a process of its own, whose exceptions and stderr come back; with further environment variables."""
    import multiprocessing
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "stderr")
        # A process that has used a GPU cannot be forked.
        context = multiprocessing.get_context("spawn" if torch.cuda.is_initialized() and is_cuda() else "fork")
        receive, send = context.Pipe(duplex=False)
        child = context.Process(target=_in_child, args=(client_fn, args, kwargs or {}, env or {}, send, path))
        child.start()
        send.close()
        try:
            exception = receive.recv()
        except EOFError:
            exception = RuntimeError("the process died")
        child.join()
        with open(path, encoding="utf-8", errors="replace") as file:
            return ProcessResult(exception, file.read())


def _in_child(function: Callable[..., Any], args: Any, kwargs: Any, env: dict[str, str], send: Any, path: str) -> None:
    os.environ.update(env)
    with open(path, "wb") as file:
        os.dup2(file.fileno(), 2)
        sys.stderr = open(2, "w", closefd=False)  # of a forked process it may be a test's
        try:
            function(*args, **kwargs)
            send.send(None)
        except BaseException as e:
            send.send(e)
        sys.stderr.flush()


__all__ = [n for n in dir() if not n.startswith("__") and n not in ("annotations", "functools", "Callable", "Any")]
