"""`tile.threads`: the threads of a block, with buffers, meetings, shuffles and votes."""

import pytest
import torch

from tilery import _native

# After a mirror through shared memory: the neighbour's value by each kind of shuffle, then votes in groups and in all.
THREADS = """
tile.kernel @k(%out: !tile.ptr<i32>, %wide: !tile.ptr<i64>) {
  %buffer = tile.alloc : !tile.buffer<64xi32, shared>
  tile.threads 64 {
  ^bb0(%t: i32):
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %c10 = arith.constant 10 : i32
    %c63 = arith.constant 63 : i32
    %c64 = arith.constant 64 : i32
    tile.element_store %buffer[%t], %t : !tile.buffer<64xi32, shared>, (i32), i32
    tile.sync
    %mirror = arith.subi %c63, %t : i32
    %x = tile.element_load %buffer[%mirror] : !tile.buffer<64xi32, shared>, i32 -> i32
    %down = tile.shuffle down %x, %c1 : i32 -> i32
    %up = tile.shuffle up %x, %c3 {width = 8} : i32 -> i32
    %xor = tile.shuffle xor %x, %c3 {width = 16} : i32 -> i32
    %idx = tile.shuffle idx %x, %c3 {width = 4} : i32 -> i32
    %low = arith.cmpi slt, %t, %c10 : i32
    %count = tile.vote count %low {width = 0} -> i32
    %ballot = tile.vote ballot %low {width = 8} -> i32
    %any = tile.vote any %low -> i1
    %all = tile.vote all %low {width = 2} -> i1
    %anyi = arith.extui %any : i1 to i32
    %alli = arith.extui %all : i1 to i32
    %base = tile.program_id 0
    %row = arith.muli %base, %c64 : i32
    %at = arith.addi %row, %t : i32
    %big = arith.extsi %x : i32 to i64
    %shift = arith.constant 33 : i64
    %far = arith.shli %big, %shift : i64
    %far1 = tile.shuffle down %far, %c1 : i64 -> i64
    %w = tile.add_ptr %wide, %at : !tile.ptr<i64>, i32
    %wa = tile.pointer_access %w : !tile.ptr<i64> -> !tile.access<i64>
    tile.store %wa, %far1 : !tile.access<i64>, i64
    {stores}
    tile.yield
  }
  tile.return
}"""
NAMES = ["down", "up", "xor", "idx", "count", "ballot", "anyi", "alli"]


def module():
    stores = ""
    for i, name in enumerate(NAMES):
        stores += f"""
    %o{i} = arith.constant {i * 192} : i32
    %i{i} = arith.addi %at, %o{i} : i32
    %p{i} = tile.add_ptr %out, %i{i} : !tile.ptr<i32>, i32
    %a{i} = tile.pointer_access %p{i} : !tile.ptr<i32> -> !tile.access<i32>
    tile.store %a{i}, %{name} : !tile.access<i32>, i32"""
    return _native.Module.parse(THREADS.replace("{stores}", stores))


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_assembles(arch, assemble):
    code = _native.compile(module(), texts=True, target=arch).asm
    assert ".maxntid 64" in code and "shfl.sync.idx" in code
    assemble(code, arch)


@pytest.mark.gpu
def test_shuffles_and_votes():
    image = _native.assembled(_native.compile(module(), target=_native.gpu_target(0)).image, 0)
    plan = _native.KernelPlan(_native.load(image)[0], [0, 1])
    launcher = _native.Launcher("k", [(n, "runtime") for n in ("out", "wide")], lambda signature, bound: plan)
    out = torch.full((len(NAMES), 3, 64), -7, device="cuda", dtype=torch.int32)
    wide = torch.full((3, 64), -7, device="cuda", dtype=torch.int64)
    launcher[3](out, wide)
    t = torch.arange(64)
    x = 63 - t
    expected = {
        "down": torch.where(t % 32 == 31, x, x - 1),
        "up": torch.where(t % 8 < 3, x, x + 3),
        "xor": 63 - (t ^ 3),
        "idx": 63 - (t // 4 * 4 + 3),
        "count": torch.full((64,), 10),
        "ballot": torch.where(t < 8, 255, torch.where(t < 16, 3, 0)),
        "anyi": (t < 32).int(),
        "alli": (t < 10).int(),
    }
    for row, name in zip(out.cpu(), NAMES, strict=True):
        assert torch.equal(row, expected[name].int().expand(3, 64)), name
    assert torch.equal(wide.cpu(), (expected["down"].long() << 33).expand(3, 64))
