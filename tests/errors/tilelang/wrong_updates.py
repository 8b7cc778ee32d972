"""More wrong programs, of reducers, vectors, types that memory holds as codes, and numbers."""

from errors.tilelang.wrong_programs import Vector, wrong

from tilery.tilelang import language as T


@wrong
def float_or(X: Vector):
    with T.Kernel(1):
        T.atomic_or(X[0], 1)


@wrong
def reducer_update_first(X: Vector):
    with T.Kernel(1):
        acc = T.alloc_reducer((1,), "float32")
        for i in T.Parallel(64):
            T.reducer_update(acc[0], X[i])


@wrong
def reducer_read(X: Vector):
    with T.Kernel(1):
        acc = T.alloc_reducer((1,), "float32")
        T.reducer_init(acc)
        X[0] = acc[0]


@wrong
def reducer_copy(X: Vector):
    with T.Kernel(1):
        acc = T.alloc_reducer((64,), "float32")
        T.copy(X, acc)


@wrong
def reducer_not_finalized(X: Vector):
    with T.Kernel(1):
        acc = T.alloc_reducer((1,), "float32")
        T.reducer_init(acc)


@wrong
def reducer_in_loop(X: Vector):
    with T.Kernel(1):
        acc = T.alloc_reducer((1,), "float32")
        T.reducer_init(acc)
        for k in T.serial(4):
            T.finalize_reducer(acc, X[k])


@wrong
def reducer_twice(X: Vector):
    with T.Kernel(1):
        acc = T.alloc_reducer((1,), "float32")
        T.reducer_init(acc)
        T.reducer_init(acc)


@wrong
def reducer_seed_type(X: Vector):
    with T.Kernel(1):
        acc = T.alloc_reducer((1,), "float16")
        T.reducer_init(acc, X[0])


@wrong
def reducer_outside_parallel(X: Vector):
    with T.Kernel(1):
        acc = T.alloc_reducer((1,), "float32")
        T.reducer_init(acc)
        T.reducer_update(acc[0], X[0])


@wrong
def reducer_op(X: Vector):
    with T.Kernel(1):
        T.alloc_reducer((1,), "float32", op="product")


@wrong
def reducer_styles(X: Vector):
    with T.Kernel(1):
        acc = T.alloc_reducer((1,), "float32")
        T.clear(acc)
        for i in T.Parallel(64):
            T.reducer_update(acc[0], X[i])


@wrong
def reducer_other_operator(X: Vector):
    with T.Kernel(1):
        acc = T.alloc_reducer((1,), "float32", op="max")
        T.clear(acc)
        for i in T.Parallel(64):
            acc[0] += X[i]


@wrong
def reducer_other_element(X: Vector):
    with T.Kernel(1):
        acc = T.alloc_reducer((2,), "float32")
        T.clear(acc)
        for i in T.Parallel(64):
            acc[1] = acc[0] + X[i]


@wrong
def view_bits(X: Vector):
    with T.Kernel(1):
        T.view(X, (65,))


@wrong
def let_of_number(X: Vector):
    with T.Kernel(1):
        T.let(3, 4)


@wrong
def cast_rounding(X: Vector):
    with T.Kernel(1):
        X[0] = T.cast(X[1], "float16", round="up")


@wrong
def cast_saturation(X: Vector):
    with T.Kernel(1):
        X[0] = T.cast(X[1], "float8_e5m2", sat="yes")


@wrong
def cast_directed(X: Vector):
    with T.Kernel(1):
        X[0] = T.cast(X[1], "int32", round="rp")


@wrong
def address_of_number(X: Vector):
    T.make_tensor(64, (4,), "float32")


@wrong
def reducer_bits(X: Vector):
    with T.Kernel(1):
        T.alloc_reducer((1,), "float32", op="bitor")


@wrong
def load_outside(X: Vector):
    with T.Kernel(1):
        a = T.alloc_fragment((32,), "float32")
        T.clear(a)
        for i in T.Parallel(64):
            X[i] = a[i]


@wrong
def vector_lengths(X: Vector):
    with T.Kernel(1):
        X[0:4] = X[0:2] + X[0:4]


@wrong
def vector_as_number(X: Vector):
    with T.Kernel(1):
        X[0] = X[0:4] * 2


@wrong
def long_vector(X: T.Tensor((128,), "float32")):
    with T.Kernel(1):
        X[0] = X[0:128] * 2


@wrong
def ramp_stride(X: Vector):
    with T.Kernel(1) as bx:
        X[T.Ramp(0, bx, 4)] = 1


@wrong
def packed_memory(X: Vector):
    with T.Kernel(1):
        T.alloc_shared((4,), "float6_e2m3fn")


@wrong
def packed_in_parallel(X: T.Tensor((16,), "int4")):
    with T.Kernel(1):
        for i in T.Parallel(15):
            X[i + 1] = 1


@wrong
def packed_sum(X: T.Tensor((16, 16), "float4_e2m1fn")):
    with T.Kernel(1):
        tile, row = T.alloc_fragment((16, 16), "float4_e2m1fn"), T.alloc_fragment((16,), "float32")
        T.reduce_sum(tile, row)


