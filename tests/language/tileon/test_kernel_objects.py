"""Kernels as objects: launched again, compiled without a launch, observed, subclassed, given another source."""

import inspect

import pytest
import torch

import tilery.tileon as tileon
import tilery.tileon.language as tl
from tilery.tileon import knobs
from tilery.tileon.backends.compiler import GPUTarget
from tilery.tileon.compiler import ASTSource, compile
from tilery.tileon.runtime.jit import JITCallable, KernelInterface, MockTensor, TensorWrapper
from tilery.tileon.tools.tensor_descriptor import TensorDescriptor


@pytest.fixture
def placed(device):
    """Kernels that no tensor places run on the GPU where there is one."""
    if device == "cpu" and tileon.runtime.driver.active.get_current_target().backend != "cpu":
        pytest.skip("tensors on the CPU beside kernels that run on the GPU here")


@tileon.jit
def add(x, y, value, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) + value, mask=i < n)


def test_a_compiled_kernel_is_launched_again():
    x, y = torch.randn(100), torch.zeros(100)
    compiled = add[(2,)](x, y, 1.0, 100, BLOCK=64)
    for args in ((x, y, 3.0, 100), (x, y, 3.0, 100, 64)):
        y.zero_()
        compiled[(2,)](*args)
        assert torch.equal(y, x + 3)
    with pytest.raises(TypeError, match=r"add\(\) takes 5 arguments, or the 4 of run time; got 3"):
        compiled[(2,)](x, y, 3.0)


def test_what_names_mean_in_a_kernel():
    """Programs that write a kernel's source anew execute it with these."""
    factor = tl.constexpr(3)

    @tileon.jit
    def scaled(x, N: tl.constexpr):
        i = tl.arange(0, N)
        tl.store(x + i, tl.load(x + i) * factor)

    scope = scaled.get_capture_scope()
    assert scope["factor"] is factor and scope["tl"] is tl and "torch" in add.get_capture_scope()
    assert "factor" not in globals()


def test_a_compiled_kernel_takes_what_lies_elsewhere():
    """Compiled for aligned arguments that do not overlap: others get code of their own."""
    x, y = torch.randn(100), torch.zeros(100)
    compiled = add[(2,)](x, y, 1.0, 100, BLOCK=64)
    odd = torch.randn(101)[1:]
    compiled[(2,)](odd, y, 2.0, 100)
    assert torch.equal(y, odd + 2)
    same = x.clone()
    compiled[(2,)](same, same, 2.0, 100)
    assert torch.equal(same, x + 2)


def test_warmup_compiles_only():
    @tileon.jit
    def fill(x, N: tl.constexpr):
        tl.store(x + tl.arange(0, N), 1.0)

    compiled = fill.warmup(torch.float32, N=16, grid=(1,))
    assert "tile.store" in compiled.asm["ttir"] and fill.warmup(MockTensor(torch.float32), N=16, grid=(1,)) is compiled
    x = torch.zeros(16)
    compiled[(1,)](x)
    assert x.sum() == 16
    assert fill.device_caches[0][0] and list(fill.device_caches[0][0].values()) == [compiled]
    fill.device_caches.clear()
    assert not fill.device_caches


def test_what_a_compiled_kernel_says():
    compiled = add.warmup(torch.float32, torch.float32, 1.0, 100, BLOCK=64, grid=(1,), num_warps=8)
    about = compiled.metadata
    assert (about.name, about.num_warps, about.num_ctas) == ("add", 8, 1)
    assert about.target == tileon.runtime.driver.active.get_current_target()
    assert about.hash == compiled.hash and len(bytes.fromhex(compiled.hash)) == 32
    assert compiled.src.fn is add and compiled.src.constants == {(4,): 64}
    assert compiled.src.signature == {"x": "*fp32", "y": "*fp32", "value": "fp32", "n": "i32", "BLOCK": "constexpr"}
    assert tileon.compile(compiled.src).src is compiled.src
    assert compiled.n_spills >= 0 and compiled.n_regs >= 0 and {"ttir", "llir"} <= set(compiled.asm)


