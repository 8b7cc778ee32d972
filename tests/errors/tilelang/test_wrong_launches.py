"""Wrong calls are refused before anything runs, each with exactly its message."""

import copy
import pickle

import numpy as np
import pytest
from errors import messages

from tilery import tilelang
from tilery.errors import Error
from tilery.tilelang import language as T

m = T.dynamic("m")


@T.prim_func
def add(A: T.Tensor((8, 4), "float32"), B: T.Tensor((8, 4), "float32"), n: T.int32):
    with T.Kernel(1):
        for i, j in T.Parallel(8, 4):
            B[i, j] = A[i, j] + n


@T.prim_func
def rows(A: T.Tensor((m, 4), "float32"), B: T.Tensor((m * 2, 4), "float32")):
    with T.Kernel(m):
        pass


@tilelang.jit
def builder(x):
    return x


ADD, ROWS = tilelang.compile(add), tilelang.compile(rows)


@tilelang.jit
def sized(n, block=32):
    return add


@tilelang.jit
def doubled(A, other=None):
    n = T.const("n")
    A: T.Tensor[[n], T.float32]
    B = T.empty((n,), T.float32)
    with T.Kernel(1):
        for i in T.Parallel(n):
            B[i] = A[i] * 2
    return B


@tilelang.jit
def product(A, B):
    M, N, K = T.const("M, N, K")
    A: T.Tensor((M, K), "float32")
    B: T.Tensor((K, N), "float32")
    C = T.empty((M, N), "float32")
    with T.Kernel(M, N) as (i, j):
        for k in T.serial(K):
            C[i, j] += A[i, k] * B[k, j]
    return C


def ones(*shape, dtype=np.float32):
    return np.ones(shape, dtype)


def tuned(*configs):
    return tilelang.autotune(configs=list(configs))(sized)


def no_annotation():
    @T.prim_func
    def main(A):
        pass


def odd_annotation():
    @T.prim_func
    def main(A: 3.5):
        pass


def within_metal():
    with tilelang.tvm.target.Target("metal"):
        tilelang.compile(add)


