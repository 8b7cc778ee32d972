"""Wrong uses of roles, barriers, clusters and explicit copies."""

from errors.tilelang.wrong_programs import Vector, wrong

from tilery.tilelang import language as T


@wrong
def role_beyond_block(X: Vector):
    with T.Kernel(1, threads=128):
        with T.ws(1):
            X[0] = 1


@wrong
def role_of_no_number(X: Vector):
    with T.Kernel(1, threads=256):
        with T.ws("producer"):
            X[0] = 1


@wrong
def role_in_parallel(X: Vector):
    with T.Kernel(1, threads=256):
        for i in T.Parallel(4):
            with T.ws(0):
                X[i] = 1


@wrong
def wait_for_a_tensor(X: Vector):
    with T.Kernel(1):
        T.mbarrier_wait_parity(X, 0)


@wrong
def wait_for_many(X: Vector):
    with T.Kernel(1):
        bars = T.alloc_barrier([1, 1])
        T.barrier_arrive(bars)


@wrong
def barrier_of_no_arrivals(X: Vector):
    with T.Kernel(1):
        T.alloc_barrier(0)


@wrong
def barrier_beyond_ring(X: Vector):
    with T.Kernel(1):
        bars = T.alloc_barrier([1, 1])
        T.barrier_wait(bars[2], 0)


@wrong
def parity_of_a_float(X: Vector):
    with T.Kernel(1):
        T.barrier_wait(T.alloc_barrier(1), 0.5)


@wrong
def arrival_in_another_block(X: Vector):
    with T.Kernel(1):
        T.mbarrier_arrive(T.alloc_barrier(1), 1)


@wrong
def copy_without_barrier(X: Vector):
    with T.Kernel(1):
        tile = T.alloc_shared((64,), "float32")
        T.tma_copy(X, tile)


@wrong
def copy_between_buffers(X: Vector):
    with T.Kernel(1):
        a, b = T.alloc_shared((64,), "float32"), T.alloc_shared((64,), "float32")
        T.tma_copy(a, b)


@wrong
def products_of_few_rows(X: Vector):
    with T.Kernel(1, threads=128):
        a, b = T.alloc_shared((32, 16), "float16"), T.alloc_shared((16, 64), "float16")
        c = T.alloc_fragment((32, 64), "float32")
        T.wgmma_gemm(a, b, c)


@wrong
def cluster_without_extents(X: Vector):
    with T.ClusterKernel(4):
        X[0] = 1


@wrong
def clusters_that_do_not_divide(X: Vector):
    with T.ClusterKernel(6, cluster_dims=(4, 1, 1)):
        X[0] = 1


@wrong
def mask_beyond_cluster(X: Vector):
    with T.ClusterKernel(4, cluster_dims=(2, 1, 1)) as bx:
        tile = T.alloc_shared((16,), "float32")
        T.copy_cluster(X[bx * 16], tile, cluster_mask=4)


@wrong
def memory_of_another_block(X: Vector):
    with T.ClusterKernel(4, cluster_dims=(2, 1, 1)):
        tile = T.alloc_shared((16,), "float32")
        T.copy_cluster(tile, tile, dst_block=2)


@wrong
def fragment_of_another_block(X: Vector):
    with T.ClusterKernel(4, cluster_dims=(2, 1, 1)):
        tile = T.alloc_fragment((16,), "float32")
        T.copy_cluster(tile, tile, dst_block=1)


@wrong
def place_that_data_tells(X: Vector):
    with T.ClusterKernel(4, cluster_dims=(2, 1, 1)):
        tile = T.alloc_shared((16,), "float32")
        T.copy_cluster(X[T.cast(X[0], "int32")], tile, cluster_mask=3)


@wrong
def numbers_before_a_seed(X: Vector):
    with T.Kernel(1):
        X[0] = T.rng_rand_float()


@wrong
def metadata_of_another_size(X: Vector):
    with T.Kernel(1):
        a, e = T.alloc_shared((16, 16), "float16"), T.alloc_shared((16, 4), "int16")
        b, c = T.alloc_shared((32, 16), "float16"), T.alloc_fragment((16, 16), "float32")
        T.gemm_sp(a, e, b, c)


@wrong
def places_that_meet(X: Vector):
    with T.Kernel(1):
        T.annotate_layout({X: T.Layout((64,), lambda i: i // 2)})