def test_functions_before_a_launch():
    @tileon.jit
    def double(x, N: tl.constexpr):
        i = tl.arange(0, N)
        tl.store(x + i, tl.load(x + i) * 2)

    seen = []
    double.add_pre_run_hook(lambda *args, **kwargs: (seen.append(kwargs), args[0].fill_(3)))
    x = torch.ones(4)
    double[(1,)](x, N=4)
    double.run(x, grid=(1,), warmup=False, N=4)
    assert seen == [{"N": 4}, {"N": 4}] and torch.equal(x, torch.full((4,), 6.0))


def test_functions_around_launches():
    told = []

    def enter(metadata):
        told.append(("enter", metadata.get()["name"], metadata.get()["grid"], metadata.get().get("twice")))

    def leave(metadata):
        told.append(("leave", metadata.get()["name"], metadata.get()["grid"], metadata.get().get("twice")))

    @tileon.jit(launch_metadata=lambda grid, kernel, args: {"twice": 2 * args["n"]})
    def kernel(x, n):
        tl.store(x, n)

    x = torch.zeros(1, dtype=torch.int32)
    knobs.runtime.launch_enter_hook.add(enter)
    knobs.runtime.launch_exit_hook.add(leave)
    try:
        kernel[lambda meta: (1, 3, meta["n"])](x, 2)
    finally:
        knobs.runtime.launch_enter_hook.remove(enter)
        knobs.runtime.launch_exit_hook.remove(leave)
    kernel[(1,)](x, 5)
    assert told == [("enter", "kernel", (1, 3, 2), 4), ("leave", "kernel", (1, 3, 2), 4)] and x.item() == 5


def test_functions_around_compilations():
    seen = []

    @tileon.jit
    def kernel(x, N: tl.constexpr):
        tl.store(x, N)

    def note(key, repr, fn, compile, is_manual_warmup, already_compiled):
        seen.append((fn.name, compile["constants"], compile["num_warps"], is_manual_warmup))

    x = torch.zeros(1, dtype=torch.int32)
    knobs.runtime.jit_cache_hook = knobs.runtime.jit_post_compile_hook = note
    try:
        kernel[(1,)](x, 3, num_warps=2)
        kernel[(1,)](x, 3, num_warps=2)
        kernel.warmup(torch.int32, 4, grid=(1,))
    finally:
        knobs.runtime.jit_cache_hook = knobs.runtime.jit_post_compile_hook = None
    assert seen == 2 * [("kernel", {"N": 3}, 2, False)] + 2 * [("kernel", {"N": 4}, 4, True)]


def test_a_function_may_refuse_a_compilation():
    @tileon.jit
    def kernel(x, N: tl.constexpr):
        tl.store(x, N)

    x = torch.zeros(1, dtype=torch.int32)
    knobs.runtime.jit_cache_hook = lambda **kwargs: True
    try:
        assert kernel[(1,)](x, 3) is None and x.item() == 0
    finally:
        knobs.runtime.jit_cache_hook = None
    assert kernel[(1,)](x, 3) is not None and x.item() == 3


@pytest.mark.usefixtures("placed")
def test_a_description_compiles_elsewhere():
    descriptions = []

    @tileon.jit
    def kernel(x, factor, N: tl.constexpr):
        i = tl.arange(0, N)
        tl.store(x + i, tl.load(x + i) * factor)

    knobs.runtime.jit_cache_hook = lambda compile, **kwargs: descriptions.append(compile["specialization_data"])
    try:
        kernel.warmup(torch.float32, 2.0, N=8, grid=(1,))
    finally:
        knobs.runtime.jit_cache_hook = None
    x = torch.ones(8)
    kernel.preload(descriptions[0])[(1,)](x, 3.0)
    assert torch.equal(x, torch.full((8,), 3.0))
    with pytest.raises(RuntimeError, match="the description is of"):
        add.preload(descriptions[0])


def test_subclasses_that_run_themselves():
    class Mine(tileon.JITFunction):
        def run(self, *args, grid, warmup=False, **kwargs):
            return super().run(*args, grid=(grid[0] + 1,), warmup=warmup, **kwargs)

    kernel = Mine(add.fn)
    x, y = torch.randn(100), torch.zeros(100)
    kernel[(1,)](x, y, 1.0, 100, BLOCK=64)  # one program more: the whole tensor
    assert torch.equal(y, x + 1)

    class Wrapper(KernelInterface):
        def __init__(self, fn):
            self.fn = fn

        def run(self, *args, grid, warmup, **kwargs):
            return self.fn.run(*args, grid=grid, warmup=warmup, **kwargs)

    y.zero_()
    Wrapper(add)[(2,)](x, y, 1.0, 100, BLOCK=64)
    assert torch.equal(y, x + 1) and isinstance(add, JITCallable)


