"""Switches: environment variables as attributes."""

import os

import pytest

from tilery.tileon import knobs


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    from tilery.tileon._internal_testing import _fresh_knobs_impl

    make, undo = _fresh_knobs_impl()
    yield make()
    undo()


def test_values_come_from_the_environment(monkeypatch):
    assert knobs.runtime.debug is False and knobs.language.default_fp_fusion is True and knobs.redis.port == 6379
    assert knobs.compilation.use_ir_loc is None and knobs.amd.use_block_pingpong is None
    for true in ("1", "yes", "ON", "True"):
        monkeypatch.setenv("TRITON_DEBUG", true)
        assert knobs.runtime.debug is True
    monkeypatch.setenv("TRITON_REDIS_PORT", "7")
    assert knobs.redis.port == 7
    monkeypatch.setenv("TRITON_REDIS_PORT", "seven")
    with pytest.raises(RuntimeError, match="TRITON_REDIS_PORT is 'seven'; an int is expected"):
        _ = knobs.redis.port


def test_folders_follow_the_home():
    assert knobs.cache.dir == os.path.join(os.path.expanduser("~/"), ".triton", "cache")
    knobs.cache.home_dir = "/there"
    assert (knobs.cache.dir, knobs.cache.dump_dir) == ("/there/.triton/cache", "/there/.triton/dump")


def test_what_is_set_goes_to_the_environment_and_back():
    knobs.amd.use_buffer_ops = False
    assert os.environ["AMDGCN_USE_BUFFER_OPS"] == "0"
    with knobs.amd.scope():
        knobs.amd.use_buffer_ops = True
        assert os.environ["AMDGCN_USE_BUFFER_OPS"] == "1"
    assert os.environ["AMDGCN_USE_BUFFER_OPS"] == "0" and knobs.amd.use_buffer_ops is False
    knobs.propagate_env = False
    knobs.amd.use_buffer_ops = True
    assert os.environ["AMDGCN_USE_BUFFER_OPS"] == "0" and knobs.amd.use_buffer_ops is True
    knobs.amd.use_buffer_ops = knobs.env
    assert knobs.amd.use_buffer_ops is False
    other = knobs.amd.copy()
    other.use_buffer_ops = True
    assert knobs.amd.use_buffer_ops is False and other.reset().use_buffer_ops is False


def test_classes(monkeypatch):
    from tilery.tileon.runtime.cache import FileCacheManager

    assert knobs.cache.manager_class is None
    monkeypatch.setenv("TRITON_CACHE_MANAGER", "triton.runtime.cache:FileCacheManager")
    assert knobs.cache.manager_class is FileCacheManager
    monkeypatch.setenv("TRITON_CACHE_MANAGER", "triton.runtime.cache:Missing")
    with pytest.raises(AttributeError, match="has no Missing"):
        _ = knobs.cache.manager_class


def test_chains_of_functions():
    called = []
    chain = knobs.HookChain()
    back = knobs.HookChain(reversed=True)
    for each in (chain, back):
        for number in (1, 2):
            each.add(lambda n, number=number: called.append(number * n))
        each(10)
    assert called == [10, 20, 20, 10] and chain


def test_groups_of_ones_own():
    class mine(knobs.base_knobs):
        foo = knobs.env_str("FOO", "one")
        bar = knobs.env_opt_bool("BAR")

    group = mine()
    assert group.knobs == {"foo": "one", "bar": None}
    group.foo = "two"
    assert group.knobs["foo"] == os.environ["FOO"] == "two"
    del group.foo, os.environ["FOO"]
    assert group.foo == "one"


def test_files_are_kept_by_key(tmp_path):
    from tilery.tileon.runtime.cache import get_cache_manager, get_dump_manager

    knobs.cache.dir = str(tmp_path)
    manager = get_cache_manager("ab" * 32)
    assert manager.get_file("a.txt") is None
    path = manager.put("text", "a.txt", binary=False)
    assert open(path).read() == "text" and manager.get_file("a.txt") == path and path.startswith(str(tmp_path))
    manager.put_group("all", {"a.txt": path})
    assert get_cache_manager("ab" * 32).get_group("all") == {"a.txt": path}
    os.remove(path)
    assert manager.get_group("all") is None and not [f for f in os.listdir(manager.cache_dir) if "txt." in f]
    knobs.cache.dump_dir = str(tmp_path / "dump")
    assert get_dump_manager("ab" * 32).put(b"x", "y").startswith(str(tmp_path / "dump"))


