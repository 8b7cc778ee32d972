"""Device functions in CUDA C++ that programs bring: loads and stores with hints to caches, fetches, single instructions."""

import re

import pytest
import torch

import tilery.tilelang as tilelang
from tilery.tilelang import language as T

TEXT = r"""
#pragma once
#include <cstdint>
// Loads with hints.
namespace lib {
__device__ __forceinline__ void load16(void* dst, const void* src) {
  uint64_t policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  uint4 v;
  asm("ld.global.L1::evict_first.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], "
      "%5;"
      : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
      : "l"(src), "l"(policy));
  __builtin_memcpy(dst, &v, 16);
}
__device__ void store16(void* dst, const void* src) {
  uint4 v;
  memcpy(&v, src, 16);
  asm volatile("st.global.L1::no_allocate.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(dst),
               "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}
template <typename T>
__device__ __forceinline__ T load_one(const T* src) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 2, "a 4- or 2-byte element");
  T v;
  if constexpr (sizeof(T) == 4) {
    uint32_t bits;
    asm("ld.global.nc.b32 %0, [%1];" : "=r"(bits) : "l"(src));
    __builtin_memcpy(&v, &bits, 4);
  } else {
    uint16_t bits;
    asm("ld.global.nc.b16 %0, [%1];" : "=h"(bits) : "l"(src));
    __builtin_memcpy(&v, &bits, 2);
  }
  return v;
}
namespace math {
__device__ __forceinline__ float tanh_of(float x) {
  float r;
  asm("tanh.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r * 2 + 1;
}
}  // namespace math
/* nothing that a result hangs on */
__device__ __forceinline__ int fetch(const void* p) {
  asm volatile("prefetch.global.L2 [%0];" : : "l"(__cvta_generic_to_global(p)) : "memory");
  return 0;
}
__device__ int counts(int* p) { return atomicAdd(p, 1); }
}  // namespace lib
"""


@tilelang.jit
def copied(n, dtype, text):
    each = 128 // (16 if dtype == "float16" else 32)

    @T.prim_func
    def main(A: T.Tensor((n,), dtype), B: T.Tensor((n,), dtype), C: T.Tensor((n,), "float32")):
        with T.Kernel(T.ceildiv(n, 32 * each), threads=32) as b:
            if text:
                T.import_source(TEXT)
            t = T.get_thread_binding()
            held = T.alloc_local((each,), dtype)
            at = (b * 32 + t) * each
            if at < n:
                T.call_extern("int32", "lib::fetch", T.address_of(A[at]))
                T.call_extern("handle", "lib::load16", T.address_of(held[0]), T.address_of(A[at]))
                for k in T.serial(each):
                    C[at + k] = T.call_extern("float32", "lib::math::tanh_of", T.cast(held[k], "float32"))
                    held[k] = held[k] + T.call_extern(dtype, "lib::load_one", T.address_of(A[at + k]))
                T.call_extern("handle", "lib::store16", T.address_of(B[at]), T.address_of(held[0]))

    return main


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_imported_text(device, dtype):
    n = 1000
    a = torch.randn(n, generator=torch.Generator().manual_seed(1), device="cpu").to(getattr(torch, dtype)).to(device)
    b, c = torch.full_like(a, float("nan")), torch.full((n,), float("nan"), device=device)
    copied(n, dtype, True)(a, b, c)
    assert torch.equal(b, a + a)
    assert torch.allclose(c, torch.tanh(a.float()) * 2 + 1, atol=2e-3)


def test_included_text(device, tmp_path):
    (tmp_path / "lib.h").write_text(TEXT)
    (tmp_path / "outer.h").write_text('#include "lib.h"\n')
    for flags in (["-include", str(tmp_path / "lib.h"), "-DX=1"], f"-include {tmp_path}/outer.h"):
        kernel = tilelang.compile(copied.get_tir(256, "float32", False), compile_flags=flags)
        a = torch.arange(256.0, device=device)
        b, c = torch.empty_like(a), torch.empty_like(a)
        kernel(a, b, c)
        assert torch.equal(b, a + a)
    with pytest.raises(NotImplementedError, match="knows no function 'lib::"):
        tilelang.compile(copied.get_tir(256, "float32", False))