def test_functions_put_in_the_place_of_run(monkeypatch):
    seen = []
    original = tileon.JITFunction.run

    def run(self, *args, grid, warmup, **kwargs):
        seen.append((self.__name__, grid))
        return original(self, *args, grid=grid, warmup=warmup, **kwargs)

    class Mine(tileon.JITFunction[int]):
        pass

    x, y = torch.randn(100), torch.zeros(100)
    with monkeypatch.context() as patch:
        patch.setattr(tileon.JITFunction, "run", run)
        add[(1,)](x, y, 1.0, 64, BLOCK=64)
        Mine(add.fn)[(2,)](x, y, 1.0, 100, BLOCK=64)
    assert seen == [("add", (1,)), ("add", (2,))] and torch.equal(y, x + 1)
    assert tileon.JITFunction.__getitem__ is not KernelInterface.__getitem__
    with monkeypatch.context() as patch:
        patch.setattr(Mine, "run", run)
        Mine(add.fn)[(2,)](x, y, 2.0, 100, BLOCK=64)
        add[(2,)](x, y, 2.0, 100, BLOCK=64)
    assert len(seen) == 3 and torch.equal(y, x + 2)
    kernel, own = tileon.jit(add.fn), []
    before = kernel.run
    kernel.run = lambda *args, **kwargs: (own.append(kwargs), before(*args, **kwargs))[1]
    kernel.add_pre_run_hook(lambda *args, **kwargs: own.append("hook"))
    kernel[(2,)](x, y, 3.0, 100, BLOCK=64)
    assert own == [{"grid": (2,), "warmup": False, "BLOCK": 64}, "hook"] and torch.equal(y, x + 3)
    del kernel.run
    kernel[(2,)](x, y, 4.0, 100, BLOCK=64)
    assert len(own) == 3 and torch.equal(y, x + 4)


def test_another_source():
    offset = 5

    @tileon.jit
    def kernel(x, N: tl.constexpr):
        tl.store(x, N + offset)

    x = torch.zeros(1, dtype=torch.int32)
    kernel[(1,)](x, 1)
    assert x.item() == 6
    key = kernel.cache_key
    kernel._unsafe_update_src(kernel.src.replace("N + offset", "N * offset + 1"))
    kernel[(1,)](x, 2)
    assert x.item() == 11 and kernel.cache_key != key and "N * offset + 1" in kernel.src


def test_attributes():
    assert add.arg_names == ["x", "y", "value", "n", "BLOCK"] and add.constexprs == [4]
    assert [p.is_constexpr for p in add.params] == [False] * 4 + [True] and add.params[4].num == 4
    assert add._fn_name == f"{__name__}.add" and add.parse().body[0].name == "add"
    assert {"do_not_specialize", "noinline", "launch_metadata"} <= set(inspect.signature(tileon.jit).parameters)
    with pytest.raises(TypeError, match="do_not_specialise"):
        tileon.jit(do_not_specialise=["n"])
    assert add.src.startswith("def add(x, y") and add.fn is add.base_fn and add.__name__ == "add"
    assert add.signature.parameters["BLOCK"].annotation is tl.constexpr and add.raw_src[0].startswith("@tileon.jit")
    assert add.starting_line_number > 1 and not add.is_gluon() and not add.noinline and add.repr(None) == "add"


class Pointer:
    """Anything with `data_ptr()` and `dtype`."""

    def __init__(self, tensor, dtype):
        self.tensor, self.dtype = tensor, dtype

    def data_ptr(self):
        return self.tensor.data_ptr()


