"""Wrong programs; messages.txt holds what each must say."""

from tilery.tilelang import language as T

N = T.dynamic("N")
UNUSED = T.dynamic("UNUSED")
Matrix = T.Tensor((64, 32), "float32")
Vector = T.Tensor((64,), "float32")

PROGRAMS = {}  # by name: what T.prim_func refuses


def wrong(function):
    PROGRAMS[function.__name__] = function
    return function


@wrong
def buffer_as_iterable(X: Vector):
    with T.Kernel(1):
        for i, x in enumerate(X):
            X[i] = x


@wrong
def buffers_added(X: Vector, Y: Vector):
    with T.Kernel(1):
        X = X + Y


@wrong
def unknown_member(X: Vector):
    with T.Kernel(1):
        X[0] = T.cast(1, X.dtpye)


@wrong
def unknown_policy(X: Vector):
    with T.Kernel(1):
        a = T.alloc_shared((64, 32), "float16")
        c = T.alloc_fragment((64, 64), "float32")
        T.gemm(a, a, c, transpose_B=True, policy=T.GemmWarpPolicy.FullRows)


@wrong
def policy_by_name(X: Vector):
    with T.Kernel(1):
        a = T.alloc_shared((64, 32), "float16")
        c = T.alloc_fragment((64, 64), "float32")
        T.gemm(a, a, c, transpose_B=True, policy="full_row")


@wrong
def grid_in_one_name(X: Matrix):
    with T.Kernel(64, 32) as bx:
        X[bx, 0] = 1


@wrong
def keyword_of_the_kernel(X: Vector):
    with T.Kernel(1, thread=128):
        X[0] = 1


@wrong
def buffer_outside_of_the_kernel(X: Vector):
    a = T.alloc_shared((4,), "float32")
    with T.Kernel(1):
        X[0] = a[0]


@wrong
def variable_outside_of_the_kernel(X: Vector):
    total = T.alloc_var("float32")
    with T.Kernel(1):
        total = X[0]


@wrong
def same_order_twice(X: Vector):
    with T.Kernel(1):
        for i in T.Pipelined(8, order=[0, 0], stage=[0, 1]):
            X[i] = 1


@wrong
def orders_and_stages(X: Vector):
    with T.Kernel(1):
        for i in T.Pipelined(8, order=[0, 1, 2], stage=[0, 1]):
            X[i] = 1


@wrong
def stage_below_none(X: Vector):
    with T.Kernel(1):
        for i in T.Pipelined(8, order=[0, 1], stage=[0, -2]):
            X[i] = 1


@wrong
def stages_below_zero(X: Vector):
    with T.Kernel(1):
        for i in T.Pipelined(8, num_stages=-2):
            X[i] = 1


@wrong
def domain_of_one_number(X: Vector):
    with T.Kernel(4) as b:
        for i in T.Persistent(8, 4, b):
            X[i] = 1


@wrong
def swizzle_by_order(X: Vector):
    with T.Kernel(4):
        T.use_swizzle("row")


@wrong
def swizzle_of_no_order(X: Vector):
    with T.Kernel(4):
        T.use_swizzle(4, order="zigzag")


@wrong
def undefined_name(X: Vector):
    with T.Kernel(1):
        X[0] = valeu  # noqa: F821


@wrong
def unsupported_function(X: Vector):
    with T.Kernel(1):
        T.tcgen05_gemm(X, X, X)


@wrong
def gemm_k(X: Vector):
    with T.Kernel(1):
        a = T.alloc_shared((16, 32), "float16")
        b = T.alloc_shared((16, 64), "float16")
        c = T.alloc_fragment((16, 64), "float32")
        T.gemm(a, b, c)


@wrong
def gemm_m(X: Vector):
    with T.Kernel(1):
        a = T.alloc_shared((16, 32), "float16")
        b = T.alloc_shared((32, 64), "float16")
        c = T.alloc_fragment((32, 64), "float32")
        T.gemm(a, b, c)


@wrong
def gemm_n(X: Vector):
    with T.Kernel(1):
        a = T.alloc_shared((16, 32), "float16")
        b = T.alloc_shared((48, 32), "float16")
        c = T.alloc_fragment((16, 64), "float32")
        T.gemm(a, b, c, transpose_B=True)


@wrong
def gemm_rank(X: Vector):
    with T.Kernel(1):
        a = T.alloc_shared((2, 16, 16), "float16")
        b = T.alloc_shared((16, 16), "float16")
        c = T.alloc_fragment((16, 16), "float32")
        T.gemm(a, b, c)


@wrong
def gemm_types(X: Vector):
    with T.Kernel(1):
        a = T.alloc_shared((16, 32), "float16")
        b = T.alloc_shared((32, 64), "bfloat16")
        c = T.alloc_fragment((16, 64), "float32")
        T.gemm(a, b, c)


