"""Kernels written for the threads of a block beside the same written with tile operations: bytes a second, and the quotient.

./run python benchmarks/threads.py [NAME ...]"""

import statistics
import sys
import time

import torch

from tilery import tilelang
from tilery.tilelang import language as T

N, K = 4096, 4096


def gemv_threads(rows=4, lanes=32, width=8):
    @T.prim_func
    def main(A: T.Tensor((K,), "float16"), B: T.Tensor((N, K), "float16"), C: T.Tensor((N,), "float32")):
        with T.Kernel(N // rows, threads=(lanes, rows)) as bx:
            kr, ni = T.get_thread_binding(0), T.get_thread_binding(1)
            a, b = T.alloc_local((width,), "float16"), T.alloc_local((width,), "float16")
            acc = T.alloc_local((1,), "float32")
            T.clear(acc)
            for ko in T.serial(K // (lanes * width)):
                for v in T.vectorized(width):
                    a[v] = A[ko * lanes * width + kr * width + v]
                    b[v] = B[bx * rows + ni, ko * lanes * width + kr * width + v]
                for v in T.serial(width):
                    acc[0] += T.cast(a[v], "float32") * T.cast(b[v], "float32")
            total = T.warp_reduce_sum(acc[0])
            if kr == 0:
                C[bx * rows + ni] = total

    return main


def gemv_tiles(rows=4, block=256):
    @T.prim_func
    def main(A: T.Tensor((K,), "float16"), B: T.Tensor((N, K), "float16"), C: T.Tensor((N,), "float32")):
        with T.Kernel(N // rows, threads=128) as bx:
            a, b = T.alloc_fragment((block,), "float16"), T.alloc_fragment((rows, block), "float16")
            products = T.alloc_fragment((rows, block), "float32")
            acc = T.alloc_fragment((rows,), "float32")
            T.clear(acc)
            for ko in T.serial(K // block):
                T.copy(A[ko * block], a)
                T.copy(B[bx * rows, ko * block], b)
                for i, j in T.Parallel(rows, block):
                    products[i, j] = T.cast(a[j], "float32") * T.cast(b[i, j], "float32")
                T.reduce_sum(products, acc, dim=1, clear=False)
            T.copy(acc, C[bx * rows])

    return main


def transpose_threads():
    @T.prim_func
    def main(A: T.Tensor((N, K), "float32"), B: T.Tensor((K, N), "float32")):
        with T.Kernel(K // 32, N // 32, threads=(32, 8)) as (bx, by):
            tile = T.alloc_shared((32, 33), "float32")
            tx, ty = T.get_thread_binding(0), T.get_thread_binding(1)
            for j in T.serial(4):
                tile[ty + j * 8, tx] = A[by * 32 + ty + j * 8, bx * 32 + tx]
            T.sync_threads()
            for j in T.serial(4):
                B[bx * 32 + ty + j * 8, by * 32 + tx] = tile[tx, ty + j * 8]

    return main


def transpose_tiles():
    @T.prim_func
    def main(A: T.Tensor((N, K), "float32"), B: T.Tensor((K, N), "float32")):
        with T.Kernel(K // 32, N // 32, threads=256) as (bx, by):
            tile, turned = T.alloc_shared((32, 32), "float32"), T.alloc_shared((32, 32), "float32")
            T.copy(A[by * 32, bx * 32], tile)
            for i, j in T.Parallel(32, 32):
                turned[i, j] = tile[j, i]
            T.copy(turned, B[bx * 32, by * 32])

    return main


def sums_threads(lanes=32, rows=8):
    @T.prim_func
    def main(A: T.Tensor((N, K), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(N // rows, threads=(lanes, rows)) as bx:
            tx, ty = T.get_thread_binding(0), T.get_thread_binding(1)
            acc = T.alloc_var("float32", 0.0)
            for k in T.serial(K // lanes):
                acc += A[bx * rows + ty, k * lanes + tx]
            total = T.warp_reduce_sum(acc)
            if tx == 0:
                B[bx * rows + ty] = total

    return main


def sums_tiles(rows=8, block=256):
    @T.prim_func
    def main(A: T.Tensor((N, K), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(N // rows, threads=256) as bx:
            a, acc = T.alloc_fragment((rows, block), "float32"), T.alloc_fragment((rows,), "float32")
            T.clear(acc)
            for k in T.serial(K // block):
                T.copy(A[bx * rows, k * block], a)
                T.reduce_sum(a, acc, dim=1, clear=False)
            T.copy(acc, B[bx * rows])

    return main


def scan_threads(count=256):
    @T.prim_func
    def main(A: T.Tensor((N * K // count, count), "float32"), B: T.Tensor((N * K // count, count), "float32")):
        with T.Kernel(N * K // count, threads=count) as bx:
            sums = T.alloc_shared((count,), "float32")
            tx = T.get_thread_binding()
            sums[tx] = A[bx, tx]
            for i in T.unroll(8):
                other = T.alloc_var("float32", 0.0)
                T.sync_threads()
                if tx >= (1 << i):
                    other = sums[tx - (1 << i)]
                T.sync_threads()
                sums[tx] += other
            B[bx, tx] = sums[tx]

    return main


def scan_tiles(count=256):
    @T.prim_func
    def main(A: T.Tensor((N * K // count, count), "float32"), B: T.Tensor((N * K // count, count), "float32")):
        with T.Kernel(N * K // count, threads=count) as bx:
            sums = T.alloc_shared((count,), "float32")
            T.copy(A[bx, 0], sums)
            T.cumsum(sums)
            T.copy(sums, B[bx, 0])

    return main


def timed(kernel, arguments, repeats=15):
    kernel(*arguments)
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        kernel(*arguments)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main():
    matrix, row = torch.randn(N, K), torch.randn(K)
    half = [row.half(), matrix.half(), torch.zeros(N)]
    table = {
        "gemv": (gemv_threads, gemv_tiles, half, 2 * N * K),
        "transpose": (transpose_threads, transpose_tiles, [matrix, torch.zeros(K, N)], 8 * N * K),
        "warp reduction": (sums_threads, sums_tiles, [matrix, torch.zeros(N)], 4 * N * K),
        "block scan": (
            scan_threads,
            scan_tiles,
            [matrix.reshape(-1, 256), torch.zeros(N * K // 256, 256)],
            8 * N * K,
        ),
    }
    for name, (threads, tiles, arguments, size) in table.items():
        if sys.argv[1:] and not any(word in name for word in sys.argv[1:]):
            continue
        kernels = [tilelang.compile(make()) for make in (threads, tiles)]
        results = []
        for kernel in kernels:
            arguments[-1].zero_()
            kernel(*arguments)
            results.append(arguments[-1].clone())
        torch.testing.assert_close(*results, rtol=1e-3, atol=1e-2)
        own, other = (timed(kernel, arguments) for kernel in kernels)
        print(f"{name:15} threads {size / own / 1e9:6.1f} GB/s, tiles {size / other / 1e9:6.1f} GB/s: {other / own:.2f}")


if __name__ == "__main__":
    main()