@pytest.mark.usefixtures("placed")
@pytest.mark.parametrize("wrap", [TensorWrapper, Pointer])
def test_arguments_with_an_address_and_a_type(wrap):
    """uint32 behind int32's bits: a logical shift tells them apart; and types of torch."""

    @tileon.jit
    def shift(x, y, N: tl.constexpr):
        i = tl.arange(0, N)
        tl.store(y + i, tl.load(x + i) >> 1)

    x, y = torch.tensor([-2, -8, 6, 7], dtype=torch.int32), torch.zeros(4, dtype=torch.int32)
    shift[(1,)](wrap(x, tl.uint32), wrap(y, tl.uint32), 4)
    assert y.tolist() == [v % 2**32 >> 1 for v in x.tolist()]
    shift[(1,)](wrap(x, torch.int32), wrap(y, torch.int32), 4)
    assert y.tolist() == [v >> 1 for v in x.tolist()]
    shift[(1,)](wrap(x, tl.int32), wrap(x, tl.int32), 4)  # overlapping
    assert x.tolist() == y.tolist()
    if wrap is Pointer:
        why = "lies on a GPU" if x.is_cuda else "a Pointer has an address and no shape"
        with pytest.raises((TypeError, NotImplementedError), match=why):
            shift[(1,)](wrap(x, tl.int32), wrap(y, tl.int32), 4, debug=True)
    else:
        shift[(1,)](wrap(x, tl.int32), wrap(y, tl.int32), 4, debug=True)
        assert y.tolist() == [v >> 1 for v in x.tolist()]


class Shaped(Pointer):
    """One that says its shape, too, like the views of operator libraries, whose strides may be negative."""

    def __init__(self, tensor, dtype, shape, strides, offset=0):
        super().__init__(tensor, dtype)
        self.shape, self.strides, self.offset = shape, strides, offset

    def stride(self):
        return self.strides

    def data_ptr(self):
        return self.tensor.data_ptr() + self.offset * self.tensor.element_size()


@pytest.mark.usefixtures("placed")
def test_arguments_that_say_their_shape():
    """They overlap with nothing but what lies between their ends."""

    @tileon.jit
    def shifted(x, y, step, N: tl.constexpr):
        i = tl.arange(0, N)
        tl.store(y + i, tl.load(x + i * step) + 1)

    def disjoint(x, y, step=1):
        return shifted[(1,)](x, y, step, 64).options["disjoint"]

    memory = torch.arange(256, dtype=torch.int32)
    row = ((64,), (1,))
    assert disjoint(Shaped(memory, torch.int32, *row), Shaped(memory, torch.int32, *row, offset=64))
    assert memory[64:128].tolist() == list(range(1, 65))
    assert disjoint(Shaped(memory, torch.int32, (64,), (-1,), offset=63), Shaped(memory, torch.int32, *row, offset=64), -1)
    assert memory[64:128].tolist() == list(range(64, 0, -1))
    assert not disjoint(Shaped(memory, torch.int32, (64,), (-1,), offset=63), Shaped(memory, torch.int32, *row), -1)
    assert memory[:64].tolist() == list(range(64, 0, -1))
    memory.copy_(torch.arange(256))
    assert not disjoint(Shaped(memory, torch.int32, (2, 32), (32, 1)), Shaped(memory, torch.int32, *row, offset=3))
    assert memory[:70].tolist() == [0, 1, 2, *range(1, 65), 67, 68, 69]
    unlike = Shaped(memory, torch.int32, (64,), (1, 1))  # says nothing that can be believed
    assert not disjoint(unlike, Shaped(memory, torch.int32, *row, offset=128))


def test_reinterpret_wraps():
    x = torch.zeros(4, dtype=torch.int32)
    wrapped = tileon.reinterpret(x, tl.uint32)
    assert isinstance(wrapped, TensorWrapper) and wrapped.dtype == tl.uint32
    assert wrapped.stride(0) == 1 and wrapped.shape == x.shape
    assert tileon.reinterpret(wrapped, torch.int32) is x and tileon.reinterpret(x, torch.float32).dtype == torch.float32
    with pytest.raises(TypeError, match="reinterpret takes a tensor, got int"):
        tileon.reinterpret(3, tl.int32)


