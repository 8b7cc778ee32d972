# Products whose copies and multiplications are roles, for any K, as users write them.
import tilelang
import tilelang.language as T


@tilelang.jit
def product(m, n, block_k, stages, consumers, form):
    """C = A B. `form`: "loops" in each role, one "loop" around all; "last", "below": nobody frees the last step's slot."""
    groups = tuple(range(consumers))
    k_all = T.dynamic("K")

    @T.prim_func
    def main(A: T.Tensor((m, k_all), "float16"), B: T.Tensor((k_all, n), "float16"), C: T.Tensor((m, n), "float16")):
        with T.Kernel(n // 128, m // 128, threads=128 * (1 + consumers)) as (bx, by):
            a = T.alloc_shared((stages, 128, block_k), "float16")
            b = T.alloc_shared((stages, block_k, 128), "float16")
            full, empty = T.alloc_barrier([128] * stages), T.alloc_barrier([128 * consumers] * stages)
            rows = 128 // consumers
            steps = T.ceildiv(k_all, block_k)
            if form == "loop":
                with T.ws(1):
                    acc = T.alloc_fragment((128, 128), "float32")
                    T.clear(acc)
                for k in T.serial(steps):
                    with T.ws(0):
                        T.barrier_wait(empty[k % stages], (k // stages + 1) & 1)
                        T.copy(A[by * 128, k * block_k], a[k % stages, :, :])
                        T.copy(B[k * block_k, bx * 128], b[k % stages, :, :])
                        T.barrier_arrive(full[k % stages])
                    with T.ws(1):
                        T.barrier_wait(full[k % stages], (k // stages) & 1)
                        T.gemm(a[k % stages, :, :], b[k % stages, :, :], acc)
                        T.barrier_arrive(empty[k % stages])
                with T.ws(1):
                    T.copy(acc, C[by * 128, bx * 128])
            else:
                with T.ws(0):
                    T.set_max_nreg(24, 0)
                    for k in T.serial(steps):
                        T.barrier_wait(empty[k % stages], ((k // stages) & 1) ^ 1)
                        T.tma_copy(A[by * 128, k * block_k], a[k % stages, :, :], barrier=full[k % stages])
                        T.tma_copy(B[k * block_k, bx * 128], b[k % stages, :, :], barrier=full[k % stages])
                        T.barrier_arrive(full[k % stages])
                for w in groups:
                    with T.ws(1 + w):
                        T.set_max_nreg(240, 1)
                        part = T.alloc_fragment((rows, 128), "float32")
                        T.clear(part)
                        for k in T.serial(steps):
                            T.barrier_wait(full[k % stages], (k // stages) & 1)
                            T.gemm(a[k % stages, w * rows : (w + 1) * rows, :], b[k % stages, :, :], part)
                            if form == "loops":
                                T.barrier_arrive(empty[k % stages])
                            elif form == "last":
                                if k != steps - 1:
                                    T.barrier_arrive(empty[k % stages])
                            else:
                                if k < steps - 1:
                                    T.barrier_arrive(empty[k % stages])
                        T.copy(part, C[by * 128 + w * rows, bx * 128])

    return main