@wrong
def gemm_sum_type(X: Vector):
    with T.Kernel(1):
        a = T.alloc_shared((16, 32), "float16")
        b = T.alloc_shared((32, 64), "float16")
        c = T.alloc_fragment((16, 64), "int32")
        T.gemm(a, b, c)


@wrong
def division_by_zero(X: T.Tensor((64,), "int32")):
    with T.Kernel(1):
        X[0] = X[1] // (64 - X.shape[0])


@wrong
def remainder_by_zero(X: T.Tensor((64,), "int32")):
    with T.Kernel(1):
        X[0] = T.truncmod(X[1], 0)


@wrong
def size_divided_by_zero(X: T.Tensor((N,), "int32")):
    with T.Kernel(N // 0):
        X[0] = 1


@wrong
def copy_out_of_range(X: Matrix):
    with T.Kernel(1):
        a = T.alloc_shared((64, 32), "float32")
        T.copy(X[0:64, 0:32], a[32:96, 0:32])


@wrong
def copy_outside_tensor(X: Matrix):
    with T.Kernel(1):
        a = T.alloc_shared((16, 16), "float32")
        T.copy(X[64, 0], a)


@wrong
def copy_whole_shapes(X: Matrix):
    with T.Kernel(1):
        a = T.alloc_shared((32, 32), "float32")
        T.copy(X, a)


@wrong
def copy_extents(X: Matrix):
    with T.Kernel(1):
        a = T.alloc_shared((16, 32), "float32")
        T.copy(X[0:32, 0:32], a)


@wrong
def scan_unknown_extents(X: T.Tensor((N, 4), "float32")):
    with T.Kernel(1):
        T.cumsum(X)


@wrong
def copy_number(X: Vector):
    with T.Kernel(1):
        T.copy(3, X)


@wrong
def index_count(X: Matrix):
    with T.Kernel(1):
        X[0] = X[1, 2]


@wrong
def index_range(X: Vector):
    with T.Kernel(1):
        a = T.alloc_shared((8,), "float32")
        X[0] = a[8]


@wrong
def slice_lengths(X: Vector):
    with T.Kernel(1):
        a = T.alloc_shared((8,), "float32")
        a[0:8] = X[0:4]


@wrong
def float_index(X: Vector):
    with T.Kernel(1):
        X[0] = X[X[1]]


@wrong
def outside_region(X: Vector):
    with T.Kernel(1):
        total = X[0]
        for i in T.serial(4):
            total = total + X[i]
        X[0] = total


@wrong
def one_branch(X: Vector):
    with T.Kernel(1):
        if X[0] > 0:
            y = X[1]
        X[2] = y


@wrong
def loop_over_string(X: Vector):
    with T.Kernel(1):
        for i in "abc":
            X[0] = 1


@wrong
def zero_step(X: Vector):
    with T.Kernel(1):
        for i in T.serial(0, 8, 0):
            X[i] = 1


@wrong
def infinite_while(X: Vector):
    with T.Kernel(1):
        while True:
            X[0] = 1


@wrong
def buffer_condition(X: Vector):
    with T.Kernel(1):
        if X:
            X[0] = 1


@wrong
def copy_in_parallel(X: Vector):
    with T.Kernel(1):
        a = T.alloc_fragment((64,), "float32")
        for i in T.Parallel(64):
            T.copy(X, a)


@wrong
def nested_parallel(X: Vector):
    with T.Kernel(1):
        for i in T.Parallel(8):
            X[i] = 1
            for j in T.Parallel(8):
                X[i * 8 + j] = 0


@wrong
def pipelined_in_parallel(X: Vector):
    with T.Kernel(1):
        for i in T.Parallel(8):
            for j in T.Pipelined(8, num_stages=2):
                X[i * 8 + j] = 0


@wrong
def private_array(X: Vector):
    with T.Kernel(1):
        a = T.alloc_local((8,), "float32")
        for i in T.Parallel(8):
            a[i] = X[i]


@wrong
def reduce_shape(X: Matrix):
    with T.Kernel(1):
        a = T.alloc_fragment((64, 32), "float32")
        s = T.alloc_fragment((32,), "float32")
        T.reduce_sum(a, s, dim=1)


@wrong
def reduce_bits_of_float(X: Matrix):
    with T.Kernel(1):
        a = T.alloc_fragment((64, 32), "float32")
        s = T.alloc_fragment((64,), "float32")
        T.reduce_bitand(a, s, dim=1)


@wrong
def reduce_tensor(X: Matrix):
    with T.Kernel(1):
        s = T.alloc_fragment((64,), "float32")
        T.reduce_sum(X, s, dim=1)


@wrong
def whole_buffer_update(X: Vector):
    with T.Kernel(1):
        a = T.alloc_fragment((64,), "float32")
        a += 1


@wrong
def dynamic_buffer(X: T.Tensor((N,), "float32")):
    with T.Kernel(1):
        T.alloc_fragment((N,), "float32")


@wrong
def unbound_size(X: Vector):
    with T.Kernel(UNUSED):
        X[0] = 1


@wrong
def tensor_after_kernel(X: Vector):
    with T.Kernel(1):
        T.empty((4,), "float32")


@wrong
def kernel_in_kernel(X: Vector):
    with T.Kernel(1):
        with T.Kernel(2):
            X[0] = 1


@wrong
def too_many_blocks(X: Vector):
    with T.Kernel(1, 1, 1, 1):
        X[0] = 1


@wrong
def negative_threads(X: Vector):
    with T.Kernel(1, threads=-1):
        X[0] = 1


@wrong
def thread_index(X: Vector):
    with T.Kernel(1, threads=64):
        for i in T.Parallel(64):
            X[i] = T.get_thread_binding()


@wrong
def shuffle_width(X: Vector):
    with T.Kernel(1, threads=64):
        tx = T.get_thread_binding()
        X[tx] = T.shfl_down(X[tx], 1, 12)


@wrong
def vote_of_float(X: Vector):
    with T.Kernel(1, threads=64):
        X[T.get_thread_binding()] = T.any_sync(0.5)


@wrong
def product_of_a_thread(X: Vector):
    with T.Kernel(1, threads=64):
        tx = T.get_thread_binding()
        a, b = T.alloc_shared((16, 16), "float32"), T.alloc_shared((16, 16), "float32")
        c = T.alloc_local((16, 16), "float32")
        T.gemm(a, b, c)
        X[tx] = c[0, 0]


@wrong
def too_many_threads_in_a_loop(X: Vector):
    with T.Kernel(1, threads=64):
        for tx in T.thread_binding(128, "threadIdx.x"):
            X[tx] = 0


@wrong
def allreduce_without_reducer(X: Vector):
    with T.Kernel(1, threads=64):
        tx = T.get_thread_binding()
        a = T.alloc_local((1,), "float32")
        T.tvm_thread_allreduce(1, X[tx], True, a[0], tx)


@wrong
def buffer_without_a_type(X: Vector):
    with T.Kernel(1):
        T.alloc_shared((4, 4))


@wrong
def variable_without_a_type(X: Vector):
    with T.Kernel(1):
        total = T.alloc_var()
        total = 0


@wrong
def unknown_type(X: Vector):
    with T.Kernel(1):
        T.alloc_shared((4,), "float17")


@wrong
def return_out_of_parallel(X: Vector):
    with T.Kernel(1):
        for i in T.Parallel(8):
            if X[i] > 0:
                return


@wrong
def stored_list(X: Vector):
    with T.Kernel(1):
        X[0] = [X[1], X[2]]


@wrong
def unsupported_try(X: Vector):
    with T.Kernel(1):
        try:
            X[0] = 1
        finally:
            X[1] = 1


@T.macro
def helper(x):
    return x + missing  # noqa: F821


@wrong
def in_a_macro(X: Vector):
    with T.Kernel(1):
        X[0] = helper(X[1])


@wrong
def forgotten_output(X: Vector):
    Y = T.empty((64,), "float32")
    with T.Kernel(1):
        T.copy(X, Y)


@wrong
def memory_order(X: Vector):
    with T.Kernel(1):
        T.atomic_add(X[0], 1, memory_order="strict")


@wrong
def negative_grid(X: Vector):
    with T.Kernel(4, -1) as (i, j):
        X[i] = j


@wrong
def initial_float_overflows(X: Vector):
    with T.Kernel(1):
        v = T.alloc_var("float32", init=1e300)
        X[0] = v


@wrong
def initial_integer_overflows(X: Vector):
    with T.Kernel(1):
        v = T.alloc_var("uint8", init=-1)
        X[0] = v


@wrong
def false_assumption(X: Vector):
    with T.Kernel(1):
        T.assume(2 * 32 == 63)


@wrong
def assumption_about_nothing(X: Vector):
    with T.Kernel(1):
        T.assume(UNUSED > 0)


@wrong
def store_outside_a_fragment(X: Vector):
    with T.Kernel(1):
        f = T.alloc_fragment((1,), "float32")
        for i in T.Parallel(64):
            f[i] = X[i]


@wrong
def store_outside_by_two_loops(X: Vector):
    with T.Kernel(1):
        s = T.alloc_shared((8, 16), "float32")
        for k in T.serial(1, 8, 3):
            for i in T.Parallel(8):
                s[i, 16 - k * 2 - i] = X[i]


@wrong
def scope_of_another_memory(X: Vector):
    with T.Kernel(1):
        T.alloc_shared((64,), "float32", scope="globl")


def doubled(buffer):
    for i in T.Parallel(64):
        buffer[i] = buffer[i] * 2


@wrong
def loop_of_a_plain_function(X: Vector):
    with T.Kernel(1):
        s = T.alloc_shared((64,), "float32")
        doubled(s)