def test_results_that_must_be_used():
    @tileon.must_use_result("It is new.")
    @tileon.jit
    def cube(x):
        return x * x * x

    @tileon.jit
    def right(x):
        tl.store(x, cube(tl.load(x)))

    @tileon.jit
    def wrong(x):
        cube(tl.load(x))

    x = torch.full((1,), 3.0)
    right[(1,)](x)
    assert x.item() == 27
    with pytest.raises(tileon.CompilationError, match="The result of cube is not being used. It is new."):
        wrong[(1,)](x)


def test_allocators_are_kept():
    from tilery.tileon.runtime import _allocation

    def allocate(size, alignment, stream):
        return torch.empty(size, dtype=torch.int8)

    tileon.set_allocator(allocate)
    try:
        assert _allocation._allocator.get() is allocate and _allocation._allocator(4, 16, None).numel() == 4
    finally:
        tileon.set_allocator(_allocation.NullAllocator())
    with pytest.raises(RuntimeError, match="no allocator was set"):
        _allocation._allocator(4, 16, None)


def test_the_interpreter_runs_kernels(monkeypatch):
    from tilery.tileon.runtime.interpreter import InterpretedFunction, _implicit_cvt

    monkeypatch.setenv("TRITON_INTERPRET", "1")
    kernel = tileon.jit(add.fn)
    monkeypatch.delenv("TRITON_INTERPRET")
    assert isinstance(kernel, InterpretedFunction) and not isinstance(tileon.jit(add.fn), InterpretedFunction)
    x, y = torch.randn(100), torch.zeros(100)
    kernel[(2,)](x, y, 1.0, 100, BLOCK=64)
    assert torch.equal(y, x + 1)
    kinds = [(v.dtype, v.handle.data.dtype.name) for v in map(_implicit_cvt, (True, 3, 2**40, 2**63, 0.5))]
    names = ["bool", "int32", "int64", "uint64", "float32"]
    assert kinds == list(zip((tl.int1, tl.int32, tl.int64, tl.uint64, tl.float32), names)) and _implicit_cvt("a") == "a"


def test_names_by_the_kind_of_call():
    def called(specialization):
        ones = [name for name, value in specialization.constants.items() if value == 1]
        return "_".join(["kernel", specialization.signature["value"], *ones])

    @tileon.jit(repr=called)
    def kernel(value, one, x):
        tl.store(x, value + one)

    x = torch.zeros(1)
    assert [kernel[(1,)](v, 1, x).name for v in (5, 2**40, 0.5)] == [f"kernel_{kind}_one" for kind in ("i32", "i64", "fp32")]
    assert x.item() == 1.5


def test_options_and_constants_that_can_change():
    @tileon.jit
    def kernel(x, values: tl.constexpr):
        tl.store(x, values[0])

    x, values = torch.zeros(1), [3]
    kernel[(1,)](x, values, extern_libs={"libdevice": "there"})
    assert x.item() == 3
    values[0] = 4
    kernel[(1,)](x, values, extern_libs={})
    assert x.item() == 4


@pytest.mark.usefixtures("placed")
def test_descriptions_of_structured_arguments():
    data = []

    @tileon.jit
    def kernel(x, pair):
        tl.store(x, pair[0] + pair[1])

    knobs.runtime.jit_cache_hook = lambda compile, **kwargs: data.append(compile["specialization_data"])
    try:
        first = kernel.warmup(torch.int32, (5, tl.constexpr(2)), grid=(1,))
    finally:
        knobs.runtime.jit_cache_hook = None
    x = torch.zeros(1, dtype=torch.int32)
    kernel.preload(data[0])[(1,)](x, (7, tl.constexpr(2)))
    assert x.item() == 9 and first.name == "kernel"


def test_tensors_that_lie_elsewhere(device, monkeypatch):
    """Code for one kind of device does not run with tensors of the other."""
    there = GPUTarget("cuda", 90, 32) if device == "cpu" else GPUTarget("cpu", "", 1)
    signature = {"x": "*fp32", "y": "*fp32", "value": "fp32", "n": "i32", "BLOCK": "constexpr"}
    compiled = compile(ASTSource(add, signature, {"BLOCK": 64}), target=there)
    monkeypatch.setattr(type(compiled), "_is_here", True)
    with pytest.raises(ValueError, match=r"Pointer argument \(at 0\) cannot be accessed from Triton"):
        compiled[(1,)](torch.ones(64), torch.zeros(64), 1.0, 64)


