"""Options of launches, compilations and autotuners: numbers of numpy are numbers, garbage is refused in words."""

import numpy as np
import pytest
import torch
from errors import messages
from language.tileon.kernels import add

from tilery import tileon
from tilery.errors import Error
from tilery.tileon import Config
from tilery.tileon import language as tl


def launch(**options):
    x, out = torch.rand(32), torch.empty(32)
    compiled = add[(1,)](x, x, out, 32, 32, **options)
    assert torch.equal(out, 2 * x)
    return compiled


WRONG = [
    ("num_warps", "4", TypeError, "`num_warps` is '4'; a power of 2 is expected"),
    ("num_warps", 4.0, TypeError, "`num_warps` is 4.0; a power of 2 is expected"),
    ("num_warps", True, TypeError, "`num_warps` is True; a power of 2 is expected"),
    ("num_warps", np.int32(3), AssertionError, "`num_warps` must be a power of 2, got 3"),
    ("num_stages", "3", TypeError, "`num_stages` is '3'; an int of at least 0 is expected"),
    ("num_stages", 2.5, TypeError, "`num_stages` is 2.5; an int of at least 0 is expected"),
    ("num_stages", -1, ValueError, "`num_stages` is -1; an int of at least 0 is expected"),
    ("num_stages", (3,), TypeError, "`num_stages` is (3,); an int of at least 0 is expected"),
    ("arch", 3, TypeError, "`arch` is 3; text is expected"),
    ("enable_fp_fusion", "no", TypeError, "`enable_fp_fusion` is 'no'; True or False is expected"),
    ("enable_fp_fusion", 2, TypeError, "`enable_fp_fusion` is 2; True or False is expected"),
    ("debug", "off", TypeError, "`debug` is 'off'; True or False is expected"),
    ("sanitize_overflow", "no", TypeError, "`sanitize_overflow` is 'no'; True or False is expected"),
    ("launch_pdl", "yes", TypeError, "`launch_pdl` is 'yes'; True or False is expected"),
    ("waves_per_eu", "a", TypeError, "`waves_per_eu` is 'a'; an int of at least 0 is expected"),
    ("max_num_imprecise_acc_default", 1.5, TypeError, "`max_num_imprecise_acc_default` is 1.5; an int of at least 0 is expected"),
    (
        "allowed_dot_input_precisions",
        "tf32",
        TypeError,
        "`allowed_dot_input_precisions` is 'tf32'; a tuple of precisions is expected\n  hint: write ('tf32',)",
    ),
]


@pytest.mark.parametrize("option, value, builtin, message", WRONG, ids=[f"{o}={v!r}" for o, v, *_ in WRONG])
def test_options_of_a_launch(option, value, builtin, message):
    with pytest.raises(builtin) as caught:
        launch(**{option: value})
    assert isinstance(caught.value, Error) and messages.without_place(caught.value) == message
    source = tileon.compiler.ASTSource(add, {"x_ptr": "*fp32"})
    with pytest.raises(builtin):
        tileon.compile(source, options={option: value})


@pytest.mark.parametrize("kind", [int, np.int32, np.int64, np.uint8])
def test_numbers_of_numpy(kind):
    compiled = launch(num_warps=kind(8), num_stages=kind(2), maxnreg=kind(64), num_ctas=kind(1))
    assert compiled.metadata.num_warps == 8 and type(compiled.metadata.num_warps) is type(compiled.metadata.maxnreg) is int