def test_what_is_not_understood():
    @tilelang.jit
    def counts():
        @T.prim_func
        def main(A: T.Tensor((4,), "int32")):
            with T.Kernel(1, threads=32):
                T.import_source(TEXT)
                A[1] = T.call_extern("int32", "lib::counts", T.address_of(A[0]))

        return main

    with pytest.raises(NotImplementedError, match="`atomicAdd` is not understood"):
        counts()


@tilelang.jit
def by_name(n):
    @T.prim_func
    def main(
        X: T.Tensor((n,), "uint32"),
        Y: T.Tensor((n,), "uint32"),
        Out: T.Tensor((8, n), "uint32"),
        F: T.Tensor((3, n), "float32"),
    ):
        with T.Kernel(1, threads=64):
            for i in T.Parallel(n):
                Out[0, i] = T.call_extern("uint32", "__umulhi", X[i], Y[i])
                Out[1, i] = T.call_extern("uint32", "__vmaxu2", X[i], Y[i])
                Out[2, i] = T.call_extern("uint32", "__vcmpgtu2", X[i], Y[i])
                Out[3, i] = T.call_extern("uint32", "__vcmpeq4", X[i], Y[i])
                Out[4, i] = T.call_extern("uint32", "__vadd2", X[i], Y[i])
                Out[5, i] = T.call_extern("uint32", "__popc", X[i])
                Out[6, i] = T.call_extern("uint32", "__brev", X[i])
                Out[7, i] = T.__ffs(X[i])
                x, y = T.cast(X[i] & 0xFFFF, "float32"), T.cast(Y[i] & 0xFFFF, "float32") + 1.0
                F[0, i] = T.call_extern("float32", "__fdividef", x, y)
                F[1, i] = T.call_extern("float32", "hypotf", x, y)
                F[2, i] = T.fast_rcp(y)

    return main


def test_functions_of_cuda(device):
    n, g = 200, torch.Generator().manual_seed(3)
    x, y = (torch.randint(0, 2**32, (n,), generator=g, dtype=torch.int64, device="cpu") for _ in range(2))
    y[::3] = x[::3]
    x[0] = 0
    out = torch.zeros(8, n, dtype=torch.uint32, device=device)
    floats = torch.zeros(3, n, device=device)
    by_name(n)(x.to(torch.uint32).to(device), y.to(torch.uint32).to(device), out, floats)
    got = out.cpu().to(torch.int64)

    def parts(bits, function):
        ones = (1 << bits) - 1
        return sum(function(x >> s & ones, y >> s & ones).to(torch.int64) << s for s in range(0, 32, bits))

    expected = [
        torch.tensor([int(a) * int(b) >> 32 for a, b in zip(x, y)], device="cpu"),
        parts(16, torch.maximum),
        parts(16, lambda a, b: (a > b) * 0xFFFF),
        parts(8, lambda a, b: (a == b) * 0xFF),
        parts(16, lambda a, b: (a + b) & 0xFFFF),
        torch.tensor([int(a).bit_count() for a in x], device="cpu"),
        torch.tensor([int(f"{int(a):032b}"[::-1], 2) for a in x], device="cpu"),
        torch.tensor([(int(a) & -int(a)).bit_length() for a in x], device="cpu"),
    ]
    for row, want in zip(got, expected):
        assert torch.equal(row, want)
    a, b = (x & 0xFFFF).double(), (y & 0xFFFF).double() + 1
    for row, want in zip(floats.cpu().double(), (a / b, torch.hypot(a, b), 1 / b)):
        assert torch.allclose(row, want, rtol=1e-6, atol=0)