def test_always_compile_and_dump(tmp_path):
    import torch

    import tilery.tileon as tileon
    import tilery.tileon.language as tl

    @tileon.jit
    def kernel(x):
        tl.store(x, 7)

    knobs.compilation.always_compile = knobs.compilation.dump_ir = True
    knobs.cache.dump_dir = str(tmp_path)
    x = torch.zeros(1)
    kernel[(1,)](x)
    assert x.item() == 7
    assert {"kernel.ttir", "kernel.llir"} <= {file for _, _, files in os.walk(tmp_path) for file in files}


def test_a_listener_of_compilations():
    import torch

    import tilery.tileon as tileon
    import tilery.tileon.language as tl

    @tileon.jit
    def kernel(x, pair, N: tl.constexpr):
        tl.store(x, pair[0] + N)

    told, x = [], torch.zeros(1)
    knobs.compilation.listener = lambda **kwargs: told.append(kwargs)
    try:
        kernel[(1,)](x, (5, 2.5), 2)
    finally:
        knobs.compilation.listener = None
    assert told[0]["metadata"]["name"] == "kernel" and told[0]["times"].total >= 0
    source = told[0]["src"]
    assert source.name == "kernel" and source.signature == {"x": "*fp32", "pair": ("i32", "fp32"), "N": "constexpr"}
    tileon.compile(source)[(1,)](x, (6, 0.5), 2)  # the same kind of call
    assert x.item() == 8


def stored():
    import torch

    import tilery.tileon as tileon
    import tilery.tileon.language as tl

    @tileon.jit
    def kernel(x):
        tl.store(x, 7)

    return kernel[(1,)](torch.zeros(1))


@pytest.mark.parametrize("by", ["assignment", "environment"])
def test_switches_that_are_set_in_vain(by, monkeypatch):
    if by == "assignment":
        knobs.nvidia.disable_ptxas_opt, knobs.nvidia.ptxas, knobs.amd.use_buffer_ops = True, "/there/ptxas", False
        knobs.compilation.disable_line_info = False  # as it is
    else:
        for name, value in (("DISABLE_PTXAS_OPT", "1"), ("TRITON_PTXAS_PATH", "/there/ptxas"), ("AMDGCN_USE_BUFFER_OPS", "0")):
            monkeypatch.setenv(name, value)
    told = stored().explanation.ignored
    assert sorted(one.option for one in told) == [
        "knobs.amd.use_buffer_ops=False",
        "knobs.nvidia.disable_ptxas_opt=True",
        "knobs.nvidia.ptxas='/there/ptxas'",
    ]
    assert all(one.reason for one in told)
    knobs.nvidia.reset(), knobs.amd.reset()


def test_the_environment_alone_is_asked():
    """In a process that never imports knobs."""
    import subprocess
    import sys

    code = "from tilery.tileon.compiler import switches; print([one.option for one in switches.in_vain()])"
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PTXAS_OPTIONS": "-v"}, capture_output=True, text=True)
    assert done.stdout == "[\"knobs.nvidia.ptxas_options='-v'\"]\n", done.stderr


@pytest.mark.parametrize("group, name, value", [
    ("compilation", "override", True),
    ("compilation", "enable_asan", True),
    ("compilation", "instrumentation_mode", "consan"),
    ("runtime", "add_stages_inspection_hook", lambda *_: None),
])  # fmt: skip
def test_switches_that_are_refused(group, name, value, monkeypatch):
    monkeypatch.setattr(getattr(knobs, group), name, value)
    with pytest.raises(NotImplementedError, match=f"knobs.{group}.{name} is "):
        stored()


