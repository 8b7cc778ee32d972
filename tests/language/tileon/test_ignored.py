"""Options that programs set in vain are named in the kernel's explanation, with the line and the reason; others do what they say,
or are refused."""

import inspect

import pytest
import torch

from tilery import tileon
from tilery.core import ignored
from tilery.tileon import language as tl
from tilery.tileon.backends.compiler import DEFAULTS, GPUTarget
from tilery.tileon.compiler import options
from tilery.tileon.ignored import ROWS


@tileon.jit
def ranges(x):
    for _ in tl.range(2, flatten=True, warp_specialize=True, disallow_acc_multi_buffer=True, disable_licm=True):
        tl.store(x, 1)


@tileon.jit(noinline=True)
def one(x):
    tl.store(x, 1)


@tileon.jit
def calls(x):
    one(x)


@tileon.jit
def conditions(x):
    i = 0
    while tl.condition(i < 2, disable_licm=True):
        i += 1
    tl.store(x, i)


@tileon.jit
def promises(x):
    i = tl.max_constancy(tl.max_contiguous(tl.arange(0, 16), 8), [2])
    tl.assume(i < 16)
    tl.store(x + i, 1)


@tileon.jit
def shapes(x):
    i = tl.arange(0, 16)
    both = tl.cat(tl.reshape(i, [4, 4], can_reorder=True).ravel(can_reorder=True), i, can_reorder=True)
    tl.store(x + both, 1)


@tileon.jit
def pointers(x):
    p = tl.make_block_ptr(x, (4, 4), (1, 4), (0, 0), (4, 4), (0, 1))
    tl.store(p, tl.load(p) + 1)


@tl.core.extern
def exp_of(x, _semantic=None):
    table = {(tl.float32,): ("__nv_expf", tl.float32)}
    return tl.core.extern_elementwise("mine", "/there.bc", [x], table, is_pure=False, _semantic=_semantic)


@tileon.jit
def functions(x):
    i = tl.arange(0, 16)
    v = tl.map_elementwise(lambda a: a + 1, tl.load(x + i), is_pure=False)
    v = tl.inline_asm_elementwise("add.f32 $0, $1, 1.0;", "=f,f", [v], dtype=tl.float32, is_pure=False, pack=1)
    tl.store(x + i, exp_of(v))


@tileon.jit
def scaled(x):
    i = tl.arange(0, 32)
    a = tl.full((32, 32), 1, tl.bfloat16)
    product = tl.dot_scaled(a, None, "bf16", a, None, "bf16", fast_math=True)
    tl.store(x + i[:, None] * 0 + i[None, :], product)


@pytest.mark.parametrize(
    "kernel, named",
    [
        (ranges, "flatten=True warp_specialize=True disallow_acc_multi_buffer=True disable_licm=True"),
        (calls, "tileon.jit(noinline=True"),
        (conditions, "condition(disable_licm=True"),
        (promises, "max_contiguous(values=8) max_constancy(values=[2]) assume(cond="),
        (shapes, "reshape(can_reorder=True ravel(can_reorder=True cat(can_reorder=True"),
        (pointers, "make_block_ptr(order=[0,"),
        (functions, "map_elementwise(is_pure=False inline_asm_elementwise(is_pure=False lib_name='mine' lib_path='/there.bc'"),
        (scaled, "dot_scaled(fast_math=True"),
    ],
)
def test_functions_of_kernels(kernel, named):
    told = kernel[(1,)](torch.ones(64)).explanation.ignored
    first = inspect.getsourcelines(kernel.fn)[1]
    for words in named.split():
        (one,) = [one for one in told if words in one.option]
        assert one.place[0] in (__file__, exp_of.__code__.co_filename) and one.place[1] > 0 and one.reason
        assert one.place[1] > first or "lib_" in words
        assert str(one).startswith(f"{one.place[0]}:{one.place[1]}: {one.option} is ignored: ")


