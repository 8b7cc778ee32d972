"""Options on which a program would rely, and which say what is not so."""

from errors.tilelang.wrong_programs import Vector, wrong

from tilery.tilelang import language as T


@wrong
def barrier_of_a_product(X: Vector):
    with T.Kernel(1, threads=128):
        bars = T.alloc_barrier([1])
        a, c = T.alloc_shared((64, 64), "float16"), T.alloc_fragment((64, 64), "float32")
        T.gemm(a, a, c, mbar=bars[0])


@wrong
def warps_of_64(X: Vector):
    with T.Kernel(1, threads=64):
        tx = T.get_thread_binding()
        X[tx] = T.tvm_warp_shuffle(-1, X[tx], 3, 64, 64)


@wrong
def reduction_of_two_values(X: Vector):
    with T.Kernel(1, threads=32):
        tx = T.get_thread_binding()
        total = T.alloc_local((1,), "float32")
        with T.attr(T.comm_reducer(lambda x, y: x + y, [0.0]), "reduce_scope", 0):
            T.tvm_thread_allreduce(2, X[tx], True, total[0], tx)


@wrong
def workspace_elsewhere(X: Vector):
    W = T.alloc_global((16,), "float32", scope="shared")
    with T.Kernel(1):
        W[0] = X[0]


@wrong
def zeros_of_another_type(X: Vector):
    with T.Kernel(1, threads=32):
        sums = T.alloc_local((4,), "float32")
        T.mma_fill("float16", 4, sums.data, 0)


@wrong
def matrices_of_bytes(X: Vector):
    with T.Kernel(1, threads=32):
        tile, own = T.alloc_shared((16, 16), "float16"), T.alloc_local((8,), "float16")
        T.ptx_ldmatrix("float16", False, 4, ".b8", own.data, 0, T.access_ptr(tile[T.get_thread_binding() % 16, 0], "r"), 0)


@wrong
def sums_of_another_type(X: Vector):
    with T.Kernel(1, threads=32):
        a, b, c = T.alloc_local((8,), "float16"), T.alloc_local((4,), "float16"), T.alloc_local((4,), "float32")
        T.ptx_mma("float32", "m16n8k16", "row", "col", "fp16", "fp16", "fp16", a.data, 0, b.data, 0, c.data, 0, False)


@wrong
def negative_extent_side_by_side(X: Vector):
    with T.Kernel(1):
        for i in T.Parallel(64 - 67):
            X[i] = 0


@wrong
def negative_extent_of_a_vector(X: Vector):
    with T.Kernel(1):
        for i in T.vectorized(-1):
            X[i] = 0


@wrong
def two_names_for_one_extent(X: Vector):
    with T.Kernel(2) as (bx, by):
        X[bx] = by


@wrong
def bits_of_floats(X: Vector):
    with T.Kernel(1):
        for i in T.Parallel(64):
            X[i] = X[i] & 1
