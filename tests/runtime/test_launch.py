import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref

import kernels
import numpy as np
import pytest
import torch
from errors import messages

from tilery import _native
from tilery.errors import Error

ADD_PARAMS = [
    ("x", "runtime"),
    ("y", "runtime"),
    ("z", "runtime"),
    ("n", "runtime"),
    ("BLOCK", "constexpr", 64),
    ("num_warps", "option"),
]


def launcher(params=ADD_PARAMS, kernel=None, slots=(0, 1, 2, 3), **options):
    kernel = kernel or kernels.add_kernel()
    signatures = []

    def compile(signature, args):
        signatures.append(signature)
        return _native.KernelPlan(kernel, list(slots), "result")

    made = _native.Launcher("add_kernel", params, compile, **options)
    return made, signatures


class OnlyDlpack:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize(
    "wrap",
    [lambda t: t, lambda t: t.numpy(), OnlyDlpack, lambda t: OnlyDlpack(t.numpy()), torch.nn.Parameter],
    ids=["torch", "numpy", "dlpack", "numpy-dlpack", "parameter"],
)
@pytest.mark.parametrize("n", [1, 63, 64, 1000])
def test_kinds_of_tensors(wrap, n):
    x, y, z = torch.randn(n), torch.randn(n), torch.full((n + 1,), float("nan"))
    launch, _ = launcher([("x", "runtime"), ("y", "runtime"), ("z", "runtime"), ("n", "plain")])
    launch[-(-n // 64)](wrap(x), wrap(y), z[:n].numpy(), np.int32(n))
    assert torch.equal(z[:n], x + y)
    assert z[n].isnan()


def test_requires_grad_and_result():
    x, y = torch.randn(64, requires_grad=True), torch.randn(64, requires_grad=True) * 2
    z = torch.empty(64, requires_grad=True)
    launch, _ = launcher()
    assert launch[1](x, y, z, 64) == "result"
    assert torch.equal(z, x + y)


def signature_of(*args, params=None, **options):
    kernel = kernels.kernel("noop", [], "KERNEL(noop) {}")
    launch, signatures = launcher(params or [(f"a{i}", "runtime") for i in range(len(args))], kernel, (), **options)
    launch[1](*args)
    return signatures[0]


def test_signature_of_scalars():
    assert signature_of(
        1, 2, 16, 0, -(2**31), 2**31, 2**63, 1.0, True, None, np.int64(1), np.float32(2), np.bool_(True)
    ).params == (
        ("const", 1),
        ("int", "int32", 1),
        ("int", "int32", 16),
        ("int", "int32", 0),
        ("int", "int32", 1),
        ("int", "int64", 16),
        ("int", "uint64", 16),
        ("float",),
        ("bool",),
        ("const", None),
        ("const", 1),
        ("float",),
        ("bool",),
    )
    assert signature_of(1, 16, params=[("a", "plain"), ("b", "plain")]).params == (("int", "int32", 1), ("int", "int32", 1))


def test_signature_of_tensors():
    x = torch.zeros(8, 32)
    assert signature_of(x, x[0, 1:]).params == (("pointer", "float32", 16), ("pointer", "float32", 1))
    assert signature_of(x.t(), torch.zeros(1, 3, dtype=torch.bfloat16), layout=True).params == (
        ("tensor", "float32", 16, (16, 0), (1, 16)),
        ("tensor", "bfloat16", 16, (1, 0), (0, 1)),
    )
    assert signature_of(x[:1].expand(16, 32), layout=True).params == (("tensor", "float32", 16, (16, 16), (0, 1)),)
    for dtype in (
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
    ):
        assert (
            signature_of(torch.zeros(4, dtype=getattr(torch, dtype)), np.zeros(4, dtype)).params
            == ((("pointer", dtype, 16)),) * 2
        )
    for dtype, name in ((torch.bfloat16, "bfloat16"), (torch.float8_e4m3fn, "float8_e4m3fn"), (torch.float8_e5m2, "float8_e5m2")):
        assert signature_of(torch.zeros(4, dtype=dtype)).params[0][1] == name


def test_aliases():
    x = torch.zeros(100)
    assert signature_of(x, torch.zeros(100), x).aliases == ((0, 2, "identical"),)
    assert signature_of(x[:60], x[50:]).aliases == ((0, 1, "overlapping"),)
    assert signature_of(x[:50], x[50:], x[:0]).aliases == ()


def test_one_compilation_a_specialisation():
    launch, signatures = launcher()
    x, y, z = torch.zeros(3, 64)
    for n in (64, 32, 48):
        launch[1](x, y, z, n)
    assert len(signatures) == 1
    launch[1](x, y, z, 63)
    assert len(signatures) == 2
    launch[1](x, y, z, 64, BLOCK=128)
    launch[1](x, y, z, 64, 128)
    assert len(signatures) == 3
    launch[1](x, y, z, 64, 128.0)  # 128 == 128.0, yet another program
    launch[1](x, y, z, 64, BLOCK=True, num_warps=1)
    launch[1](x, y, z, 64, BLOCK=1, num_warps=1)
    assert len(signatures) == 6
    launch[1](x, y, x, 64)
    launch[1](z, y, x, 64)
    assert len(signatures) == 7
    launch.forget()
    launch[1](x, y, z, 64)
    assert len(signatures) == 8


def test_options_that_a_call_names():
    options = [(name, "option") for name in ("a", "b")] + [("c", "option", 7)]
    launch, signatures = launcher(ADD_PARAMS + options)
    x, y, z = torch.zeros(3, 64)
    launch[1](x, y, z, 64)
    launch[1](x, y, z, 64, a=None)
    launch[1](y, x, z, 64, c=7)
    assert len(signatures) == 1
    for named in ({"a": 1}, {"b": 1}, {"a": 1, "b": 1}, {"c": None}, {"c": 2**40}, {"a": 1.0}, {"a": True}, {"a": "1"}):
        before = len(signatures)
        launch[1](x, y, z, 64, **named)
        launch[1](y, x, z, 64, **dict(reversed(named.items())))  # other pointers
        assert len(signatures) == before + 1
        assert signatures[-1].params[-3:] == tuple(("const", named.get(name, 7 if name == "c" else None)) for name in "abc")
        launch[1](x, y, z, 64)
    assert len(signatures) == 9


def test_computed_constants():
    """Tile sizes are computed anew for each launch; ints that are no other object's value."""
    launch, signatures = launcher()
    x, y, z = torch.zeros(3, 2048)
    for exponent in (10, 10, 11, 10, 70, 70):
        launch[1](x, y, z, 64, BLOCK=2**exponent)
    assert [dict(enumerate(s.params))[4] for s in signatures] == [("const", 2**exponent) for exponent in (10, 11, 70)]


def test_constants_that_change():
    """A list holds something else another time, though it is the same object."""
    sizes = [1]
    launch, signatures = launcher([*ADD_PARAMS[:4], ("SIZES", "constexpr", sizes)])
    x, y, z = torch.zeros(3, 64)
    for change, kinds in ((lambda: None, 1), (lambda: sizes.append(2), 2), (sizes.pop, 2), (sizes.clear, 3)):
        change()
        launch[1](x, y, z, 64)
        launch[1](x, y, z, 64, sizes)
        assert len(signatures) == kinds


def test_specialisations_are_bounded():
    alive = weakref.WeakSet()

    class Result:
        pass

    def compile(signature, args):
        result = Result()
        alive.add(result)
        return _native.KernelPlan(noop, [], result)

    noop = kernels.kernel("noop", [], "KERNEL(noop) {}")
    launch = _native.Launcher("k", [("n", "constexpr")], compile)
    first = launch[1](-1)
    for n in range(3000):
        launch[1](n)
        assert launch[1](-1) is first  # in use all the time
    assert 400 < len(alive) <= 1025


def test_same_object_other_memory():
    """An argument that is the same object as last time may hold other memory."""
    launch, signatures = launcher()
    x, y, z = torch.ones(64), torch.ones(64), torch.zeros(64)
    launch[1](x, y, z, 64)
    x.data = torch.full((64,), 5.0)
    launch[1](x, y, z, 64)
    assert (z == 6).all()
    z.data = x.data
    launch[1](x, y, z, 64)
    assert [s.aliases for s in signatures] == [(), ((0, 2, "identical"),)]


def test_grids():
    x, y, z = torch.randn(64), torch.randn(64), torch.zeros(64)
    launch, _ = launcher()
    seen = []

    def grid(meta):
        seen.append(meta)
        return (-(-meta["n"] // meta["BLOCK"]),)

    for form in (1, (1,), [1], (1, 1, 1), (1, 1, 1, 1), np.int64(1), (np.int32(1), 1), grid):
        z.zero_()
        launch[form](x, y, z, n=64)
        assert torch.equal(z, x + y)
    assert seen[0]["x"] is x and seen[0]["BLOCK"] == 64 and seen[0]["num_warps"] is None
    assert list(seen[0]) == [name for name, *_ in ADD_PARAMS]
    seen.clear()
    for named in ({"num_warps": 4}, {}):
        launch[grid](x, y, z, n=64, **named)
    assert [meta["num_warps"] for meta in seen] == [4, None]
    z.zero_()
    launch[(0,)](x, y, z, 64)
    assert (z == 0).all()


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda k, t: k[1](t, t, t), "add_kernel() is missing the argument 'n'"),
        (lambda k, t: k[1](t, t, t, 1, 2, 3), "add_kernel() takes 5 arguments, got 6"),
        (lambda k, t: k[1](t, t, t, 2, m=3), "add_kernel() got an unexpected argument 'm'"),
        (lambda k, t: k[1](t, t, t, 2, x=t), "add_kernel() got argument 'x' twice"),
        (lambda k, t: k[1](t, t, "text", 2), "argument 'z' is a str; a tensor, int, float, bool or None is expected"),
        (lambda k, t: k[1](t, t, [1.0], 2), "argument 'z' is a list; a tensor, int, float, bool or None is expected"),
        (
            lambda k, t: k[1](t, t, np.zeros(3, complex), 2),
            "argument 'z' has elements of a type that tile programs do not know (buffer format 'Zd')",
        ),
        (lambda k, t: k[1](t, t, 5, 2), "argument 'z' of add_kernel is the int 5; expected a float32 tensor"),
        (
            lambda k, t: k[1](t, t, t.double(), 2),
            "argument 'z' of add_kernel is a float64 tensor of shape (64,); expected a float32 tensor",
        ),
        (lambda k, t: k[1](t, t, t, 2.5), "argument 'n' of add_kernel is the float 2.500000; expected an int32"),
        (lambda k, t: k[1](t, t, t, 2**64), "argument 'n' is an int that does not fit into 64 bits"),
        (lambda k, t: k[1](t, t, torch.empty(4, device="meta"), 2), None),
        (
            lambda k, t: k[1](t, t, np.broadcast_to(np.zeros(1, "f"), 64), 2),
            "argument 'z' is a read-only array, and add_kernel writes to it\n  hint: pass a copy of it",
        ),
        (lambda k, t: k[1](t, t, t, 2, BLOCK=type("Bare", (), {"__hash__": None})()), "cannot be compared with later values"),
        (lambda k, t: k(t, t, t, 2), "add_kernel is called without a grid\n  hint: write add_kernel[grid](...)"),
        (lambda k, t: k[()](t, t, t, 2), "the grid of add_kernel has 0 extents; one to three are expected"),
        (lambda k, t: k[1, 1, 1, 2](t, t, t, 2), "the grid of add_kernel has 4 extents; one to three are expected"),
        (
            lambda k, t: k[64 / 2](t, t, t, 2),
            "the grid of add_kernel has a float as extent of axis 0; an int is expected\n  hint: divide with // or cdiv",
        ),
        (lambda k, t: k[1, None](t, t, t, 2), "the grid of add_kernel has a NoneType as extent of axis 1; an int is expected"),
        (lambda k, t: k[2**31](t, t, t, 2), "grid extent 2147483648 of axis 0 is larger than 2147483647"),
    ],
)
def test_wrong_calls(call, message):
    launch, _ = launcher()
    with pytest.raises(Error) as caught:
        call(launch, torch.zeros(64))
    if message:
        assert message in messages.without_place(caught.value)


def test_exceptions_of_callbacks_pass_through():
    def compile(signature, args):
        raise KeyError("mine")

    launch = _native.Launcher("k", [("x", "runtime")], compile)
    with pytest.raises(KeyError, match="mine"):
        launch[1](2)
    with pytest.raises(ZeroDivisionError):
        launch[lambda meta: 1 / 0](2)


def test_callable_plans_and_nested_launches():
    inner, _ = launcher()
    calls = []

    def compile(signature, args):
        inner[1](args["x"], args["x"], torch.zeros(64), 64)  # compiling may launch
        return lambda grid, args: calls.append((grid, sorted(args))) or "debug"

    launch = _native.Launcher("k", [("x", "runtime"), ("n", "constexpr", 3)], compile)
    assert launch[2, 3](torch.zeros(64)) == "debug"
    assert launch(torch.zeros(64)) == "debug"
    assert calls == [((2, 3, 1), ["n", "x"]), (None, ["n", "x"])]


def test_subclass_and_garbage():
    class Kernel(_native.Launcher):
        def __init__(self):
            super().__init__("k", ADD_PARAMS, self.compile)

        def compile(self, signature, args):
            return _native.KernelPlan(kernels.add_kernel(), [0, 1, 2, 3], self)

    kernel = Kernel()
    x, y, z = torch.randn(64), torch.randn(64), torch.zeros(64)
    assert kernel[1](x, y, z, 64) is kernel
    assert torch.equal(z, x + y)
    alive = weakref.ref(kernel)
    del kernel
    gc.collect()
    assert alive() is None


def test_references_do_not_leak():
    launch, _ = launcher()
    x, y, z = torch.randn(64), np.ones(64, "f"), OnlyDlpack(torch.zeros(64))
    grid = (1,)
    launch[grid](x, y, z, 64, num_warps="w")
    before = [sys.getrefcount(o) for o in (x, y, z, grid, launch)]
    for _ in range(100):
        launch[grid](x, y, z, 64, num_warps="w")
        with pytest.raises(Error):
            launch[grid](x, y, z, "text")
    assert [sys.getrefcount(o) for o in (x, y, z, grid, launch)] == before


def nap_launcher():
    return launcher([("done", "runtime"), ("microseconds", "plain")], kernels.nap_kernel(), (0, 1))[0]


def test_gil_is_released():
    nap = nap_launcher()
    done, count, stop = torch.zeros(1, dtype=torch.int32), 0, threading.Event()
    thread = threading.Thread(target=lambda: (nap[1](done, 300_000), stop.set()))
    thread.start()
    while not stop.is_set():
        count += 1
        time.sleep(0.01)
    thread.join()
    assert done.item() == 1 and count >= 10


def test_threads_launch_at_once():
    launch, _ = launcher()
    failures = []

    def work(seed):
        generator = torch.Generator().manual_seed(seed)
        for _ in range(50):
            x, y = torch.randn(2, 4000 + seed, generator=generator)
            z = torch.empty_like(x)
            launch[-(-len(x) // 64)](x, y, z, len(x))
            if not torch.equal(z, x + y):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_ctrl_c_stops_a_launch():
    # A shell starts background jobs with SIGINT ignored, and Python then leaves it so.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        _stop_a_launch()
    finally:
        signal.signal(signal.SIGINT, before)


def _stop_a_launch():
    nap = nap_launcher()
    done = torch.zeros(1, dtype=torch.int32)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        nap[100_000](done, 1000)
    assert time.monotonic() - started < 5
    finished = done.item()
    assert 0 < finished < 100_000
    time.sleep(0.05)
    assert done.item() == finished  # nothing runs on behind the caller's back


def test_fork():
    launch, _ = launcher()
    # NumPy: torch's own thread pool does not survive a fork.
    x, y = np.random.default_rng(0).normal(size=(2, 100_000)).astype("f")
    z = np.zeros_like(x)
    launch[-(-len(x) // 64)](x, y, z, len(x))
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        z[:] = 0
        launch[-(-len(x) // 64)](x, y, z, len(x))
        os._exit(0 if np.array_equal(z, x + y) else 1)
    assert os.waitpid(child, 0)[1] == 0


class Positional(_native.Launcher):
    def __init__(self, kernel):
        plan = _native.KernelPlan(kernel, [0, 1, 2, 3], "result")
        super().__init__("add_kernel", ADD_PARAMS, lambda signature, args: plan, positional=True)
        self.seen = []

    def launch_observed(self, grid, args, kwargs):
        self.seen.append((len(args), sorted(kwargs)))
        return self.launch_plainly(grid, *args, **kwargs)


def test_only_calls_by_position_are_native():
    x, y, z = torch.randn(64), torch.randn(64), torch.zeros(64)
    launch = Positional(kernels.add_kernel())
    assert launch[1](x, y, z, 64, 64) == "result" and launch.seen == []
    assert torch.equal(z, x + y)
    assert launch[1](x, y, z, 64) == launch[1](x, y, z, n=64, BLOCK=64) == "result"
    assert launch.seen == [(4, []), (3, ["BLOCK", "n"])]
    launch.observe(True)
    assert launch[1](x, y, z, 64, 64) == "result" and launch.seen[2:] == [(5, [])]


def run_python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize("value, expected", [("3", "3"), ("1", "1")])
def test_thread_count_from_the_environment(value, expected):
    assert (
        run_python("from tilery import _native; print(_native.num_threads())", TILERY_NUM_THREADS=value).stdout.strip()
        == expected
    )


def test_bad_thread_count():
    result = run_python("from tilery import _native; _native.num_threads()", TILERY_NUM_THREADS="many")
    assert "TILERY_NUM_THREADS is 'many'; expected a number from 1 to 4096" in result.stderr


def test_thread_count_from_affinity():
    cpu = min(os.sched_getaffinity(0))
    code = f"import os; os.sched_setaffinity(0, {{{cpu}}}); from tilery import _native; print(_native.num_threads())"
    assert run_python(code, TILERY_NUM_THREADS="").stdout.strip() == "1"
    assert run_python("from tilery import _native; print(_native.num_threads())", TILERY_NUM_THREADS="").stdout.strip() == str(
        len(os.sched_getaffinity(0))
    )


def test_recorded_launches():
    launch, _ = launcher()
    x, y, z, w = torch.ones(64), torch.ones(64), torch.zeros(64), torch.zeros(64)
    taken = []

    def record(this, grid, args, kwargs):
        assert not _native.launches_recorded()
        launch[1](x, y, w, 64)  # one of the recorder's own
        taken.append((this, grid, len(args), kwargs))
        return this.launch_plainly(grid, *args, **kwargs)

    assert _native.record_launches(record) is None and _native.launches_recorded()
    try:
        assert launch[1](x, y, z, n=64) == "result"
        other = threading.Thread(target=lambda: launch[1](x, y, z, 64))
        other.start()
        other.join()
        _native.record_launches(lambda *call: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            launch[1](x, y, z, 64)
        assert _native.launches_recorded()
    finally:
        _native.record_launches(None)
    assert taken == [(launch, 1, 3, {"n": 64})] and (w == 2).all() and (z == 2).all()
    launch[1](x, y, z, 64)
    assert len(taken) == 1 and not _native.launches_recorded()