@pytest.mark.usefixtures("placed")
def test_descriptions_of_descriptors():
    """In a kernel's name, in what functions of knobs are told, in another process, and in signatures to compile by."""
    data = []

    def called(specialization):
        return "rows_" + "".join(c for c in specialization.signature["rows"] if c.isalnum())

    @tileon.jit(repr=called)
    def kernel(rows, factors, out, N: tl.constexpr):
        tl.store(out + tl.arange(0, 4)[:, None] * N + tl.arange(0, N)[None, :], rows.load([4, 0]) * factors[1])

    x, out = torch.arange(128.0).reshape(8, 16), torch.zeros(4, 16)
    rows = TensorDescriptor.from_tensor(x, [4, 16])
    knobs.runtime.jit_cache_hook = lambda compile, **kwargs: data.append(compile["specialization_data"])
    try:
        assert kernel[(1,)](rows, (1, 2), out, 16).name == "rows_tensordescfp32416"
    finally:
        knobs.runtime.jit_cache_hook = None
    assert torch.equal(out, 2 * x[4:])
    kernel.preload(data[0])[(1,)](rows, (1, 3), out.zero_(), 16)
    assert torch.equal(out, 3 * x[4:])
    signature = {"rows": "tensordesc<fp32[4, 16]>", "factors": ("i32", "i32"), "out": "*fp32", "N": "constexpr"}
    compiled = compile(ASTSource(kernel, signature, {"N": 16}))
    for arguments in ((rows, (1, 5), out), (rows, (1, 5), out, 16)):
        compiled[(1, 1, 1)](*arguments)
        assert torch.equal(out, 5 * x[4:])
        out.zero_()
    with pytest.raises(TypeError, match=r"takes 4 arguments, got 2"):
        compiled[(1, 1, 1)](rows, out)


def test_failed_assertions_are_run_time_errors():
    @tileon.jit(debug=True)
    def kernel(x):
        tl.device_assert(tl.load(x) > 0, "not positive")

    with pytest.raises(RuntimeError, match="not positive"):
        kernel[(1,)](torch.zeros(1))
        if torch.cuda.is_available():
            torch.cuda.synchronize()
            kernel[(1,)](torch.ones(1))
    kernel[(1,)](torch.zeros(1), debug=False)


@pytest.mark.usefixtures("placed")
def test_kernels_are_compiled_in_other_threads():
    from concurrent.futures import ThreadPoolExecutor

    @tileon.jit
    def kernel(x, N: tl.constexpr):
        tl.static_assert(N < 100)
        tl.store(x, N)

    x = torch.zeros(1, dtype=torch.int32)
    with ThreadPoolExecutor(4) as executor:
        with tileon.AsyncCompileMode(executor):
            futures = [kernel.warmup(torch.int32, N=n, grid=(1,)) for n in range(8)]
        assert len({f.result() for f in futures}) == 8 and futures[3].name == "kernel"
        for number, future in enumerate(futures):
            future[(1,)](x)
            assert x.item() == number and kernel[(1,)](x, N=number) is future.result()
        with pytest.raises(tileon.CompilationError), tileon.AsyncCompileMode(executor):
            kernel.warmup(torch.int32, N=200, grid=(1,))
        with tileon.AsyncCompileMode(executor, ignore_errors=True):
            kernel.warmup(torch.int32, N=300, grid=(1,))


def test_compiling_calls_no_function_of_launches():
    @tileon.jit
    def kernel(x):
        tl.store(x, 1)

    called = []
    kernel.add_pre_run_hook(lambda *args: called.append(args))
    kernel.warmup(torch.float32, grid=(1,))
    assert not called


def test_descriptions_give_the_same_kernel():
    data = []

    @tileon.jit
    def kernel(x, pair):
        tl.store(x, pair[0][0] + pair[1])

    knobs.runtime.jit_cache_hook = lambda compile, **kwargs: data.append(compile["specialization_data"])
    try:
        first = kernel.warmup(torch.int32, ((1,), tl.constexpr(2)), grid=(1,), num_warps=2)
    finally:
        knobs.runtime.jit_cache_hook = None
    assert kernel.preload(data[0]).hash == first.hash
