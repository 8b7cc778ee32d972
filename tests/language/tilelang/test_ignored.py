"""What a program sets in vain, its kernel's explanation names, with the reason and the line."""

import inspect

import pytest
import torch

from tilery import tilelang
from tilery.core.ignored import table
from tilery.tilelang import language as T
from tilery.tilelang.layout import make_swizzled_layout
from tilery.tilelang.transform import pass_config

WARPS = T.GemmWarpPolicy


@T.prim_func
def many(A: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
    with T.Kernel(1, threads=128, is_cpu=True):
        a, c = T.alloc_shared((64, 64), "float16"), T.alloc_fragment((64, 64), "float32")
        T.annotate_layout({a: make_swizzled_layout(a, k_major=False)})
        T.annotate_l2_hit_ratio({A: 0.5})
        T.annotate_restrict_buffers(A)
        T.annotate_min_blocks_per_sm(2)
        T.use_swizzle(4, enable=False)
        T.set_max_nreg(240, 1)
        T.disable_warp_group_reg_alloc()
        T.copy(A, a, coalesced_width=8, disable_tma=True, prefer_instruction="sync", annotations={"x": 1})
        T.gemm(a, a, c, policy=WARPS.FullRow, clear_accum=True, k_pack=2)
        T.gemm(a, a, c, policy=WARPS.Square, k_pack=1, wg_wait=0)
        T.wait_wgmma(1)
        T.fence_proxy_async(a)
        s = T.alloc_fragment((64,), "float32")
        T.reduce_sum(c, s, batch=4)
        for i in T.Parallel(64, prefer_async=True):
            s[i] = T.Cast("float32", s[i], span="here")
        for k in T.Pipelined(2, num_stages=2, sync=[0]):
            for i in T.serial(2, annotations={"unroll": 1}):
                c[i, k] = T.infinity("float32")
        T.copy(c, C)


SET = """
T.Kernel(is_cpu=True) T.annotate_layout(layout_map='a') tilelang.layout.make_swizzled_layout(k_major=False)
T.annotate_l2_hit_ratio(l2_hit_ratio_map= T.annotate_restrict_buffers(buffers=['A']) T.annotate_min_blocks_per_sm(count=2)
T.set_max_nreg(reg_count=240) T.disable_warp_group_reg_alloc() T.copy(coalesced_width=8) T.copy(disable_tma=True)
T.copy(prefer_instruction='sync') T.copy(annotations={'x':1}) T.gemm(policy=T.GemmWarpPolicy.FullRow) T.gemm(k_pack=2)
T.wait_wgmma(num_mma=1) T.fence_proxy_async(buffers= T.reduce_sum(batch=4) T.Parallel(prefer_async=True)
T.Cast(span='here') T.Pipelined(sync=[0]) T.serial(annotations={'unroll':1})
""".split()


@pytest.fixture(scope="module")
def explained():
    lines, first = inspect.getsourcelines(many.function)
    told = tilelang.compile(many).explanation.ignored
    return [(each.option.replace(" ", ""), lines[each.place[1] - first].strip(), each.reason) for each in told]


@pytest.mark.parametrize("option", SET)
def test_of_a_kernel(option, explained):
    found = [(line, reason) for told, line, reason in explained if told.startswith(option)]
    assert len(found) == 1 and found[0][1]
    assert option.partition("(")[0].rpartition(".")[2] in found[0][0]


def test_nothing_else_is_named(explained):
    assert [told for told, _, _ in explained if not told.startswith(tuple(SET))] == []


def options():
    return {
        "verbose": True,
        "target_host": "llvm",
        "execution_backend": "cython",
        "compile_flags": ["-O3", "-DNDEBUG", "-U__CUDA_NO_HALF_OPERATORS__"],
        "pass_configs": {tilelang.PassConfigKey.TL_DISABLE_WGMMA: True, "tl.disable_dynamic_tail_split": True},
    }


EXPECTED = [
    "(target_host='llvm')",
    "(execution_backend='cython')",
    "(verbose=True)",
    "(compile_flags=['-O3', '-DNDEBUG', '-U__CUDA_NO_HALF_OPERATORS__'])",
    "PassConfigKey(TL_DISABLE_WGMMA=True)",
    "PassConfigKey(tl.disable_dynamic_tail_split=True)",
]


@T.prim_func(private=True)
def copies(A: T.Tensor((8,), "float32"), B: T.Tensor((8,), "float32")):
    with T.Kernel(1):
        T.annotate_pass_configs({"tl.disable_tma_lower": True})
        T.copy(A, B)


@pytest.mark.parametrize("function, make", [("compile", tilelang.compile), ("jit", None)])
def test_of_options(function, make):
    kernel = make(copies, **options()) if make else tilelang.jit(lambda: copies, debug_root_path="x", **options())()
    told = [each.option for each in kernel.explanation.ignored]
    expected = [each if "Pass" in each else f"{function}{each}" for each in EXPECTED]
    if not make:
        expected.insert(4, "jit(debug_root_path='x')")
    assert told == [
        *(f"tilelang.{each}" for each in expected),
        "T.prim_func(private=True)",
        "tilelang.PassConfigKey(TL_DISABLE_TMA_LOWER=True)",
    ]
    assert [each.place is None for each in kernel.explanation.ignored] == [True] * (len(told) - 1) + [False]


def test_of_targets():
    """Where tensors lie elsewhere than a program says, its explanation says so."""
    for target, said in ({"kind": "cuda", "arch": "sm_90a"}, True), ("c", False), ("llvm", False), ("auto", False), (None, False):
        told = [each.option for each in tilelang.compile(copies, target=target).explanation.ignored]
        assert any(option.startswith("tilelang.compile(target=") for option in told) == said


def test_each_switch_has_a_reason():
    heeded = {"TL_ENABLE_FAST_MATH", "tl.disable_fast_math"}
    known = {key.name for key in tilelang.PassConfigKey} | set(pass_config._FORMER)
    assert set(table("tilelang.PassConfigKey")) == known - heeded


@pytest.mark.parametrize("policy", ["evict_first", "evict_last"])
@pytest.mark.parametrize("form", ["eviction_policy", "annotations"])
def test_caches_hear_of_copies(policy, form):
    """What is heeded instead of being named."""
    options = {form: policy if form == "eviction_policy" else {"eviction_policy": policy}}

    @T.prim_func
    def main(A: T.Tensor((1024,), "float32"), B: T.Tensor((1024,), "float32")):
        with T.Kernel(1, threads=128):
            tile = T.alloc_fragment((1024,), "float32")
            T.copy(A, tile, **options)
            T.copy(tile, B)

    kernel = tilelang.compile(main)
    assert not kernel.explanation.ignored and f'eviction = "{policy}"' in kernel.get_kernel_source()
    assert f"ld.global.L1::{policy}" in kernel._ptx() and "st.global.L1" not in kernel._ptx()


def test_equal_nan_is_heeded():
    nan = torch.full((4,), float("nan"))
    tilelang.profiler.torch_assert_close(nan, nan)
    with pytest.raises(AssertionError, match="4 of 4 elements differ"):
        tilelang.profiler.torch_assert_close(nan, nan, equal_nan=False)