@tileon.jit
def counts(x, n, BLOCK: tl.constexpr, STEPS: tl.constexpr, AXIS: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for _ in tl.range(0, n, num_stages=STEPS, loop_unroll_factor=STEPS):
        total += 1
    for _ in tl.static_range(STEPS):
        total += tl.sum(tl.sum(tl.reshape(total, (BLOCK // STEPS, STEPS)), axis=AXIS), axis=0)
    tl.store(x + tl.arange(0, BLOCK), total)


@pytest.mark.parametrize("kind", [int, np.int32, np.int64, np.uint8])
def test_constants_of_numpy(kind):
    x, y = torch.empty(16), torch.empty(16)
    counts[(kind(1),)](x, kind(3), kind(16), STEPS=kind(2), AXIS=kind(1))
    counts[(1,)](y, 3, 16, STEPS=2, AXIS=1)
    assert torch.equal(x, y) and tileon.next_power_of_2(kind(5)) == 8 and tileon.cdiv(kind(5), kind(2)) == 3


@pytest.mark.parametrize("off", [False, 0, np.False_, np.int32(0)])
def test_switches_of_numpy(off):
    assert launch(enable_fp_fusion=off).options["fp_contract"] is False
    assert "fp_contract" not in launch(enable_fp_fusion=not off).options


def test_options_of_a_compilation():
    source = tileon.compiler.ASTSource(add, {"x_ptr": "*fp32"})
    with pytest.raises(TypeError) as caught:
        tileon.compile(source, options=[1])
    text = "tileon.compile: options is [1]; a dict of options is expected\n  hint: write {\"num_warps\": 8}"
    assert isinstance(caught.value, Error) and messages.without_place(caught.value) == text


# -- autotuners ------------------------------------------------------------------------------------------------------
def source(x, n_elements, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, 1.0, mask=i < n_elements)


BOTH = [Config({"BLOCK": 16}), Config({"BLOCK": 32})]
TUNED = {
    "a key of no parameter": (
        {"key": ["n_element"]},
        {},
        UserWarning,
        "autotune(key=...) of `source` names 'n_element', which is no parameter of the kernel\n"
        "  hint: did you mean 'n_elements'?",
    ),
    "a key that is like none": (
        {"key": ["what"]},
        {},
        UserWarning,
        "autotune(key=...) of `source` names 'what', which is no parameter of the kernel\n  hint: known: x, n_elements, BLOCK",
    ),
    "a tensor to restore": (
        {"restore_value": ["y"]},
        {},
        ValueError,
        "autotune(restore_value=...) of `source` names 'y', which is no parameter of the kernel\n"
        "  hint: known: x, n_elements, BLOCK",
    ),
    "a function that prunes": (
        {"prune_configs_by": {"early_config_prunes": list}},
        {},
        UserWarning,
        "autotune(prune_configs_by=...) of `source` names 'early_config_prunes', which is no function that prunes\n"
        "  hint: did you mean 'early_config_prune'?",
    ),
    "no functions that prune": (
        {"prune_configs_by": 1},
        {},
        TypeError,
        "autotune(prune_configs_by=...) of `source` is 1; a dict of functions is expected",
    ),
    "a time": ({"rep": "x"}, {}, TypeError, "autotune(rep=...) of `source` is 'x'; a number of milliseconds is expected"),
    "a clock": (
        {"do_bench": 5},
        {},
        TypeError,
        "autotune(do_bench=...) of `source` is 5; a function is expected\n"
        "  hint: do_bench(call, quantiles=...) gives milliseconds",
    ),
    "warps among values": (
        {"configs": [Config({"BLOCK": 16, "num_warps": 8})]},
        {},
        UserWarning,
        "a configuration of `source` has 'num_warps': 8 among its values, and its own num_warps=4 goes before\n"
        "  hint: write Config({...}, num_warps=8)",
    ),
    "no values": (
        {"configs": [Config(3)]},
        {},
        TypeError,
        "a configuration of `source` is 3; a Config of a dict is expected\n"
        '  hint: write Config({"BLOCK": 64}, num_warps=4)',
    ),
    "warps of the launch": (
        {},
        {"num_warps": 4},
        ValueError,
        "Conflicting meta-parameters: num_warps: a launch of `source` gives what its autotuner's configurations give\n"
        "  hint: leave it out of the launch, or launch the kernel without its autotuner: kernel.fn[grid](...)",
    ),
}


@pytest.mark.parametrize("configs", [BOTH, BOTH[:1]], ids=["two", "one"])
@pytest.mark.parametrize("name", TUNED)
def test_autotuners(name, configs):
    """Decorators take anything: a module whose other kernels are used is imported."""
    options, given, builtin, message = TUNED[name]
    kernel = tileon.autotune(**{"configs": configs, "key": [], **options})(tileon.jit(source))
    if builtin is UserWarning:
        x = torch.zeros(32)
        with pytest.warns(UserWarning) as told:
            kernel[(1,)](x, 32, **given)
        assert [str(each.message) for each in told] == [message] and told[0].filename == __file__ and x[0] == 1
        return
    with pytest.raises(builtin) as caught:
        kernel[(1,)](torch.zeros(32), 32, **given)
    assert isinstance(caught.value, Error) and messages.without_place(caught.value) == message
