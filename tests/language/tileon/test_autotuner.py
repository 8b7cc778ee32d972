"""Choosing among configurations: which are timed, how often, what stands around a call, what is remembered."""

import pytest
import torch

import tilery.tileon as tileon
import tilery.tileon.language as tl
from tilery.tileon import knobs
from tilery.tileon.runtime import candidates
from tilery.tileon.runtime.autotuner import Autotuner, Config
from tilery.tileon.runtime.surveys import Surveys


def once(call, quantiles):
    """A do_bench that calls once, and takes as long as the block is large."""
    call()
    return [1.0] * len(quantiles)


def tuner(kernel, configs, **options):
    return tileon.autotune(configs, key=["n"], do_bench=options.pop("do_bench", once), **options)(tileon.jit(kernel))


def add_one(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


def grid(meta):
    return (tileon.cdiv(meta["n"], meta["BLOCK"]),)


def blocks(*sizes):
    return [Config({"BLOCK": size}) for size in sizes]


def test_the_fastest_is_kept():
    timed = []

    def bench(call, quantiles):
        call()
        timed.append(1)
        return [float(5 - len(timed))] * 3

    kernel = tuner(add_one, blocks(16, 32, 64), do_bench=bench)
    x = torch.zeros(100)
    kernel[grid](x, 100)
    assert kernel.best_config.kwargs == {"BLOCK": 64} and len(timed) == 3 and torch.equal(x, torch.full((100,), 4.0))
    kernel[grid](x, 100)
    assert len(timed) == 3 and list(kernel.cache) == [(100, "torch.float32")]
    kernel[grid](x, n=99)
    assert len(timed) == 6


def test_configurations_that_the_target_does_not_tell_apart_are_timed_once():
    if tileon.runtime.driver.active.get_current_target().backend != "cpu":
        pytest.skip("needs a CPU as the active device: GPUs heed numbers of warps")
    timed = []

    def bench(call, quantiles):
        timed.append(1)
        return once(call, quantiles)

    configs = [Config({"BLOCK": b}, num_warps=w, num_stages=s) for b in (16, 32) for w in (1, 2, 4) for s in (1, 2, 3)]
    kernel = tuner(add_one, configs, do_bench=bench)
    x = torch.zeros(64)
    kernel[grid](x, 64)
    assert len(timed) == 2 and len(kernel.configs_timings) == 18 and x[0] == 3

    def counts_warps(x, n, BLOCK: tl.constexpr, num_warps: tl.constexpr):
        tl.store(x, num_warps)

    timed.clear()
    tuner(counts_warps, [Config({"BLOCK": 16}, num_warps=w) for w in (1, 2, 4)], do_bench=bench)[grid](x, 64)
    assert len(timed) == 3


def loops(x, n, BLOCK: tl.constexpr, FLATTEN: tl.constexpr, STAGES: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for k in tl.range(n // BLOCK, flatten=FLATTEN, num_stages=STAGES):
        total += tl.load(x + k * BLOCK + i)
    tl.store(x + i, total + tl.sum(total))


@pytest.fixture
def counts(monkeypatch):
    """What was compiled afresh, and how often a configuration was timed."""
    from tilery.core import cache

    compiled, timed, inner = [], [], cache._compile

    def compile(*args):
        compiled.append(1)
        return inner(*args)

    def bench(call, quantiles):
        timed.append(1)
        return once(call, quantiles)

    monkeypatch.setattr(cache, "_compile", compile)
    monkeypatch.setattr(cache, "enabled", False)
    return compiled, timed, bench


def test_equal_code_is_neither_compiled_nor_timed_twice(counts, device):
    compiled, timed, bench = counts
    configs = [
        Config({"BLOCK": block, "FLATTEN": flatten, "STAGES": stages}, num_stages=stages)
        for block in (16, 32)
        for flatten in (False, True)
        for stages in (1, 2, 3)
    ]
    kernel = tuner(loops, configs, do_bench=bench)
    kernel[(1,)](torch.zeros(64, device=device), 64)
    assert len(compiled) == len(timed) == 2 and set(kernel.configs_timings) == set(configs)


@pytest.mark.parametrize("name", ["add", "product"])
def test_numbers_of_warps_count_where_code_depends_on_them(counts, device, name):
    compiled, timed, bench = counts

    def add(x, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)

    def product(x, n, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        a = tl.load(x + i[:, None] * BLOCK + i[None, :]).to(tl.float16)
        tl.store(x + i[:, None] * BLOCK + i[None, :], tl.dot(a, a))

    source, block = (add, 256) if name == "add" else (product, 64)
    kernel = tuner(source, [Config({"BLOCK": block}, num_warps=w) for w in (1, 2, 4, 8)], do_bench=bench)
    x = torch.zeros(64 * 64, device=device)
    kernel[(1,)](x, 256)
    (compiled_for,) = {tuple(c.ignored_hints) for c in kernel.fn._kernels.values()} if device != "cpu" else {("num_warps",)}
    expected = 1 if "num_warps" in compiled_for else 4
    assert len(timed) == expected and len(kernel.configs_timings) == 4 and len(compiled) in (expected, expected + 1)


def test_launches_that_differ_beside_the_code_are_timed(counts):
    _, timed, bench = counts

    def some(x, n, PROGRAMS: tl.constexpr, amount):
        tl.store(x, amount)

    configs = [Config({"PROGRAMS": programs, "amount": amount}) for programs in (1, 2) for amount in (16, 32)]
    kernel = tuner(some, configs, do_bench=bench)
    kernel[lambda meta: (meta["PROGRAMS"],)](torch.zeros(1), 1)
    assert len(timed) == 4


def test_clusters_are_left_out(device):
    kernel = tuner(add_one, [Config({"BLOCK": 16}, num_ctas=2), Config({"BLOCK": 32})])
    x = torch.zeros(64, device=device)
    kernel[grid](x, 64)
    assert kernel.best_config.kwargs == {"BLOCK": 16 if device == "cpu" else 32}
    if device != "cpu":
        with pytest.raises(NotImplementedError, match="num_ctas=2"):
            tuner(add_one, [Config({"BLOCK": b}, num_ctas=2) for b in (16, 32)])[grid](x, 64)


def test_what_cannot_be_compiled_is_skipped():
    def kernel(x, n, BLOCK: tl.constexpr):
        tl.static_assert(BLOCK <= 32, "too large")
        tl.store(x + tl.arange(0, BLOCK), BLOCK)

    tuned = tuner(kernel, blocks(64, 32, 128))
    x = torch.zeros(128)
    tuned[(1,)](x, 128)
    assert tuned.best_config.kwargs == {"BLOCK": 32} and x[0] == 32 and x[32] == 0


def test_a_model_leaves_out_what_is_far_behind():
    if tileon.runtime.driver.active.get_current_target().backend != "cpu":
        pytest.skip("needs a CPU as the active device")
    configs = blocks(*(2**i for i in range(1, 21)))
    kernel = tileon.jit(add_one)
    x = torch.zeros(100_000)
    surveys = Surveys(kernel, lambda meta: (tileon.cdiv(100_000, meta["BLOCK"]),), (x, 100_000), {})
    chosen = candidates.promising(configs, surveys)
    sizes = [c.kwargs["BLOCK"] for c in chosen]
    assert candidates.FEW <= len(sizes) < 20 and 2 not in sizes and 2**20 not in sizes and 1024 in sizes
    assert candidates.promising(configs[:4], surveys) == configs[:4]
    assert not x.any()  # nothing was run


def test_tensors_are_cleared_and_restored():
    configs = blocks(16, 32, 64)
    x = torch.zeros(64)
    tuner(add_one, configs, restore_value=["x"])[grid](x, 64)
    assert torch.equal(x, torch.ones(64))
    x = torch.full((64,), 7.0)
    tuner(add_one, configs, reset_to_zero=["x"])[grid](x=x, n=64)
    assert torch.equal(x, torch.ones(64))


@pytest.mark.parametrize("option", ["reset_to_zero", "restore_value"])
def test_names_of_tensors_that_are_not_given(option):
    def kernel(x, y, n, BLOCK: tl.constexpr):
        tl.store(x, 1 if y is None else 2)

    x = torch.zeros(1)
    tuner(kernel, blocks(16, 32), **{option: ["y"]})[(1,)](x, None, 1)
    assert x.item() == 1


def test_functions_around_calls():
    told = []
    configs = [Config({"BLOCK": 16}, pre_hook=lambda named: told.append(("config", named["BLOCK"]))), Config({"BLOCK": 32})]
    kernel = tuner(
        add_one,
        configs,
        pre_hook=lambda named, **_: told.append(("before", named["BLOCK"])),
        post_hook=lambda named, exception: told.append(("behind", exception)),
    )
    kernel[grid](torch.zeros(64), 64)
    timed = [("config", 16), ("before", 16), ("behind", None), ("before", 32), ("behind", None)]
    assert told == [*timed, ("config", 16)]


def test_functions_hear_of_exceptions():
    told = []

    def kernel(x, n, BLOCK: tl.constexpr):
        tl.static_assert(BLOCK < 32)
        tl.store(x, 1)

    tuner(kernel, blocks(16, 32), post_hook=lambda named, exception: told.append(exception))[(1,)](torch.zeros(1), 1)
    assert told[0] is None and isinstance(told[1], tileon.CompilationError)


def test_programs_prune():
    seen = {}

    def prune(configs, named, **kwargs):
        seen.update(named=set(named), kwargs=kwargs.get("n"))
        return configs[1:]

    kernel = tuner(add_one, blocks(16, 32), prune_configs_by={"early_config_prune": prune})
    kernel[grid](torch.zeros(8), n=8)
    assert seen == {"named": {"x"}, "kwargs": 8} and kernel.best_config.kwargs == {"BLOCK": 32}
    by = {"perf_model": lambda BLOCK, **_: -BLOCK, "top_k": 0.5}
    kernel = tuner(add_one, blocks(16, 32, 64, 128), prune_configs_by=by)
    kernel[grid](torch.zeros(8), 8)
    assert {c.kwargs["BLOCK"] for c in kernel.configs_timings} == {64, 128}
    with pytest.raises(tileon.TritonError, match="No valid autotuner configs after pruning"):
        tuner(add_one, blocks(16, 32), prune_configs_by={"early_config_prune": lambda *_, **__: []})[grid](torch.zeros(8), 8)


def test_a_launch_gives_nothing_that_configurations_give():
    with pytest.raises(ValueError, match="Conflicting meta-parameters: BLOCK"):
        tuner(add_one, blocks(16, 32))[grid](torch.zeros(8), 8, BLOCK=4)


def test_heuristics_see_what_the_tuner_chose():
    @tileon.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
    @tileon.jit
    def inner(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
        tl.store(x, BLOCK + (1 if EVEN else 0))

    x = torch.zeros(1)
    tileon.autotune(blocks(16, 32), key=["n"], do_bench=once)(inner)[(1,)](x, 48)
    assert x.item() == 17


def test_choices_are_remembered_on_disk(tmp_path):
    told = []
    with knobs.cache.scope(), knobs.autotuning.scope():
        knobs.cache.dir = str(tmp_path)
        knobs.autotuning.listener = lambda **about: told.append((about["cache_hit"], about["duration"] is None))
        kernel = tuner(add_one, blocks(16, 32), cache_results=True)
        kernel[grid](torch.zeros(8), 8)
        kernel.cache.clear()
        kernel[grid](torch.zeros(8), 8)
        knobs.autotuning.listener = None
    assert told == [(False, False), (True, True)] and kernel.best_config == Config({"BLOCK": 16})
    assert len(list(tmp_path.rglob("*.autotune.json"))) == 1


def test_the_choice_is_printed(capsys, monkeypatch):
    monkeypatch.setenv("TRITON_PRINT_AUTOTUNING", "1")
    tuner(add_one, blocks(16, 32))[grid](torch.zeros(8), 8)
    assert "best config selected: BLOCK: 16, num_warps: 4" in capsys.readouterr().out


def test_subclasses():
    class Mine(Autotuner):
        def prune_configs(self, kwargs):
            return self.configs[-1:]

        def _bench(self, *args, config, **meta):
            asked.append(config.kwargs["BLOCK"])
            return super()._bench(*args, config=config, **meta)

    asked = []
    inner = tileon.jit(add_one)
    kernel = Mine(inner, inner.arg_names, blocks(16, 32), ["n"], None, None, do_bench=once)
    x = torch.zeros(8)
    kernel[grid](x, 8)
    assert asked == [32] and torch.equal(x, torch.full((8,), 2.0)) and kernel.base_fn is add_one
    assert [k.name for k in kernel.warmup(torch.float32, 8, grid=(1,))] == ["add_one"]


def test_configurations_are_values():
    config = Config({"BLOCK": 16}, num_warps=8)
    assert config == Config({"BLOCK": 16}, num_warps=8) != Config({"BLOCK": 16}) and len({config, Config({"BLOCK": 16}, 8)}) == 1
    assert config.all_kwargs() == {"BLOCK": 16, "num_warps": 8, "num_ctas": 1, "num_stages": 3}
    assert str(config) == "BLOCK: 16, num_warps: 8, num_ctas: 1, num_stages: 3, maxnreg: None"


def compiled_by_threads(monkeypatch, kernel, *args, processors=4):
    """Names of the threads that compiled the kernel's configurations, and what a launch with them did."""
    import threading

    from tilery.core import cache

    threads, inner = [], cache._compile

    def compile(module, device, options):
        threads.append(threading.current_thread().name)
        return inner(module, device, options)

    monkeypatch.setattr(cache, "_compile", compile)
    monkeypatch.setattr(cache, "enabled", False)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(processors)))
    kernel[grid](*args)
    return threads


def counted(x, n, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK < 128)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) + BLOCK, mask=i < n)


def test_configurations_are_compiled_in_parallel_and_run_one_by_one(monkeypatch):
    timed = []

    def bench(call, quantiles):
        import threading

        call()
        timed.append(threading.current_thread() is threading.main_thread())
        return [float(len(timed))] * 3

    x = torch.zeros(100)
    kernel = tuner(counted, blocks(16, 32, 64, 256), do_bench=bench)
    threads = compiled_by_threads(monkeypatch, kernel, x, 100)
    assert len(threads) == 3 and "MainThread" not in threads
    assert timed == [True] * 3 and kernel.best_config.kwargs == {"BLOCK": 16}
    assert torch.equal(x, torch.full((100,), 16.0 + 32.0 + 64.0 + 16.0))


def test_what_compiles_nowhere_says_so_as_before(monkeypatch):
    def wrong(x, n, BLOCK: tl.constexpr):
        tl.store(x, tl.there_is_no_such_function(BLOCK))

    kernel = tuner(wrong, blocks(16, 32))
    with pytest.raises(tileon.CompilationError, match="there_is_no_such_function"):
        compiled_by_threads(monkeypatch, kernel, torch.zeros(8), 8)


@pytest.mark.parametrize("case", ["one processor", "a hook", "a wrapper"])
def test_what_a_program_watches_is_compiled_by_its_launches(monkeypatch, case):
    kernel = tuner(add_one, blocks(16, 32))
    heard = []
    if case == "a hook":
        monkeypatch.setattr(knobs.runtime, "jit_post_compile_hook", lambda **about: heard.append(about["is_manual_warmup"]))
    if case == "a wrapper":

        class Wrapper(tileon.KernelInterface):
            fn, arg_names = kernel.fn, kernel.fn.arg_names

            def run(self, *args, **kwargs):
                heard.append(kwargs["BLOCK"])
                return self.fn.run(*args, **kwargs)

        kernel = tileon.autotune(blocks(16, 32), key=["n"], do_bench=once)(Wrapper())
    x = torch.zeros(8)
    threads = compiled_by_threads(monkeypatch, kernel, x, 8, processors=1 if case == "one processor" else 4)
    assert threads == ["MainThread"] * 2 and torch.equal(x, torch.full((8,), 3.0))
    assert heard == {"one processor": [], "a hook": [False, False], "a wrapper": [16, 32, 16]}[case]


def test_a_function_that_gives_descriptors_their_block_is_heard_first(monkeypatch):
    from tilery.tileon.tools.tensor_descriptor import TensorDescriptor

    def rows(d, n, BLOCK: tl.constexpr):
        d.store([tl.program_id(0) * BLOCK], d.load([tl.program_id(0) * BLOCK]) + 1)

    def block(named):
        named["d"].block_shape = [named["BLOCK"]]

    x = torch.zeros(64)
    configs = [Config({"BLOCK": size}, pre_hook=block) for size in (16, 32)]
    threads = compiled_by_threads(monkeypatch, tuner(rows, configs), TensorDescriptor.from_tensor(x, [1]), 64)
    assert threads == ["MainThread"] * 2 and torch.equal(x, torch.full((64,), 3.0))
