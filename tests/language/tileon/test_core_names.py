"""Names of upstream's core, standard and target_info that libraries use."""

import pytest
import torch

import tilery.tileon as tileon
import tilery.tileon.language as tl
from tilery.tileon.language import core, standard


@core.builtin
def clipped(x, low, high, _semantic=None):
    low = core._unwrap_if_constexpr(low)
    return core.minimum(_semantic.maximum(x, low), high, _semantic=_semantic)


def test_functions_in_terms_of_the_language():
    @tileon.jit
    def kernel(x, N: tl.constexpr):
        i = tl.arange(0, N)
        tl.store(x + i, clipped(tl.load(x + i), 2, 5))

    x = torch.arange(8.0)
    kernel[(1,)](x, 8)
    assert torch.equal(x, torch.arange(8.0).clamp(2, 5)) and core.is_builtin(clipped) and core.is_builtin(tl.load)
    assert not core.is_builtin(len)


@pytest.mark.parametrize("name", ["_sum_combine", "_elementwise_max", "_elementwise_min", "_xor_combine"])
def test_functions_of_reductions(name):
    want = {"_sum_combine": 28, "_elementwise_max": 7}.get(name, 0)
    combine = getattr(standard, name)

    @tileon.jit
    def kernel(x, out, f: tl.constexpr):
        tl.store(out, tl.reduce(tl.load(x + tl.arange(0, 8)), 0, f))

    out = torch.zeros(1, dtype=torch.int32)
    kernel[(1,)](torch.arange(8, dtype=torch.int32), out, combine)
    assert out.item() == want


@pytest.mark.parametrize("name, want", [("max", 3), ("min", 1)])
@pytest.mark.parametrize("tie", ["left", "fast"])
def test_reductions_with_places(name, want, tie):
    """By functions of pairs: a number and its place. Of equal numbers the first one's place, where that is asked for."""
    combine = getattr(standard, f"_arg{name}_combine_tie_break_{tie}")

    @tileon.jit
    def kernel(x, out, f: tl.constexpr, left: tl.constexpr = core.CONSTEXPR_0):
        at = tl.arange(0, 8)
        value, place = tl.reduce((tl.load(x + at), at), 0, f)
        tl.store(out, value)
        tl.store(out + 1, place)
        tl.static_assert(left == 0)

    x, out = torch.tensor([5, -7, 0, 9, -7, 9, 9, -7], dtype=torch.int32), torch.zeros(2, dtype=torch.int32)
    kernel[(1,)](x, out, combine)
    assert out[0] == getattr(x, name)() and x[out[1]] == out[0] and (tie == "fast" or out[1] == want)


def test_compile_time_functions():
    @tileon.jit
    def kernel(x, N: tl.constexpr):
        tl.static_assert(tl.target_info.is_cuda() or tl.target_info.is_cpu())
        tl.static_assert(not tl.target_info.cuda_capability_geq(99))
        tl.store(x, standard._log2(N))

    x = torch.zeros(1)
    kernel[(1,)](x, 64)
    assert x.item() == 6 and tl.target_info.current_target() == tileon.runtime.driver.active.get_current_target()


def test_types_by_name():
    assert core.str_to_ty("*fp32") == tl.pointer_type(tl.float32) and core.str_to_ty("u8") == tl.uint8
    assert core.str_to_ty("i1") == tl.int1 and core.get_int_dtype(16, False) == tl.uint16
    assert core._unwrap_if_constexpr([tl.constexpr(3), 4]) == [3, 4] and core.TRITON_MAX_TENSOR_NUMEL == 1048576
    assert core._unwrap_shape(tl.constexpr((tl.constexpr(2), 4))) == [2, 4] and core.tuple is tuple
    assert core.tensor_descriptor_type is core.tensor_descriptor is tl.tensor_descriptor
    assert tl.random.N_ROUNDS_DEFAULT == 10 and standard.bitonic_merge is tl.bitonic_merge
    with pytest.raises(AttributeError, match="there is no tl.core.nothing_like_it"):
        _ = core.nothing_like_it