def test_an_architecture_of_ones_own():
    import tilery.tileon as tileon
    import tilery.tileon.language as tl
    from tilery.tileon.backends.compiler import GPUTarget

    @tileon.jit
    def kernel(x):
        tl.store(x, 7)

    source = tileon.compiler.ASTSource(kernel, {"x": "*fp32"})
    knobs.runtime.override_arch = "sm90"
    tileon.compile(source, GPUTarget("cuda", 90, 32))
    with pytest.raises(NotImplementedError, match="override_arch is 'sm90'.*there, sm_80(.|\n)*TILERY_GPU_TARGET"):
        tileon.compile(source, GPUTarget("cuda", 80, 32))


def test_ptx_is_printed(capsys):
    import tilery.tileon as tileon
    import tilery.tileon.language as tl
    from tilery.tileon.backends.compiler import GPUTarget

    @tileon.jit
    def kernel(x):
        tl.store(x, 7)

    knobs.nvidia.dump_nvptx = True
    tileon.compile(tileon.compiler.ASTSource(kernel, {"x": "*fp32"}), GPUTarget("cuda", 90, 32))
    assert ".visible .entry kernel" in capsys.readouterr().out


@pytest.mark.parametrize("switch", ["dump_nvptx", "dump_ptxas_log"])
def test_a_launch_is_where_its_tensors_are(switch, capsys, monkeypatch):
    """Not where the active device is: a machine with a GPU launches on tensors in the CPU's memory, too."""
    import torch

    from tilery.tileon.backends.active import driver
    from tilery.tileon.backends.compiler import GPUTarget

    monkeypatch.setattr(type(driver.active), "get_current_target", lambda *_: GPUTarget("cuda", 90, 32))
    setattr(knobs.nvidia, switch, True)
    with torch.device("cpu"):
        kernel = stored()
    assert kernel.metadata.target.backend == kernel.metadata.backend_name == "cpu" and capsys.readouterr().out == ""


@pytest.mark.gpu
def test_what_the_assembler_made_is_printed(capsys, device):
    knobs.nvidia.dump_ptxas_log = True
    stored()
    assert ("kernel: " in capsys.readouterr().out) == (device != "cpu")


def test_integer_arithmetic_is_checked_as_the_environment_says():
    import torch

    import tilery.tileon as tileon
    import tilery.tileon.language as tl

    @tileon.jit
    def kernel(x, n):
        tl.store(x, n + 2147483647)

    x = torch.zeros(1, dtype=torch.int32)
    knobs.runtime.sanitize_overflow = False
    kernel[(1,)](x, 3, debug=True)
    with pytest.raises(RuntimeError, match="overflow"):
        kernel[(1,)](x, 3, debug=True, sanitize_overflow=True)


def test_errors_keep_the_frames_of_the_compiler():
    import traceback

    import torch

    import tilery.tileon as tileon
    import tilery.tileon.language as tl

    @tileon.jit
    def kernel(x):
        tl.store(x, tl.arange(0, "a"))

    def frames():
        with pytest.raises(tileon.CompilationError) as caught:
            kernel[(1,)](torch.zeros(1))
        return "".join(traceback.format_exception(caught.value))

    short = frames()
    knobs.compilation.front_end_debugging = True
    assert "core/tile/creation.py" in frames() and "core/tile/creation.py" not in short


def test_each_switch_is_read_or_in_the_table():
    """Switches that no source of ours names are in the table; their variables are among those that are looked for."""
    import re
    from pathlib import Path

    from tilery.tileon.compiler import switches
    from tilery.tileon.ignored import ROWS

    within = ("home_dir", "cudacrt_path", "cudart_path")  # other switches read them
    folder = Path(knobs.__file__).parent.parent
    text = "\n".join(file.read_text() for file in folder.rglob("*.py") if file.name not in ("knobs.py", "ignored.py"))
    for group, value in vars(knobs).items():
        if not isinstance(value, knobs.base_knobs):
            continue
        for name, descriptor in value.knob_descriptors.items():
            told = name in ROWS.get(f"knobs.{group}", {}) or name in switches.REFUSED.get(group, {})
            assert told or re.search(rf"{group}\.{name}\b|{descriptor.key}", text) or name in within, name
            assert not told or switches._VARIABLES.match(descriptor.key), name