ARITHMETIC = r"""
__device__ float scaled(float x, const int N = 8, float by = 0.5f) { return x * N + by; }
__device__ int cut(float x) { return x * 1.5f; }
__device__ int kept(int x) { x = x * 0.75f; return x; }
__device__ int bytes(int8_t a, int8_t b) { return a * b + a; }
__device__ double mixed(int a, unsigned b) { return (a - b) * 1.0; }
template <typename T> __device__ int done(const T* p, int x) {
  if constexpr (sizeof(T) == 4) { return x + 1; }
  return x + 2;
}
"""


def computed(call, text, kind="int32"):
    @T.prim_func
    def main(X: T.Tensor((64,), "int32"), Y: T.Tensor((64,), kind)):
        with T.Kernel(1, threads=64):
            T.import_source(text)
            t = T.get_thread_binding()
            Y[t] = call(X, t)

    x = torch.arange(-32, 32, dtype=torch.int32)
    y = torch.zeros(64, dtype=getattr(torch, kind))
    tilelang.compile(main)(x, y)
    return x.double(), y.double()


def test_arithmetic_of_text():
    x, y = computed(lambda X, t: T.call_extern("float32", "scaled", X[t]), ARITHMETIC, "float32")
    assert torch.equal(y, x * 8 + 0.5)
    x, y = computed(lambda X, t: T.call_extern("float32", "scaled", X[t], 3), ARITHMETIC, "float32")
    assert torch.equal(y, x * 3 + 0.5)
    x, y = computed(lambda X, t: T.call_extern("float32", "cut", X[t]), ARITHMETIC, "float32")
    assert torch.equal(y, (x * 1.5).trunc())
    x, y = computed(lambda X, t: T.call_extern("int32", "kept", X[t]), ARITHMETIC)
    assert torch.equal(y, (x * 0.75).trunc())
    x, y = computed(lambda X, t: T.call_extern("int32", "bytes", X[t], X[t]), ARITHMETIC)
    assert torch.equal(y, x * x + x)
    x, y = computed(lambda X, t: T.call_extern("float64", "mixed", X[t], 5), ARITHMETIC, "float64")
    assert torch.equal(y, (x - 5) % 2**32)
    x, y = computed(lambda X, t: T.call_extern("int32", "done", T.address_of(X[0]), X[t]), ARITHMETIC)
    assert torch.equal(y, x + 1)


@pytest.mark.parametrize(
    "text, refused",
    [
        ("int f(int& x) { x = 3; return x; }", "int& x"),
        ("int f(long x) { return x; }", "long x"),
        ("int f(int x) { static int n = 0; return n + x; }", "static int n"),
        ("int f(int x) { return static_cast<half>(x); }", "half"),
        ("int f(int x) { return reinterpret_cast<float&>(x); }", "float&"),
        ("int f(int x) { return x >> 1; }", "x >> 1"),
        ("int f(int x) { return x < 3 ? x + 1 : x; }", "x < 3"),
        ("int f(int x) { return x & 7 + 1; }", "x & 7"),
        ("int f(int x) { x += 2; return x; }", "= 2"),
        ("int f(int x) { x++; return x; }", "x++"),
        ("int f(int x) { if (x > 0) return 1; return 2; }", "if"),
        ("int f(int x) { for (int i = 0; i < 3; i++) x = x + 1; return x; }", "for"),
        ("int f(int x) { { int x = 3; } return x; }", "x"),
        ("int f(int x) { int y = 1, z = 2; return y + z; }", "1, z"),
        ("int f(int x) { return 010 + x; }", "010"),
        ("int f(int x) { return (int)x; }", "x"),
        ("int f(int x) {\n#if 0\n x = 3;\n#endif\n return x; }", "#if"),
        ("int f(int x) { return x; } __device__ int f(float x) { return 2; }", "several functions"),
    ],
)
def test_text_that_is_refused(text, refused):
    with pytest.raises(NotImplementedError, match="f is text of CUDA in which .*" + re.escape(refused)):
        computed(lambda X, t: T.call_extern("int32", "f", X[t]), "__device__ " + text)


def test_arguments_that_are_missing():
    with pytest.raises(TypeError, match="scaled takes 1 to 3 arguments, got 0"):
        computed(lambda X, t: T.call_extern("float32", "scaled"), ARITHMETIC, "float32")


