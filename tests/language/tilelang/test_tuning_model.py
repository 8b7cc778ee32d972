"""The tuner's model: what it times, and that it knows what is certainly slower."""

import math

import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T
from tilery.tilelang.autotuner import model
from tilery.tilelang.carver.arch import CPU, CUDA, auto_infer_current_arch, is_cuda_arch


def product(block, stages=1, M=512):
    @T.prim_func
    def main(A: T.Tensor((M, 512), "float16"), B: T.Tensor((512, 512), "float16"), C: T.Tensor((M, 512), "float16")):
        with T.Kernel(T.ceildiv(512, block), T.ceildiv(M, block), threads=128) as (bx, by):
            a, b = T.alloc_shared((block, 64), "float16"), T.alloc_shared((64, block), "float16")
            c = T.alloc_fragment((block, block), "float32")
            T.clear(c)
            for k in T.Pipelined(8, num_stages=stages):
                T.copy(A[by * block, k * 64], a)
                T.copy(B[k * 64, bx * block], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * block, bx * block])

    return main


@pytest.mark.parametrize("machine", [CPU(), CUDA("cuda -arch=sm_90a")], ids=["cpu", "cuda"])
def test_small_tiles_move_more_bytes(machine):
    costs = [model.seconds(product(block, M=1 << 16), machine) for block in (16, 32, 64)]
    assert costs == sorted(costs, reverse=True) and costs[-1] > 0


def test_what_does_not_fit_is_not_timed():
    gpu = CUDA("cuda -arch=sm_90a")
    assert model.seconds(product(256, stages=8), gpu) == math.inf
    functions = [product(64, stages) for stages in (1, 2, 3, 4)] + [product(256, stages=8)]
    assert model.worth_timing(functions, gpu) == [0, 1, 2, 3]


def test_few_and_unknown_ones_are_all_timed():
    assert model.worth_timing([product(16), product(32)]) == [0, 1]
    sizes = [product(block, M=T.dynamic("m")) for block in (16, 32, 64, 32, 16)]
    assert model.worth_timing(sizes) == [0, 1, 2, 3, 4]


TILES = ((16, 1), (8, 1), (16, 2), (32, 1), (128, 1), (64, 1), (256, 1))


def test_a_tuner_times_the_best_alone(monkeypatch):
    timed = []

    @tilelang.autotune(configs=[{"block": b, "stages": n} for b, n in TILES], warmup=1, rep=1)
    @tilelang.jit(out_idx=[-1])
    def tuned(block=64, stages=1):
        return product(block, stages)

    from tilery.tilelang.autotuner import tuner

    real = tuner.fastest

    def spy(candidates, call, profile):
        timed.extend(config["block"] for config, _ in candidates)
        return real(candidates, call, profile)

    monkeypatch.setattr(tuner, "fastest", spy)
    monkeypatch.setattr(tuner.cache, "folder", lambda: "")  # an earlier process may have timed them
    kernel = tuned()
    assert 0 < len(timed) < len(TILES) and kernel.config["block"] in timed
    assert is_cuda_arch(auto_infer_current_arch()) or min(timed) >= 32  # a GPU needs many blocks more than large ones
    a, b = torch.randint(-2, 3, (512, 512)).half(), torch.randint(-2, 3, (512, 512)).half()
    assert torch.equal(kernel(a, b), (a.float() @ b.float()).half())


def test_equal_code_is_timed_once(monkeypatch):
    """Configurations that differ in what nobody reads have one kernel's time, and are in the results."""
    timed = []

    def build(policy, factor):
        @T.prim_func
        def main(A: T.Tensor((64, 64), "float16"), B: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
            with T.Kernel(1, threads=128):
                T.use_swizzle(policy + 1)
                a, b = T.alloc_shared((64, 64), "float16"), T.alloc_shared((64, 64), "float16")
                c = T.alloc_fragment((64, 64), "float32")
                T.copy(A, a)
                T.copy(B, b)
                T.gemm(a, b, c, clear_accum=True, policy=policy)
                for i, j in T.Parallel(64, 64):
                    C[i, j] = c[i, j] * factor

        return main

    from tilery.tilelang.autotuner import tuner

    real = tuner.fastest

    def spy(candidates, call, profile):
        timed.extend(config for config, _ in candidates)
        return real(candidates, call, profile)

    monkeypatch.setattr(tuner, "fastest", spy)
    configs = [{"policy": policy, "factor": factor} for factor in (1.0, 2.0) for policy in T.GemmWarpPolicy]
    compiled = tuner.AutoTuner.from_kernel(build, configs).set_compile_args(out_idx=-1)
    result = compiled.run(warmup=1, rep=1)
    assert timed == [configs[0], configs[3]] and result.config in timed
    assert list(result.latencies) == [repr(config) for config in configs]
    assert len(set(result.latencies.values())) == 2 and min(result.latencies.values()) <= result.latency
