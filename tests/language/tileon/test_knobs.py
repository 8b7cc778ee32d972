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