WRONG = {
    "too few": (
        lambda: ADD(ones(8, 4)),
        ValueError,
        "Kernel expected 3 inputs, but 1 are provided.\n  hint: the parameters of `add` are A, B, n",
    ),
    "too many": (
        lambda: ADD(1, 2, 3, 4),
        ValueError,
        "Kernel expected 3 inputs, but 4 are provided.\n  hint: the parameters of `add` are A, B, n",
    ),
    "outputs are no inputs": (
        lambda: tilelang.compile(add, out_idx=1)(ones(8, 4), ones(8, 4), 1),
        ValueError,
        "Kernel expected 2 inputs, but 3 are provided.\n  hint: the parameters of `add` are A, n",
    ),
    "gaps": (
        lambda: ADD(ones(8, 8)[:, ::2], ones(8, 4), 1),
        ValueError,
        "Argument add.A.strides[0] has an unsatisfied constraint: 8 == 4 (it is not contiguous)\n"
        "  hint: pass a copy of A without gaps (A.contiguous() in Python), or declare it as "
        "T.StridedTensor(shape, strides, dtype)",
    ),
    "turned, of run-time size": (
        lambda: ROWS(ones(4, 3).T, ones(6, 4)),
        ValueError,
        "Argument rows.A.strides[0] has an unsatisfied constraint: 1 == 4 (it is not contiguous)\n"
        "  hint: pass a copy of A without gaps (A.contiguous() in Python), or declare it as "
        "T.StridedTensor(shape, strides, dtype)",
    ),
    "rank": (
        lambda: ADD(ones(32), ones(8, 4), 1),
        ValueError,
        "add.A.ndim is expected to equal 2, but got mismatched ndim\n  hint: it has 1 dimension",
    ),
    "dtype": (
        lambda: ADD(ones(8, 4), ones(8, 4, dtype=np.float16), 1),
        TypeError,
        "add.B.dtype is expected to be float32, but got incompatible dtype\n"
        "  hint: it holds float16; convert it or declare it so",
    ),
    "shape": (
        lambda: ADD(ones(8, 5), ones(8, 4), 1),
        ValueError,
        "Argument add.A.shape[1] has an unsatisfied constraint: 5 == 4 (given, declared)",
    ),
    "sizes of one name": (
        lambda: product(ones(4, 10), ones(9, 5)),
        ValueError,
        "Argument product.B.shape[0] has an unsatisfied constraint: 9 == 10 (given, declared)\n  hint: `K` is 10 by A.shape[1]",
    ),
    "a constant's name": (
        lambda: product(ones(4, 10), ones(10, 5), k=3),
        TypeError,
        "`product` has no argument or constant `k`\n  hint: it takes A, B, M, N, K",
    ),
    "symbolic shape": (
        lambda: ROWS(ones(3, 4), ones(5, 4)),
        ValueError,
        "Argument rows.B.shape[0] has an unsatisfied constraint: 5 == 6 (the second is (m * 2))",
    ),
    "number for a tensor": (
        lambda: ADD(1.5, ones(8, 4), 1),
        TypeError,
        "Expect arg[0] to be pointer (`add.A` is a tensor of float32)",
    ),
    "tensor for a number": (
        lambda: ADD(ones(8, 4), ones(8, 4), ones(1)),
        TypeError,
        "Expect arg[2] to be a number (`add.n` is int32), got a tensor of 1 dimension\n  hint: pass n.item()",
    ),
    "tensor of one element for a number": (
        lambda: ADD(ones(8, 4), ones(8, 4), np.ones((), np.int32)),
        TypeError,
        "Expect arg[2] to be a number (`add.n` is int32), got a tensor of 0 dimensions\n  hint: pass n.item()",
    ),
    "matrix for a number": (
        lambda: ADD(ones(8, 4), ones(8, 4), ones(8, 4)),
        TypeError,
        "Expect arg[2] to be a number (`add.n` is int32), got a tensor of 2 dimensions\n"
        "  hint: pass one of its numbers, as n[0, 0].item()",
    ),
    "None for a number": (
        lambda: ADD(ones(8, 4), ones(8, 4), None),
        TypeError,
        "Expect arg[2] to be a number (`add.n` is int32), got None",
    ),
    "list for a tensor": (
        lambda: ADD([1.0], ones(8, 4), 1),
        TypeError,
        "argument 'A' is a list; a tensor, int, float, bool or None is expected\n  hint: pass torch.tensor(A) or a NumPy array",
    ),
    "float for an integer": (lambda: ADD(ones(8, 4), ones(8, 4), 1.5), TypeError, "Expect arg[2] to be int (`add.n` is int32)"),
    "read-only output": (
        lambda: ADD(ones(8, 4), np.frombuffer(bytes(128), np.float32).reshape(8, 4), 1),
        ValueError,
        "argument 'B' is a read-only array, and add writes to it\n  hint: pass a copy of it",
    ),
    "not compiled": (
        lambda: add(ones(8, 4), ones(8, 4), 1),
        RuntimeError,
        "`add` is not compiled\n  hint: return it from a function decorated with @tilelang.jit, or pass it to tilelang.compile",
    ),
    "compile of something else": (
        lambda: tilelang.compile(len),
        TypeError,
        "tilelang.compile takes a function decorated with @T.prim_func, got builtin_function_or_method",
    ),
    "jit of something else": (
        lambda: builder(3),
        TypeError,
        "`builder` returned int where @tilelang.jit expects a function decorated with @T.prim_func\n"
        "  hint: return the inner function",
    ),
    "unknown parameter of a builder": (
        lambda: sized(8, blok=3),
        TypeError,
        "sized(): got an unexpected keyword argument 'blok'\n  hint: its parameters: n, block",
    ),
    "missing parameter of a builder": (
        lambda: sized(),
        TypeError,
        "sized(): missing a required argument: 'n'\n  hint: its parameters: n, block",
    ),
    "eager: rank": (
        lambda: doubled(ones(4, 4)),
        ValueError,
        "doubled.A.ndim is expected to equal 1, but got mismatched ndim\n  hint: it has 2 dimensions",
    ),
    "eager: list": (
        lambda: doubled([1.0, 2.0]),
        TypeError,
        "`doubled.A` is a tensor of float32, got a list\n  hint: pass torch.tensor(A) or a NumPy array",
    ),
    "eager: None": (
        lambda: doubled(None),
        TypeError,
        "`doubled` is missing the tensor `A`\n  hint: its parameters: A, other; constants may be given by name instead: n",
    ),
    "eager: no tensor": (
        lambda: doubled(),
        TypeError,
        "`doubled` is missing the tensor `A`\n  hint: its parameters: A, other; constants may be given by name instead: n",
    ),
    "eager: too many": (
        lambda: doubled(ones(4), ones(4), ones(4)),
        TypeError,
        "doubled(): too many positional arguments\n  hint: its parameters: A, other",
    ),
    "eager: not declared": (
        lambda: doubled(ones(4), ones(4)),
        TypeError,
        "`doubled` is given a tensor for `other`, which nothing declares as one\n"
        "  hint: write `other: T.Tensor[[M, N], T.float16]` in its body, before T.Kernel",
    ),
    "configuration of an unknown parameter": (
        lambda: tuned({"blocks": 3})(64),
        TypeError,
        "the configuration {'blocks': 3} names `blocks`, which is no parameter of `sized`\n  hint: its parameters: n, block",
    ),
    "configuration that is no dict": (
        lambda: tuned("block")(64),
        TypeError,
        "a configuration is a dict of parameters and their values, got 'block'",
    ),
    "jit above autotune": (
        lambda: tilelang.jit(tuned({"block": 3})),
        TypeError,
        "@tilelang.jit is above @tilelang.autotune on `sized`\n  hint: write @tilelang.autotune first",
    ),
    "tensor at compile time": (
        lambda: builder({"a": ones(3)}),
        TypeError,
        "argument `x` of `builder` is a ndarray, which cannot be a compile-time argument\n"
        "  hint: pass numbers, strings, types or tuples of them; tensors go to the kernel it returns",
    ),
    "unknown switch": (
        lambda: tilelang.compile(add, pass_configs={"tl.disable_warp_specialised": True}),
        AttributeError,
        "Invalid config option 'tl.disable_warp_specialised' in pass_configs\n"
        "  hint: did you mean 'tl.disable_warp_specialized'?",
    ),
    "no dict of switches": (
        lambda: tilelang.compile(add, pass_configs=[tilelang.PassConfigKey.TL_ENABLE_FAST_MATH]),
        TypeError,
        "pass_configs is a list, not a dict\n  hint: write {tilelang.PassConfigKey.TL_DISABLE_WARP_SPECIALIZED: True}",
    ),
    "unknown target": (
        lambda: tilelang.compile(add, target="abacus"),
        ValueError,
        "unknown target 'abacus'\n  hint: known: auto, cuda, c, llvm, cpu, hip, metal, cutedsl",
    ),
    "a target of another maker": (
        lambda: tilelang.jit(target="hip -mcpu=gfx942")(sized.function)(4),
        ValueError,
        "the target 'hip -mcpu=gfx942' means AMD's GPUs, for which there is no code here\n"
        "  hint: a launch runs where its tensors are, on a CPU or an NVIDIA GPU: the targets are auto, cuda, llvm, c, cpu",
    ),
    "an entered target of another maker": (
        within_metal,
        ValueError,
        "the target 'metal' means Apple's GPUs, for which there is no code here\n"
        "  hint: a launch runs where its tensors are, on a CPU or an NVIDIA GPU: the targets are auto, cuda, llvm, c, cpu",
    ),
    "an architecture of nobody": (
        lambda: tilelang.compile(add, target={"kind": "cuda", "arch": "gfx90"}),
        ValueError,
        "the target {'kind': 'cuda', 'arch': 'gfx90'} has no architecture of NVIDIA's GPUs\n  hint: write -arch=sm_90a",
    ),
    "a flag that is neither true nor false": (
        lambda: tilelang.compile(add, pass_configs={"tl.device_compile_flags": "--fmad=off -O3"}),
        ValueError,
        "the compile flag --fmad is 'off'\n  hint: write --fmad=true or --fmad=false",
    ),
    "a flag without its value": (
        lambda: tilelang.compile(add, compile_flags="--fmad -O3"),
        ValueError,
        "the compile flag --fmad is ''\n  hint: write --fmad=true or --fmad=false",
    ),
    "a text for a switch": (
        lambda: tilelang.compile(add, pass_configs={tilelang.PassConfigKey.TL_ENABLE_FAST_MATH: "off"}),
        TypeError,
        "the switch TL_ENABLE_FAST_MATH of pass_configs is 'off'; True or False is expected",
    ),
    "a text for a switch that changes nothing": (
        lambda: tilelang.compile(add, pass_configs={"tl.disable_warp_specialized": "no"}),
        TypeError,
        "the switch TL_DISABLE_WARP_SPECIALIZED of pass_configs is 'no'; True or False is expected",
    ),
    "flags that are no texts": (
        lambda: tilelang.compile(add, compile_flags=[1]),
        TypeError,
        "compile flags are [1]; text, or a list of texts, is expected",
    ),
    "a text for verbose": (
        lambda: tilelang.compile(add, verbose="off"),
        TypeError,
        "tilelang.compile(verbose=...) is 'off'; True or False is expected",
    ),
    "no time for a tuner": (
        lambda: tilelang.autotune(configs=[{"block": 32}, {"block": 64}], rep=None)(sized)(4),
        TypeError,
        "`rep` of the tuner is None; a number of milliseconds is expected",
    ),
    "a tuner's factor": (
        lambda: tilelang.autotune(configs=[{"block": 32}], early_stop_factor=-1)(sized)(4),
        ValueError,
        "`early_stop_factor` of the tuner is -1; a number that is not negative is expected",
    ),
    "a tuner's reference": (
        lambda: tilelang.autotune(configs=[{"block": 32}], ref_prog=5)(sized)(4),
        TypeError,
        "`ref_prog` of the tuner is 5; a function is expected",
    ),
    "no configurations": (
        lambda: tilelang.autotune(configs=None)(sized)(4),
        TypeError,
        "the configurations of a tuner are None; a list of dicts is expected, or a function that gives one\n"
        '  hint: write configs=[{"block": 64}, {"block": 128}]',
    ),
    "a tuner without a time": (
        lambda: tilelang.autotuner.AutoTuner.from_kernel(lambda n: add, [{"n": 1}]).run(rep="x"),
        TypeError,
        "`rep` of the tuner is 'x'; a number of milliseconds is expected",
    ),
    "no function to time": (
        lambda: ADD.get_profiler().do_bench(5),
        TypeError,
        "what is timed is 5; a function is expected\n  hint: leave it out: do_bench(rep=100)",
    ),
    "nothing to time": (
        lambda: tilelang.profiler.do_bench(5),
        TypeError,
        "what is timed is 5; a function is expected\n  hint: write do_bench(lambda: kernel(x, y))",
    ),
    "a pickled kernel": (
        lambda: pickle.dumps(ADD),
        TypeError,
        "the kernel `add` cannot be pickled: it holds code of this process\n"
        "  hint: pickle what makes it: a function of @tilelang.jit and its arguments; or write its code with `export_library`",
    ),
    "out_idx too large": (
        lambda: tilelang.compile(add, out_idx=3),
        ValueError,
        "out_idx 3 is out of range: `add` has 3 parameters",
    ),
    "out_idx twice": (lambda: tilelang.compile(add, out_idx=[1, -2]), ValueError, "out_idx names parameter 1 twice"),
    "out_idx by name": (
        lambda: tilelang.compile(add, out_idx="B"),
        TypeError,
        "out_idx is the position of a parameter, or a list of them, got 'B'",
    ),
    "arguments by name": (
        lambda: ADD(ones(8, 4), B=ones(8, 4), n=1),
        TypeError,
        "a kernel takes its arguments by position, got `B=...`\n  hint: the parameters of `add` are A, B, n",
    ),
    "out_idx of a scalar": (
        lambda: tilelang.compile(add, out_idx=-1),
        ValueError,
        "out_idx -1 is the scalar `n`\n  hint: outputs are tensors",
    ),
    "no annotation": (
        no_annotation,
        TypeError,
        "parameter `A` of `main` has no annotation\n  hint: annotate it with T.Tensor(shape, dtype) or a type like T.int32",
    ),
    "odd annotation": (
        odd_annotation,
        TypeError,
        "parameter `A` of `main` is annotated with 3.5\n  hint: use T.Tensor(shape, dtype) or a type like T.int32",
    ),
    "outside of a kernel": (
        lambda: T.alloc_shared((4,), "float32"),
        RuntimeError,
        "T.alloc_shared is used outside of a kernel\n  hint: call it in a function decorated with @T.prim_func",
    ),
    "truth of a size": (
        lambda: bool(m > 3),
        TypeError,
        "a run-time value has no truth value at compile time\n"
        "  hint: `if`, `and`, `or` and `not` on run-time values work inside a @T.prim_func or a @T.macro",
    ),
    "shape of floats": (lambda: T.Tensor((2.5,), "float32"), TypeError, "a shape holds integers and sizes, got 2.5"),
    "negative shape": (lambda: T.Tensor((-1,), "float32"), ValueError, "a shape has no negative sizes, got -1"),
    "strides": (lambda: T.StridedTensor((4, 4), (1,)), ValueError, "T.StridedTensor has 2 dimensions but 1 stride"),
}