@tileon.jit
def add(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


def test_options_of_launches(device):
    x = torch.zeros(64, device=device)
    given = {"num_stages": 5, "kpack": 2, "num_warps": 8, "extern_libs": {"libdevice": "/there.bc"}}
    told = [one.option for one in add[(1,)](x, 64, BLOCK=64, **given).explanation.ignored]
    wanted = [f"kernel[grid]({name}={value!r})" for name, value in given.items() if name != "num_warps" or device == "cpu"]
    assert sorted(told) == sorted(wanted)
    usual = {"num_stages": 3, "num_ctas": 1, "num_warps": 4, "enable_fast_math": True, "sanitize_overflow": True}
    assert add[(1,)](x, 64, BLOCK=64, **usual).explanation.ignored == ()


def test_options_of_the_decorator():
    kernel = tileon.jit(add.fn, version=2, do_not_specialize_on_alignment=["x"], do_not_specialize=["n"])
    told = [one.option for one in kernel[(1,)](torch.zeros(64), 64, BLOCK=64).explanation.ignored]
    assert told == ["tileon.jit(version=2)", "tileon.jit(do_not_specialize_on_alignment=('x',))"]


def test_stages_that_code_does_not_depend_on():
    @tileon.jit
    def sums(x, n):
        i = tl.arange(0, 64)
        total = tl.zeros((64,), tl.float32)
        for k in tl.range(n, num_stages=4):
            total += tl.load(x + k * 64 + i)
        tl.store(x + i, total)

    compiled = sums[(1,)](torch.zeros(256), 4)
    told = [one for one in compiled.explanation.ignored if one.option == "tl.range(num_stages=4)"]
    assert len(told) == compiled.ignores("num_stages") and all(one.place[0] == __file__ for one in told)


def test_what_compile_is_given():
    source = tileon.compiler.ASTSource(add, {"x": "*fp32", "n": "i32", "BLOCK": "constexpr"}, {"BLOCK": 64})
    compiled = tileon.compile(source, GPUTarget("cuda", 90, 32), {"num_warps": 8, "num_stages": 7, "unheard_of": 2})
    assert [one.option for one in compiled.explanation.ignored] == ["kernel[grid](num_stages=7)", "kernel[grid](unheard_of=2)"]


def test_numbers_of_warps_that_code_does_not_depend_on(device):
    @tileon.jit
    def product(x):
        i = tl.arange(0, 64)
        at = x + i[:, None] * 64 + i[None, :]
        a = tl.load(at)
        tl.store(at, tl.dot(a, a).to(tl.float16))

    x = torch.zeros(64, 64, dtype=torch.float16, device=device)
    compiled = product[(1,)](x, num_warps=8)
    told = [one.option for one in compiled.explanation.ignored]
    assert told == (["kernel[grid](num_warps=8)"] if compiled.ignores("num_warps") else [])


@pytest.mark.parametrize(
    "given, kind, words",
    [
        ({"ir_override": "a.ttir"}, NotImplementedError, "none of its stages can be given"),
        ({"instrumentation_mode": "consan"}, NotImplementedError, "not instrumented"),
        ({"stream": 0}, AssertionError, "current stream will be used"),
        ({"device": 0}, AssertionError, "current device will be used"),
        ({"device_type": "cuda"}, AssertionError, "current target will be used"),
        ({"default_dot_input_precision": "fp4"}, ValueError, "default_dot_input_precision is 'fp4'; expected one of tf32"),
        ({"max_num_imprecise_acc_default": 2.5}, TypeError, "`max_num_imprecise_acc_default` is 2.5; an int of at least 0"),
    ],
)
def test_refused_options(given, kind, words):
    with pytest.raises(kind, match=words):
        add[(1,)](torch.zeros(64), 64, BLOCK=64, **given)


@pytest.mark.parametrize("given", [{"num_ctas": 2}, {"cluster_dims": (2, 1, 1)}])
def test_clusters(given, device):
    (name,) = given
    source = tileon.compiler.ASTSource(add, {"x": "*fp32", "n": "i32", "BLOCK": "constexpr"}, {"BLOCK": 64})
    with pytest.raises(NotImplementedError, match=f"{name}=.*on one block of a GPU(.|\n)*leave num_ctas at 1"):
        tileon.compile(source, GPUTarget("cuda", 90, 32), given)
    if device == "cpu":
        (told,) = add[(1,)](torch.zeros(64), 64, BLOCK=64, **given).explanation.ignored
        assert name in told.option and told.reason == "CPUs have no blocks"


def test_each_option_is_heeded_refused_or_in_the_table():
    launch = {*options.HEEDED, *options.REFUSED, *ROWS[options.LAUNCH]}
    assert launch == set(options.OPTIONS) and DEFAULTS.keys() <= launch
    assert launch >= inspect.signature(tileon.Config).parameters.keys() - {"kwargs", "pre_hook"}
    for function, rows in ROWS.items():
        for name, option in rows.items():
            assert ignored.table(function)[name].reason, name


def test_products_heed_what_a_launch_says(monkeypatch):
    @tileon.jit
    def product(x):
        i = tl.arange(0, 16)
        at = x + i[:, None] * 16 + i[None, :]
        tl.store(at, tl.dot(tl.load(at), tl.load(at)))

    @tileon.jit
    def named(x):
        i = tl.arange(0, 16)
        at = x + i[:, None] * 16 + i[None, :]
        tl.store(at, tl.dot(tl.load(at), tl.load(at), input_precision="tf32"))

    x = torch.zeros(16, 16)
    assert "precision" not in product[(1,)](x).asm["tile"]
    assert "precision = 3" in product[(1,)](x, default_dot_input_precision="bf16x3").asm["tile"]
    monkeypatch.setenv("TRITON_F32_DEFAULT", "tf32x3")
    assert "precision = 2" in product[(1,)](x, default_dot_input_precision="ieee", num_stages=1).asm["tile"]
    named[(1,)](x, allowed_dot_input_precisions=("tf32", "ieee"))
    with pytest.raises(ValueError, match="input_precision must be one of 'ieee', got 'tf32'"):
        named[(1,)](x, allowed_dot_input_precisions=("ieee",))


def test_products_of_small_floats_heed_what_a_launch_says():
    @tileon.jit
    def product(x):
        i = tl.arange(0, 64)
        a = tl.full((64, 64), 1, tl.float8e5)
        tl.store(x + i[:, None] * 64 + i[None, :], tl.dot(a, a))

    x = torch.zeros(64, 64)
    texts = [product[(1,)](x, max_num_imprecise_acc_default=n).asm["tile"] for n in (None, 32)]
    assert "partial_sums = 32" in texts[1] and "partial_sums" not in texts[0]


def test_assumptions_are_checked_by_checked_launches():
    @tileon.jit
    def assuming(x, n):
        tl.assume(n > 4)
        tl.store(x, n)

    x = torch.zeros(1)
    assuming[(1,)](x, 3)
    assuming[(1,)](x, 5, debug=True)
    with pytest.raises(RuntimeError, match="assume: the condition does not hold"):
        assuming[(1,)](x, 3, debug=True)


def test_arithmetic_that_may_overflow():
    @tileon.jit
    def sums(x, n, CHECKED: tl.constexpr):
        tl.store(x, tl.add(n, 2**31 - 1, sanitize_overflow=CHECKED))

    x = torch.zeros(1, dtype=torch.int32)
    sums[(1,)](x, 3, False, debug=True)
    assert x.item() == -(2**31) + 2
    with pytest.raises(RuntimeError, match="overflow"):
        sums[(1,)](x, 3, True, debug=True)


def test_pointers_are_to_global_memory():
    assert tl.pointer_type(tl.float32, 1) == tl.pointer_type(tl.float32)
    with pytest.raises(NotImplementedError, match="address_space is 3"):
        tl.pointer_type(tl.float32, 3)
