"""What a target has no code for is refused by one message that names it."""

import pytest

from tilery import _native
from tilery.errors import Error

REGIONS = {
    "tile.threads": "tile.threads 32 {\n  ^bb0(%t: i32):\n    tile.sync\n    tile.yield\n  }",
    "tile.roles": "tile.roles [32, 128] {\n    tile.sync\n  }, {\n    tile.sync\n  }",
}


def refused(body, target):
    module = _native.Module.parse(f"tile.kernel @kernel() {{\n  {body}\n  tile.return\n}}\n")
    with pytest.raises(Error) as caught:
        _native.compile(module, target=target)
    assert isinstance(caught.value, NotImplementedError)
    return str(caught.value)


@pytest.mark.parametrize("target, least", [("sm_90a:cuda11080", "8.0"), ("sm_89:cuda11070", "7.8")])
def test_drivers_older_than_the_gpu(target, least):
    module = _native.Module.parse("tile.kernel @kernel() {\n  tile.return\n}\n")
    with pytest.raises(RuntimeError, match=f"driver is too old for .*, which takes {least}\n  hint: update the driver"):
        _native.compile(module, target=target)


def test_roles_on_a_cpu():
    assert refused(REGIONS["tile.roles"], "host").endswith("the CPU target cannot run tile.sync yet")


def test_threads_that_part_on_a_cpu():
    buffer = "%buffer = tile.alloc : !tile.buffer<32xi32, shared>\n"
    store = "tile.together {\n tile.element_store %buffer[%c], %c : !tile.buffer<32xi32, shared>, (i32), i32\n }"
    inside = f"%c = arith.constant 4 : i32\n %low = arith.cmpi slt, %t, %c : i32\n scf.if %low {{\n {store}\n }}"
    assert "only some threads of the block come" in refused(buffer + REGIONS["tile.threads"].replace("tile.sync", inside), "host")


@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
def test_explicit_threads_on_a_gpu(target):
    some = (
        "%p = tile.program_id 0\n %c = arith.constant 40 : i32\n tile.threads 64 {\n ^bb0(%t: i32):\n"
        " %low = arith.cmpi slt, %t, {limit} : i32\n scf.if %low {\n tile.sync\n }\n }"
    )
    parts = refused(some.replace("{limit}", "%c"), target)
    assert parts.endswith("the GPU target cannot let some threads of several warps wait for each other yet")
    data = refused(some.replace("{limit}", "%p"), target)
    assert data.endswith("the GPU target cannot let threads wait for each other where data decides which ones come yet")
    many = REGIONS["tile.threads"].replace("threads 32", "threads 2048")
    assert refused(many, target).endswith("the GPU target cannot run 2048 threads: a block has at most 1024")