@pytest.mark.parametrize("name", WRONG)
def test_message(name):
    call, builtin, message = WRONG[name]
    with pytest.raises(builtin) as caught:
        call()
    assert isinstance(caught.value, Error) and messages.without_place(caught.value) == message


def test_kernels_are_pickled_by_their_names_and_copied_as_themselves():
    """A model that holds one can be copied."""
    for kernel in (doubled, sized):
        assert pickle.loads(pickle.dumps(kernel)) is copy.copy(kernel) is copy.deepcopy([kernel])[0] is kernel
    assert copy.copy(ADD) is copy.deepcopy({"kernel": ADD})["kernel"] is ADD
    for other in (tilelang.jit(sized.function), tuned({"block": 32})):
        with pytest.raises(TypeError, match="the kernel `sized` cannot be pickled: it holds code of this process"):
            pickle.dumps(other)


def test_nothing_ran():
    b = np.full((8, 4), 7, np.float32)
    with pytest.raises(ValueError):
        ADD(ones(8, 5), b, 1)
    assert (b == 7).all()
    ADD(ones(8, 4), b, 1)
    assert (b == 2).all()


@T.prim_func
def assumes(A: T.Tensor((m,), "int32"), n: T.int32):
    T.assume(m % 4 == 0)
    with T.Kernel(T.ceildiv(m, 4)) as i:
        T.assume((n > 0) & (n <= m))
        if n > 100:
            T.assume(m > 1000)
        A[i] = n


@pytest.mark.parametrize(
    "size, n, message", [(6, 1, "m % 4"), (8, 0, "n > 0"), (8, 9, "n <= m"), (8, 8, None), (128, 128, None)]
)
def test_assumptions_about_sizes_are_checked(size, n, message):
    a = np.zeros(size, np.int32)
    if message is None:
        tilelang.compile(assumes)(a, n)
        assert a[0] == n
        return
    with pytest.raises(RuntimeError, match=f"Assume: .*{message}.* does not hold in this call of `assumes`") as caught:
        tilelang.compile(assumes)(a, n)
    assert isinstance(caught.value, Error) and (a == 0).all()