INSTRUCTIONS = r"""
__device__ int majority(int x) { int r; asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(r) : "r"(x), "n"(12), "r"(x + 5)); return r; }
__device__ int clamped(int x) {
  int r;
  asm("{ .reg .pred p; setp.lt.s32 p, %1, 0; selp.s32 %0, 0, %1, p; @!p add.s32 %0, %0, 7; }" : "=r"(r) : "r"(x));
  return r;
}
__device__ int bytes(int x) { unsigned r; asm("prmt.b32 %0, %1, %2, 0x0123;" : "=r"(r) : "r"(x), "r"(0)); return r; }
__device__ float half_of(unsigned x) { float r; asm("add.u32 %0, %1, 0x3f000000;" : "=f"(r) : "r"(x * 0)); return r; }
__device__ int rest(int x) { int r; asm("rem.s32 %0, %1, 5;" : "=r"(r) : "r"(x)); return r; }
__device__ double above(int x) { unsigned r; asm("add.s32 %0, %1, 0;" : "=r"(r) : "r"(x)); return r * 1.0; }
__device__ double exact(double x) { return x; }
__device__ int of_parts(int x) {
  uint2 v;
  asm("mov.b32 %0, %2; add.s32 %1, %2, 3;" : "=r"(v.y), "=r"(v.x) : "r"(x));
  return v.x * 2 + v.y;
}
"""


def test_instructions_of_text():
    def values(name, kind="int32"):
        return computed(lambda X, t: T.call_extern(kind, name, X[t]), INSTRUCTIONS, kind)

    x, y = values("majority")
    assert y.tolist() == [(a & 12) | (a & b) | (12 & b) for a, b in zip(x.int().tolist(), (x.int() + 5).tolist())]
    x, y = values("clamped")
    assert torch.equal(y, torch.where(x < 0, 0, x + 7))
    x, y = values("bytes")
    assert y.tolist() == [int.from_bytes(int(v).to_bytes(4, "big", signed=True), "little", signed=True) for v in x]
    x, y = values("half_of", "float32")
    assert torch.equal(y, torch.full_like(y, 0.5))
    x, y = values("rest")
    assert torch.equal(y, torch.fmod(x, 5))
    x, y = values("above", "float64")
    assert torch.equal(y, x % 2**32)
    x, y = values("of_parts")
    assert torch.equal(y, (x + 3) * 2 + x)
    x, y = computed(lambda X, t: T.call_extern("float64", "exact", 0.1), INSTRUCTIONS, "float64")
    assert torch.equal(y, torch.full_like(y, 0.1))


@pytest.mark.parametrize(
    "text, refused",
    [
        ('int f(int x) { asm("add.s32 %0, %0, 1;" : "+r"(x)); return x; }', "add.s32"),
        ('int f(int x) { int r; asm("add.sat.s32 %0, %1, 1;" : "=r"(r) : "r"(x)); return r; }', "add.sat.s32"),
        ('int f(int x) { int r; asm("mov.b32 %0, %1;" : "=r"(r) : "f"(x * 1.0)); return r; }', "mov.b32"),
        ('int f(int x) { uint2 v; asm("mov.b32 %0, %1;" : "=r"(v.x) : "r"(x)); return v.x; }', "mov.b32"),
        ('int f(int x) { int r; asm("ld.global.b32 %0, [%1];" : "=r"(r) : "l"(x)); return r; }', "ld.global.b32"),
        ("int f(int x) { uint4 v; return v.x; }", "v.x"),
        ("int f(int x) { int y; return y; }", "y"),
        ("int f(int x) { return x;", "{"),
        ('int f(int x) { int r; asm("lop3.b32 %0, %1, %1, %1, 300;" : "=r"(r) : "r"(x)); return r; }', "lop3.b32"),
    ],
)
def test_instructions_that_are_refused(text, refused):
    with pytest.raises(NotImplementedError, match="f is text of CUDA in which `" + re.escape(refused)):
        computed(lambda X, t: T.call_extern("int32", "f", X[t]), "__device__ " + text)