@wrong
def packed_odd_start(X: T.Tensor((16,), "int4"), Y: T.Tensor((16,), "int4")):
    with T.Kernel(1):
        T.copy(X[1:5], Y[0:4])


@wrong
def packed_half_byte(X: T.Tensor((16,), "int4"), Y: T.Tensor((16,), "int4")):
    with T.Kernel(1):
        T.copy(X[0:3], Y[0:3])


@wrong
def packed_variable(X: Vector):
    with T.Kernel(1):
        v = T.alloc_var("int4")


@wrong
def atomic_load_order(X: Vector):
    with T.Kernel(1):
        X[0] = T.atomic_load(X[1], memory_order="release")


@wrong
def atomic_store_order(X: Vector):
    with T.Kernel(1):
        T.atomic_store(X[0], 1, memory_order="acquire")


@wrong
def atomic_vector(X: Vector):
    with T.Kernel(1):
        T.atomic_addx4(X[0:2], X[2:4])


@wrong
def sync_in_parallel(X: Vector):
    with T.Kernel(1):
        for i in T.Parallel(64):
            T.sync_threads()
            X[i] = 0


@wrong
def odd_registers(X: Vector):
    with T.Kernel(1):
        T.set_max_nreg(100, 1)


@wrong
def ieee_rounding(X: Vector):
    with T.Kernel(1):
        X[0] = T.ieee_add(X[1], X[2], "up")


@wrong
def ieee_half(X: T.Tensor((4,), "float16")):
    with T.Kernel(1):
        X[0] = T.ieee_mul(X[1], X[2], "rz")


@wrong
def ieee_root(X: T.Tensor((4,), "float64")):
    with T.Kernel(1):
        X[0] = T.ieee_frsqrt(X[1])


@wrong
def transpose_shape(X: T.Tensor((4, 8), "float32"), Y: T.Tensor((4, 8), "float32")):
    with T.Kernel(1):
        T.transpose(X, Y)


@wrong
def popcount_of_float(X: Vector):
    with T.Kernel(1):
        X[0] = T.popcount(X[1])


@wrong
def nested_extent(X: Vector):
    with T.Kernel(1):
        for i in T.Parallel(8):
            for j in T.Parallel(i):
                X[j] = 0


@wrong
def after_nested_parallel(X: Vector):
    with T.Kernel(1):
        for i in T.Parallel(8):
            for j in T.Parallel(8):
                X[i * 8 + j] = 0
            X[i] = 1


@wrong
def buffer_and_number(X: Vector):
    with T.Kernel(1):
        s = T.alloc_shared((4,), "float32")
        X[0] = s + 1


@wrong
def element_of_an_element(X: Vector):
    with T.Kernel(1):
        X[0] = X[1][2]


@wrong
def slice_as_a_bound(X: Vector):
    with T.Kernel(1):
        for _ in T.serial(X[0:4]):
            X[0] = 1


@wrong
def buffer_as_an_element(X: Vector):
    with T.Kernel(1):
        X[0] = T.alloc_shared((4,), "float32")


@wrong
def eviction_of_another_time(X: Vector):
    with T.Kernel(1):
        T.copy(X, T.alloc_shared((64,), "float32"), eviction_policy="evict_soon")


@wrong
def instruction_of_no_name(X: Vector):
    with T.Kernel(1):
        T.async_copy(X, T.alloc_shared((64,), "float32"), prefer_instruction="bulk")


@wrong
def fractions_of_threads(X: Vector):
    with T.Kernel(1, threads=128.0):
        X[0] = 1


@wrong
def fraction_of_a_dimension(X: Vector):
    with T.Kernel(1):
        T.reduce_sum(T.alloc_fragment((4, 4), "float32"), T.alloc_fragment((4,), "float32"), dim=0.5)


@wrong
def dimension_of_a_scan_by_name(X: Vector):
    with T.Kernel(1):
        T.cumsum(T.alloc_shared((4, 4), "float32"), dim="x")


@wrong
def cleared_number(X: Vector):
    with T.Kernel(1):
        T.clear(3)


@wrong
def sine_of_a_buffer(X: Vector):
    with T.Kernel(1):
        X[0] = T.sin(X)


@wrong
def loop_over_a_buffer(X: Vector):
    with T.Kernel(1):
        for i in X:
            X[i] = 1


@wrong
def type_before_the_value(X: Vector):
    with T.Kernel(1):
        X[0] = T.cast("float16", X[1])


@wrong
def two_buffers_printed(X: Vector):
    with T.Kernel(1):
        T.print(X, X)


@wrong
def copy_of_each_thread(X: Vector, Y: Vector):
    with T.Kernel(1, threads=8):
        tx = T.get_thread_binding()
        T.copy(X[tx * 8], Y[0:8])


@wrong
def atomics_of_each_thread(X: Vector, Y: Vector):
    with T.Kernel(1, threads=8):
        T.atomic_add(Y[0:8], X[T.get_thread_binding()])
